//! Contracts as text: the page about kernels is written from the data that guards them.

use super::{Allowed, Attribute, Contract, Extent, Quantity, Stride};
use std::fmt::{self, Display, Formatter, Write};

impl Contract {
    /// The contract as a Markdown section.
    pub fn describe(&self) -> String {
        let mut text =
            format!("## {}\n\n| port | access | types | extents | strides | alignment |\n", self.kernel);
        text.push_str("|---|---|---|---|---|---|\n");
        for port in self.ports {
            let types = port.dtypes.iter().map(|t| t.name()).collect::<Vec<_>>().join(" ");
            let extents = port.shape.map(|extent| extent.to_string()).join(", ");
            let strides = port.strides.map(|stride| stride.to_string()).join(", ");
            let name = if port.optional { format!("{} (optional)", port.name) } else { port.name.to_owned() };
            let _ = writeln!(
                text,
                "| {name} | {} | {types} | {extents} | {strides} | {} |",
                port.access.name(),
                port.alignment
            );
        }
        let list = |what: &str, items: Vec<String>, text: &mut String| {
            if !items.is_empty() {
                let _ = write!(text, "\n{what}: {}.\n", items.join("; "));
            }
        };
        let symbols = self.symbols.iter().map(|s| format!("{} {}", s.name, s.allowed));
        list("Extents", symbols.collect(), &mut text);
        let ones = self.ones.iter().map(|(extent, port)| format!("{extent} is 1 where {port} is bound"));
        list("Forms", ones.collect(), &mut text);
        let needs = self.needs.iter().map(|(port, other)| format!("{port} needs {other}"));
        list("Bound together", needs.collect(), &mut text);
        list(
            "Constants from attributes",
            self.attributes.iter().map(Attribute::to_string).collect(),
            &mut text,
        );
        let derived =
            self.derived.iter().map(|d| format!("{} = {} of {}", d.name, quantity(d.quantity), d.port));
        list("Constants from layouts", derived.collect(), &mut text);
        let pairs = self.may_alias.iter().map(|(a, b)| format!("{a} and {b}"));
        list("May share bytes", pairs.collect(), &mut text);
        let absent = self.absent.iter().map(|a| format!("{} ({})", a.backend, a.reason));
        list("Not offered by", absent.collect(), &mut text);
        let tolerance = self.tolerance;
        let _ = write!(
            text,
            "\nTolerance per row: NMSE {:e}, largest error {:e} of the largest value.\n",
            tolerance.nmse_row, tolerance.max_abs
        );
        text
    }
}

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Any => write!(f, "any"),
            Extent::Is(n) => write!(f, "{n}"),
            Extent::Named(name) => write!(f, "{name}"),
            Extent::Repeats(name) => write!(f, "divides {name}"),
            Extent::Product(a, b) => write!(f, "{a}·{b}"),
            Extent::AtLeast(name) => write!(f, "≥ {name}"),
        }
    }
}

impl Display for Stride {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Stride::Packed => write!(f, "packed"),
            Stride::AtLeastPacked => write!(f, "≥ packed"),
            Stride::MultipleOf(n) => write!(f, "multiple of {n}"),
            Stride::Between(low, high) => write!(f, "{low} to {high}"),
            Stride::Any => write!(f, "any"),
        }
    }
}

impl Display for Allowed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Between(low, high) => write!(f, "from {low} to {high}"),
            Allowed::MultipleOf(n, most) => write!(f, "a multiple of {n} up to {most}"),
            Allowed::OneOf(values) => write!(f, "one of {values:?}"),
            Allowed::DivisorOf(other) => write!(f, "a divisor of {other}"),
        }
    }
}

impl Display for Attribute {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::Float(name) => write!(f, "{name}, a float"),
            Attribute::Integer(name, low, high) => write!(f, "{name} from {low} to {high}"),
            Attribute::Choice(name, values) => write!(f, "{name}, one of {values:?}"),
        }
    }
}

fn quantity(quantity: Quantity) -> String {
    match quantity {
        Quantity::Extent(dim) => format!("extent {dim}"),
        Quantity::Stride(dim) => format!("stride {dim} in elements"),
        Quantity::Offset => "offset in elements".to_owned(),
    }
}
