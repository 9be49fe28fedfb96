//! S14: the same layer in another neighbourhood is another case: attention and its mask chain directly ahead of a delta
//! net, in one graph, dense and sparse.

use weft_core::driver::Options;
use weft_core::graph::{DType, Op};
use weft_tests::devices;
use weft_tests::graphs::delta::{Layer, TRUE_SIZE, whole_pool};
use weft_tests::graphs::masks::{self, Attention};
use weft_tests::graphs::{Fixture, claims, same, without};
use weft_tests::naive::interpret;

const CELLS: [u64; 4] = [512, 2048, 2560, 18_944];

fn true_layer() -> Layer {
    Layer { states: whole_pool(1), ..TRUE_SIZE }
}

/// Attention over this many cells, then the layer; with selection or without.
fn chained(cells: u64, sparse: bool) -> Fixture {
    let width = masks::true_size(cells).width.filter(|_| sparse);
    let attention = Attention { width, ..masks::true_size(cells) };
    attention.then(true_layer(), format!("{cells} cells, sparse {sparse}"))
}

#[test]
fn the_true_graph_is_one_split_and_the_layer_is_fused_behind_every_attention() {
    let device = [devices::cpu(&Default::default())];
    for cells in CELLS {
        for sparse in [false, true] {
            let fixture = chained(cells, sparse);
            let plan = fixture.plan(&device, &Options::default()).unwrap();
            let census = plan.census();
            assert_eq!((census.splits, census.off_device), (1, 0), "{}", fixture.name);
            assert_eq!(claims(&plan, "gdn_core_in_place"), 1, "{}: {:?}", fixture.name, census.rules);
            assert!(plan.revoked.is_empty());
            let alone = true_layer().graph().plan(&device, &Options::default()).unwrap();
            assert_eq!(claims(&plan, "gated_norm"), claims(&alone, "gated_norm"), "{}", fixture.name);
        }
    }
}

#[test]
fn the_mask_chain_is_covered_by_plain_kernels_in_half_precision() {
    let fixture = chained(2560, true);
    let plan = fixture.plan(&[devices::cpu(&Default::default())], &Options::default()).unwrap();
    let half = |label: &str| {
        let node = fixture.graph.node(fixture.node(label));
        assert_eq!(fixture.graph.tensor(node.results[0]).dtype(), DType::F16, "{label}");
        plan.dispatches.iter().find(|d| d.nodes == [fixture.node(label)]).expect(label).kernel
    };
    assert_eq!([half("closed"), half("scatter"), half("chosen")], ["fill", "set_rows", "binary"]);
    let scatter = fixture.graph.node(fixture.node("scatter"));
    let rows = fixture.graph.tensor(scatter.sources[0].unwrap());
    assert_eq!(rows.shape(), [1, 2560, 512, 1], "rows of length one");
    let cast = fixture.graph.node(fixture.node("cast"));
    assert_eq!((cast.op, cast.sources[1]), (Op::Copy, Some(cast.results[0])));
}

#[test]
fn small_graphs_give_what_the_interpreter_gives_under_every_option() {
    for fixture in masks::all() {
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let options =
            [&[][..], &["gdn_core_in_place"], &["gdn_core_in_place", "gdn_core"], &["norm_rope"], &["*"]];
        for device in devices::found() {
            for off in options {
                let options = Options { exact: true, ..without(off) };
                let got = fixture.run(std::slice::from_ref(&device), &options).unwrap();
                same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan))
                    .unwrap_or_else(|e| panic!("{} without {off:?}: {e}", fixture.name));
            }
        }
    }
}

#[test]
fn selecting_every_cell_is_dense_attention() {
    let all = masks::all();
    let find = |name: &str| all.iter().find(|f| f.name.starts_with(name)).unwrap();
    let (dense, every) = (find("dense"), find("selection of all"));
    let run = |fixture: &Fixture| fixture.run(&[devices::reference()], &without(&["*"])).unwrap();
    let (dense, every) = (run(dense), run(every));
    assert_eq!(dense.output("out"), every.output("out"));
}

#[test]
fn a_token_that_sees_nothing_gets_zeros_and_no_nan() {
    let blind = masks::all().into_iter().find(|f| f.name.contains("blind")).unwrap();
    for device in devices::found() {
        for off in [&[][..], &["*"]] {
            let got = blind.run(std::slice::from_ref(&device), &without(off)).unwrap();
            assert!(got.output("out").iter().all(|v| v.is_finite()));
        }
    }
}
