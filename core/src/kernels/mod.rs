//! Kernels: a contract and a reference each, one file a kernel. [`ALL`] is the only list.

mod add_rms_norm;
mod argsort;
pub mod binary;
mod block_attention;
mod block_scores;
mod call;
mod clamp;
mod combine_norm;
mod concat;
mod conv_history;
mod copy;
mod cumsum;
mod diag;
mod expert_sum;
mod expert_sum_norm;
mod fill;
mod finite;
mod flash_attention;
mod gated_attention;
mod gated_delta_net;
mod gated_norm;
mod gdn_core;
mod gdn_layer;
mod get_rows;
mod l2_norm;
mod mix_streams;
mod mul_mat;
mod mul_mat_id;
mod mul_mat_id_swiglu;
mod mul_mat_mix;
mod mul_mat_swiglu;
pub(crate) mod mul_mats;
mod norm_rope;
mod norm_rope_rows;
mod pool_rows;
mod repeat;
mod rms_norm;
pub mod rope;
mod router;
pub mod sample;
mod scale;
mod set_rows;
mod softmax;
mod solve_tri;
mod ssm_conv;
mod sum_rows;
mod swiglu;
mod top_k;
mod tri;
pub mod unary;

pub use call::{Call, KernelError, Operand, Place};

use crate::backend::Offer;
use crate::contract::Contract;
use crate::segment::{SEGMENT_WORDS, Segment};

/// A kernel: what it accepts and what it computes.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// What it accepts.
    pub contract: Contract,
    /// The slow, obvious implementation: plain loops, f64 accumulation.
    pub reference: fn(&Call<'_>) -> Result<(), KernelError>,
}

/// Every kernel.
pub static ALL: [&Kernel; 49] = [
    &add_rms_norm::KERNEL,
    &argsort::KERNEL,
    &binary::KERNEL,
    &block_attention::KERNEL,
    &block_scores::KERNEL,
    &clamp::KERNEL,
    &combine_norm::KERNEL,
    &concat::KERNEL,
    &conv_history::KERNEL,
    &copy::KERNEL,
    &cumsum::KERNEL,
    &diag::KERNEL,
    &expert_sum::KERNEL,
    &expert_sum_norm::KERNEL,
    &fill::KERNEL,
    &finite::KERNEL,
    &flash_attention::KERNEL,
    &gated_attention::KERNEL,
    &gated_delta_net::KERNEL,
    &gated_norm::KERNEL,
    &gdn_core::KERNEL,
    &gdn_layer::KERNEL,
    &get_rows::KERNEL,
    &l2_norm::KERNEL,
    &mix_streams::KERNEL,
    &mul_mat::KERNEL,
    &mul_mat_id::KERNEL,
    &mul_mat_id_swiglu::KERNEL,
    &mul_mat_mix::KERNEL,
    &mul_mat_swiglu::KERNEL,
    &mul_mats::KERNEL,
    &norm_rope::KERNEL,
    &norm_rope_rows::KERNEL,
    &pool_rows::KERNEL,
    &repeat::KERNEL,
    &rms_norm::KERNEL,
    &rope::KERNEL,
    &router::KERNEL,
    &sample::KERNEL,
    &scale::KERNEL,
    &set_rows::KERNEL,
    &softmax::KERNEL,
    &solve_tri::KERNEL,
    &ssm_conv::KERNEL,
    &sum_rows::KERNEL,
    &swiglu::KERNEL,
    &top_k::KERNEL,
    &tri::KERNEL,
    &unary::KERNEL,
];

/// The kernel of a stem.
pub fn by_stem(stem: &str) -> Option<&'static Kernel> {
    ALL.iter().find(|kernel| kernel.contract.kernel == stem).copied()
}

/// The segments of a table, each checked against the rows of the ubatch and the slots of a pool.
fn segments(table: &Operand<'_>, rows: u64, slots: u64) -> Result<Vec<Segment>, KernelError> {
    let mut all = Vec::new();
    for s in 0..table.shape()[1] {
        let words = std::array::from_fn::<i32, SEGMENT_WORDS, _>(|w| table.index([w as u64, s, 0, 0]) as i32);
        let segment = Segment::from_words(words);
        if segment.count == 0 {
            continue;
        }
        let end = u64::from(segment.row) + u64::from(segment.count);
        if end > rows {
            return Err(KernelError::Index { port: table.name, got: end as i64, limit: rows });
        }
        if u64::from(segment.slot) >= slots {
            return Err(KernelError::Index { port: table.name, got: i64::from(segment.slot), limit: slots });
        }
        all.push(segment);
    }
    Ok(all)
}

/// The reference of every kernel as an offer, to plan what [`interpret`](crate::interpret::interpret) runs.
pub fn references() -> Vec<Offer> {
    let offer =
        |kernel: &'static Kernel| Offer { contract: &kernel.contract, variant: "reference", exact: true };
    ALL.iter().copied().map(offer).collect()
}
