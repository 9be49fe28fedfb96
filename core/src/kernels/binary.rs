//! A function of two values, the second tensor repeated to the first's shape.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Attribute, Contract,
    Extent::{Named, Repeats},
    FLOATS, Port,
};
use crate::graph::BinaryKind;

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Choice("kind", &[0, 1, 2, 3])],
        may_alias: &[("a", "out")],
        ..Contract::new(
            "binary",
            &[
                Port::read("a", FLOATS).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
                Port::read("b", FLOATS).shape([Repeats("N0"), Repeats("N1"), Repeats("N2"), Repeats("N3")]),
                Port::write("out", FLOATS).shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]),
            ],
        )
    },
    reference,
};

/// All kinds, in the order of their discriminants.
pub const KINDS: [BinaryKind; 4] = [BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul, BinaryKind::Div];

/// The function of a kind.
pub fn value(kind: BinaryKind, a: f64, b: f64) -> f64 {
    match kind {
        BinaryKind::Add => a + b,
        BinaryKind::Sub => a - b,
        BinaryKind::Mul => a * b,
        BinaryKind::Div => a / b,
    }
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (a, b, out) = (call.port("a")?, call.port("b")?, call.port("out")?);
    let kind = KINDS[call.constants.u32("kind")?.min(3) as usize];
    out.rows(|outer| {
        let [j1, j2, j3] = b.repeated(outer);
        for i0 in 0..out.shape()[0] {
            let at = [i0, outer[0], outer[1], outer[2]];
            out.put(at, value(kind, a.get(at), b.get([i0 % b.shape()[0], j1, j2, j3])));
        }
        Ok(())
    })
}
