//! How many launches a decoded token takes on a device that has every kernel.

use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::plan::Plan;
use weft_tests::devices;
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::plan_for;

/// A decode step of a dense hybrid.
fn decode(size: &str, device: Arc<dyn Backend>) -> Plan {
    decode_of("qwen35", size, device)
}

/// A decode step.
fn decode_of(arch: &str, size: &str, device: Arc<dyn Backend>) -> Plan {
    plan_for(&graph(&described(arch, size), &ubatch(1)), &[device], &Options::default()).unwrap()
}

/// Launches as devices count them: attention is split over cells and joined; a delta net is its convolution, its state and
/// its norm.
fn launches(plan: &Plan) -> usize {
    let of = |kernel: &str| match kernel {
        "gdn_layer" => 3,
        "flash_attention" | "gated_attention" => 2,
        _ => 1,
    };
    plan.dispatches.iter().map(|d| of(d.kernel)).sum()
}

#[test]
fn a_token_of_a_hybrid_of_32_layers_takes_at_most_350_launches() {
    let plan = decode("4b", devices::complete());
    let of = |rule: &str| plan.dispatches.iter().filter(|d| d.rule == rule).count();
    let (nets, attentions) = (24, 8);
    let layers = nets + attentions;
    assert_eq!((of("gdn_layer"), of("gated_attention")), (nets, attentions));
    assert_eq!((of("norm_rope"), of("norm_rope_rows")), (attentions, attentions));
    assert_eq!((of("mul_mats"), of("mul_mat_swiglu")), (layers, layers));
    assert_eq!((of("rms_norm_weight"), of("add_rms_norm")), (1, 2 * layers));
    // Of each layer its output projection and that of its network, of attention the values' way into the cache; the
    // embedding and the head.
    assert_eq!(of("single"), 2 * layers + attentions + 2);
    assert_eq!(launches(&plan), 9 * nets + 11 * attentions + 3);
    assert!(launches(&plan) <= 350, "{}", launches(&plan));
}

#[test]
fn a_token_of_the_mixture_of_40_layers_takes_at_most_560_launches() {
    let plan = decode_of("qwen35moe", "35b-a3b", devices::complete());
    let of = |rule: &str| plan.dispatches.iter().filter(|d| d.rule == rule).count();
    let (nets, attentions) = (30, 10);
    let layers = nets + attentions;
    assert_eq!((of("gdn_layer"), of("gated_attention")), (nets, attentions));
    assert_eq!((of("router"), of("mul_mat_id_swiglu")), (layers, layers));
    // What experts give is added to the residual where the norm behind it is computed.
    assert_eq!((of("expert_sum_shared_norm"), of("add_rms_norm")), (layers, layers));
    // The router's logits share a launch with the gate of the shared expert.
    assert_eq!((of("mul_mats"), of("mul_mat_swiglu")), (2 * layers, layers));
    // Of each layer its output projection, those of its experts and of the shared one, of attention the values' way into
    // the cache; the embedding and the head.
    assert_eq!(of("single"), 3 * layers + attentions + 2);
    assert_eq!(launches(&plan), 13 * nets + 15 * attentions + 3);
    assert!(launches(&plan) <= 560, "{}", launches(&plan));
}

#[test]
fn without_the_kernels_that_the_cpu_leaves_to_others_it_takes_many_more() {
    let (all, cpu) = (decode("4b", devices::complete()), decode("4b", devices::cpu(&Default::default())));
    assert!(launches(&cpu) > launches(&all) + 150, "{} and {}", launches(&cpu), launches(&all));
}

#[test]
fn fused_launches_are_priced_as_their_parts() {
    let (fused, plain) = (decode("4b", devices::complete()), decode("4b", devices::cpu(&Default::default())));
    let flops = |plan: &Plan, kernels: &[&str]| -> u64 {
        plan.dispatches.iter().filter(|d| kernels.contains(&d.kernel)).map(|d| d.cost.flops).sum()
    };
    let products = ["mul_mat", "mul_mats", "mul_mat_swiglu"];
    assert_eq!(flops(&fused, &products), flops(&plain, &["mul_mat"]));
    assert_eq!(flops(&fused, &["gated_attention"]), flops(&plain, &["flash_attention"]));
    let bytes = |plan: &Plan| -> u64 { plan.dispatches.iter().map(|d| d.cost.bytes).sum() };
    assert!(bytes(&fused) < bytes(&plain), "what lies between two parts is not moved");
    let stored = fused.dispatches.iter().filter(|d| d.kernel == "norm_rope_rows");
    for (at, bytes) in stored.map(|d| d.cost.bytes).enumerate() {
        assert!(bytes < 16 << 10, "{at}: {bytes} bytes, though one row of the cache is written");
    }
}
