//! `gdn_core`: the norms of q and k, the gate chain and the write strength join the delta net.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, HeadMap, L2Form, Op, OpKind, UnaryKind};
use weft_tests::graphs::delta::{self, Layer, Norms, SMALL};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::gates::{self, Fault, Link};
use weft_tests::graphs::small::SQUARE;
use weft_tests::graphs::{Fixture, segmented};

const RULE: &str = "gdn_core";

fn fixture() -> Fixture {
    SQUARE.fixture("layer")
}

#[test]
fn fires_on_the_layer_and_its_variants() {
    for (name, layer) in delta::variants(SMALL) {
        let known = matches!(layer.norms, Norms::MaxEps | Norms::SumEps);
        let given = layer.states == delta::States::Given;
        if known && given && !name.contains("T 51") {
            fires(&layer.fixture(name), RULE, 1);
        }
    }
}

#[test]
fn fires_on_segments_when_the_larger_rule_is_off() {
    for (name, layer) in segmented::variants() {
        let fixture = layer.fixture(name);
        let off = weft_tests::graphs::without(&["gdn_layer"]);
        let plan = fixture.plan(&[weft_tests::devices::reference()], &off).unwrap();
        assert_eq!(weft_tests::graphs::claims(&plan, RULE), 1, "{}", fixture.name);
    }
}

#[test]
fn fires_on_both_head_maps_and_both_guards() {
    for map in [HeadMap::Tiled, HeadMap::Grouped] {
        for norms in [Norms::MaxEps, Norms::SumEps] {
            fires(&Layer { map, norms, value_heads: 6, key_heads: 3, ..SMALL }.fixture("heads"), RULE, 1);
        }
    }
}

#[test]
fn declines_values_that_are_not_normed_or_normed_otherwise() {
    let ready = Layer { norms: Norms::Ready, ..SQUARE }.fixture("ready");
    refuses(&ready, RULE, "net", |why| *why == Why::Missing { source: 0 });
    let spelled = Layer { norms: Norms::Spelled, ..SQUARE }.fixture("spelled");
    refuses(&spelled, RULE, "net", |why| *why == Why::Op { want: OpKind::L2Norm, got: OpKind::Scale });
    let uneven = near(&fixture(), "k_norm", Change::Op(Op::L2Norm { eps: 1e-6, form: L2Form::MaxEps }));
    refuses(&uneven, RULE, "net", |why| *why == Why::Attr { what: "eps and form" });
    let uneven = near(&fixture(), "q_norm", Change::Op(Op::L2Norm { eps: 1e-3, form: L2Form::SumEps }));
    refuses(&uneven, RULE, "net", |why| *why == Why::Attr { what: "eps and form" });
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in ["q_norm", "k_norm", "shifted", "soft", "decay", "beta"] {
        refuses(&near(&fixture(), label, Change::Reader), RULE, "net", |why| {
            matches!(why, Why::Escapes { .. })
        });
        refuses(&near(&fixture(), label, Change::Output), RULE, "net", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
}

#[test]
fn declines_other_functions_in_the_gate_chain() {
    let unary = |kind| Change::Op(Op::Unary { kind });
    let binary = |kind| Change::Op(Op::Binary { kind });
    for (label, change) in [
        ("soft", unary(UnaryKind::Sigmoid)),
        ("beta", unary(UnaryKind::Silu)),
        ("shifted", binary(BinaryKind::Sub)),
        ("decay", binary(BinaryKind::Add)),
    ] {
        refuses(&near(&fixture(), label, change), RULE, "net", |why| *why == Why::Attr { what: "kind" });
    }
}

#[test]
fn every_fault_of_the_gate_chain_is_refused_or_harmless() {
    for (fault, fixture) in gates::all() {
        let refused = |fits: fn(&Why) -> bool| refuses(&fixture, RULE, "net", fits);
        match fault {
            None => fires(&fixture, RULE, 1),
            Some((_, Fault::Viewed)) => fires(&fixture, RULE, 1),
            Some((Link::Project | Link::Reshape, _)) => fires(&fixture, RULE, 1),
            Some((Link::Place, Fault::Missing | Fault::Doubled)) => fires(&fixture, RULE, 1),
            Some((Link::Shift, Fault::Doubled)) => fires(&fixture, RULE, 1),
            Some((_, Fault::Shared)) => refused(|why| matches!(why, Why::Escapes { .. })),
            Some((_, Fault::Copied)) => refused(|why| matches!(why, Why::Op { got: OpKind::Cast, .. })),
            Some((_, Fault::Missing | Fault::Doubled)) => refused(|why| matches!(why, Why::Op { .. })),
        }
    }
}

#[test]
fn declines_views_that_turn_inner_values() {
    for source in [0, 1, 3, 4] {
        let turned = near(&fixture(), "net", Change::Via(source, Between::Turned));
        refuses(&turned, RULE, "net", |why| *why == Why::Rearranged { source });
    }
    for (label, source) in [("soft", 0), ("decay", 0)] {
        let turned = near(&fixture(), label, Change::Via(source, Between::Turned));
        refuses(&turned, RULE, "net", |why| matches!(why, Why::Rearranged { .. }));
    }
    // The values come from outside: any layout will do.
    fires(&near(&fixture(), "net", Change::Via(2, Between::Turned)), RULE, 1);
}

#[test]
fn declines_a_decay_per_channel() {
    let mut g = weft_tests::graphs::import::Import::default();
    let layer = SQUARE;
    let mut data = layer.data("");
    let row = layer.row(&mut g, &mut data);
    let shape = [layer.dim, layer.value_heads, layer.tokens];
    let alpha = g.input("alpha", DType::F32, &shape);
    let dt = g.weight("dt", DType::F32, &[layer.dim, layer.value_heads]);
    let a = g.input("decays", DType::F32, &shape);
    let shifted = g.add(alpha, dt);
    let soft = g.unary(UnaryKind::Softplus, shifted);
    let gate = g.mul(soft, a);
    let gate = g.scale(gate, -0.1, -0.2);
    let out = layer.build_with(&mut g, "", row, gate);
    g.output("out", out);
    let fixture = Fixture::new("a decay per channel, scaled", g, data);
    refuses(&fixture, RULE, "net", |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
}

#[test]
fn declines_a_value_that_is_only_partly_one_node() {
    for source in [0, 3, 4] {
        let patched = near(&fixture(), "net", Change::Patch(source));
        refuses(&patched, RULE, "net", |why| matches!(why, Why::ManyWriters { .. }));
    }
}
