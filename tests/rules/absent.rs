//! Rules whose kernel is absent on a backend: the driver says why, and the nodes go to smaller rules and single kernels.

use crate::expect::exact;
use weft_core::driver::{State, Why};
use weft_core::kernels;
use weft_tests::devices;
use weft_tests::graphs::misses::{self, Firing};
use weft_tests::graphs::{claims, same};
use weft_tests::naive::interpret;

#[test]
fn the_cpu_refuses_for_the_reason_that_the_contract_gives() {
    let mut refused = 0;
    for Firing { rule, fixture, root } in misses::all() {
        let contract = &kernels::by_stem(rule.kernel).unwrap().contract;
        let Some(absent) = contract.absent.iter().find(|a| a.backend == "cpu") else { continue };
        let got = fixture.run(&[devices::cpu(&Default::default())], &exact()).unwrap();
        assert_eq!(claims(&got.plan, rule.name), 0, "{}", rule.name);
        let attempt = got.plan.trail.iter().find(|a| a.rule == rule.name && a.root == root).unwrap();
        assert_eq!(attempt.state, State::Matched, "{}", rule.name);
        let why = Why::NotOffered {
            kernel: rule.kernel,
            backend: "cpu".to_owned(),
            reason: absent.reason.to_owned(),
        };
        assert_eq!(attempt.declines.last().map(|d| &d.why), Some(&why), "{}", rule.name);
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan))
            .unwrap_or_else(|e| panic!("{}: {e}", rule.name));
        refused += 1;
    }
    assert_eq!(refused, 10);
}

#[test]
fn the_cpu_offers_every_kernel_that_is_not_absent_there_and_no_other() {
    let cpu = devices::cpu(&Default::default());
    let complete = devices::complete();
    for kernel in kernels::ALL {
        let stem = kernel.contract.kernel;
        let offered = |device: &std::sync::Arc<dyn weft_core::backend::Backend>| {
            device.offers().iter().any(|offer| offer.contract.kernel == stem)
        };
        let absent = kernel.contract.absent.iter().any(|a| a.backend == "cpu");
        assert_eq!(offered(&cpu), !absent, "{stem}");
        assert!(offered(&complete) && offered(&devices::reference()), "{stem}");
    }
}
