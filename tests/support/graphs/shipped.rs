//! The graphs of the failure that weft grew from, as graph files in `tests/fixtures/graphs`.

use super::casts::{self, Cast};
use super::delta::{Layer, SMALL, TRUE_SIZE, Writer, whole_pool};
use super::edit::folded;
use super::masks::{self, Attention};
use super::{Fixture, odd, paired, states};
use crate::fixtures;
use std::path::PathBuf;

/// The file of a name.
pub fn path(name: &str) -> PathBuf {
    fixtures::path(&format!("graphs/{name}.json"))
}

fn pooled(layer: Layer) -> Layer {
    Layer { states: whole_pool(1), ..layer }
}

/// Attention, then the true layer: what is planned and too large to run everywhere.
pub fn true_size() -> Vec<(&'static str, Fixture)> {
    let node_160 = masks::true_size(2560).then(pooled(TRUE_SIZE), "the failing graph");
    vec![("node_160", node_160)]
}

/// What is planned and run, by the name of its file.
pub fn small() -> Vec<(&'static str, Fixture)> {
    let layer = pooled(SMALL);
    let chain = |change: Attention, name: &str| change.then(layer, name.to_owned());
    let whole = layer.fixture("layer with its views");
    let elided =
        whole.with("elided", folded(&whole.graph, |id| whole.graph.node(id).label == "gate_reshape"));
    vec![
        ("node_160_rows", Layer { tokens: 2, ..pooled(TRUE_SIZE) }.fixture("the true rows, two tokens")),
        ("cast_in_front", casts::fixture(Cast::IntoSelf)),
        ("mask_chain_f16", chain(masks::SMALL, "mask chain in half precision")),
        (
            "mask_chain_f32",
            chain(Attention { half: false, ..masks::SMALL }, "mask chain in single precision"),
        ),
        ("attention_before", chain(Attention { width: None, ..masks::SMALL }, "attention, then a layer")),
        ("no_attention_before", layer.fixture("a layer alone")),
        ("elided_alias", elided),
        ("competing_claims", odd::two_norms_of_one_sum()),
        ("write_between", states::whole(Writer::Copied, None)),
        ("write_elsewhere", states::pool(Writer::Elsewhere, None)),
        ("paired_drafts", paired::fixture()),
    ]
}
