//! Fusion rules: what a subgraph looks like, and nothing else. Order is that of [`FUSED`], larger subgraphs first.

mod add_rms_norm;
mod combine_norm;
mod expert_sum;
mod expert_sum_norm;
mod expert_sum_shared;
mod expert_sum_shared_norm;
mod gated_attention;
mod gated_norm;
mod gdn_core;
mod gdn_core_in_place;
mod gdn_layer;
mod links;
mod mix_streams;
mod mul_mat_gated;
mod mul_mat_id_swiglu;
mod mul_mat_mix;
mod mul_mat_swiglu;
mod mul_mats;
mod norm_rope;
mod norm_rope_rows;
mod pool_rows;
mod rms_norm_weight;
mod router;
mod single;
mod swiglu;

pub use single::constants;

use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;

/// A pattern rooted at one operation.
pub struct Rule {
    /// Its name, unique.
    pub name: &'static str,
    /// The operation at which it is offered.
    pub root: OpKind,
    /// The kernel that it proposes.
    pub kernel: &'static str,
    /// Looks at the graph around a root and proposes a claim.
    pub find: fn(&Site<'_, '_>) -> Result<Claim, Decline>,
}

/// Rules that cover several nodes.
pub static FUSED: &[&Rule] = &[
    &gdn_layer::RULE,
    &gdn_core_in_place::RULE,
    &gdn_core::RULE,
    &gated_attention::RULE,
    &gated_norm::RULE,
    &pool_rows::RULE,
    &norm_rope_rows::RULE,
    &norm_rope::RULE,
    &expert_sum_shared_norm::RULE,
    &expert_sum_norm::RULE,
    &combine_norm::RULE,
    &add_rms_norm::RULE,
    &rms_norm_weight::RULE,
    &router::RULE,
    &mul_mat_mix::RULE,
    &mix_streams::RULE,
    &expert_sum_shared::RULE,
    &expert_sum::RULE,
    &mul_mat_id_swiglu::RULE,
    &mul_mat_swiglu::RULE,
    &mul_mat_gated::RULE,
    &swiglu::RULE,
    &mul_mats::RULE,
];

/// One node by the kernel of its operation. Never looks at consumers, and cannot be switched off.
pub static SINGLE: Rule = single::RULE;
