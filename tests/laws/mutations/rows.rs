//! Kernels that assume packed rows, and contracts that forget to ask for them.

use weft_core::contract::{Contract, Port, Stride};
use weft_core::driver::Options;
use weft_core::graph::Layout;
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::delta::{Layer, SMALL};
use weft_tests::graphs::misses::{self, Firing};
use weft_tests::graphs::{Fixture, claims, same};
use weft_tests::naive::interpret;

use crate::padding::{is_plain, padded};

fn packed_at(layout: &mut Layout, dim: usize) {
    layout.strides[dim] = layout.packed_stride(dim);
}

/// The reference device, on which a kernel takes a dimension of a port as packed.
fn assuming(kernel: &'static str, port: &'static str, dim: usize) -> Faulty {
    Faulty::around(devices::reference()).altering(move |_, dispatch| {
        if dispatch.kernel == kernel {
            let bound = dispatch.bindings.iter_mut().flatten().filter(|b| b.port == port);
            bound.for_each(|binding| packed_at(&mut binding.tensor.layout, dim));
        }
    })
}

/// A contract that asks for a packed dimension.
fn asking(kernel: &'static str, port: &'static str, dim: usize) -> impl Fn(&Contract) -> Option<Contract> {
    move |contract| {
        let ask = |own: &Port| {
            let mut own = *own;
            if own.name == port {
                own.strides[dim] = Stride::Packed;
            }
            own
        };
        let ports: Vec<Port> = contract.ports.iter().map(ask).collect();
        (contract.kernel == kernel).then(|| Contract { ports: ports.leak(), ..*contract })
    }
}

fn right(fixture: &Fixture, device: Faulty) -> (bool, usize) {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    let got = fixture.run(&[device.shared()], &Options { exact: true, ..Options::default() });
    let Ok(got) = got else { return (false, 0) };
    let fused = got.plan.census().fused;
    (same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan)).is_ok(), fused)
}

#[test]
fn a_kernel_that_assumes_packed_rows_is_noticed_wherever_rows_lie_apart() {
    let mut tried = 0;
    for Firing { rule, fixture, .. } in misses::all() {
        if !is_plain(&fixture) {
            continue;
        }
        let padded = padded(&fixture, 7, 3);
        let plan = padded.plan(&[devices::reference()], &Options::default()).unwrap();
        let dispatch = plan.dispatches.iter().find(|d| d.rule == rule.name).expect("the rule fires");
        for binding in dispatch.bindings.iter().flatten() {
            let layout = binding.tensor.layout;
            for dim in 1..4 {
                if layout.shape[dim] > 1 && !layout.is_packed_at(dim) {
                    let (right, _) = right(&padded, assuming(rule.kernel, binding.port, dim));
                    assert!(!right, "{}: {} as packed in dimension {dim}", padded.name, binding.port);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 20, "{tried} dimensions");
}

/// The stride of the failure: from token to token, the third.
#[test]
fn a_contract_that_forgets_the_third_stride_is_noticed_and_one_that_asks_for_it_is_kept() {
    let layer = Layer { tokens: 5, ..SMALL }.fixture("layer");
    for port in ["q", "k", "v"] {
        let (forgot, fused) = right(&layer, assuming("gdn_core", port, 2));
        assert!(fused > 0 && !forgot, "{port}: the contract forgets the stride, and the result is right");
        let honest = assuming("gdn_core", port, 2).contracts(asking("gdn_core", port, 2));
        let (kept, _) = right(&layer, honest);
        assert!(kept, "{port}: the contract asks for the stride, so its kernel is not taken");
        let plan = layer.plan(
            &[assuming("gdn_core", port, 2).contracts(asking("gdn_core", port, 2)).shared()],
            &Options::default(),
        );
        assert_eq!(claims(&plan.unwrap(), "gdn_core"), 0);
    }
}
