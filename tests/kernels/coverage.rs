//! What a contract allows, item by item, so that a run can tell what it never built.

use crate::subject::Subject;
use std::collections::BTreeSet;
use weft_core::contract::draw::{Case, StrideClass, Wish, class_of, classes, token_extent};
use weft_core::contract::{Access, Allowed, Attribute, Constant, Contract, Extent, Port, Stride};
use weft_core::driver::Why;
use weft_core::graph::DType;
use weft_tests::Random;

/// Something that at least one legal case must show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// An optional port with a tensor, or without.
    Bound(&'static str, bool),
    Type(&'static str, DType),
    /// How a dimension of a port lies.
    Class(&'static str, usize, StrideClass),
    /// Whether a port begins behind its storage's first byte.
    Offset(&'static str, bool),
    /// Two strides swapped whose products with their extents are equal.
    Swapped(&'static str),
    Tokens(u64),
    Value(&'static str, u32),
    Alias(&'static str, &'static str),
    /// Of two ports that are read, the first with plain numbers, the second in blocks.
    Unlike(&'static str, &'static str),
}

/// Integer attributes with at most this many values are tried with each.
const FEW: u32 = 16;

fn values(attribute: &Attribute) -> Vec<u32> {
    match attribute {
        Attribute::Choice(_, values) => values.to_vec(),
        Attribute::Integer(_, low, high) if high - low < FEW => (*low..=*high).collect(),
        Attribute::Integer(..) | Attribute::Float(_) => Vec::new(),
    }
}

/// Everything that cases of a contract can show.
pub fn required(contract: &Contract, subject: &Subject) -> BTreeSet<Item> {
    let mut all = BTreeSet::new();
    for (at, port) in contract.ports.iter().enumerate() {
        let name = port.name;
        if port.optional {
            all.insert(Item::Bound(name, false));
        }
        if port.dtypes.is_empty() {
            continue;
        }
        if port.optional {
            all.insert(Item::Bound(name, true));
        }
        all.extend([Item::Offset(name, false), Item::Offset(name, true)]);
        all.extend(port.dtypes.iter().map(|dtype| Item::Type(name, *dtype)));
        let of =
            |dim: usize| if subject.exceeds_one(name, dim) { classes(contract, at, dim) } else { Vec::new() };
        for dim in 0..4 {
            all.extend(of(dim).into_iter().map(|class| Item::Class(name, dim, class)));
        }
        // Two free outer dimensions can be swapped.
        let free = (1..4).filter(|dim| of(*dim).contains(&StrideClass::Wider)).count();
        if free >= 2 && !subject.unequal.contains(&name) {
            all.insert(Item::Swapped(name));
        }
    }
    for edge in contract.edges.iter().filter(|_| token_extent(contract).is_some()) {
        all.extend(
            [edge - 1, *edge, edge + 1].into_iter().filter(|n| admits_tokens(contract, *n)).map(Item::Tokens),
        );
    }
    for attribute in contract.attributes {
        all.extend(values(attribute).into_iter().map(|value| Item::Value(attribute.name(), value)));
    }
    all.extend(contract.may_alias.iter().map(|(a, b)| Item::Alias(a, b)));
    for (plain, blocks) in pairs(contract) {
        if plain.dtypes.iter().any(|dtype| !dtype.is_quantised()) && has_blocks(plain) && has_blocks(blocks) {
            all.insert(Item::Unlike(plain.name, blocks.name));
        }
    }
    all
}

/// Ordered pairs of ports that a kernel reads.
fn pairs(contract: &Contract) -> impl Iterator<Item = (&Port, &Port)> {
    let read = || contract.ports.iter().filter(|port| port.access == Access::Read);
    read().flat_map(move |a| read().filter(move |b| a.name != b.name).map(move |b| (a, b)))
}

fn has_blocks(port: &Port) -> bool {
    port.dtypes.iter().any(|dtype| dtype.is_quantised())
}

/// Whether a range of token counts, if the contract has one, holds this number.
fn admits_tokens(contract: &Contract, tokens: u64) -> bool {
    let name = token_extent(contract);
    contract.symbols.iter().filter(|symbol| Some(symbol.name) == name).all(|symbol| match symbol.allowed {
        Allowed::Between(low, high) => (low..=high).contains(&tokens),
        _ => true,
    })
}

/// What a case shows.
pub fn shown(case: &Case) -> BTreeSet<Item> {
    let contract = case.draft.contract;
    let mut all = BTreeSet::new();
    for (at, port) in contract.ports.iter().enumerate() {
        if port.optional {
            all.insert(Item::Bound(port.name, case.operands[at].is_some()));
        }
        let Some(layout) = case.operands[at] else { continue };
        all.insert(Item::Offset(port.name, layout.offset > 0));
        all.insert(Item::Type(port.name, layout.dtype));
        for dim in 0..4 {
            all.extend(class_of(&layout, dim).map(|class| Item::Class(port.name, dim, class)));
        }
        let swapped = |a: usize, b: usize| {
            let extents = layout.shape[a] > 1 && layout.shape[a] == layout.shape[b];
            extents && layout.strides[b] > 0 && layout.strides[a] > layout.strides[b]
        };
        if [(1, 2), (1, 3), (2, 3)].into_iter().any(|(a, b)| swapped(a, b)) {
            all.insert(Item::Swapped(port.name));
        }
        let home = case.homes[at];
        if home != at {
            let (a, b) = (contract.ports[home].name, port.name);
            all.extend([Item::Alias(a, b), Item::Alias(b, a)]);
        }
    }
    for (a, b) in pairs(contract) {
        let is_in_blocks = |port: &Port| case.layout(port.name).map(|layout| layout.dtype.is_quantised());
        if is_in_blocks(a) == Some(false) && is_in_blocks(b) == Some(true) {
            all.insert(Item::Unlike(a.name, b.name));
        }
    }
    if let Some(tokens) = token_extent(contract) {
        all.insert(Item::Tokens(case.draft.extent(tokens)));
    }
    for (name, value) in case.constants.iter() {
        if let Constant::Integer(value) = value {
            all.insert(Item::Value(name, value));
        }
    }
    all
}

/// A wish for some of what is missing: for each port one class and one type, and one of everything else.
pub fn wish(contract: &Contract, missing: &BTreeSet<Item>, random: &mut Random) -> Wish {
    let mut wish = Wish::default();
    let mut all: Vec<&Item> = missing.iter().collect();
    for at in (1..all.len()).rev() {
        all.swap(at, random.below(at as u64 + 1) as usize);
    }
    for item in all {
        match *item {
            Item::Bound(port, bound) => wish.bound.push((port, bound)),
            Item::Type(port, dtype) => wish.dtypes.push((port, dtype)),
            Item::Class(port, dim, class) if wish.classes.iter().all(|(p, ..)| *p != port) => {
                wish.classes.push((port, dim, class));
            }
            Item::Swapped(port) if wish.classes.iter().all(|(p, ..)| *p != port) => {
                let at = contract.port(port).expect("a port of the contract");
                let dims: Vec<usize> = (2..4)
                    .filter(|dim| classes(contract, at, *dim).contains(&StrideClass::Permuted))
                    .collect();
                if !dims.is_empty() {
                    wish.classes.push((port, random.pick(&dims), StrideClass::Permuted));
                }
            }
            Item::Tokens(tokens) => wish.tokens = Some(tokens),
            Item::Value(name, value) => wish.constants.push((name, Constant::Integer(value))),
            Item::Alias(a, b) if random.below(3) == 0 => wish.alias = Some((a, b)),
            Item::Unlike(a, b) if wish.dtypes.iter().all(|(port, _)| *port != a && *port != b) => {
                for (port, in_blocks) in [(a, false), (b, true)] {
                    let at = contract.port(port).expect("a port of the contract");
                    let types = contract.ports[at].dtypes.iter().copied();
                    let types: Vec<DType> = types.filter(|dtype| dtype.is_quantised() == in_blocks).collect();
                    wish.dtypes.push((port, random.pick(&types)));
                }
            }
            _ => {}
        }
    }
    // A class needs its port.
    wish.bound.extend(wish.classes.iter().map(|(port, ..)| (*port, true)));
    wish
}

/// What a refusal is about, without its numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    Unbound(&'static str),
    Type(&'static str),
    Alignment(&'static str),
    Stride(&'static str, usize),
    Extent(&'static str, usize),
    Symbol(&'static str),
    Constant(&'static str),
    Derived(&'static str),
}

impl Refusal {
    /// The refusal of a reason.
    pub fn of(why: &Why) -> Self {
        match *why {
            Why::Unbound { port } => Refusal::Unbound(port),
            Why::DType { port, .. } => Refusal::Type(port),
            Why::Alignment { port, .. } => Refusal::Alignment(port),
            Why::Stride { port, dim, .. } => Refusal::Stride(port, dim),
            Why::Extent { port, dim, .. } => Refusal::Extent(port, dim),
            Why::Symbol { name, .. } => Refusal::Symbol(name),
            Why::Constant { want, .. } => Refusal::Constant(want.name()),
            Why::Derived { name, .. } => Refusal::Derived(name),
            ref other => panic!("a contract cannot refuse with {other:?}"),
        }
    }
}

/// Every refusal that a contract can give to operands one step outside.
pub fn refusals(contract: &Contract, subject: &Subject) -> BTreeSet<Refusal> {
    let mut all = BTreeSet::new();
    let mut named: Vec<&str> = Vec::new();
    for (at, port) in contract.ports.iter().enumerate() {
        all.insert(Refusal::Type(port.name));
        if !port.optional || contract.needs.iter().any(|(_, needed)| *needed == port.name) {
            all.insert(Refusal::Unbound(port.name));
        }
        if port.dtypes.is_empty() {
            continue;
        }
        if port.alignment > 1 {
            all.insert(Refusal::Alignment(port.name));
        }
        for dim in 0..4 {
            let steps = !classes(contract, at, dim).is_empty() && subject.exceeds_one(port.name, dim);
            if steps && port.strides[dim] != Stride::Any {
                all.insert(Refusal::Stride(port.name, dim));
            }
            match port.shape[dim] {
                Extent::Any => {}
                // The first place of a name sets it, the others can differ.
                Extent::Named(name) if !named.contains(&name) => named.push(name),
                _ => {
                    all.insert(Refusal::Extent(port.name, dim));
                }
            }
        }
    }
    let symbols = contract.symbols.iter().map(|symbol| symbol.name).filter(|name| named.contains(name));
    all.extend(symbols.filter(|name| can_break(contract, name)).map(Refusal::Symbol));
    all.extend(contract.ones.iter().map(|(name, _)| Refusal::Symbol(name)));
    all.extend(contract.attributes.iter().map(|attribute| Refusal::Constant(attribute.name())));
    all.extend(contract.derived.iter().map(|derived| Refusal::Derived(derived.name)));
    all
}

/// Whether a row length can break its constraint: whole blocks keep it.
pub fn can_break(contract: &Contract, name: &'static str) -> bool {
    let rows = contract.ports.iter().filter(|port| port.shape[0] == Extent::Named(name));
    rows.into_iter().all(|port| port.dtypes.iter().any(|dtype| !dtype.is_quantised()))
}
