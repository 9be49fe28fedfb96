//! Fixtures with gaps in and around every operand, filled with NaN.

use std::collections::HashMap;
use weft_core::graph::{DType, Graph, Layout, Op, Owner, StorageId};
use weft_tests::graphs::Fixture;
use weft_tests::run::{Outcome, bytes, floats};

/// What became of a storage.
#[derive(Clone, Copy)]
struct Wider {
    old: Layout,
    new: Layout,
    bytes: u64,
}

/// Rows `gap` floats further apart, the first `base` floats later, and as much behind the last.
fn wider(old: Layout, gap: u64, base: u64) -> Wider {
    let mut new = old;
    let row = (old.shape[0] + gap) * 4;
    new.strides = [4, row, row * old.shape[1] + gap * 4, (row * old.shape[1] + gap * 4) * old.shape[2]];
    new.offset = base * 4;
    let end = new.range().expect("small").end;
    Wider { old, new, bytes: end + (base + gap) * 4 }
}

/// Whether a fixture can be padded: a view of whole rows would have to know the gaps.
pub fn is_plain(fixture: &Fixture) -> bool {
    fixture.graph.nodes.iter().all(|node| node.op != Op::View)
}

/// The fixture with gaps in every f32 tensor. Outputs become states, so that their gaps can be seen afterwards. The
/// graph must be free of views.
pub fn padded(fixture: &Fixture, gap: u64, base: u64) -> Fixture {
    let mut graph: Graph = (*fixture.graph).clone();
    assert!(is_plain(fixture), "{}", fixture.name);
    let mut changed: HashMap<StorageId, Wider> = HashMap::new();
    for tensor in &mut graph.tensors {
        if tensor.dtype() == DType::F32 {
            let made = changed.entry(tensor.storage).or_insert_with(|| wider(tensor.layout, gap, base));
            assert_eq!(made.old, tensor.layout, "one layout per storage");
            tensor.layout = made.new;
        }
    }
    for (id, made) in &changed {
        graph.storages[id.index()].bytes = made.bytes;
    }
    for (name, tensor) in graph.outputs.clone() {
        let storage = graph.tensor(tensor).storage;
        let storage = &mut graph.storages[storage.index()];
        (storage.owner, storage.name) = (Owner::State, format!("{name} with gaps"));
    }
    let mut data = fixture.filled(1);
    for (id, made) in &changed {
        let storage = graph.storage(*id);
        let mut values = vec![f32::NAN; (made.bytes / 4) as usize];
        if let Some(packed) = data.get(&storage.name) {
            let packed = floats(packed);
            places(&made.new).zip(packed).for_each(|(at, value)| values[at] = value);
        }
        if storage.owner != Owner::Activation {
            data.insert(storage.name.clone(), bytes(&values));
        }
    }
    graph.verify().expect("a legal graph");
    let name = format!("{} with gaps of {gap} behind {base}", fixture.name);
    Fixture { name, graph: std::sync::Arc::new(graph), data }
}

/// Where a layout's elements lie, in floats, in order.
fn places(layout: &Layout) -> impl Iterator<Item = usize> + use<> {
    let layout = *layout;
    let [n0, n1, n2, n3] = layout.shape;
    (0..n0 * n1 * n2 * n3).map(move |i| {
        let index = [i % n0, i / n0 % n1, i / n0 / n1 % n2, i / n0 / n1 / n2];
        let bytes: u64 = (0..4).map(|d| index[d] * layout.strides[d]).sum();
        ((layout.offset + bytes) / 4) as usize
    })
}

/// Whether every float outside the results still holds the NaN it held before.
pub fn untouched(fixture: &Fixture, outcome: &Outcome) -> Result<(), String> {
    for (name, tensor) in &fixture.graph.outputs {
        let tensor = fixture.graph.tensor(*tensor);
        let state = format!("{name} with gaps");
        let (before, after) = (floats(&fixture.data[&state]), floats(&outcome.states[&state]));
        let mut hit = vec![false; after.len()];
        places(&tensor.layout).for_each(|at| hit[at] = true);
        let changed = (0..after.len()).find(|at| !hit[*at] && after[*at].to_bits() != before[*at].to_bits());
        if let Some(at) = changed {
            return Err(format!("{name}: float {at} between the rows became {}", after[at]));
        }
    }
    Ok(())
}
