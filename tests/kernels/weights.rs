//! Products with weights as models hold them: imported, so that a backend may keep them in a form of its own, and larger than
//! what a binding of a small device holds.

use crate::data::Bench;
use crate::subject::Subject;
use crate::{dispatch, mul_mat, mul_mat_id, mul_mat_id_swiglu, mul_mat_mix, mul_mat_swiglu, mul_mats};
use std::collections::BTreeSet;
use std::sync::Arc;
use weft_core::backend::{Backend, Offer};
use weft_core::contract::draw::{Case, Draft};
use weft_core::contract::{COMMON, Constant, Constants, FEW_BITS};
use weft_core::graph::{DType, Layout};
use weft_tests::fixtures::outside;
use weft_tests::{Random, devices, hip};
use weft_wgpu::{Bounds, Options};

/// Packed operands of a product: values of a row, rows, tokens; experts and experts chosen, which are 1 without a choice.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    inner: u64,
    outer: u64,
    tokens: u64,
    experts: u64,
    chosen: u64,
}

/// Weights of one type; `up` of another, if one is named.
fn case(offer: &Offer, dtype: DType, up: Option<DType>, sizes: &Sizes) -> Case {
    let contract = offer.contract;
    let Sizes { inner, outer, tokens, experts, chosen } = *sizes;
    let layout = |name: &str| {
        // Weights beside each other have rows of one length, but not one number of them.
        let more = |name: &str| outer + 3 * u64::from(name.as_bytes().last().map_or(0, |n| n % 4));
        let dtype = up.filter(|_| name == "up").unwrap_or(dtype);
        let (dtype, shape) = match (name, contract.kernel) {
            ("weight", _) => (dtype, [inner, outer, experts, 1]),
            ("gate" | "up", "mul_mat_id_swiglu") => (dtype, [inner, outer, experts, 1]),
            ("gate" | "up", _) => (dtype, [inner, outer, 1, 1]),
            ("w0" | "w2", _) => (dtype, [inner, more(name), 1, 1]),
            ("w1" | "w3", _) => (DType::F16, [inner, more(name), 1, 1]),
            ("ids", _) => (DType::I32, [chosen, tokens, 1, 1]),
            ("x", "mul_mat_id" | "mul_mat_id_swiglu") => {
                (DType::F32, [inner, if tokens % 2 == 0 { chosen } else { 1 }, tokens, 1])
            }
            ("x", _) => (DType::F32, [inner, tokens, 1, 1]),
            (_, "mul_mat_id" | "mul_mat_id_swiglu") => (DType::F32, [outer, chosen, tokens, 1]),
            (_, "mul_mats") => (DType::F32, [more(name), tokens, 1, 1]),
            _ => (DType::F32, [outer, tokens, 1, 1]),
        };
        Layout::packed(dtype, shape).expect("whole blocks")
    };
    let operands: Vec<Option<Layout>> = contract.ports.iter().map(|port| Some(layout(port.name))).collect();
    let attributes: Vec<(&'static str, Constant)> =
        contract.attributes.iter().map(|attribute| (attribute.name(), Constant::Integer(0))).collect();
    let constants =
        attributes.iter().fold(Constants::new(), |constants, (name, _)| constants.integer(name, 0));
    let draft = Draft {
        contract,
        bound: vec![true; operands.len()],
        dtypes: operands.iter().flatten().map(|layout| layout.dtype).collect(),
        constants: attributes.clone(),
        names: Vec::new(),
        open: operands.iter().flatten().map(|layout| layout.shape).collect(),
    };
    Case { draft, homes: (0..operands.len()).collect(), operands, constants }
}

/// Runs an offer with its weights imported; `None` if it does not admit the operands.
fn run(gpu: &dyn Backend, offer: &Offer, subject: &Subject, dtype: DType, sizes: &Sizes) -> Option<Vec<u8>> {
    run_case(gpu, offer, subject, case(offer, dtype, None, sizes))
}

fn run_case(gpu: &dyn Backend, offer: &Offer, subject: &Subject, case: Case) -> Option<Vec<u8>> {
    offer.contract.check(&case.operands, &case.constants).ok()?;
    let place = format!("{} {}, {:?} on {}", subject.kernel, offer.variant, case.operands, gpu.name());
    // The same rows and columns for every number of tokens.
    let mut random = Random::named(subject.kernel, 7);
    let bench = Bench::new(subject, case, &mut random).expect("sane data");
    let ports = offer.contract.ports.iter().enumerate();
    let weights: Vec<usize> = ports.filter(|(_, port)| port.dtypes.len() > 3).map(|(at, _)| at).collect();
    let after = dispatch::run_with_weights(gpu, offer, &bench.case, &bench.storages, &weights);
    let mut after = after.unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(bench.compare(&after, offer.contract.tolerance), Ok(()), "{place}");
    after.pop()
}

/// GPUs of every kind.
fn all_gpus() -> Vec<Arc<dyn Backend>> {
    let wgpu = devices::all_gpus().iter().map(|gpu| Arc::clone(gpu) as Arc<dyn Backend>);
    let hip = hip::real().iter().chain(hip::stand_ins()).map(|gpu| Arc::clone(gpu) as Arc<dyn Backend>);
    wgpu.chain(hip).filter(|gpu| devices::admits(gpu.name())).collect()
}

/// Whether a type's values are codewords.
fn is_searched(dtype: DType) -> bool {
    dtype.name().starts_with("IQ") && !dtype.name().starts_with("IQ4")
}

/// A type of each family of few bits: two scales, a third bit apart, codewords of two sizes, numbered levels with scales in a
/// head or of eight bits, digits to the base 3, signs.
const FAMILIES: &[DType] = &[
    DType::Q2_K,
    DType::Q3_K,
    DType::IQ1_M,
    DType::IQ2_XS,
    DType::IQ3_S,
    DType::IQ4_XS,
    DType::NVFP4,
    DType::TQ1_0,
    DType::Q1_0,
];
/// Types of few bits where the type is not what is tested: of many parts, of codewords, of small blocks.
const SOME: &[DType] = &[DType::Q3_K, DType::IQ2_XS, DType::NVFP4];

/// Every offer of a kernel with weights of every common type and of these of few bits, which are all of them where the folder of
/// the long tests is named. One software adapter takes the same shaders as the other, but five times as long: some types.
fn check(subject: &Subject, gpus: &[Arc<dyn Backend>], few_bits: &[DType], sizes: &[Sizes]) {
    let long = outside("quants").is_some();
    for gpu in gpus {
        let few_bits = match gpu.name() {
            _ if long => FEW_BITS,
            "wgpu:swiftshader" => SOME,
            _ => few_bits,
        };
        for offer in gpu.offers().iter().filter(|offer| offer.contract.kernel == subject.kernel) {
            let (start, mut runs) = (std::time::Instant::now(), 0);
            for (at, dtype) in COMMON.iter().chain(few_bits).enumerate() {
                for (number, size) in sizes.iter().enumerate() {
                    // Not every size with every type; large ones not where encoding is a search.
                    let turn = if FEW_BITS.contains(dtype) { sizes.len().min(6) } else { 3 };
                    let (large, few) = (size.outer > 1000, FEW_BITS.contains(dtype));
                    if (large || few) && (at + number) % turn != 0 || large && is_searched(*dtype) {
                        continue;
                    }
                    let inner = size.inner.next_multiple_of(dtype.block_values());
                    let size = Sizes { inner, ..*size };
                    runs += usize::from(run(&**gpu, offer, subject, *dtype, &size).is_some());
                }
            }
            println!(
                "{} {} on {}: {runs} runs in {:?}",
                subject.kernel,
                offer.variant,
                gpu.name(),
                start.elapsed()
            );
        }
    }
}

const fn product(inner: u64, outer: u64, tokens: u64) -> Sizes {
    Sizes { inner, outer, tokens, experts: 1, chosen: 1 }
}

const fn choice(inner: u64, outer: u64, tokens: u64, experts: u64, chosen: u64) -> Sizes {
    Sizes { inner, outer, tokens, experts, chosen }
}

const PRODUCTS: &[Sizes] = &[
    product(512, 5, 1),
    product(2048, 3, 2),
    product(288, 70, 9),
    product(320, 70, 66),
    // Longer than what is rounded at a time.
    product(8480, 3, 1),
    product(8480, 2, 7),
    product(256, 4099, 3),
    product(256, 8195, 1),
];
const CHOICES: &[Sizes] = &[
    choice(512, 5, 1, 7, 4),
    choice(256, 67, 9, 5, 3),
    choice(256, 67, 40, 3, 2),
    choice(256, 67, 70, 1, 1),
];

const JOINED: &[Sizes] = &[product(512, 20, 1), product(2048, 9, 3), product(320, 33, 8)];
const JOINED_CHOICES: &[Sizes] = &[
    choice(512, 20, 1, 7, 4),
    choice(2048, 17, 2, 5, 3),
    choice(320, 33, 7, 3, 2),
    choice(8480, 18, 1, 2, 2),
];

#[test]
fn imported_weights_give_the_products_of_their_reference() {
    let gpus = all_gpus();
    check(&mul_mat::SUBJECT, &gpus, FEW_BITS, PRODUCTS);
    check(&mul_mat_id::SUBJECT, &gpus, FAMILIES, CHOICES);
    check(&mul_mats::SUBJECT, &gpus, FAMILIES, JOINED);
    check(&mul_mat_swiglu::SUBJECT, &gpus, FAMILIES, JOINED);
    check(&mul_mat_mix::SUBJECT, &gpus, FAMILIES, JOINED);
    check(&mul_mat_id_swiglu::SUBJECT, &gpus, FAMILIES, JOINED_CHOICES);
}

#[test]
fn a_gate_may_have_another_type_than_what_it_opens() {
    let types = [(DType::F16, DType::Q4_K), (DType::Q8_0, DType::F32), (DType::BF16, DType::Q8_0)];
    for gpu in all_gpus() {
        for subject in [&mul_mat_swiglu::SUBJECT, &mul_mat_id_swiglu::SUBJECT] {
            let offers = gpu.offers().iter().filter(|offer| offer.contract.kernel == subject.kernel);
            let mut ran = BTreeSet::new();
            for (offer, (gate, up)) in offers.flat_map(|offer| types.map(|types| (offer, types))) {
                for tokens in [1, 3, 8] {
                    // As long as what is rounded at a time, and longer.
                    for inner in [512, 8448] {
                        let case = case(offer, gate, Some(up), &choice(inner, 18, tokens, 1, 1));
                        if run_case(&*gpu, offer, subject, case).is_some() {
                            ran.insert((gate.name(), up.name(), inner));
                        }
                    }
                }
            }
            assert_eq!(ran.len(), 6, "{} on {}: {ran:?}", subject.kernel, gpu.name());
        }
    }
}

fn bounded(bounds: Bounds) -> Vec<Arc<dyn Backend>> {
    let gpus = devices::gpus(&Options { bounds, ..devices::options() });
    gpus.into_iter().map(|gpu| gpu as Arc<dyn Backend>).collect()
}

#[test]
fn products_need_no_subgroups() {
    let gpus = bounded(Bounds { subgroups: false, half: false, matrices: false, ..Bounds::default() });
    check(&mul_mat::SUBJECT, &gpus, SOME, &PRODUCTS[1..]);
    check(&mul_mat_id::SUBJECT, &gpus, SOME, &CHOICES[..1]);
}

#[test]
fn weights_larger_than_a_binding_are_taken_in_parts() {
    let gpus = bounded(Bounds { binding: 32 << 10, ..Bounds::default() });
    check(&mul_mat::SUBJECT, &gpus, SOME, &[product(256, 700, 2), product(256, 700, 11)]);
    // Some experts a binding, and some rows of an expert.
    check(
        &mul_mat_id::SUBJECT,
        &gpus,
        SOME,
        &[choice(256, 30, 2, 24, 4), choice(256, 800, 2, 2, 2), choice(256, 30, 9, 24, 4)],
    );
}

#[test]
fn several_columns_are_bit_for_bit_what_they_are_alone() {
    for gpu in all_gpus() {
        let few =
            |offer: &&Offer| offer.contract.kernel == "mul_mat" && ["vec", "q8"].contains(&offer.variant);
        for offer in gpu.offers().iter().filter(few) {
            for dtype in [DType::Q4_K, DType::Q8_0, DType::F16] {
                let subject = &mul_mat::SUBJECT;
                let columns = |tokens| run(&*gpu, offer, subject, dtype, &product(9216, 20, tokens));
                // Not every variant takes every type.
                let Some(all) = columns(8) else { continue };
                for tokens in [1, 2, 3, 5] {
                    let few = columns(tokens).expect("a product");
                    assert!(
                        all.starts_with(&few[..few.len().min(20 * 4 * tokens as usize)]),
                        "{dtype}, {tokens}"
                    );
                }
            }
        }
    }
}
