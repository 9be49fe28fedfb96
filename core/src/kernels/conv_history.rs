//! The last inputs of each segment, stored for the next convolution.
//!
//! `history_out[reach − 1 − j, c, slot]` = input j tokens before the segment's last one, older ones from the old history less
//! the newest `plane` that a segment passes over, zeros before a fresh start. Slots without a segment keep what they hold.

use super::{Call, Kernel, KernelError, segments, ssm_conv::past};
use crate::contract::{
    Contract,
    Extent::{Any, Is, Named},
    F32, I32, Port, Tolerance,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        edges: &[1, 3, 4],
        tolerance: Tolerance::EXACT,
        ..Contract::new(
            "conv_history",
            &[
                Port::read("x", F32).shape([Named("C"), Named("T"), Is(1), Is(1)]),
                Port::read("segments", I32).shape([Is(8), Any, Is(1), Is(1)]),
                Port::update("history_out", F32).shape([Any, Named("C"), Any, Is(1)]),
            ],
        )
    },
    reference,
};

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, table, history) = (call.port("x")?, call.port("segments")?, call.port("history_out")?);
    let reach = history.shape()[0];
    for segment in segments(&table, x.shape()[1], history.shape()[2])? {
        let Some(last) = u64::from(segment.count).checked_sub(1) else { continue };
        let slot = u64::from(segment.slot);
        for c in 0..x.shape()[0] {
            let old: Vec<f64> = (0..reach).map(|t| history.get([t, c, slot, 0])).collect();
            for t in 0..reach {
                let value =
                    past(&segment, last, reach - 1 - t, reach, |t| old[t as usize], |r| x.get([c, r, 0, 0]));
                history.put([t, c, slot, 0], value);
            }
        }
    }
    Ok(())
}
