//! S8: q, k and v are slices of one convolution row, and every delta net kernel takes them as they lie.

use weft_core::driver::Options;
use weft_core::graph::Tensor;
use weft_core::plan::Plan;
use weft_tests::devices;
use weft_tests::graphs::delta::{self, Layer, TRUE_SIZE, whole_pool};
use weft_tests::graphs::{Fixture, catalog, claims, same, segmented, without};
use weft_tests::naive::interpret;

const RULES: [&str; 3] = ["gdn_layer", "gdn_core_in_place", "gdn_core"];

fn exact(off: &[&str]) -> Options {
    Options { exact: true, ..without(off) }
}

/// Larger rules off one after the other, so that each that can fire does, and the plain kernels last.
fn through_every_rule(fixture: &Fixture) -> Vec<Options> {
    let device = [devices::reference()];
    let mut off = vec!["gated_norm"];
    let mut all = vec![exact(&[])];
    for rule in RULES {
        off.push(rule);
        let plan = fixture.plan(&device, &exact(&[])).unwrap();
        if claims(&plan, rule) > 0 || rule == "gdn_core" {
            all.push(exact(&off));
        }
    }
    all.push(exact(&["*"]));
    all
}

fn on_every_device(fixture: &Fixture) -> usize {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    let mut fused = 0;
    for device in devices::found() {
        for options in through_every_rule(fixture) {
            let got = fixture.run(std::slice::from_ref(&device), &options);
            let got = got.unwrap_or_else(|e| panic!("{}, {options:?}: {e}", fixture.name));
            fused += RULES.iter().map(|rule| claims(&got.plan, rule)).sum::<usize>();
            let tolerance = same::tolerance(&got.plan);
            same::check(&fixture.graph, &got, &want, tolerance)
                .unwrap_or_else(|e| panic!("{}, {options:?}: {e}", fixture.name));
        }
    }
    fused
}

#[test]
fn the_true_row_has_the_published_strides() {
    let fixture = TRUE_SIZE.graph();
    let result =
        |label: &str| -> Tensor { *fixture.graph.tensor(fixture.graph.node(fixture.node(label)).results[0]) };
    let (q, k, v) = (result("q"), result("k"), result("v"));
    assert_eq!((q.shape(), k.shape(), v.shape()), ([128, 16, 512, 1], [128, 16, 512, 1], [128, 48, 512, 1]));
    for (slice, offset) in [(q, 0), (k, 8192), (v, 16384)] {
        assert_eq!(slice.layout.strides, [4, 512, 40960, 20_971_520]);
        assert_eq!(slice.layout.offset, offset);
        assert_eq!(slice.storage, q.storage);
    }
    // The row pitch is that of the whole row, and no multiple of the packed heads of q.
    assert_eq!(q.layout.strides[2], 128 * (2 * 16 + 48) * 4);
    assert!(!q.layout.is_packed());
}

/// What a plan binds at the ports of its delta net dispatch.
fn bound(plan: &Plan, port: &str) -> Option<Tensor> {
    let net =
        plan.dispatches.iter().find(|d| d.kernel.starts_with("gdn") || d.kernel == "gated_delta_net")?;
    net.bindings.iter().flatten().find(|b| b.port == port).map(|b| b.tensor)
}

#[test]
fn the_true_layer_and_its_variants_are_fused_as_they_lie() {
    for (name, layer) in delta::variants(TRUE_SIZE) {
        let fixture = layer.graph();
        let plan = fixture.plan(&devices::found(), &exact(&[])).unwrap();
        let fused = claims(&plan, "gdn_core") + claims(&plan, "gdn_core_in_place");
        let known = matches!(layer.norms, delta::Norms::MaxEps | delta::Norms::SumEps);
        assert_eq!(fused, usize::from(known), "{name}");
        if known {
            let pitch = layer.pitch() * 4;
            let q = bound(&plan, "q").unwrap();
            assert_eq!(
                q.layout.strides,
                [4, 512, pitch, pitch * layer.tokens],
                "{name}: bound without a copy"
            );
            assert_eq!(bound(&plan, "v").unwrap().layout.offset, layer.base * 4 + 16384, "{name}");
        }
        assert!(plan.dispatches.iter().all(|d| d.kernel != "copy" || d.rule == "single"), "{name}");
    }
}

#[test]
fn every_variant_gives_what_the_reference_gives_through_every_rule() {
    let mut fused = 0;
    for fixture in catalog::layers() {
        fused += on_every_device(&fixture);
    }
    assert!(fused > 60, "{fused} delta net claims");
}

#[test]
fn the_true_layer_gives_what_the_reference_gives() {
    let layer = Layer { states: whole_pool(1), epilogue: None, ..TRUE_SIZE };
    let fixture = layer.fixture("the true layer");
    let fused = fixture.run(&devices::found(), &exact(&[])).unwrap();
    assert_eq!(claims(&fused.plan, "gdn_core_in_place"), 1);
    let plain = fixture.run(&[devices::reference()], &exact(&["*"])).unwrap();
    same::check(&fixture.graph, &fused, &plain, same::tolerance(&plain.plan)).unwrap();
}

#[test]
fn the_true_layer_with_segments_gives_what_the_reference_gives() {
    let fixture = segmented::true_size().fixture("the true layer with segments");
    let fused = fixture.run(&devices::found(), &exact(&[])).unwrap();
    assert_eq!(claims(&fused.plan, "gdn_layer"), 1);
    let plain = fixture.run(&[devices::reference()], &exact(&["*"])).unwrap();
    same::check(&fixture.graph, &fused, &plain, same::tolerance(&plain.plan)).unwrap();
}
