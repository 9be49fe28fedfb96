//! The instructions by family: each file maps mnemonics to what runs them.

mod atomics;
mod bits;
mod carry;
mod compare;
mod convert;
mod divide;
mod dot;
mod exchange;
mod f16;
mod f32;
mod f64;
mod flow;
mod integer;
mod matrix;
mod memory;
mod mixed;
mod packed;
mod scalar;
mod scalar_wide;
mod short;
mod spec;

pub use flow::{dual, unknown};
pub use spec::{Form, Spec};

/// What a mnemonic without its encoding suffix means.
pub fn find(name: &str) -> Option<Spec> {
    const FAMILIES: [fn(&str) -> Option<Spec>; 18] = [
        scalar::find,
        scalar_wide::find,
        flow::find,
        f32::find,
        integer::find,
        bits::find,
        compare::find,
        carry::find,
        convert::find,
        f16::find,
        packed::find,
        mixed::find,
        short::find,
        f64::find,
        divide::find,
        dot::find,
        exchange::find,
        matrix::find,
    ];
    FAMILIES
        .iter()
        .find_map(|family| family(name))
        .or_else(|| memory::find(name))
        .or_else(|| atomics::find(name))
}
