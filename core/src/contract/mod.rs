//! What a kernel accepts, as data.
//!
//! A [`Contract`] has five readers: the driver's last guard ([`Contract::check`], the only place in weft that accepts or
//! refuses a layout), the constants passed to devices ([`Contract::derive`]), the planner's cost, the documentation, and
//! the generator of legal and just-illegal layouts for tests ([`draw`]).

mod check;
mod constant;
mod describe;
pub mod draw;
mod port;

pub use check::Bound;
pub use constant::{Constant, Constants};
pub use port::{
    ANY_WEIGHT, Access, BLOCKS, CACHE, COMMON, Extent, F32, FEW_BITS, FLOATS, I32, INDICES, Port, READABLE,
    Stride, WRITABLE,
};

use serde::Serialize;

/// How far a kernel's result may be from its reference.
///
/// A row passes if its normalised mean square error or its largest absolute error, relative to the largest magnitude in
/// the reference row, is within bounds; NaN never passes, an infinity only against the same infinity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tolerance {
    /// Mean square error over mean square of the reference, per row.
    pub nmse_row: f64,
    /// Largest absolute error over the largest magnitude of the reference row.
    pub max_abs: f64,
}

impl Tolerance {
    /// Equal bit for bit (signed zeros aside).
    pub const EXACT: Self = Tolerance { nmse_row: 0.0, max_abs: 0.0 };
    /// Rounding of f32 arithmetic in another order.
    pub const ROUNDING: Self = Tolerance { nmse_row: 1e-10, max_abs: 2e-5 };
    /// Activations rounded to eight bits, or tiles to sixteen.
    pub const EIGHT_BIT: Self = Tolerance { nmse_row: 5e-4, max_abs: 5e-2 };
}

/// A constraint on a named extent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowed {
    /// From the first to the second, both included.
    Between(u64, u64),
    /// A multiple, from the multiple itself up to the second number.
    MultipleOf(u64, u64),
    /// One of these.
    OneOf(&'static [u64]),
    /// A divisor of another named extent.
    DivisorOf(&'static str),
}

/// A named extent that several ports share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Symbol {
    /// Its name.
    pub name: &'static str,
    /// Its legal values.
    pub allowed: Allowed,
}

/// What of a layout becomes a specialisation constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Quantity {
    /// The extent of a dimension.
    Extent(usize),
    /// The stride of a dimension, in elements (blocks for quantised types).
    Stride(usize),
    /// The offset, in elements (blocks for quantised types).
    Offset,
}

/// A specialisation constant derived from a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Derived {
    /// Name of the constant.
    pub name: &'static str,
    /// The port it comes from.
    pub port: &'static str,
    /// What of the port's layout.
    pub quantity: Quantity,
}

/// A constant that the operation's attributes give.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribute {
    /// Any f32.
    Float(&'static str),
    /// An integer from the first to the second number, both included.
    Integer(&'static str, u32, u32),
    /// One of these integers; the discriminants of an attribute's variants.
    Choice(&'static str, &'static [u32]),
}

impl Attribute {
    /// The constant's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Attribute::Float(name) | Attribute::Integer(name, ..) | Attribute::Choice(name, _) => name,
        }
    }
}

/// A backend that lacks the kernel, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Absent {
    /// The backend's name.
    pub backend: &'static str,
    /// The reason.
    pub reason: &'static str,
}

/// What a kernel accepts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Contract {
    /// The kernel's stem.
    pub kernel: &'static str,
    /// Tensor arguments.
    pub ports: &'static [Port],
    /// Constraints on named extents; an unlisted name may have any value.
    pub symbols: &'static [Symbol],
    /// Named extents that must be 1 where a port is bound: (extent, port).
    pub ones: &'static [(&'static str, &'static str)],
    /// Where the first port is bound, the second must be, too.
    pub needs: &'static [(&'static str, &'static str)],
    /// Constants that come from attributes.
    pub attributes: &'static [Attribute],
    /// Constants that come from layouts.
    pub derived: &'static [Derived],
    /// Pairs of ports that may lie on the same bytes with equal layouts. All other overlaps with a written port are refused.
    pub may_alias: &'static [(&'static str, &'static str)],
    /// Token counts where an implementation changes path; tests visit each, one below and one above.
    pub edges: &'static [u64],
    /// Distance allowed from the reference.
    pub tolerance: Tolerance,
    /// Backends without the kernel.
    pub absent: &'static [Absent],
}

impl Contract {
    /// A contract with these ports and nothing else; set the other fields with struct update syntax.
    pub const fn new(kernel: &'static str, ports: &'static [Port]) -> Self {
        Contract {
            kernel,
            ports,
            symbols: &[],
            ones: &[],
            needs: &[],
            attributes: &[],
            derived: &[],
            may_alias: &[],
            edges: &[],
            tolerance: Tolerance::ROUNDING,
            absent: &[],
        }
    }

    /// The contract of a variant that takes less: each port narrowed, more constraints on extents, perhaps another
    /// tolerance. It lives as long as the plans that point to it.
    pub fn narrowed(
        &'static self,
        port: fn(Port) -> Port,
        symbols: &[Symbol],
        tolerance: Option<Tolerance>,
    ) -> &'static Self {
        let ports: Vec<Port> = self.ports.iter().map(|own| port(*own)).collect();
        let symbols: Vec<Symbol> = self.symbols.iter().chain(symbols).copied().collect();
        let tolerance = tolerance.unwrap_or(self.tolerance);
        Box::leak(Box::new(Contract { ports: ports.leak(), symbols: symbols.leak(), tolerance, ..*self }))
    }

    /// The index of a port.
    pub fn port(&self, name: &str) -> Option<usize> {
        self.ports.iter().position(|port| port.name == name)
    }
}
