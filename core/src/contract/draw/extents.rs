//! Extents of a draft: named ones within their constraints, then the open ones.

use super::{Draft, Source, StrideClass, Wish};
use crate::contract::{Allowed, Contract, Extent};

/// Lengths of rows: around the widths of vector registers.
const ROWS: &[u64] = &[1, 2, 3, 5, 7, 8, 15, 16, 17, 24, 31, 33, 48, 64, 65, 70];
/// Lengths of rows now and then: around the pieces that rows are shared out in.
const LONG_ROWS: &[u64] = &[130, 260, 520, 1030];

/// The named extent that counts tokens: `T`, or the rows of kernels that have no tokens but change path by their number.
pub fn token_extent(contract: &Contract) -> Option<&'static str> {
    let used = |name: &str| names(contract).contains(&name);
    if used("T") {
        return Some("T");
    }
    (!contract.edges.is_empty() && used("N1")).then_some("N1")
}

/// Every named extent, in order of appearance.
fn names(contract: &Contract) -> Vec<&'static str> {
    let mut all = Vec::new();
    for extent in contract.ports.iter().flat_map(|port| port.shape) {
        if let Extent::Named(name) = extent
            && !all.contains(&name)
        {
            all.push(name);
        }
    }
    all
}

/// The extents of a port. Open ones are adapted to names that changed since they were drawn.
pub(super) fn shape(draft: &Draft, port: usize) -> [u64; 4] {
    std::array::from_fn(|dim| {
        let open = draft.open[port][dim];
        match draft.contract.ports[port].shape[dim] {
            Extent::Any => open,
            Extent::Is(n) => n,
            Extent::Named(name) => draft.extent(name),
            Extent::Repeats(name) => gcd(open.max(1), draft.extent(name)),
            Extent::AtLeast(name) => open.max(draft.extent(name)),
            Extent::Product(a, b) => draft.extent(a).saturating_mul(draft.extent(b)),
        }
    })
}

/// Whether a value of a named extent is within a constraint.
pub(super) fn fits(allowed: Allowed, value: u64, draft: &Draft) -> bool {
    match allowed {
        Allowed::Between(low, high) => low <= value && value <= high,
        Allowed::MultipleOf(n, most) => value > 0 && value <= most && value.is_multiple_of(n),
        Allowed::OneOf(values) => values.contains(&value),
        Allowed::DivisorOf(other) => value > 0 && draft.extent(other).is_multiple_of(value),
    }
}

/// Whether an extent of a port may be more than one.
pub(super) fn exceeds_one(contract: &Contract, extent: Extent) -> bool {
    let name_exceeds = |name: &str| {
        let always = |port: &str| contract.ports.iter().any(|p| p.name == port && !p.optional);
        let free = !contract.ones.iter().any(|(one, port)| *one == name && always(port));
        let symbols = contract.symbols.iter().filter(|symbol| symbol.name == name);
        free && symbols.map(|symbol| symbol.allowed).all(|allowed| match allowed {
            Allowed::Between(_, high) | Allowed::MultipleOf(_, high) => high > 1,
            Allowed::OneOf(values) => values.iter().any(|v| *v > 1),
            Allowed::DivisorOf(other) => exceeds_one(contract, Extent::Named(other)),
        })
    };
    match extent {
        Extent::Any | Extent::AtLeast(_) => true,
        Extent::Is(n) => n > 1,
        Extent::Named(name) | Extent::Repeats(name) => name_exceeds(name),
        Extent::Product(a, b) => name_exceeds(a) || name_exceeds(b),
    }
}

/// Draws every extent.
pub(super) fn draw(draft: &mut Draft, wish: &Wish, random: &mut Source<'_>) {
    let contract = draft.contract;
    let wide = wide(contract, wish);
    // Equal extents now and then: strides that are swapped then have equal products.
    let common = if random.one_in(4) { Some(2 + random.below(3)) } else { None };
    let divides = |name: &str| {
        let is = |allowed| matches!(allowed, Allowed::DivisorOf(_));
        contract.symbols.iter().any(|symbol| symbol.name == name && is(symbol.allowed))
    };
    let (later, first): (Vec<_>, Vec<_>) = names(contract).into_iter().partition(|name| divides(name));
    for name in first.into_iter().chain(later) {
        let value = named(draft, name, (wish.tokens, common), wide.contains(&name), random);
        draft.names.push((name, value));
    }
    for (at, port) in contract.ports.iter().enumerate() {
        for dim in 0..4 {
            let least = 1 + u64::from(wanted_wide(wish, port.name, dim));
            draft.open[at][dim] = match port.shape[dim] {
                Extent::Any if dim == 0 => row(draft.dtypes[at].block_values(), common, random).max(least),
                Extent::Any => common.unwrap_or_else(|| 1 + random.below(4)).max(least),
                Extent::Repeats(name) => {
                    let whole = draft.extent(name);
                    if dim == 0 && draft.dtypes[at].is_quantised() {
                        whole
                    } else {
                        divisor(whole, least, random)
                    }
                }
                Extent::AtLeast(name) => draft.extent(name) + random.below(3),
                Extent::Is(_) | Extent::Named(_) | Extent::Product(..) => 1,
            };
        }
    }
}

/// Whether a wish needs this dimension, or one that it lies on, to be more than one.
fn wanted_wide(wish: &Wish, port: &str, dim: usize) -> bool {
    wish.classes.iter().any(|(name, d, class)| {
        let inside = matches!(class, StrideClass::Permuted | StrideClass::Overlapping);
        *name == port && (*d == dim || (inside && *d == dim + 1))
    })
}

/// Names that a wish needs to be more than one.
fn wide(contract: &Contract, wish: &Wish) -> Vec<&'static str> {
    let mut all = Vec::new();
    for port in contract.ports {
        for dim in (0..4).filter(|dim| wanted_wide(wish, port.name, *dim)) {
            match port.shape[dim] {
                Extent::Named(name) | Extent::Repeats(name) => all.push(name),
                Extent::Product(a, b) => all.extend([a, b]),
                Extent::Any | Extent::Is(_) | Extent::AtLeast(_) => {}
            }
        }
    }
    all
}

/// A value of a named extent that all its constraints allow, if a few dozen attempts find one.
fn named(
    draft: &Draft,
    name: &'static str,
    (tokens, common): (Option<u64>, Option<u64>),
    wide: bool,
    random: &mut Source<'_>,
) -> u64 {
    let contract = draft.contract;
    if contract.ones.iter().any(|(one, port)| *one == name && draft.is_bound(port)) {
        return 1;
    }
    let constraints: Vec<Allowed> =
        contract.symbols.iter().filter(|symbol| symbol.name == name).map(|symbol| symbol.allowed).collect();
    let at_row = |port: usize| contract.ports[port].shape[0] == Extent::Named(name) && draft.bound[port];
    let rows: Vec<usize> = (0..contract.ports.len()).filter(|port| at_row(*port)).collect();
    let blocks = rows.iter().fold(1, |n, port| lcm(n, draft.dtypes[*port].block_values()));
    let is_token = token_extent(contract) == Some(name);
    let mut value = blocks;
    for _ in 0..64 {
        value = match random.pick(&constraints) {
            Some(Allowed::Between(low, high)) => low + random.below((high - low).saturating_add(1).min(8)),
            // Now and then a row that no workgroup and no unrolled loop takes in one step.
            Some(Allowed::MultipleOf(n, _)) if random.one_in(8) => n * (1 + random.below((1200 / n).max(4))),
            Some(Allowed::MultipleOf(n, _)) => n * (1 + random.below(4)),
            Some(Allowed::OneOf(values)) => random.pick(values).unwrap_or(1),
            Some(Allowed::DivisorOf(other)) => divisor(draft.extent(other), 1, random),
            None if is_token => tokens.unwrap_or_else(|| token(contract, random)),
            None if random.one_in(32) => 0,
            None if rows.is_empty() => common.unwrap_or_else(|| 1 + random.below(4)),
            None => row(blocks, common, random),
        };
        value = value.next_multiple_of(blocks);
        let legal = constraints.iter().all(|allowed| fits(*allowed, value, draft));
        if legal && (value > 1 || !wide || (is_token && tokens.is_some())) {
            return value;
        }
    }
    value
}

/// A token count: at an edge, beside one, or any small one.
fn token(contract: &Contract, random: &mut Source<'_>) -> u64 {
    match random.pick(contract.edges) {
        Some(edge) if random.one_in(3) => (edge + random.below(3)).saturating_sub(1),
        _ => 1 + random.below(9),
    }
}

/// The length of a row of whole blocks.
fn row(blocks: u64, common: Option<u64>, random: &mut Source<'_>) -> u64 {
    let values = if random.one_in(16) { LONG_ROWS } else { ROWS };
    match common {
        _ if blocks > 1 => blocks * (1 + random.below(3)),
        Some(common) if random.one_in(2) => common,
        _ => random.pick(values).unwrap_or(1),
    }
}

/// A divisor, at least `least` where the number itself is.
fn divisor(whole: u64, least: u64, random: &mut Source<'_>) -> u64 {
    if whole == 0 {
        return 1;
    }
    let all: Vec<u64> = (1..=whole).filter(|d| *d >= least.min(whole) && whole.is_multiple_of(*d)).collect();
    match random.below(3) {
        0 => all.first().copied().unwrap_or(1),
        1 => whole,
        _ => random.pick(&all).unwrap_or(whole),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The least common multiple of two numbers that are not zero.
pub(super) fn lcm(a: u64, b: u64) -> u64 {
    a / gcd(a, b).max(1) * b
}
