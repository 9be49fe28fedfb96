//! Quantised files have the types that a known quantiser gives them, and errors no larger than its own.

use std::collections::BTreeMap;

use weft::gguf::{Gguf, GgufWriter};
use weft::quantize::{Importance, QuantizeError, QuantizeOptions, Recipe, quantize_to};
use weft::synth::{SynthSpec, write_to};
use weft_core::graph::DType;
use weft_core::quant::decode_row;
use weft_tests::fixtures::{outside, path};
use weft_tests::refs::contents;

fn options(name: &str) -> QuantizeOptions {
    QuantizeOptions::new(Recipe::from_name(name).unwrap())
}

fn quantised(model: &Gguf, options: &QuantizeOptions) -> Result<Gguf, QuantizeError> {
    let bytes = quantize_to(model, "quantised", Vec::new(), options, &mut |_| ())?;
    Ok(Gguf::from_bytes("quantised", bytes).unwrap())
}

fn decoded(model: &Gguf, name: &str) -> Vec<f32> {
    let entry = model.tensor(name).unwrap();
    let mut values = vec![f32::NAN; entry.values() as usize];
    decode_row(entry.dtype, model.tensor_bytes(entry).unwrap().as_ref(), &mut values).unwrap();
    values
}

fn types(model: &Gguf) -> BTreeMap<&str, DType> {
    model.tensors().iter().map(|entry| (entry.name.as_str(), entry.dtype)).collect()
}

fn error(got: &[f32], want: &[f32]) -> f64 {
    let squares = got.iter().zip(want).map(|(got, want)| f64::from(got - want).powi(2));
    (squares.sum::<f64>() / got.len() as f64).sqrt()
}

fn synthetic(arch: &str) -> Gguf {
    let spec = SynthSpec::named(arch, "tiny", "F32").unwrap();
    Gguf::from_bytes(arch, write_to(arch, Vec::new(), &spec, &mut |_| ()).unwrap()).unwrap()
}

#[test]
fn a_mixture_gives_each_tensor_the_type_of_the_known_file() {
    let known = Gguf::from_bytes("known", contents(&path("models/qwen35k-Q4_K_M.gguf.zst"))).unwrap();
    let plain = QuantizeOptions { allow_requantize: true, ..options("F32") };
    let plain = quantised(&known, &plain).unwrap();
    assert!(types(&plain).values().all(|dtype| *dtype == DType::F32));
    let made = quantised(&plain, &options("q4_k_m")).unwrap();
    assert_eq!(types(&made), types(&known));
    for (key, value) in known.metadata().iter() {
        let same = made.metadata().value(key).expect(key);
        assert_eq!((same.kind(), same.to_string()), (value.kind(), value.to_string()), "{key}");
    }
    // What was quantised already fits its own blocks.
    for entry in known.tensors() {
        let (want, got) = (decoded(&known, &entry.name), decoded(&made, &entry.name));
        let scale = error(&want, &vec![0.0; want.len()]);
        assert!(error(&got, &want) <= 0.02 * scale, "{}: {}", entry.name, error(&got, &want) / scale);
    }
}

#[test]
fn a_quantised_file_is_refused_unless_a_second_loss_is_allowed() {
    let once = quantised(&synthetic("qwen35"), &options("Q8_0")).unwrap();
    let refused = quantised(&once, &options("Q4_0")).unwrap_err();
    assert!(matches!(&refused, QuantizeError::Quantised { dtype: DType::Q8_0, .. }), "{refused}");
    // Nothing is lost where the type stays.
    let same = quantised(&once, &options("Q8_0")).unwrap();
    assert_eq!(types(&same), types(&once));
    let unknown = Recipe::from_name("Q9_Z").unwrap_err();
    assert!(unknown.to_string().contains("Q4_K_M"), "{unknown}");
}

#[test]
fn short_rows_take_a_type_of_smaller_blocks_and_routers_stay() {
    let model = synthetic("qwen35moe");
    let made = quantised(&model, &options("Q4_K_M")).unwrap();
    let mut fell = 0;
    for entry in made.tensors() {
        let is_kept = ["_norm", "ffn_gate_inp", "ssm_conv1d"].iter().any(|kept| entry.name.contains(kept));
        if is_kept || entry.shape[1..].iter().product::<u64>() == 1 {
            assert_eq!(entry.dtype, DType::F32, "{}", entry.name);
        } else if !entry.shape[0].is_multiple_of(256) {
            assert!([DType::Q5_0, DType::Q8_0, DType::F16].contains(&entry.dtype), "{}", entry.name);
            fell += 1;
        }
    }
    assert!(fell > 0);
}

/// An importance matrix that knows one tensor, a few of whose columns matter a hundred times as much.
fn importance(entry: &str, row: u64, matrices: u64) -> Gguf {
    let mut writer = GgufWriter::new();
    writer.set("general.type", "imatrix");
    writer.tensor(&format!("{entry}.in_sum2"), DType::F32, &[row, matrices]).unwrap();
    writer.tensor(&format!("{entry}.counts"), DType::F32, &[1, matrices]).unwrap();
    let mut body = writer.begin("imatrix", Vec::new()).unwrap();
    for at in 0..row * matrices {
        body.append(&weight(at).to_le_bytes()).unwrap();
    }
    (0..matrices).for_each(|_| body.append(&2.0f32.to_le_bytes()).unwrap());
    Gguf::from_bytes("imatrix", body.finish().unwrap()).unwrap()
}

fn weight(column: u64) -> f32 {
    if column.is_multiple_of(7) { 200.0 } else { 2.0 }
}

#[test]
fn columns_that_matter_lose_less() {
    let (model, name) = (synthetic("qwen35"), "token_embd.weight");
    let (row, want) = (model.tensor(name).unwrap().shape[0], decoded(&model, name));
    let importance = Importance::read(&importance(name, row, 1)).unwrap();
    let weighed =
        ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K_S", "Q4_K_S", "Q5_K_S", "Q6_K", "IQ4_NL", "IQ4_XS"];
    for recipe in weighed {
        let plain = QuantizeOptions::new(Recipe::from_name(recipe).unwrap().pure());
        let weighted = QuantizeOptions { importance: Some(importance.clone()), ..plain.clone() };
        let [plain, weighted] = [plain, weighted].map(|options| {
            let made = decoded(&quantised(&model, &options).unwrap(), name);
            let terms = made.iter().zip(&want).enumerate();
            let square = |(at, (got, want)): (usize, (&f32, &f32))| {
                f64::from(weight(at as u64 % row)) * f64::from(got - want).powi(2)
            };
            terms.map(square).sum::<f64>()
        });
        eprintln!("{recipe}: weighted error {weighted:e} of {plain:e}");
        assert!(weighted < 0.98 * plain, "{recipe}: {weighted} of {plain}");
    }
}

#[test]
fn an_importance_matrix_of_another_model_is_refused() {
    let model = synthetic("qwen35");
    let other = Importance::read(&importance("token_embd.weight", 32, 1)).unwrap();
    let with = QuantizeOptions { importance: Some(other), ..options("Q8_0") };
    let refused = quantised(&model, &with).unwrap_err();
    assert!(matches!(refused, QuantizeError::ImportanceShape { got: 32, .. }), "{refused}");
    let refused = Importance::read(&model).unwrap_err();
    assert!(matches!(refused, QuantizeError::Importance { .. }), "{refused}");
}

#[test]
fn a_mixture_of_experts_in_four_bit_floats_has_the_types_of_the_known_file() {
    let Some(known) = outside("quants/qwen35moe-MXFP4_MOE.gguf") else {
        eprintln!(
            "left out: types beside a known quantiser: WEFT_FIXTURES names no folder that holds quants/"
        );
        return;
    };
    let known = Gguf::open(known).unwrap();
    let source = Gguf::open(outside("models/qwen35moe-f32.gguf").unwrap()).unwrap();
    assert_eq!(types(&quantised(&source, &options("MXFP4_MOE")).unwrap()), types(&known));
}

/// Files that a known quantiser made of one model by the recipe of the same name, and whether all matrices have one type.
const FILES: [(&str, bool); 15] = [
    ("Q4_0", true),
    ("Q4_1", true),
    ("Q5_0", true),
    ("Q5_1", true),
    ("Q8_0", true),
    ("Q2_K", true),
    ("Q6_K", true),
    ("IQ4_NL", true),
    ("IQ4_XS", true),
    ("MXFP4", true),
    ("TQ1_0", true),
    ("TQ2_0", true),
    ("Q3_K_M", false),
    ("Q4_K_M", false),
    ("Q5_K_M", false),
];

#[test]
fn no_tensor_loses_more_than_in_the_known_files() {
    let Some(source) = outside("quants/qwen35k-BF16.gguf") else {
        eprintln!(
            "left out: errors beside a known quantiser: set WEFT_FIXTURES to the folder that holds quants/"
        );
        return;
    };
    let source = Gguf::open(source).unwrap();
    for (name, pure) in FILES {
        let recipe = Recipe::from_name(name).unwrap();
        let recipe = if pure { recipe.pure() } else { recipe };
        let known = Gguf::open(outside(&format!("quants/qwen35k-{name}.gguf")).unwrap()).unwrap();
        let made = quantised(&source, &QuantizeOptions::new(recipe)).unwrap();
        assert_eq!(types(&made), types(&known), "{name}");
        let mut worst = (0.0, "");
        for entry in source.tensors().iter().filter(|entry| entry.dtype == DType::BF16) {
            let want = decoded(&source, &entry.name);
            let [ours, theirs] = [&made, &known].map(|file| error(&decoded(file, &entry.name), &want));
            if ours / theirs > worst.0 {
                worst = (ours / theirs, &entry.name);
            }
        }
        eprintln!("{name}: at most {:.4} of the known error, in {}", worst.0, worst.1);
        assert!(worst.0 <= 1.02, "{name}: {worst:?}");
    }
}
