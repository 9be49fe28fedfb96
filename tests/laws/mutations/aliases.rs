//! Views that show what their bytes held before the last write, or other bytes.

use std::sync::Arc;
use weft_core::driver::{Options, Scene};
use weft_core::graph::{Graph, Layout, NodeId, Op, Tensor, TensorId};
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::casts::{self, Cast};
use weft_tests::graphs::{Fixture, same, sharing, states, without};
use weft_tests::naive::interpret;

fn fixtures() -> Vec<Fixture> {
    let mut all = sharing::all();
    all.extend(states::all());
    all.push(casts::fixture(Cast::IntoSelf));
    all
}

/// A graph in which one source of one node is another tensor than it was.
fn rebound(graph: &Graph, node: NodeId, source: usize, tensor: Tensor) -> Graph {
    let mut made = graph.clone();
    made.tensors.push(tensor);
    made.nodes[node.index()].sources[source] = Some(TensorId(made.tensors.len() as u32 - 1));
    made
}

/// Whether a planner that was given the wrong graph computes what the right one means.
fn right(fixture: &Fixture, graph: Graph) -> bool {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    if graph.verify().is_err() {
        return false;
    }
    let wrong = Fixture { graph: Arc::new(graph), ..fixture.clone() };
    [Options { exact: true, ..Options::default() }, without(&["*"])].into_iter().all(|options| {
        let got = wrong.run(&[Faulty::backwards(devices::reference())], &options);
        got.is_ok_and(|got| same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan)).is_ok())
    })
}

/// Rebinds each source that `change` changes, one at a time. Gives how many there were, and how many nobody noticed.
fn unnoticed(change: impl Fn(&Scene<'_>, &Tensor) -> Option<Tensor>) -> (usize, Vec<String>) {
    let (mut tried, mut unnoticed) = (0, Vec::new());
    for fixture in fixtures() {
        let graph = &fixture.graph;
        let scene = Scene::new(graph);
        for id in graph.node_ids().filter(|id| graph.node(*id).op != Op::View) {
            let node = graph.node(id);
            for (index, source) in node.sources.iter().enumerate() {
                let read = source.filter(|source| graph.reads(id).any(|read| read == *source));
                let source = read.map(|source| graph.tensor(source));
                let Some(changed) = source.and_then(|tensor| change(&scene, tensor)) else { continue };
                let what = format!("{}: source {index} of {}", fixture.name, graph.describe(id));
                if right(&fixture, rebound(graph, id, index, changed)) {
                    unnoticed.push(what);
                }
                tried += 1;
            }
        }
    }
    (tried, unnoticed)
}

#[test]
fn a_stale_alias_is_noticed() {
    let (tried, unnoticed) = unnoticed(|scene, tensor| {
        let stale = Tensor { version: tensor.version.checked_sub(1)?, ..*tensor };
        (scene.writers(&stale) != scene.writers(tensor)).then_some(stale)
    });
    // Another access of the same node may keep the order right, and a later write hide what was read.
    assert!(tried > 40 && unnoticed.len() * 10 <= tried, "of {tried}: {unnoticed:#?}");
}

#[test]
fn a_view_that_loses_its_offset_is_noticed() {
    let (tried, unnoticed) = unnoticed(|_, tensor| {
        let layout = Layout { offset: 0, ..tensor.layout };
        (layout != tensor.layout).then_some(Tensor { layout, ..*tensor })
    });
    // What is cleared is multiplied by zero, whatever it was.
    let unnoticed: Vec<&String> = unnoticed.iter().filter(|what| !what.contains("(clear)")).collect();
    assert!(tried > 20 && unnoticed.len() * 10 <= tried, "of {tried}: {unnoticed:#?}");
}
