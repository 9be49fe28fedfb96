//! What a test knows about a kernel besides its contract: shapes that an operation's rule ties together, and data that
//! makes sense.

use crate::coverage::Refusal;
use std::collections::BTreeMap;
use weft_core::contract::draw::{Case, Draft, Source, StrideClass, class_of};
use weft_core::contract::{Access, Contract};
use weft_core::graph::Layout;
use weft_core::kernels::{self, Kernel};
use weft_tests::Random;

/// The value of an element by its index.
pub type Values = Box<dyn FnMut([u64; 4], &mut Random) -> f64>;

/// A kernel under test.
pub struct Subject {
    pub kernel: &'static str,
    /// Sets open extents and constants that the operation's shape rule ties to others.
    pub complete: fn(&mut Draft, &mut Source<'_>),
    /// Values of ports; others get numbers from −1 to 1, or integers.
    pub values: fn(&Case, &mut Random) -> BTreeMap<&'static str, Values>,
    /// Whether some rows of a written port may stay as they were.
    pub leaves_rows: fn(&Case) -> bool,
    /// Open extents that the shape rule keeps at one.
    pub single: &'static [(&'static str, usize)],
    /// Ports whose outer extents are never equal.
    pub unequal: &'static [&'static str],
    /// Elements of integer rows that hold the bits of an f32: (port, index in the row).
    pub float_words: &'static [(&'static str, u64)],
    /// Whether rounding cannot decide what the result is; else other values are drawn. Operands are by port, packed.
    pub decisive: fn(&[Vec<u8>]) -> bool,
    /// Elements of an operand that cases must be allowed, however slow the machine: a state of wide heads is large.
    pub elements: u64,
    /// Refusals of variants that no graph shows: another port is always refused before.
    pub shadowed: &'static [Refusal],
}

impl Subject {
    /// A kernel that its contract describes whole.
    pub const fn new(kernel: &'static str) -> Self {
        Subject {
            kernel,
            complete: |_, _| {},
            values: |_, _| BTreeMap::new(),
            leaves_rows: |case| case.layout("segments").is_some(),
            single: &[],
            unequal: &[],
            float_words: &[],
            decisive: |_| true,
            elements: 0,
            shadowed: &[],
        }
    }

    /// Its contract and reference.
    pub fn reference(&self) -> &'static Kernel {
        kernels::by_stem(self.kernel).unwrap_or_else(|| panic!("no kernel `{}`", self.kernel))
    }

    /// Whether an extent is more than one in some case.
    pub fn exceeds_one(&self, port: &str, dim: usize) -> bool {
        !self.single.contains(&(port, dim))
    }
}

/// Numbers from `low` to `high`.
pub fn between(low: f64, high: f64) -> Values {
    Box::new(move |_, random| low + (high - low) * (f64::from(random.unit()) + 1.0) / 2.0)
}

/// Factors of sums that a result's rows are made of. Rows of few values could lie near zero altogether, where no relative error
/// is small: short ones, and those of a repeated operand, whose values are all equal. Their factors are positive.
pub fn factors(case: &Case, result: &str) -> Values {
    let width = case.layout(result).map_or(0, |result| result.shape[0]);
    let repeats = |layout: &Layout| (0..4).any(|dim| class_of(layout, dim) == Some(StrideClass::Broadcast));
    let few = width < 16 || case.operands.iter().flatten().any(repeats);
    if few { between(0.25, 1.0) } else { between(-1.0, 1.0) }
}

/// Integers from 0 to `limit` − 1.
pub fn below(limit: u64) -> Values {
    Box::new(move |_, random| random.below(limit) as f64)
}

/// Few integers, so that rows have ties, among other numbers and NaN.
pub fn ties() -> Values {
    Box::new(|_, random| match random.below(16) {
        0 => f64::NAN,
        1..8 => 100.0 * f64::from(random.unit()),
        _ => random.below(7) as f64 - 3.0,
    })
}

/// Values of ports by name.
pub fn values<const N: usize>(all: [(&'static str, Values); N]) -> BTreeMap<&'static str, Values> {
    all.into_iter().collect()
}

/// Whether no two elements of a port share bytes: only then can one of them hold NaN alone.
pub fn is_distinct(case: &Case, port: &str) -> bool {
    let shared = |class| matches!(class, StrideClass::Broadcast | StrideClass::Overlapping);
    case.layout(port).is_none_or(|layout| !(0..4).filter_map(|dim| class_of(&layout, dim)).any(shared))
}

/// Ports that a kernel writes.
pub fn written(contract: &Contract) -> impl Iterator<Item = usize> + '_ {
    (0..contract.ports.len()).filter(|at| contract.ports[*at].access != Access::Read)
}
