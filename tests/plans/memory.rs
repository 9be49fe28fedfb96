//! Memory: what lives at the same time lies apart, and no dispatch reads what it writes unless its contract allows it.

use std::collections::BTreeMap;
use weft_core::contract::Access;
use weft_core::driver::Options;
use weft_core::graph::{Owner, StorageId};
use weft_core::kernels;
use weft_core::plan::{Dispatch, Place, Plan};
use weft_tests::faulty::Faulty;
use weft_tests::graphs::models::{MODELS, TOKENS, described, graph, ubatch};
use weft_tests::graphs::random::program;
use weft_tests::graphs::{catalog, delta, masks, plan_for, same, small, without};
use weft_tests::naive::interpret;
use weft_tests::{Random, devices};

/// Every plan that is looked at, with its name.
fn each(mut look: impl FnMut(&str, &Plan)) {
    let device = [devices::complete()];
    let options = [Options::default(), without(&["*"])];
    let mut graphs: Vec<_> = catalog::all().into_iter().map(|f| (f.name, f.graph)).collect();
    graphs.extend(
        delta::variants(delta::TRUE_SIZE).into_iter().map(|(name, layer)| (name, layer.graph().graph)),
    );
    graphs.push(("masks".to_owned(), masks::true_size(2560).then(delta::TRUE_SIZE, "masks").graph));
    graphs.extend((0..60).map(|seed| (format!("program {seed}"), program(seed, 60).graph)));
    for (arch, size) in MODELS {
        let model = described(arch, size);
        graphs.extend(
            TOKENS.map(|tokens| (format!("{arch} {size} T {tokens}"), graph(&model, &ubatch(tokens)))),
        );
    }
    for (name, graph) in graphs {
        for options in &options {
            look(&name, &plan_for(&graph, &device, options).unwrap_or_else(|e| panic!("{name}: {e}")));
        }
    }
}

/// Bytes of a storage in the arena.
fn arena(plan: &Plan, device: usize, storage: StorageId) -> Option<(u64, u64)> {
    let Some(Place::Arena(start)) = plan.devices[device].places[storage.index()] else { return None };
    Some((start, start + plan.graph.storage(storage).bytes))
}

/// A storage in the arena: which one, the first and the last phase of its life, and its bytes.
type Lived = (StorageId, (u32, u32), (u64, u64));

/// Storages of the first device's arena.
fn lives(plan: &Plan) -> Vec<Lived> {
    let mut lives: BTreeMap<StorageId, (u32, u32)> = BTreeMap::new();
    for dispatch in &plan.dispatches {
        for binding in dispatch.bindings.iter().flatten() {
            let life = lives.entry(binding.tensor.storage).or_insert((dispatch.phase, dispatch.phase));
            life.1 = dispatch.phase;
        }
    }
    for (_, output) in &plan.graph.outputs {
        lives.entry(plan.graph.tensor(*output).storage).and_modify(|life| life.1 = u32::MAX);
    }
    lives.into_iter().filter_map(|(id, life)| arena(plan, 0, id).map(|place| (id, life, place))).collect()
}

/// Whether two lives have a phase in common.
fn meet(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// Whether storages that live at the same time lie apart, and all in the arena.
fn apart(plan: &Plan) -> Result<(), String> {
    let all = lives(plan);
    for (at, (first, life, place)) in all.iter().enumerate() {
        if place.1 > plan.devices[0].arena_bytes {
            return Err(format!("{first:?} leaves the arena"));
        }
        for (second, other_life, other) in &all[at + 1..] {
            if meet(*life, *other_life) && place.0 < other.1 && other.0 < place.1 {
                return Err(format!("{first:?} and {second:?} share bytes while both live"));
            }
        }
    }
    Ok(())
}

#[test]
fn storages_that_live_at_the_same_time_lie_apart() {
    each(|name, plan| apart(plan).unwrap_or_else(|why| panic!("{name}: {why}")));
}

#[test]
fn a_storage_over_another_that_still_lives_is_noticed() {
    let (mut laid, mut seen) = (0, 0);
    let rules = small::firing().into_iter().map(|(_, _, fixture)| fixture);
    for fixture in rules.chain(masks::all()) {
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let plan = fixture.plan(&[devices::reference()], &without(&["*"])).unwrap();
        let all = lives(&plan);
        for (first, life, place) in &all {
            // A later one is laid where an earlier one begins that is read once more.
            for (second, other, _) in all.iter().filter(|(_, other, _)| life.0 < other.0 && other.0 < life.1)
            {
                let (place, second) = (Place::Arena(place.0), second.index());
                let lay = move |plan: &mut Plan| {
                    plan.devices[0].places[second] = Some(place);
                    plan.devices[0].arena_bytes *= 2;
                };
                let mut wrong = plan.clone();
                lay(&mut wrong);
                let empty = [first.index(), second].iter().any(|id| plan.graph.storages[*id].bytes == 0);
                assert!(empty || apart(&wrong).is_err(), "{}: {first:?} over {other:?}", fixture.name);
                let device = Faulty::backwards(Faulty::around(devices::reference()).building(lay).shared());
                let got = fixture.run(&[device], &without(&["*"]));
                let right = got.is_ok_and(|got| {
                    same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan)).is_ok()
                });
                (laid, seen) = (laid + 1, seen + usize::from(!right));
            }
        }
    }
    // The bytes may be masked, or belong to a part of the earlier one that was read already.
    assert!(laid > 40 && seen * 10 > laid * 7, "{seen} of {laid}");
}

/// Whether two ports of a dispatch may share bytes, where one of them is written.
fn allowed(dispatch: &Dispatch, a: &str, b: &str) -> bool {
    let contract = &kernels::by_stem(dispatch.kernel).expect("a kernel").contract;
    contract.may_alias.iter().any(|(p, q)| (*p == a && *q == b) || (*p == b && *q == a))
}

#[test]
fn no_dispatch_reads_what_it_writes_unless_its_contract_allows_it() {
    let mut in_place = 0;
    each(|name, plan| {
        for dispatch in &plan.dispatches {
            let bound: Vec<_> = dispatch.bindings.iter().flatten().collect();
            for written in bound.iter().filter(|b| b.access != Access::Read) {
                for other in bound.iter().filter(|b| b.port != written.port) {
                    let one = written.tensor.storage == other.tensor.storage;
                    if one && written.tensor.layout.overlaps(&other.tensor.layout) {
                        in_place += 1;
                        let fits = allowed(dispatch, written.port, other.port)
                            && written.tensor.layout.same_bytes(&other.tensor.layout);
                        assert!(
                            fits,
                            "{name}: {} binds {} over {}",
                            dispatch.kernel, written.port, other.port
                        );
                    }
                }
            }
        }
    });
    assert!(in_place > 100, "{in_place} results in place");
}

#[test]
fn weights_and_inputs_are_never_written() {
    each(|name, plan| {
        for dispatch in &plan.dispatches {
            for binding in dispatch.bindings.iter().flatten().filter(|b| b.access.writes()) {
                let owner = plan.graph.storage(binding.tensor.storage).owner;
                assert!(matches!(owner, Owner::State | Owner::Activation), "{name}: {}", dispatch.kernel);
            }
        }
    });
}

#[test]
fn activations_share_an_arena_far_smaller_than_their_sum() {
    for (arch, size) in [("qwen35", "27b"), ("qwen35moe", "35b-a3b"), ("llama", "1b")] {
        let graph = graph(&described(arch, size), &ubatch(64));
        let plan = plan_for(&graph, &[devices::complete()], &Options::default()).unwrap();
        let sum: u64 = (0..graph.storages.len() as u32)
            .map(StorageId)
            .filter(|id| arena(&plan, 0, *id).is_some())
            .map(|id| graph.storage(id).bytes)
            .sum();
        let peak = plan.devices[0].arena_bytes;
        assert!(peak * 10 < sum, "{arch} {size}: {peak} of {sum} bytes");
        // The peak is at least what one dispatch needs at once.
        let at_once = |d: &Dispatch| -> u64 {
            let mut storages: Vec<_> = d.bindings.iter().flatten().map(|b| b.tensor.storage).collect();
            storages.sort_unstable();
            storages.dedup();
            storages.iter().filter_map(|id| arena(&plan, 0, *id)).map(|(start, end)| end - start).sum()
        };
        let most = plan.dispatches.iter().map(at_once).max().unwrap();
        assert!(peak >= most && peak < 2 * most, "{arch} {size}: {peak} against {most}");
    }
}

#[test]
fn results_survive_poisoned_outputs_on_one_and_more_workers() {
    for threads in [1, 3] {
        let device = [devices::poisoned(weft_cpu::simd::Level::Avx2, threads)];
        for fixture in catalog::all() {
            let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
            let exact = Options { exact: true, ..Options::default() };
            let got = fixture.run(&device, &exact).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
            let tolerance = same::tolerance(&got.plan);
            same::check(&fixture.graph, &got, &want, tolerance)
                .unwrap_or_else(|e| panic!("{} on {threads} workers: {e}", fixture.name));
        }
    }
}

#[test]
fn places_on_two_devices_hold_what_each_of_them_touches() {
    for seed in 0..40 {
        let fixture = program(seed, 40);
        let mut random = Random(seed);
        let placement = fixture.graph.node_ids().map(|_| Some(random.below(2) as usize)).collect();
        let second = Faulty::around(devices::reference()).named("second").shared();
        let options = Options { placement, ..without(&["*"]) };
        let plan = fixture.plan(&[devices::reference(), second], &options).unwrap();
        for dispatch in &plan.dispatches {
            for binding in dispatch.bindings.iter().flatten() {
                let place = plan.devices[dispatch.device].places[binding.tensor.storage.index()];
                assert!(place.is_some(), "{}: {}", fixture.name, dispatch.kernel);
            }
        }
        let copies = plan.splits.iter().flat_map(|s| &s.copies).chain(&plan.last_copies);
        for copy in copies {
            assert_ne!(copy.from, copy.to);
            for device in [copy.from, copy.to] {
                let home = device == 0 && plan.graph.storage(copy.storage).owner == Owner::State;
                let known = plan.devices[device].places[copy.storage.index()].is_some();
                assert!(known || home, "{}: {copy:?}", fixture.name);
            }
        }
    }
}
