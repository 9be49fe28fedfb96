//! The graph of the failure that weft grew from: attention with a selection mask directly ahead of a delta net layer. It
//! is planned whole and computes the same with any rule off, with all of them off, and if a fused dispatch cannot be built.

use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::plan::{Dispatch, Placement, Plan};
use weft_core::rules::FUSED;
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::delta::{Layer, SMALL, TRUE_SIZE, whole_pool};
use weft_tests::graphs::masks::{self, Attention};
use weft_tests::graphs::{Fixture, claims, same, without};
use weft_tests::naive::interpret;

fn small(layer: Layer, attention: Attention) -> Fixture {
    attention.then(Layer { states: whole_pool(1), ..layer }, format!("{} tokens", attention.tokens))
}

fn fixtures() -> Vec<Fixture> {
    let of = |tokens, cells, width| Attention { tokens, cells, width, ..masks::SMALL };
    vec![
        small(SMALL, masks::SMALL),
        small(SMALL, of(1, 40, Some(11))),
        small(SMALL, of(7, 64, Some(20))),
        small(SMALL, of(5, 32, None)),
        small(Layer { dim: 32, key_heads: 4, value_heads: 8, ..SMALL }, masks::SMALL),
    ]
}

fn exact(options: Options) -> Options {
    Options { exact: true, ..options }
}

fn whole(plan: &Plan) {
    let views = plan.placements.iter().filter(|p| **p == Placement::Alias).count();
    let covered: usize = plan.dispatches.iter().map(|d| d.nodes.len()).sum();
    assert_eq!(views + covered, plan.graph.nodes.len());
    assert_eq!(plan.splits.len(), 1);
}

fn same_as_interpreted(fixture: &Fixture, device: Arc<dyn Backend>, options: &Options) -> Arc<Plan> {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    let got = fixture.run(&[device], options).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
    whole(&got.plan);
    let plain = fixture.plan(&[devices::reference()], &without(&["*"])).unwrap();
    same::check(&fixture.graph, &got, &want, same::tolerance(&plain))
        .unwrap_or_else(|e| panic!("{} with {options:?}: {e}", fixture.name));
    got.plan
}

#[test]
fn with_any_rule_off_it_is_planned_whole_and_computes_the_same() {
    for fixture in fixtures() {
        for off in FUSED.iter().map(|rule| rule.name).chain(["*", "none"]) {
            for device in [devices::complete(), devices::reference()] {
                same_as_interpreted(&fixture, device, &exact(without(&[off])));
            }
        }
    }
}

#[test]
fn with_any_two_rules_off_it_is_planned_whole_and_computes_the_same() {
    let fixture = small(SMALL, masks::SMALL);
    for (at, first) in FUSED.iter().enumerate() {
        for second in &FUSED[at + 1..] {
            let options = exact(without(&[first.name, second.name]));
            same_as_interpreted(&fixture, devices::complete(), &options);
        }
    }
}

fn failing(when: impl Fn(&Dispatch) -> bool + Send + Sync + 'static) -> Arc<dyn Backend> {
    let inner = devices::complete();
    Faulty::around(inner).failing(move |d| when(d).then(|| "no pipeline".to_owned())).shared()
}

#[test]
fn if_a_fused_dispatch_cannot_be_built_it_computes_the_same() {
    for fixture in fixtures() {
        for rule in FUSED {
            let plan =
                same_as_interpreted(&fixture, failing(|d| d.rule == rule.name), &exact(Options::default()));
            assert_eq!(claims(&plan, rule.name), 0);
        }
        let plan =
            same_as_interpreted(&fixture, failing(|d| d.rule.starts_with("gdn")), &exact(Options::default()));
        assert_eq!(plan.census().revoked, 2, "{:?}", plan.revoked);
        let plan = same_as_interpreted(&fixture, failing(|d| d.rule != "single"), &exact(Options::default()));
        assert!(plan.dispatches.iter().all(|d| d.rule == "single"));
    }
}

#[test]
fn at_its_true_size_it_is_planned_whole_under_every_option() {
    let layer = Layer { states: whole_pool(1), ..TRUE_SIZE };
    for cells in [512, 2048, 2560, 18_944] {
        let fixture = masks::true_size(cells).then(layer, format!("{cells} cells"));
        for off in FUSED.iter().map(|rule| rule.name).chain(["*", "none"]) {
            let plan = fixture.plan(&[devices::complete()], &without(&[off])).unwrap();
            whole(&plan);
            assert_eq!(plan.census().off_device, 0);
        }
        let run = failing(|d| d.rule == "gdn_core_in_place");
        assert!(fixture.plan(&[run], &Options::default()).is_ok());
    }
}

#[test]
fn the_layer_is_fused_behind_dense_and_behind_sparse_attention() {
    for fixture in fixtures() {
        let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
        assert_eq!(claims(&plan, "gdn_core_in_place"), 1, "{}", fixture.name);
        assert_eq!(claims(&plan, "gated_norm"), 1, "{}", fixture.name);
    }
}
