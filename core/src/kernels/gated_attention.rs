//! Attention whose result is gated before it is stored.
//!
//! `out = attention·act(gate)`, with attention as `flash_attention` computes it. The gate may be a slice of the rows that
//! hold queries and gates.

use super::{Call, Kernel, KernelError, flash_attention, swiglu};
use crate::contract::{Absent, Attribute, Contract, Extent::Named, F32, Port};

/// The kernel. `act` is the gate's function: 0 silu, 1 sigmoid.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[Attribute::Float("scale"), Attribute::Choice("act", &[0, 1])],
        absent: &[Absent { backend: "cpu", reason: "a launch costs little here, and the parts are tuned" }],
        kernel: "gated_attention",
        ports: PORTS,
        ..flash_attention::KERNEL.contract
    },
    reference,
};

/// Those of `flash_attention`, and the gate.
const PORTS: &[Port] = &const {
    let attention = flash_attention::KERNEL.contract.ports;
    let mut all = [Port::read("gate", F32).shape([Named("E"), Named("H"), Named("T"), Named("S")]); 8];
    let mut i = 0;
    while i < attention.len() {
        all[i] = attention[i];
        i += 1;
    }
    all
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let gate = call.port("gate")?;
    let act = call.constants.u32("act")?;
    flash_attention::attend(call, |outer, row| {
        row.iter_mut().zip(gate.row(outer)).for_each(|(v, g)| *v *= swiglu::gated(act, g));
    })
}
