//! Draws legal operands from a contract, and their just-illegal neighbours, for tests.
//!
//! A [`Draft`] is a case before it has layouts: which optional ports are bound, types, constants, named extents and the
//! extents that the contract leaves open. Where an open extent or a constant follows from an operation's shape rule, the
//! caller completes the draft. Everything else comes from the contract alone. Randomness is passed in, so the same numbers
//! give the same case.

mod extents;
mod layouts;
mod neighbours;
#[cfg(test)]
mod tests;

pub use extents::token_extent;
pub use layouts::{StrideClass, class_of, classes};
pub use neighbours::{Neighbour, neighbours};

use super::{Attribute, Constant, Constants, Contract, Port, Stride};
use crate::graph::{DType, Layout};

/// A source of numbers below a limit.
pub struct Source<'a>(pub &'a mut dyn FnMut(u64) -> u64);

impl Source<'_> {
    /// A number below `limit`; 0 if the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { (self.0)(limit) % limit }
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of these; `None` of nothing.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.below(all.len() as u64) as usize).copied()
    }
}

/// What a case should show, where that is possible.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Optional ports that should be bound, or not.
    pub bound: Vec<(&'static str, bool)>,
    /// Types of ports.
    pub dtypes: Vec<(&'static str, DType)>,
    /// How dimensions of ports should lie.
    pub classes: Vec<(&'static str, usize, StrideClass)>,
    /// The token count.
    pub tokens: Option<u64>,
    /// Values of attributes.
    pub constants: Vec<(&'static str, Constant)>,
    /// Two ports on the same bytes; a pair that the contract allows.
    pub alias: Option<(&'static str, &'static str)>,
}

/// A case before it has layouts. Vectors are by port, in the contract's order.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What it is drawn from.
    pub contract: &'static Contract,
    /// Whether a port has a tensor.
    pub bound: Vec<bool>,
    /// Types.
    pub dtypes: Vec<DType>,
    /// Attributes.
    pub constants: Vec<(&'static str, Constant)>,
    /// Values of named extents.
    pub names: Vec<(&'static str, u64)>,
    /// Extents that are `Any`, `Repeats` or `AtLeast`; other entries mean nothing.
    pub open: Vec<[u64; 4]>,
}

impl Draft {
    /// Whether a port is bound.
    pub fn is_bound(&self, port: &str) -> bool {
        self.contract.port(port).is_some_and(|at| self.bound[at])
    }

    /// Binds a port, or leaves it out.
    pub fn bind(&mut self, port: &str, bound: bool) {
        if let Some(at) = self.contract.port(port) {
            self.bound[at] = bound;
        }
    }

    /// The value of a named extent; 1 if there is none.
    pub fn extent(&self, name: &str) -> u64 {
        self.names.iter().find(|(n, _)| *n == name).map_or(1, |(_, value)| *value)
    }

    /// Sets a named extent.
    pub fn set_extent(&mut self, name: &str, value: u64) {
        self.names.iter_mut().filter(|(n, _)| *n == name).for_each(|(_, v)| *v = value);
    }

    /// Sets an extent that the contract leaves open.
    pub fn set_open(&mut self, port: &str, dim: usize, value: u64) {
        if let Some(at) = self.contract.port(port) {
            self.open[at][dim] = value;
        }
    }

    /// The type of a port.
    pub fn dtype(&self, port: &str) -> Option<DType> {
        self.contract.port(port).map(|at| self.dtypes[at])
    }

    /// An integer attribute; 0 if there is none.
    pub fn integer(&self, name: &str) -> u32 {
        match self.constants.iter().find(|(n, _)| *n == name) {
            Some((_, Constant::Integer(value))) => *value,
            _ => 0,
        }
    }

    /// Sets an attribute.
    pub fn set_constant(&mut self, name: &str, value: Constant) {
        self.constants.iter_mut().filter(|(n, _)| *n == name).for_each(|(_, v)| *v = value);
    }

    /// The extents of a port as the draft stands.
    pub fn shape(&self, port: &str) -> [u64; 4] {
        self.contract.port(port).map_or([1; 4], |at| extents::shape(self, at))
    }
}

/// Legal operands.
#[derive(Clone, Debug)]
pub struct Case {
    /// What they came from.
    pub draft: Draft,
    /// Layouts by port, each in a storage of its own.
    pub operands: Vec<Option<Layout>>,
    /// For each port the port in whose storage it lies: itself, or the one whose bytes it shares.
    pub homes: Vec<usize>,
    /// Attributes.
    pub constants: Constants,
}

impl Case {
    /// The layout of a port.
    pub fn layout(&self, port: &str) -> Option<Layout> {
        self.draft.contract.port(port).and_then(|at| self.operands[at])
    }
}

/// A legal case. `complete` gets the draft when everything but layouts is drawn. `None` where the draft has no layout:
/// rows that are not whole blocks, more elements in an operand than `most`, or strides that alignment forbids.
pub fn legal(
    contract: &'static Contract,
    wish: &Wish,
    most: u64,
    complete: &mut dyn FnMut(&mut Draft, &mut Source<'_>),
    random: &mut Source<'_>,
) -> Option<Case> {
    let ports = contract.ports;
    let mut draft = Draft {
        contract,
        bound: ports.iter().map(|port| bound(port, wish, random)).collect(),
        dtypes: ports.iter().map(|port| dtype(port, wish, random)).collect(),
        constants: Vec::new(),
        names: Vec::new(),
        open: vec![[1; 4]; ports.len()],
    };
    let alias = wish.alias.and_then(|(a, b)| Some((contract.port(a)?, contract.port(b)?)));
    if let Some((a, b)) = alias {
        let shared: Vec<DType> =
            ports[a].dtypes.iter().copied().filter(|t| ports[b].dtypes.contains(t)).collect();
        let both = if shared.contains(&draft.dtypes[a]) { draft.dtypes[a] } else { random.pick(&shared)? };
        (draft.dtypes[a], draft.dtypes[b]) = (both, both);
        (draft.bound[a], draft.bound[b]) = (true, true);
    }
    // Twice: a needed port may need another.
    for (port, needed) in contract.needs.iter().chain(contract.needs) {
        if draft.is_bound(port) {
            draft.bind(needed, true);
        }
    }
    for attribute in contract.attributes {
        let wished = wish.constants.iter().find(|(name, _)| *name == attribute.name());
        let value = wished.map_or_else(|| constant(attribute, random), |(_, value)| *value);
        draft.constants.push((attribute.name(), value));
    }
    extents::draw(&mut draft, wish, random);
    complete(&mut draft, random);
    lay(draft, wish, most, alias, random)
}

/// Gives a draft its layouts.
fn lay(
    draft: Draft,
    wish: &Wish,
    most: u64,
    alias: Option<(usize, usize)>,
    random: &mut Source<'_>,
) -> Option<Case> {
    let contract = draft.contract;
    let mut operands = vec![None; contract.ports.len()];
    let mut homes: Vec<usize> = (0..operands.len()).collect();
    for (at, port) in contract.ports.iter().enumerate().filter(|(at, _)| draft.bound[*at]) {
        let shape = extents::shape(&draft, at);
        if shape.iter().fold(1u64, |n, e| n.saturating_mul(*e)) > most {
            return None;
        }
        let partner = match alias {
            Some((a, b)) if a == at || b == at => Some(if a == at { b } else { a }),
            _ => None,
        };
        let partner = partner.filter(|p| draft.bound[*p] && extents::shape(&draft, *p) == shape);
        if let Some(first) = partner.filter(|p| *p < at) {
            operands[at] = operands[first];
            homes[at] = first;
            continue;
        }
        let port = partner.map_or(*port, |p| layouts::both(*port, &contract.ports[p]));
        let mut wanted = [None; 4];
        for (_, dim, class) in wish.classes.iter().filter(|(name, ..)| *name == contract.ports[at].name) {
            wanted[*dim] = Some(*class);
        }
        let whole = layouts::whole(contract, contract.ports[at].name);
        operands[at] = Some(layouts::spread(&port, draft.dtypes[at], shape, wanted, whole, random)?);
    }
    let constants = constants(&draft.constants);
    Some(Case { draft, operands, homes, constants })
}

fn constants(all: &[(&'static str, Constant)]) -> Constants {
    let mut constants = Constants::new();
    all.iter().for_each(|(name, value)| constants.push(name, *value));
    constants
}

fn bound(port: &Port, wish: &Wish, random: &mut Source<'_>) -> bool {
    let wished = wish.bound.iter().find(|(name, _)| *name == port.name);
    !port.optional
        || (!port.dtypes.is_empty() && wished.map_or_else(|| random.one_in(2), |(_, bound)| *bound))
}

fn dtype(port: &Port, wish: &Wish, random: &mut Source<'_>) -> DType {
    let wished = wish.dtypes.iter().find(|(name, dtype)| *name == port.name && port.dtypes.contains(dtype));
    wished.map(|(_, dtype)| *dtype).or_else(|| random.pick(port.dtypes)).unwrap_or(DType::F32)
}

/// A sane value of an attribute: positive, and small where the range is wide.
fn constant(attribute: &Attribute, random: &mut Source<'_>) -> Constant {
    match attribute {
        Attribute::Float(_) => {
            Constant::Float(random.pick(&[1e-6, 0.125, 0.5, 0.75, 1.0, 1.5]).unwrap_or(1.0))
        }
        Attribute::Integer(_, low, high) => {
            let spread = u64::from(high - low).saturating_add(1).min(5);
            Constant::Integer(low + random.below(spread) as u32)
        }
        Attribute::Choice(_, values) => Constant::Integer(random.pick(values).unwrap_or(0)),
    }
}

/// The stricter of two demands on a stride; packed where neither contains the other.
fn stricter(a: Stride, b: Stride) -> Stride {
    match (a, b) {
        (Stride::Any, other) | (other, Stride::Any) => other,
        (a, b) if a == b => a,
        _ => Stride::Packed,
    }
}
