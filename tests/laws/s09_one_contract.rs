//! S9: one contract feeds the guard, the constants, the kernel and the tests; rules hold no guard of their own.

use crate::near_layouts;
use weft_core::backend::Offer;
use weft_core::contract::{Constants, Contract, Quantity};
use weft_core::driver::Why;
use weft_core::graph::Layout;
use weft_core::plan::{Dispatch, Plan};
use weft_tests::graphs::misses;
use weft_tests::{devices, sources};

/// The dispatch of each rule on its fixture, on the tuned CPU.
fn dispatches() -> Vec<(Plan, usize)> {
    let device = [devices::complete()];
    let index = |plan: &Plan, rule: &str| plan.dispatches.iter().position(|d| d.rule == rule).unwrap();
    misses::all()
        .iter()
        .map(|firing| {
            let plan = firing.fixture.plan(&device, &Default::default()).unwrap();
            let at = index(&plan, firing.rule.name);
            (plan, at)
        })
        .collect()
}

fn offers(kernel: &str) -> Vec<Offer> {
    let device = devices::complete();
    device.offers().iter().filter(|offer| offer.contract.kernel == kernel).copied().collect()
}

fn layouts(dispatch: &Dispatch) -> Vec<Option<Layout>> {
    dispatch.bindings.iter().map(|b| b.map(|b| b.tensor.layout)).collect()
}

/// Whether a refusal points to the port that was changed, to one that shares a named extent with it, or to that extent.
fn names(why: &Why, port: &str) -> bool {
    match why {
        Why::Alignment { port: named, .. } | Why::Stride { port: named, .. } => *named == port,
        Why::DType { port: named, .. } => *named == port,
        Why::Extent { .. } | Why::Symbol { .. } => true,
        _ => false,
    }
}

#[test]
fn a_layout_one_step_off_is_refused_by_the_field_that_is_off() {
    let mut refused = 0;
    for (plan, index) in dispatches() {
        let dispatch = &plan.dispatches[index];
        for offer in offers(dispatch.kernel) {
            let good = layouts(dispatch);
            let constants = dispatch.constants.clone();
            if offer.variant == dispatch.variant {
                assert!(offer.contract.check(&good, &constants).is_ok(), "{}", dispatch.rule);
            }
            for (at, port) in offer.contract.ports.iter().enumerate() {
                let Some(layout) = good[at] else { continue };
                for (what, layout) in near_layouts::layouts(&layout) {
                    let mut operands = good.clone();
                    operands[at] = Some(layout);
                    if let Err(why) = offer.contract.check(&operands, &constants) {
                        refused += 1;
                        let named =
                            names(&why, port.name) || offer.contract.check(&good, &constants).is_err();
                        assert!(named, "{} of {}/{}: {why:?}", what, dispatch.kernel, offer.variant);
                    }
                }
            }
        }
    }
    assert!(refused > 500, "{refused} neighbours were refused");
}

#[test]
fn constants_of_a_dispatch_are_those_that_its_contract_derives() {
    let mut derived = 0;
    for (plan, index) in dispatches() {
        let dispatch = &plan.dispatches[index];
        let offer = offers(dispatch.kernel).into_iter().find(|o| o.variant == dispatch.variant).unwrap();
        let mut again = Constants::new();
        offer.contract.derive(&layouts(dispatch), &mut again).unwrap();
        for (name, value) in again.iter() {
            assert_eq!(dispatch.constants.get(name), Some(value), "{}: {name}", dispatch.rule);
            derived += 1;
        }
        strides_are_counted_in_elements(offer.contract, dispatch);
    }
    assert!(derived > 0);
}

fn strides_are_counted_in_elements(contract: &Contract, dispatch: &Dispatch) {
    for constant in contract.derived {
        let Quantity::Stride(dim) = constant.quantity else { continue };
        let layout = layouts(dispatch)[contract.port(constant.port).unwrap()].unwrap();
        let value = dispatch.constants.u32(constant.name).unwrap();
        assert_eq!(u64::from(value) * layout.dtype.block_bytes(), layout.strides[dim], "{}", constant.name);
    }
}

#[test]
fn rule_files_hold_no_limits_types_or_alignments() {
    for file in sources::under("core/src/rules").into_iter().filter(|f| !f.name.ends_with("single.rs")) {
        for word in
            ["is_multiple_of", ">=", "<=", "DType", "align", "% ", "MultipleOf", "Tolerance", "backend"]
        {
            assert!(!file.code.contains(word), "{}: {word}", file.name);
        }
    }
}
