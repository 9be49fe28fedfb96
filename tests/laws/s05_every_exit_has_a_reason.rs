//! S5: every exit has a typed reason, and each of them is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use weft_core::contract::Contract;
use weft_core::driver::{Options, Why};
use weft_core::plan::Plan;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::delta::Writer;
use weft_tests::graphs::misses::{self, Miss, offer};
use weft_tests::graphs::{Fixture, odd, plan_for, states, without};
use weft_tests::run::Data;
use weft_tests::{devices, sources};

#[test]
fn every_step_of_every_rule_can_refuse() {
    for firing in misses::all() {
        let said = offer(firing.rule, &firing.fixture.graph, firing.root);
        assert!(said.verdict.is_ok(), "{}: {:?}", firing.rule.name, said.verdict);
        let mut reached: BTreeMap<u32, String> = BTreeMap::new();
        for Miss { name, graph, root } in firing.misses().into_iter().chain(firing.malformed()) {
            if let Err(decline) = offer(firing.rule, &graph, root).verdict {
                let step = decline.step.unwrap_or_else(|| panic!("{name}: a rule's refusal names its step"));
                assert_eq!(decline.rule, firing.rule.name);
                reached.entry(step).or_insert(name);
            }
        }
        let never: Vec<u32> = (0..said.steps).filter(|step| !reached.contains_key(step)).collect();
        assert!(never.is_empty(), "{}: steps {never:?} of {} never refuse", firing.rule.name, said.steps);
    }
}

/// The variants of the reasons, as the source lists them.
fn reasons() -> BTreeSet<String> {
    let code = sources::read(Path::new("core/src/driver/decline.rs")).code;
    let body =
        code.split("pub enum Why {").nth(1).and_then(|rest| rest.split("\n}").next()).expect("the enum");
    let lines = body.lines().map(str::trim).filter(|line| line.starts_with(char::is_uppercase));
    lines.map(|line| line.split([' ', ',', '{']).next().unwrap_or(line).to_owned()).collect()
}

fn name(why: &Why) -> String {
    let text = format!("{why:?}");
    text.split([' ', '{', '(']).next().unwrap_or(&text).to_owned()
}

/// Plans that between them refuse for every reason that the driver has.
fn refusing() -> Vec<Plan> {
    let mut all = Vec::new();
    let tuned = || devices::complete();
    let mut plan = |fixture: &Fixture, device: Faulty, options: Options| {
        let planned = fixture.plan(&[device.shared()], &options);
        all.push(planned.unwrap_or_else(|e| panic!("{}: {e}", fixture.name)));
    };
    for firing in misses::all() {
        for Miss { name, graph, .. } in firing.misses() {
            let fixture = Fixture { name, graph, data: Data::new() };
            plan(&fixture, Faulty::around(tuned()), Options::default());
        }
        plan(&firing.fixture, Faulty::around(tuned()), without(&["*"]));
        let kernel = firing.rule.kernel;
        let lacking =
            Faulty::around(tuned()).without(|offer| offer.contract.kernel == kernel && kernel != "rms_norm");
        plan(&firing.fixture, lacking, Options::default());
    }
    let plain = Options::default;
    for fixture in [
        states::whole(Writer::Copied, None),
        states::pool(Writer::Nobody, None),
        odd::narrow_heads(),
        odd::many_heads(),
        odd::slanted_projection(),
        odd::changing_projection(),
        odd::misaligned_gate(),
        odd::weight_of_its_own_sum(),
        odd::two_norms_of_one_sum(),
        odd::product_over_its_gate(),
    ] {
        plan(&fixture, Faulty::around(tuned()), plain());
    }
    let norm = weft_tests::graphs::small::rms_norm_weight();
    plan(&norm, Faulty::around(tuned()).contracts(without_weight), plain());
    let split = Options { placement: vec![Some(0), Some(1)], ..plain() };
    let pair = [Faulty::around(tuned()).shared(), Faulty::around(tuned()).named("other").shared()];
    all.push(plan_for(&norm.graph, &pair, &split).unwrap());
    let projection = odd::quantised_projection();
    let inexact = Options { exact: true, ..plain() };
    all.push(projection.plan(&[tuned()], &inexact).unwrap());
    let failing = Faulty::around(tuned()).failing(|d| (d.rule == "rms_norm_weight").then(|| "no".to_owned()));
    let run = norm.run(&[failing.shared()], &plain()).unwrap();
    all.push(Plan::clone(&run.plan));
    all
}

/// A root-mean-square norm that cannot take a weight.
fn without_weight(contract: &Contract) -> Option<Contract> {
    (contract.kernel == "rms_norm").then(|| {
        let ports: Vec<_> = contract.ports.iter().filter(|p| p.name != "weight").copied().collect();
        Contract { ports: ports.leak(), ..*contract }
    })
}

#[test]
fn every_reason_is_given_by_some_near_miss() {
    let mut given: BTreeMap<String, usize> = BTreeMap::new();
    for plan in refusing() {
        for decline in plan.trail.iter().flat_map(|attempt| &attempt.declines) {
            *given.entry(name(&decline.why)).or_default() += 1;
        }
    }
    for firing in misses::all() {
        for Miss { graph, root, .. } in firing.malformed() {
            if let Err(decline) = offer(firing.rule, &graph, root).verdict {
                *given.entry(name(&decline.why)).or_default() += 1;
            }
        }
    }
    let never: Vec<String> = reasons().into_iter().filter(|reason| !given.contains_key(reason)).collect();
    assert!(never.is_empty(), "never given: {never:?}; given: {given:?}");
}

#[test]
fn rules_have_no_exit_without_a_reason() {
    for file in sources::under("core/src/rules") {
        for word in ["Option<Claim>", "return None", "panic!", "unwrap()", "expect("] {
            assert!(!file.code.contains(word), "{}: {word}", file.name);
        }
    }
}
