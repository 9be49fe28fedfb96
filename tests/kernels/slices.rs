//! q, k and v as slices of one convolution row: the layout that a gated delta net meets in models. Rows may be padded, begin
//! anywhere, and lie beside channels that belong to nobody.

use crate::SUBJECTS;
use crate::check::check_case;
use crate::data::Bench;
use crate::machines;
use weft_core::contract::draw::{Case, Draft};
use weft_core::contract::{Constant, Constants, Contract};
use weft_core::graph::{DType, Layout};
use weft_tests::Random;

/// One row of channels: q of all key heads, k of all key heads, v of all value heads.
#[derive(Clone, Copy, Debug)]
struct Row {
    dim: u64,
    key_heads: u64,
    heads: u64,
    tokens: u64,
    seqs: u64,
    /// Floats between the end of a row and the next one.
    padding: u64,
    /// Bytes before the first row.
    offset: u64,
}

impl Row {
    /// A slice of `heads` heads from head `first` on.
    fn slice(&self, first: u64, heads: u64) -> Layout {
        let pitch = 4 * (self.dim * (2 * self.key_heads + self.heads) + self.padding);
        Layout {
            dtype: DType::F32,
            shape: [self.dim, heads, self.tokens, self.seqs],
            strides: [4, 4 * self.dim, pitch, pitch * self.tokens],
            offset: self.offset + 4 * self.dim * first,
        }
    }
}

/// What else a case has.
#[derive(Clone, Copy, Debug)]
struct Form {
    segmented: bool,
    snapshots: u64,
    heads: u32,
    form: u32,
}

fn case(contract: &'static Contract, row: &Row, form: &Form) -> Case {
    let Row { dim, key_heads, heads, tokens, seqs, .. } = *row;
    let packed = |dtype, shape| Layout::packed(dtype, shape).expect("a packed layout");
    let planes = if form.segmented { 3 * form.snapshots } else { seqs };
    let flat = [dim * heads, tokens * seqs + form.snapshots * dim * seqs, 1, 1];
    let layout = |name: &str| match name {
        "q" => Some(row.slice(0, key_heads)),
        "k" => Some(row.slice(key_heads, key_heads)),
        "v" => Some(row.slice(2 * key_heads, heads)),
        "gate" | "beta" if contract.kernel == "gated_delta_net" => {
            Some(packed(DType::F32, [1, heads, tokens, seqs]))
        }
        "alpha" | "beta" => Some(packed(DType::F32, [heads, tokens, seqs, 1])),
        "dt" | "a" => Some(packed(DType::F32, [heads, 1, 1, 1])),
        "state" => Some(packed(DType::F32, [dim, dim, heads, planes])),
        "state_out" if form.segmented => Some(packed(DType::F32, [dim, dim, heads, planes])),
        "segments" if form.segmented => Some(packed(DType::I32, [8, 4, 1, 1])),
        "out" if form.segmented => Some(packed(DType::F32, [dim, heads, tokens, 1])),
        "out" => Some(packed(DType::F32, flat)),
        _ => None,
    };
    let at = |name| contract.port(name).expect("a port of the contract");
    let mut homes: Vec<usize> = (0..contract.ports.len()).collect();
    (homes[at("k")], homes[at("v")]) = (at("q"), at("q"));
    if form.segmented {
        homes[at("state_out")] = at("state");
    }
    let all = [
        ("snapshots", Constant::Integer(form.snapshots as u32)),
        ("heads", Constant::Integer(form.heads)),
        ("eps", Constant::Float(1e-6)),
        ("form", Constant::Integer(form.form)),
    ];
    let known = |(name, _): &(&str, Constant)| contract.attributes.iter().any(|a| a.name() == *name);
    let attributes: Vec<(&'static str, Constant)> = all.into_iter().filter(known).collect();
    let constants = attributes.iter().fold(Constants::new(), |constants, (name, value)| match value {
        Constant::Float(value) => constants.float(name, *value),
        Constant::Integer(value) => constants.integer(name, *value),
    });
    let operands: Vec<Option<Layout>> = contract.ports.iter().map(|port| layout(port.name)).collect();
    let draft = Draft {
        contract,
        bound: operands.iter().map(Option::is_some).collect(),
        dtypes: operands.iter().map(|layout| layout.map_or(DType::F32, |layout| layout.dtype)).collect(),
        constants: attributes,
        names: Vec::new(),
        open: vec![[1; 4]; contract.ports.len()],
    };
    Case { draft, operands, homes, constants }
}

/// Runs both kernels on a row, in every variant of every backend that admits it. Gives how many of the CPU did.
fn check(row: &Row, form: &Form) -> usize {
    let mut checked = 0;
    for subject in SUBJECTS.iter().filter(|s| ["gated_delta_net", "gdn_core"].contains(&s.kernel)) {
        for machine in machines::backends() {
            for offer in crate::check::offers(subject, machine) {
                let case = case(offer.contract, row, form);
                if offer.contract.check(&case.operands, &case.constants).is_err() {
                    continue;
                }
                let place = format!("{} {}: {row:?} {form:?}", subject.kernel, offer.variant);
                let mut random = Random::named(&place, crate::check::seed());
                let bench = Bench::new(subject, case, &mut random).expect("sane data");
                check_case(&machines::running(machine.backend.name(), offer), offer, &bench, &place);
                checked += usize::from(machine.backend.name() == "cpu");
            }
        }
    }
    checked
}

const HEADS: [(u64, u64); 4] = [(1, 1), (2, 2), (2, 4), (2, 6)];

#[test]
fn slices_of_one_row_over_segments() {
    for (at, tokens) in [1, 2, 7, 63, 64, 65].into_iter().enumerate() {
        for (heads_at, (key_heads, heads)) in HEADS.into_iter().enumerate() {
            let dim = [16, 32][(at + heads_at) % 2];
            let (padding, offset) = [(0, 0), (16, 0), (0, 64), (5, 4)][heads_at];
            let row = Row { dim, key_heads, heads, tokens, seqs: 1, padding, offset };
            for snapshots in [1, 4] {
                let (map, l2) = ((at % 2) as u32, (heads_at % 2) as u32);
                let form = Form { segmented: true, snapshots, heads: map, form: l2 };
                // The tuned variant and the reference of both kernels.
                assert_eq!(check(&row, &form), 4, "{row:?}");
            }
        }
    }
}

#[test]
fn slices_of_one_row_with_states_in_the_result() {
    for (at, tokens) in [1, 2, 7, 17].into_iter().enumerate() {
        for (seqs, (key_heads, heads)) in (1..).zip(HEADS) {
            let (padding, offset) = [(0, 0), (16, 0), (0, 64), (5, 4)][at];
            let row = Row { dim: 16, key_heads, heads, tokens, seqs, padding, offset };
            for snapshots in [1, 4] {
                let (map, l2) = ((at % 2) as u32, (seqs % 2) as u32);
                let form = Form { segmented: false, snapshots, heads: map, form: l2 };
                assert_eq!(check(&row, &form), 2, "{row:?}");
            }
        }
    }
}
