//! Every kernel, in every variant that a backend offers, against its reference: layouts drawn from the contract, and one
//! step outside it.

mod beside;
mod check;
mod claimable;
mod coverage;
mod data;
mod dispatch;
mod forms;
mod graphs;
mod indices;
mod machines;
mod planner;
mod segments;
mod sensitivity;
mod slices;
mod subject;
mod weights;
mod windows;

mod add_rms_norm;
mod argsort;
mod binary;
mod block_attention;
mod block_scores;
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
mod mul_mats;
mod norm_rope;
mod norm_rope_rows;
mod pool_rows;
mod repeat;
mod rms_norm;
mod rope;
mod router;
mod sample;
mod scale;
mod set_rows;
mod softmax;
mod solve_tri;
mod ssm_conv;
mod sum_rows;
mod swiglu;
mod top_k;
mod tri;
mod unary;

use std::collections::BTreeSet;
use subject::Subject;
use weft_core::kernels;

static SUBJECTS: &[&Subject] = &[
    &add_rms_norm::SUBJECT,
    &argsort::SUBJECT,
    &binary::SUBJECT,
    &block_attention::SUBJECT,
    &block_scores::SUBJECT,
    &clamp::SUBJECT,
    &combine_norm::SUBJECT,
    &concat::SUBJECT,
    &conv_history::SUBJECT,
    &copy::SUBJECT,
    &cumsum::SUBJECT,
    &diag::SUBJECT,
    &expert_sum::SUBJECT,
    &expert_sum_norm::SUBJECT,
    &fill::SUBJECT,
    &finite::SUBJECT,
    &flash_attention::SUBJECT,
    &gated_attention::SUBJECT,
    &gated_delta_net::SUBJECT,
    &gated_norm::SUBJECT,
    &gdn_core::SUBJECT,
    &gdn_layer::SUBJECT,
    &get_rows::SUBJECT,
    &l2_norm::SUBJECT,
    &mix_streams::SUBJECT,
    &mul_mat::SUBJECT,
    &mul_mat_id::SUBJECT,
    &mul_mat_id_swiglu::SUBJECT,
    &mul_mat_mix::SUBJECT,
    &mul_mat_swiglu::SUBJECT,
    &mul_mats::SUBJECT,
    &norm_rope::SUBJECT,
    &norm_rope_rows::SUBJECT,
    &pool_rows::SUBJECT,
    &repeat::SUBJECT,
    &rms_norm::SUBJECT,
    &rope::SUBJECT,
    &router::SUBJECT,
    &sample::SUBJECT,
    &scale::SUBJECT,
    &set_rows::SUBJECT,
    &softmax::SUBJECT,
    &solve_tri::SUBJECT,
    &ssm_conv::SUBJECT,
    &sum_rows::SUBJECT,
    &swiglu::SUBJECT,
    &top_k::SUBJECT,
    &tri::SUBJECT,
    &unary::SUBJECT,
];

#[test]
fn every_kernel_is_tested() {
    let tested: BTreeSet<&str> = SUBJECTS.iter().map(|subject| subject.kernel).collect();
    let kernels: BTreeSet<&str> = kernels::ALL.iter().map(|kernel| kernel.contract.kernel).collect();
    assert_eq!(tested, kernels);
}

#[test]
fn every_variant_belongs_to_a_kernel() {
    for machine in machines::backends() {
        for offer in machine.backend.offers() {
            assert!(
                kernels::by_stem(offer.contract.kernel).is_some(),
                "{} {}",
                machine.name,
                offer.contract.kernel
            );
        }
    }
}
