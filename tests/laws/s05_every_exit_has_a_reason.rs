//! S5: every exit has a typed reason, and each of them is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use weft_core::contract::Contract;
use weft_core::driver::{Options, Why};
use weft_core::graph::{BinaryKind, DType, Op, UnaryKind};
use weft_core::plan::Plan;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::delta::Writer;
use weft_tests::graphs::edit::{Change, changed};
use weft_tests::graphs::import::{Import, Value};
use weft_tests::graphs::misses::{self, Miss, offer};
use weft_tests::graphs::segmented::{self, Segmented};
use weft_tests::graphs::{Fixture, plan_for, states, without};
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
    let tuned = || devices::cpu(&Default::default());
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
    for fixture in odd_ones() {
        plan(&fixture, Faulty::around(tuned()), plain());
    }
    let norm = weft_tests::graphs::small::rms_norm_weight();
    plan(&norm, Faulty::around(tuned()).contracts(without_weight), plain());
    let split = Options { placement: Some(vec![0, 1]), ..plain() };
    let pair = [Faulty::around(tuned()).shared(), Faulty::around(tuned()).named("other").shared()];
    all.push(plan_for(&norm.graph, &pair, &split).unwrap());
    let projection = quantised_projection();
    let inexact = Options { exact: true, ..plain() };
    all.push(projection.plan(&[tuned()], &inexact).unwrap());
    let failing = Faulty::around(tuned()).failing(|d| (d.rule == "rms_norm_weight").then(|| "no".to_owned()));
    let run = norm.run(&[failing.shared()], &plain()).unwrap();
    all.push(Plan::clone(&run.plan));
    all
}

/// Graphs that the driver or a contract refuses to fuse, one reason each.
fn odd_ones() -> Vec<Fixture> {
    let narrow = Segmented { dim: 8, ..segmented::one(3) };
    let heads = 65_537;
    let many = Segmented { dim: 16, key_heads: heads, value_heads: heads, ..segmented::one(1) };
    vec![
        states::whole(Writer::Copied, None),
        states::pool(Writer::Nobody, None),
        narrow.graph("heads of eight"),
        many.graph("too many key heads"),
        states::slanted_projection(),
        changing_projection(),
        misaligned_gate(),
        weight_of_its_own_sum(),
        two_norms_of_one_sum(),
    ]
}

/// A projection that somebody scales after the convolution has read it and before its tail is kept.
fn changing_projection() -> Fixture {
    let layer = segmented::one(3);
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[layer.channels(), 3]);
    let x = g.packed_copy(x);
    let out = layer.build(&mut g, "", x);
    g.output("out", out);
    let fixture = Fixture::new("a changing projection", g, Data::new());
    let made = changed(&fixture.graph, fixture.node("keep"), &Change::Writer(0)).expect("a legal graph");
    fixture.with("", made.graph)
}

/// A root-mean-square norm that cannot take a weight.
fn without_weight(contract: &Contract) -> Option<Contract> {
    (contract.kernel == "rms_norm").then(|| {
        let ports: Vec<_> = contract.ports.iter().filter(|p| p.name != "weight").copied().collect();
        Contract { ports: ports.leak(), ..*contract }
    })
}

/// A gate that starts in the middle of an element.
fn misaligned_gate() -> Fixture {
    let mut g = Import::default();
    let flat = g.input("gate", DType::I8, &[66]);
    let up = g.input("up", DType::F32, &[16]);
    let layout = weft_core::graph::Layout { offset: 2, ..up.layout };
    let act = g.unary(UnaryKind::Silu, Value { storage: flat.storage, layout });
    let out = g.mul(act, up);
    g.output("out", out);
    Fixture::new("a misaligned gate", g, Data::new())
}

/// A norm whose weight is made from the sum that it norms.
fn weight_of_its_own_sum() -> Fixture {
    let mut g = Import::default();
    let (a, b) = (g.input("a", DType::F32, &[16]), g.input("b", DType::F32, &[16]));
    let sum = g.add(a, b);
    let weight = g.unary(UnaryKind::Tanh, sum);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
    let out = g.mul(norm, weight);
    g.output("out", out);
    Fixture::new("a norm weighted by its own sum", g, Data::new())
}

/// One sum, two norms.
fn two_norms_of_one_sum() -> Fixture {
    let mut g = Import::default();
    let (a, b) = (g.input("a", DType::F32, &[16, 3]), g.input("b", DType::F32, &[16, 3]));
    let sum = g.op(Op::Binary { kind: BinaryKind::Add }, &[a, b]);
    for name in ["first", "second"] {
        let weight = g.weight(name, DType::F32, &[16]);
        let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
        let out = g.mul(norm, weight);
        g.output(&format!("out.{name}"), out);
    }
    Fixture::new("two norms of one sum", g, Data::new())
}

fn quantised_projection() -> Fixture {
    let mut g = Import::default();
    let weight = g.weight("weight", DType::Q4_0, &[64, 16]);
    let x = g.input("x", DType::F32, &[64, 3]);
    let out = g.op(Op::MulMat, &[weight, x]);
    g.output("out", out);
    Fixture::new("a quantised projection", g, Data::new())
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
