//! The tensors of each architecture, in the order of the file.

use weft_core::graph::DType;

use super::spec::{Experts, SynthArch, SynthSpec};
use super::weights::Role;

/// One tensor to make.
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) dtype: DType,
    /// Innermost first.
    pub(super) extents: Vec<u64>,
    pub(super) fill: Fill,
}

/// How the values of a tensor are spread.
#[derive(Clone, Copy)]
pub(super) enum Fill {
    /// Normal around 0.
    Matrix { deviation: f32 },
    /// Normal around 1 with deviation 0.1.
    Norm,
    /// `ssm_a`: from −8 to −0.5, a quarter of the heads in each octave.
    Decay,
    /// `ssm_dt.bias`: evenly from −4.5 to −1, so that a head forgets between a hundredth and a few times per token.
    TimeStep,
}

/// All tensors of a checked specification.
pub(super) fn planned(spec: &SynthSpec) -> Vec<Planned> {
    let mut table = Table { spec, tensors: Vec::new() };
    let shape = &spec.shape;
    let (width, vocabulary) = (shape.embedding.into(), shape.vocabulary.into());
    let embedding = if shape.tied { Role::Head } else { Role::Plain };
    table.matrix("token_embd.weight".into(), width, vocabulary, embedding);
    match shape.extras {
        Some(extras) => extras.globals(&mut table),
        None => table.norm("output_norm.weight".into(), width),
    }
    if !shape.tied {
        table.matrix("output.weight".into(), width, vocabulary, Role::Head);
    }
    for layer in 0..shape.layers {
        table.layer(layer);
    }
    if spec.has_draft() {
        table.layer(shape.layers);
        let name = |part: &str| format!("blk.{}.nextn.{part}.weight", shape.layers);
        table.matrix(name("eh_proj"), 2 * width, width, Role::Plain);
        for part in ["enorm", "hnorm", "shared_head_norm"] {
            table.norm(name(part), width);
        }
    }
    table.tensors
}

pub(super) struct Table<'a> {
    pub(super) spec: &'a SynthSpec,
    tensors: Vec<Planned>,
}

impl Table<'_> {
    pub(super) fn push(&mut self, name: String, dtype: DType, extents: Vec<u64>, fill: Fill) {
        self.tensors.push(Planned { name, dtype, extents, fill });
    }

    /// `rows` rows of `row` values whose products with a vector of unit values have deviation 1.
    pub(super) fn matrix(&mut self, name: String, row: u64, rows: u64, role: Role) {
        self.matrices(name, vec![row, rows], role);
    }

    /// The same by extents, of which there may be more: a matrix for each expert.
    fn matrices(&mut self, name: String, extents: Vec<u64>, role: Role) {
        let dtype = self.spec.weights.of(role, extents[0]);
        let deviation = unit_deviation(extents[0]);
        self.push(name, dtype, extents, Fill::Matrix { deviation });
    }

    pub(super) fn norm(&mut self, name: String, width: u64) {
        self.push(name, DType::F32, vec![width], Fill::Norm);
    }

    fn layer(&mut self, layer: u32) {
        let shape = self.spec.shape;
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        let width: u64 = shape.embedding.into();
        let layers = shape.layers + u32::from(self.spec.has_draft());
        let sensitive = Role::Sensitive { layer, layers };

        match shape.extras {
            Some(extras) => extras.layer(self, layer),
            None => self.norm(name("attn_norm"), width),
        }
        if self.spec.is_attention(layer) {
            self.attention(layer, sensitive);
        } else {
            self.delta(layer, sensitive);
        }
        let second = if self.spec.arch.is_hybrid() { "post_attention_norm" } else { "ffn_norm" };
        if shape.extras.is_none() {
            self.norm(name(second), width);
        }
        match shape.experts {
            Some(experts) => self.experts(layer, experts, sensitive),
            None => self.network(layer, "", shape.feed_forward.into(), sensitive),
        }
    }

    /// A feed-forward network whose names end in `suffix`.
    fn network(&mut self, layer: u32, suffix: &str, inner: u64, sensitive: Role) {
        let name = |part: &str| format!("blk.{layer}.{part}{suffix}.weight");
        let width = self.spec.shape.embedding.into();
        self.matrix(name("ffn_gate"), width, inner, Role::Plain);
        self.matrix(name("ffn_up"), width, inner, Role::Plain);
        self.matrix(name("ffn_down"), inner, width, sensitive);
    }

    fn experts(&mut self, layer: u32, experts: Experts, sensitive: Role) {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        let width: u64 = self.spec.shape.embedding.into();
        let (count, inner) = (experts.count.into(), experts.inner.into());
        let plain = Fill::Matrix { deviation: unit_deviation(width) };
        self.push(name("ffn_gate_inp"), DType::F32, vec![width, count], plain);
        self.matrices(name("ffn_gate_exps"), vec![width, inner, count], Role::Plain);
        self.matrices(name("ffn_up_exps"), vec![width, inner, count], Role::Plain);
        self.matrices(name("ffn_down_exps"), vec![inner, width, count], sensitive);
        if experts.shared > 0 {
            self.push(name("ffn_gate_inp_shexp"), DType::F32, vec![width], plain);
            self.network(layer, "_shexp", experts.shared.into(), sensitive);
        }
    }

    fn attention(&mut self, layer: u32, sensitive: Role) {
        let shape = self.spec.shape;
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        let (width, head): (u64, u64) = (shape.embedding.into(), shape.head_width.into());
        let (queries, keys) = (head * u64::from(shape.heads), head * u64::from(shape.kv_heads));
        // Each query head of a hybrid is followed by its gate.
        let gated = if self.spec.arch.is_hybrid() { 2 * queries } else { queries };
        self.matrix(name("attn_q"), width, gated, Role::Plain);
        self.matrix(name("attn_k"), width, keys, Role::Plain);
        self.matrix(name("attn_v"), width, keys, sensitive);
        self.matrix(name("attn_output"), queries, width, Role::Plain);
        match self.spec.arch {
            SynthArch::Llama => {}
            SynthArch::Qwen2 => {
                for (part, rows) in [("q", gated), ("k", keys), ("v", keys)] {
                    let name = format!("blk.{layer}.attn_{part}.bias");
                    self.push(name, DType::F32, vec![rows], Fill::Matrix { deviation: 0.1 });
                }
            }
            _ => {
                self.norm(name("attn_q_norm"), head);
                self.norm(name("attn_k_norm"), head);
            }
        }
    }

    fn delta(&mut self, layer: u32, sensitive: Role) {
        let shape = self.spec.shape;
        let name = |part: &str| format!("blk.{layer}.{part}");
        let (width, state): (u64, u64) = (shape.embedding.into(), shape.state_width.into());
        let heads = u64::from(shape.value_heads);
        let (keys, values) = (state * u64::from(shape.key_heads), state * heads);
        let channels = 2 * keys + values;
        self.matrix(name("attn_qkv.weight"), width, channels, sensitive);
        self.matrix(name("attn_gate.weight"), width, values, Role::Plain);
        let taps = vec![super::keys::CONVOLUTION.into(), channels];
        self.push(name("ssm_conv1d.weight"), DType::F32, taps, Fill::Matrix { deviation: 0.5 });
        self.push(name("ssm_dt.bias"), DType::F32, vec![heads], Fill::TimeStep);
        self.push(name("ssm_a"), DType::F32, vec![heads], Fill::Decay);
        if self.spec.arch == SynthArch::Qwen3Next {
            self.matrix(name("ssm_ba.weight"), width, 2 * heads, Role::Plain);
        } else {
            self.matrix(name("ssm_beta.weight"), width, heads, Role::Plain);
            self.matrix(name("ssm_alpha.weight"), width, heads, Role::Plain);
        }
        self.norm(name("ssm_norm.weight"), state);
        self.matrix(name("ssm_out.weight"), values, width, Role::Plain);
    }
}

/// The deviation of `row` weights whose product with a vector of unit values has deviation 1.
fn unit_deviation(row: u64) -> f32 {
    1.0 / (row as f32).sqrt()
}
