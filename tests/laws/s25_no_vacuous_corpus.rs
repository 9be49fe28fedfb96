//! S25: the fixtures reach every rule and every kind of layout that contracts tell apart.

use crate::corpus::plans;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::contract::{Contract, Stride};
use weft_core::driver::Options;
use weft_core::graph::Layout;
use weft_core::kernels;
use weft_core::rules::{FUSED, Rule};
use weft_tests::devices;
use weft_tests::graphs::models::{MODELS, described, graph, ubatch};
use weft_tests::graphs::plan_for;

#[test]
fn every_rule_fires_in_the_fixtures() {
    let mut fired: BTreeMap<&str, usize> = BTreeMap::new();
    for plan in plans() {
        plan.dispatches.iter().for_each(|d| *fired.entry(d.rule).or_default() += 1);
    }
    for rule in FUSED {
        let times = fired.get(rule.name).copied().unwrap_or(0);
        assert!(times >= 10, "{} fired {times} times: {fired:?}", rule.name);
    }
}

#[test]
fn every_rule_but_those_for_imported_graphs_fires_in_some_model() {
    // Weft's own models take the larger rule; these are for graphs from elsewhere, and `mix_streams` and `expert_sum` are for
    // devices and numbers of tokens without that larger one.
    let foreign =
        ["gdn_core_in_place", "gdn_core", "gated_norm", "mix_streams", "expert_sum", "mul_mat_gated"];
    assert_eq!(never(devices::complete()), foreign);
}

#[test]
fn on_the_cpu_no_rule_fires_whose_kernel_is_absent_there() {
    let absent = |rule: &&&Rule| {
        let kernel = kernels::by_stem(rule.kernel).expect("a kernel");
        kernel.contract.absent.iter().any(|a| a.backend == "cpu")
    };
    let never = never(devices::cpu(&Default::default()));
    let foreign = ["gdn_core_in_place", "gdn_core", "gated_norm"];
    let (expected, absent): (Vec<&str>, Vec<&str>) = (
        FUSED.iter().filter(|rule| absent(rule) || foreign.contains(&rule.name)).map(|r| r.name).collect(),
        FUSED.iter().filter(absent).map(|r| r.name).collect(),
    );
    assert_eq!(never, expected);
    let want = [
        "gated_attention",
        "pool_rows",
        "norm_rope_rows",
        "expert_sum_shared_norm",
        "expert_sum_norm",
        "mul_mat_mix",
        "mul_mat_id_swiglu",
        "mul_mat_swiglu",
        "mul_mat_gated",
        "mul_mats",
    ];
    assert_eq!(absent, want);
}

/// Rules that fire in no model on a device.
fn never(device: Arc<dyn Backend>) -> Vec<&'static str> {
    let device = [device];
    let mut fired = BTreeSet::new();
    for (arch, size) in MODELS {
        let plan =
            plan_for(&graph(&described(arch, size), &ubatch(7)), &device, &Options::default()).unwrap();
        fired.extend(plan.dispatches.iter().map(|d| d.rule));
    }
    FUSED.iter().map(|r| r.name).filter(|name| !fired.contains(name)).collect()
}

/// What contracts tell apart about a layout.
fn classes(layout: &Layout) -> Vec<&'static str> {
    let outer = || (1..4).filter(|d| layout.shape[*d] > 1);
    let mut all = Vec::new();
    if outer().next().is_none() {
        return all;
    }
    if layout.is_packed() {
        all.push("packed");
    }
    if outer().any(|d| layout.strides[d] == 0) {
        all.push("repeated");
    }
    let ascending = outer().map(|d| layout.strides[d]).collect::<Vec<_>>();
    if !ascending.is_sorted() || outer().any(|d| layout.strides[d] < layout.strides[0]) {
        all.push("turned");
    } else if !layout.is_packed() && outer().all(|d| layout.strides[d] >= layout.packed_stride(d)) {
        all.push("rows apart");
    }
    if layout.offset > 0 {
        all.push("behind an offset");
    }
    all
}

#[test]
fn every_kind_of_layout_is_built_for_the_read_ports_of_fused_kernels() {
    let mut built: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for plan in plans() {
        for dispatch in plan.dispatches.iter().filter(|d| d.rule != "single") {
            for binding in dispatch.bindings.iter().flatten().filter(|b| !b.access.writes()) {
                let entry = built.entry((dispatch.kernel, binding.port)).or_default();
                entry.extend(classes(&binding.tensor.layout));
            }
        }
    }
    let mut all = BTreeSet::new();
    for ((kernel, port), classes) in &built {
        all.extend(classes.iter().copied());
        // A port of one row, or one of integers, has no layouts to tell apart.
        let varied = classes.is_empty() || classes.len() > 1 || ["rows", "segments", "cells"].contains(port);
        assert!(varied, "{kernel}: {port} was only ever {classes:?}");
    }
    assert_eq!(all, BTreeSet::from(["behind an offset", "packed", "repeated", "rows apart", "turned"]));
}

/// Constraints by name, wherever a contract that is offered has one.
fn constraints(contract: &Contract) -> BTreeSet<&'static str> {
    let name = |stride: &Stride| match stride {
        Stride::Packed => "packed",
        Stride::AtLeastPacked => "at least packed",
        Stride::MultipleOf(_) => "multiple",
        Stride::Between(..) => "between",
        Stride::Any => "any",
    };
    contract.ports.iter().flat_map(|port| port.strides.iter().map(name)).collect()
}

#[test]
fn every_stride_class_of_the_offered_contracts_is_met_by_the_fixtures() {
    let device = devices::complete();
    let offered: BTreeSet<&str> =
        device.offers().iter().flat_map(|offer| constraints(offer.contract)).collect();
    let used: BTreeSet<&str> = plans()
        .iter()
        .flat_map(|plan| plan.dispatches.iter())
        .filter_map(|d| {
            device.offers().iter().find(|o| o.contract.kernel == d.kernel && o.variant == d.variant)
        })
        .flat_map(|offer| constraints(offer.contract))
        .collect();
    assert_eq!(used, offered);
}

#[test]
fn every_kernel_of_the_graphs_here_is_known_by_name() {
    for plan in plans() {
        assert!(plan.dispatches.iter().all(|d| kernels::by_stem(d.kernel).is_some()));
    }
}
