//! Contracts as text: the page about kernels is written from the data that guards them.

use super::{Access, Allowed, Attribute, Contract, Extent, Port, Quantity, Stride};
use std::fmt::Write;

impl Contract {
    /// The contract as a Markdown section.
    pub fn describe(&self) -> String {
        let mut text =
            format!("## {}\n\n| port | access | types | extents | strides | alignment |\n", self.kernel);
        text.push_str("|---|---|---|---|---|---|\n");
        for port in self.ports {
            let types = port.dtypes.iter().map(|t| t.name()).collect::<Vec<_>>().join(" ");
            let extents = port.shape.map(extent).join(", ");
            let strides = port.strides.map(stride).join(", ");
            let name = if port.optional { format!("{} (optional)", port.name) } else { port.name.to_owned() };
            let _ = writeln!(
                text,
                "| {name} | {} | {types} | {extents} | {strides} | {} |",
                access(port),
                port.alignment
            );
        }
        let list = |what: &str, items: Vec<String>, text: &mut String| {
            if !items.is_empty() {
                let _ = write!(text, "\n{what}: {}.\n", items.join("; "));
            }
        };
        let symbols = self.symbols.iter().map(|s| format!("{} {}", s.name, allowed(s.allowed)));
        list("Extents", symbols.collect(), &mut text);
        let ones = self.ones.iter().map(|(extent, port)| format!("{extent} is 1 where {port} is bound"));
        list("Forms", ones.collect(), &mut text);
        let needs = self.needs.iter().map(|(port, other)| format!("{port} needs {other}"));
        list("Bound together", needs.collect(), &mut text);
        list("Constants from attributes", self.attributes.iter().map(attribute).collect(), &mut text);
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

fn access(port: &Port) -> &'static str {
    match port.access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Update => "update",
    }
}

fn extent(extent: Extent) -> String {
    match extent {
        Extent::Any => "any".to_owned(),
        Extent::Is(n) => n.to_string(),
        Extent::Named(name) => name.to_owned(),
        Extent::Repeats(name) => format!("divides {name}"),
        Extent::Product(a, b) => format!("{a}·{b}"),
        Extent::AtLeast(name) => format!("≥ {name}"),
    }
}

fn stride(stride: Stride) -> String {
    match stride {
        Stride::Packed => "packed".to_owned(),
        Stride::AtLeastPacked => "≥ packed".to_owned(),
        Stride::MultipleOf(n) => format!("multiple of {n}"),
        Stride::Between(low, high) => format!("{low} to {high}"),
        Stride::Any => "any".to_owned(),
    }
}

fn allowed(allowed: Allowed) -> String {
    match allowed {
        Allowed::Between(low, high) => format!("from {low} to {high}"),
        Allowed::MultipleOf(n, most) => format!("a multiple of {n} up to {most}"),
        Allowed::OneOf(values) => format!("one of {values:?}"),
        Allowed::DivisorOf(other) => format!("a divisor of {other}"),
    }
}

fn attribute(attribute: &Attribute) -> String {
    match attribute {
        Attribute::Float(name) => format!("{name}, a float"),
        Attribute::Integer(name, low, high) => format!("{name} from {low} to {high}"),
        Attribute::Choice(name, values) => format!("{name}, one of {values:?}"),
    }
}

fn quantity(quantity: Quantity) -> String {
    match quantity {
        Quantity::Extent(dim) => format!("extent {dim}"),
        Quantity::Stride(dim) => format!("stride {dim} in elements"),
        Quantity::Offset => "offset in elements".to_owned(),
    }
}
