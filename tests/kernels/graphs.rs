//! A graph of plain operations for a case: one node for the kernel of an operation, the nodes that its rule covers for a
//! fused one. Every operand lies in a state of its own, as drawn.

use crate::data;
use weft_core::contract::Constant;
use weft_core::contract::draw::Case;
use weft_core::graph::{
    BinaryKind, Graph, HeadMap, L2Form, Layout, Op, Owner, Rope, RopeKind, Triangle, UnaryKind, Use, results,
};
use weft_core::kernels::{binary, unary};
use weft_core::rules::FUSED;
use weft_tests::graphs::import::{Import, Source, Value};

/// The graph; `None` if an operation's shape rule refuses what the contract admits.
pub fn graph(case: &Case) -> Option<Graph> {
    let mut import = Import::default();
    let mut values = Vec::new();
    // An empty storage stands for a port that is unbound or lies in another's.
    let sizes = data::sizes(case);
    for (at, port) in case.draft.contract.ports.iter().enumerate() {
        let storage = import.storage(port.name, Owner::State, sizes[at]);
        values.push((port.name, case.operands[at], storage));
    }
    let value = |name: &str| {
        let at = values.iter().position(|(n, ..)| *n == name)?;
        Some(Value { layout: values[at].1?, storage: values[case.homes[at]].2 })
    };
    let parts = Parts { case, value: &value };
    let kernel = case.draft.contract.kernel;
    // A kernel that is also an operation's own needs no rule.
    let fused = kernel != "swiglu" && FUSED.iter().any(|rule| rule.kernel == kernel);
    // Rules find producers by the bytes that they wrote.
    if fused && case.operands.iter().flatten().any(Layout::is_empty) {
        return None;
    }
    match kernel {
        "add_rms_norm" => parts.add_rms_norm(&mut import),
        "combine_norm" => parts.combine_norm(&mut import),
        "gated_attention" => parts.gated_attention(&mut import),
        "gated_norm" => parts.gated_norm(&mut import),
        "expert_sum" => parts.expert_sum(&mut import),
        "expert_sum_norm" => parts.expert_sum_norm(&mut import),
        "mix_streams" => parts.mix_streams(&mut import),
        "mul_mat_id_swiglu" => parts.mul_mat_id_swiglu(&mut import),
        "mul_mat_mix" => parts.mul_mat_mix(&mut import),
        "mul_mat_swiglu" => parts.mul_mat_swiglu(&mut import),
        "mul_mats" => parts.mul_mats(&mut import),
        "norm_rope" => parts.norm_rope(&mut import),
        "norm_rope_rows" => parts.norm_rope_rows(&mut import),
        "pool_rows" => parts.pool_rows(&mut import),
        "router" => parts.router(&mut import),
        "rms_norm" if value("weight").is_some() => parts.weighted(&mut import),
        "gdn_core" => parts.gdn_core(&mut import),
        "gdn_layer" => parts.gdn_layer(&mut import),
        _ => parts.single(&mut import),
    }?;
    import.finish().ok()
}

/// `[a, b]` as rows of one: rules name what has one row only without it.
fn lift(value: Value) -> Value {
    let Layout { shape: [a, b, ..], strides: [p, q, ..], dtype, offset } = value.layout;
    let (shape, strides) = ([1, a, b, 1], [4, p, q, q * b]);
    Value { layout: Layout { dtype, shape, strides, offset }, ..value }
}

struct Parts<'a> {
    case: &'a Case,
    value: &'a dyn Fn(&str) -> Option<Value>,
}

impl Parts<'_> {
    fn float(&self, name: &str) -> f32 {
        match self.case.constants.get(name) {
            Some(Constant::Float(value)) => value,
            other => panic!("`{name}` is {other:?}"),
        }
    }

    fn integer(&self, name: &str) -> u32 {
        match self.case.constants.get(name) {
            Some(Constant::Integer(value)) => value,
            other => panic!("`{name}` is {other:?}"),
        }
    }

    fn port(&self, name: &str) -> Option<Value> {
        (self.value)(name)
    }

    /// One node whose sources and results are the ports.
    fn single(&self, import: &mut Import) -> Option<()> {
        let op = self.op()?;
        let signature = op.kind().signature();
        let mut sources = Vec::new();
        for port in signature.sources {
            let value = match (port.usage, port.name) {
                (Use::Read, name) => self.port(name),
                (_, "history") => self.port("history_out"),
                // A source that is not read lends its shape.
                (Use::Shape, "like") => {
                    let like = self.port("out")?.layout;
                    Some(import.input("like", like.dtype, &like.shape))
                }
                _ => self.port("out"),
            };
            sources.push(value);
        }
        let layouts: Vec<Option<Layout>> = sources.iter().map(|s| s.map(|s| s.layout)).collect();
        results(&op, &layouts).ok()?;
        let places: Vec<Value> = signature.results.iter().filter_map(|name| self.port(name)).collect();
        let sources: Vec<Source> =
            sources.into_iter().map(|s| s.map_or(Source::None, Source::Value)).collect();
        import.push(op, &sources, &places, "");
        Some(())
    }

    /// The operation of a kernel with the case's attributes.
    fn op(&self) -> Option<Op> {
        Some(match self.case.draft.contract.kernel {
            "argsort" => Op::Argsort { descending: self.integer("descending") == 1 },
            "binary" => Op::Binary { kind: binary::KINDS[self.integer("kind") as usize] },
            "clamp" => Op::Clamp { min: self.float("min"), max: self.float("max") },
            "concat" => Op::Concat { dim: self.integer("dim") },
            "conv_history" => Op::ConvHistory,
            "copy" => Op::Copy,
            "cumsum" => Op::CumSum,
            "diag" => Op::Diag,
            "fill" => Op::Fill { value: self.float("value") },
            "block_attention" => {
                Op::BlockAttention { scale: self.float("scale"), block: self.integer("block") }
            }
            "block_scores" => Op::BlockScores { block: self.integer("block") },
            "flash_attention" => Op::FlashAttention { scale: self.float("scale") },
            "gated_delta_net" => self.delta_net(),
            "get_rows" => Op::GetRows,
            "l2_norm" => self.l2_norm("eps"),
            "mul_mat" => Op::MulMat,
            "mul_mat_id" => Op::MulMatId,
            "repeat" => Op::Repeat,
            "rms_norm" => Op::RmsNorm { eps: self.float("eps") },
            "rope" => self.rope(),
            "sample" => Op::Sample,
            "scale" => Op::Scale { scale: self.float("scale"), bias: self.float("bias") },
            "set_rows" => Op::SetRows,
            "softmax" => Op::Softmax { scale: self.float("scale") },
            "solve_tri" => Op::SolveTri,
            "ssm_conv" => Op::SsmConv { dilation: self.integer("dilation") },
            "sum_rows" => Op::SumRows,
            "swiglu" if self.integer("kind") == 0 => Op::Swiglu,
            "top_k" => Op::TopK { k: self.integer("k") },
            "tri" => Op::Tri {
                keep: [Triangle::Lower, Triangle::LowerDiagonal, Triangle::Upper, Triangle::UpperDiagonal]
                    [self.integer("keep") as usize],
            },
            "unary" => Op::Unary { kind: unary::KINDS[self.integer("kind") as usize] },
            _ => return None,
        })
    }

    fn rope(&self) -> Op {
        Op::Rope(Rope {
            kind: [RopeKind::Interleaved, RopeKind::Neox, RopeKind::MultiSection]
                [self.integer("kind") as usize],
            dims: self.integer("dims"),
            base: self.float("base"),
            scale: self.float("frequency_scale"),
            sections: ["section_t", "section_h", "section_w", "section_e"].map(|name| self.integer(name)),
            yarn_mix: self.float("yarn_mix"),
            yarn_context: self.integer("yarn_context"),
            magnitude: self.float("magnitude"),
        })
    }

    fn l2_norm(&self, eps: &str) -> Op {
        let form = [L2Form::MaxEps, L2Form::SumEps][self.integer("form") as usize];
        Op::L2Norm { eps: self.float(eps), form }
    }

    fn delta_net(&self) -> Op {
        let heads = [HeadMap::Tiled, HeadMap::Grouped][self.integer("heads") as usize];
        Op::GatedDeltaNet { snapshots: self.integer("snapshots"), heads }
    }

    fn act(&self) -> UnaryKind {
        [UnaryKind::Silu, UnaryKind::Sigmoid][self.integer("act") as usize]
    }

    fn norm(&self) -> Op {
        Op::RmsNorm { eps: self.float("eps") }
    }

    fn weighted(&self, import: &mut Import) -> Option<()> {
        let normed = import.op(self.norm(), &[self.port("x")?]);
        import.op_at(
            Op::Binary { kind: BinaryKind::Mul },
            &[normed, self.port("weight")?],
            self.port("out")?,
        );
        Some(())
    }

    fn add_rms_norm(&self, import: &mut Import) -> Option<()> {
        self.added(import, self.port("a")?, self.port("b")?)
    }

    /// A sum, its norm and weight, at the results' places.
    fn added(&self, import: &mut Import, a: Value, b: Value) -> Option<()> {
        let sum = self.port("sum")?;
        import.op_at(Op::Binary { kind: BinaryKind::Add }, &[a, b], sum);
        let normed = import.op(self.norm(), &[sum]);
        import.op_at(
            Op::Binary { kind: BinaryKind::Mul },
            &[normed, self.port("weight")?],
            self.port("out")?,
        );
        Some(())
    }

    fn combine_norm(&self, import: &mut Import) -> Option<()> {
        let [x, y, sum] = [self.port("x")?, self.port("y")?, self.port("sum")?];
        let share = import.unary(UnaryKind::Sigmoid, self.port("shares")?);
        let share = import.scale(share, self.float("gain"), 0.0);
        let added = import.mul(y, share);
        import.op_at(Op::Binary { kind: BinaryKind::Add }, &[x, added], sum);
        let normed = import.op(self.norm(), &[sum]);
        let weight = import.scale(self.port("weight")?, self.float("factor"), 0.0);
        import.op_at(Op::Binary { kind: BinaryKind::Mul }, &[normed, weight], self.port("out")?);
        Some(())
    }

    fn gated_norm(&self, import: &mut Import) -> Option<()> {
        let normed = import.op(self.norm(), &[self.port("x")?]);
        self.gated(import, normed, self.port("gate")?)
    }

    /// `normed·weight·act(gate)`, at the result's place.
    fn gated(&self, import: &mut Import, normed: Value, gate: Value) -> Option<()> {
        let weighted = import.mul(normed, self.port("weight")?);
        let gate = import.unary(self.act(), gate);
        import.op_at(Op::Binary { kind: BinaryKind::Mul }, &[weighted, gate], self.port("out")?);
        Some(())
    }

    fn norm_rope(&self, import: &mut Import) -> Option<()> {
        self.turned(import, self.port("x")?, self.port("out")?)
    }

    /// Heads normed and turned, at a place.
    fn turned(&self, import: &mut Import, x: Value, place: Value) -> Option<()> {
        let normed = import.op(self.norm(), &[x]);
        let weighted = import.mul(normed, self.port("weight")?);
        let sources = [Some(weighted), self.port("positions"), self.port("divisors")];
        let layouts = sources.map(|s| s.map(|s| s.layout));
        results(&self.rope(), &layouts).ok()?;
        let sources = sources.map(|s| s.map_or(Source::None, Source::Value));
        import.push(self.rope(), &sources, &[place], "");
        Some(())
    }

    fn norm_rope_rows(&self, import: &mut Import) -> Option<()> {
        let x = self.port("x")?;
        let turned = import.fresh(x.layout.dtype, x.shape());
        self.turned(import, x, turned)?;
        self.stored(import, turned)
    }

    /// All heads of a token side by side in a row of the result.
    fn stored(&self, import: &mut Import, turned: Value) -> Option<()> {
        let [width, heads, tokens, _] = turned.shape();
        let flat = import.reshape(turned, &[width * heads, tokens]);
        import.op_at(Op::SetRows, &[self.port("out")?, flat, self.port("rows")?], self.port("out")?);
        Some(())
    }

    fn pool_rows(&self, import: &mut Import) -> Option<()> {
        let (cache, cells) = (self.port("cache")?, self.port("cells")?);
        let (width, [block, tokens, ..]) = (cache.shape()[0], cells.shape());
        // One list in the graph, where its rows allow that.
        let listed = cells.layout.reshaped([block * tokens, 1, 1, 1])?;
        let listed = import.alias(cells, listed);
        let members = import.op(Op::GetRows, &[cache, listed]);
        let members = import.reshape(members, &[width, block, tokens]);
        let across = import.permute(members, [1, 0, 2, 3]);
        let sum = import.op(Op::SumRows, &[across]);
        let sum = import.reshape(sum, &[width, 1, tokens]);
        let mean = import.scale(sum, self.float("scale"), 0.0);
        let turned = import.fresh(mean.layout.dtype, mean.shape());
        self.turned(import, mean, turned)?;
        self.stored(import, turned)
    }

    fn mul_mats(&self, import: &mut Import) -> Option<()> {
        for (weight, out) in [("w0", "out0"), ("w1", "out1"), ("w2", "out2"), ("w3", "out3")] {
            if let Some(weight) = self.port(weight) {
                import.op_at(Op::MulMat, &[weight, self.port("x")?], self.port(out)?);
            }
        }
        Some(())
    }

    /// By the operation, or by plain ones where it has no such function.
    fn mul_mat_swiglu(&self, import: &mut Import) -> Option<()> {
        let x = self.port("x")?;
        let gate = import.op(Op::MulMat, &[self.port("gate")?, x]);
        let up = import.op(Op::MulMat, &[self.port("up")?, x]);
        let out = self.port("out")?;
        if self.integer("kind") == 0 {
            import.op_at(Op::Swiglu, &[gate, up], out);
        } else {
            let opened = import.unary(UnaryKind::Sigmoid, gate);
            import.op_at(Op::Binary { kind: BinaryKind::Mul }, &[opened, up], out);
        }
        Some(())
    }

    fn mul_mat_id_swiglu(&self, import: &mut Import) -> Option<()> {
        let (x, ids) = (self.port("x")?, self.port("ids")?);
        let gate = import.op(Op::MulMatId, &[self.port("gate")?, x, ids]);
        let up = import.op(Op::MulMatId, &[self.port("up")?, x, ids]);
        import.op_at(Op::Swiglu, &[gate, up], self.port("out")?);
        Some(())
    }

    fn router(&self, import: &mut Import) -> Option<()> {
        let (logits, ids) = (self.port("logits")?, self.port("ids")?);
        let ([experts, tokens, ..], chosen) = (logits.shape(), ids.shape()[0]);
        let shares = import.op(Op::Softmax { scale: self.float("scale") }, &[logits]);
        import.op_at(Op::TopK { k: self.integer("k") }, &[shares], ids);
        let table = import.reshape(shares, &[1, experts, tokens]);
        let shares = import.op(Op::GetRows, &[table, ids]);
        let shares = import.reshape(shares, &[chosen, tokens]);
        let sum = import.op(Op::SumRows, &[shares]);
        let least = import.op(Op::Clamp { min: self.float("least"), max: f32::INFINITY }, &[sum]);
        let weights = self.port("weights")?;
        import.op_at(Op::Binary { kind: BinaryKind::Div }, &[shares, least], weights);
        Some(())
    }

    fn expert_sum(&self, import: &mut Import) -> Option<()> {
        let (across, out) = (self.chosen(import)?, self.port("out")?);
        let Some(shared) = self.port("extra") else {
            import.op_at(Op::SumRows, &[across], lift(out));
            return Some(());
        };
        let routed = self.routed(import, across)?;
        let gated = self.opened(import, shared)?;
        import.op_at(Op::Binary { kind: BinaryKind::Add }, &[routed, gated], out);
        Some(())
    }

    fn expert_sum_norm(&self, import: &mut Import) -> Option<()> {
        let across = self.chosen(import)?;
        let mut given = self.routed(import, across)?;
        if let Some(shared) = self.port("extra") {
            let gated = self.opened(import, shared)?;
            given = import.add(given, gated);
        }
        self.added(import, self.port("residual")?, given)
    }

    /// What experts give, weighted, those of a value after each other.
    fn chosen(&self, import: &mut Import) -> Option<Value> {
        let (x, weights) = (self.port("x")?, self.port("weights")?);
        let lifted = import.alias(weights, lift(weights).layout);
        let weighted = import.mul(x, lifted);
        Some(import.permute(weighted, [1, 0, 2, 3]))
    }

    /// The sum of that.
    fn routed(&self, import: &mut Import, across: Value) -> Option<Value> {
        let sum = import.op(Op::SumRows, &[across]);
        Some(import.reshape(sum, &self.port("out")?.shape()))
    }

    /// What the expert of all tokens gives, behind its gate.
    fn opened(&self, import: &mut Import, shared: Value) -> Option<Value> {
        let gate = import.unary(UnaryKind::Sigmoid, self.port("gate")?);
        Some(import.mul(shared, gate))
    }

    fn mix_streams(&self, import: &mut Import) -> Option<()> {
        self.mixed(import, self.port("gate")?, self.port("x")?)
    }

    fn mul_mat_mix(&self, import: &mut Import) -> Option<()> {
        let (weight, streams) = (self.port("weight")?, self.port("streams")?);
        let silu = import.unary(UnaryKind::Silu, self.port("x")?);
        // One matrix in the graph, where its rows allow that.
        let [inner, rows, count, _] = weight.shape();
        let layout = weight.layout.reshaped([inner, rows * count, 1, 1])?;
        let weight = import.alias(weight, layout);
        let gates = import.op(Op::MulMat, &[weight, silu]);
        let gates = import.reshape(gates, &streams.shape());
        self.mixed(import, gates, streams)
    }

    /// Streams behind their gates as one row, at the result's place.
    fn mixed(&self, import: &mut Import, gate: Value, streams: Value) -> Option<()> {
        let opened = import.unary(UnaryKind::Sigmoid, gate);
        let gated = import.mul(streams, opened);
        let across = import.permute(gated, [1, 0, 2, 3]);
        import.op_at(Op::SumRows, &[across], lift(self.port("out")?));
        Some(())
    }

    fn gated_attention(&self, import: &mut Import) -> Option<()> {
        let op = Op::FlashAttention { scale: self.float("scale") };
        let sources = ["q", "k", "v", "mask", "sinks", "segments"].map(|name| self.port(name));
        results(&op, &sources.map(|s| s.map(|s| s.layout))).ok()?;
        let attended = import.apply(op, &sources)[0];
        let opened = import.unary(self.act(), self.port("gate")?);
        import.op_at(Op::Binary { kind: BinaryKind::Mul }, &[attended, opened], self.port("out")?);
        Some(())
    }

    /// Decay and write strength of each head and token, under the shape that the delta net takes.
    fn strengths(&self, import: &mut Import) -> Option<[Value; 2]> {
        let [heads, tokens, seqs, _] = self.port("alpha")?.shape();
        // Rules name these operands without their unused extents.
        if heads == 1 || (tokens == 1 && seqs > 1) {
            return None;
        }
        let sum = import.add(self.port("alpha")?, self.port("dt")?);
        let soft = import.unary(UnaryKind::Softplus, sum);
        let decay = import.mul(soft, self.port("a")?);
        let beta = import.unary(UnaryKind::Sigmoid, self.port("beta")?);
        Some([decay, beta].map(|value| import.reshape(value, &[1, heads, tokens, seqs])))
    }

    /// The delta net behind norms of q and k; its output goes to a place, if one is given, its states to the pool.
    fn net(&self, import: &mut Import, rows: [Value; 3], eps: &str, out: Option<Value>) -> Option<Value> {
        let [q, k] = [rows[0], rows[1]].map(|row| import.op(self.l2_norm(eps), &[row]));
        let [gate, beta] = self.strengths(import)?;
        let (state, segments) = (self.port("state")?, self.port("segments"));
        let sources = [Some(q), Some(k), Some(rows[2]), Some(gate), Some(beta), Some(state), segments];
        results(&self.delta_net(), &sources.map(|s| s.map(|s| s.layout))).ok()?;
        let out = out.unwrap_or_else(|| import.fresh(rows[2].layout.dtype, rows[2].shape()));
        let places = if segments.is_some() { vec![out, state] } else { vec![out] };
        import.push(self.delta_net(), &sources.map(|s| s.map_or(Source::None, Source::Value)), &places, "");
        Some(out)
    }

    /// The form without a gather; states come back where they were.
    fn gdn_core(&self, import: &mut Import) -> Option<()> {
        let (kept, segmented) = (self.port("state_out"), self.port("segments").is_some());
        let in_place = if segmented { kept == self.port("state") } else { kept.is_none() };
        if !in_place || self.port("rows").is_some() {
            return None;
        }
        let rows = [self.port("q")?, self.port("k")?, self.port("v")?];
        self.net(import, rows, "eps", self.port("out")).map(|_| ())
    }

    fn gdn_layer(&self, import: &mut Import) -> Option<()> {
        let [x, history, segments] = [self.port("x")?, self.port("history")?, self.port("segments")?];
        let op = Op::SsmConv { dilation: self.integer("dilation") };
        let sources = [Some(x), self.port("conv"), Some(history), Some(segments)];
        results(&op, &sources.map(|s| s.map(|s| s.layout))).ok()?;
        let mixed = import.apply(op, &sources)[0];
        import.apply(Op::ConvHistory, &[Some(x), Some(history), Some(segments)]);
        let mixed = import.unary(UnaryKind::Silu, mixed);
        let [dim, heads, tokens, _] = self.port("out")?.shape();
        let key_heads = u64::from(self.integer("key_heads"));
        if mixed.shape()[0] != dim * (2 * key_heads + heads) {
            return None;
        }
        let mut slice = |heads: u64, start: u64| {
            let pitch = mixed.layout.strides[1];
            import.view(mixed, [dim, heads, tokens, 1], [4, dim * 4, pitch, pitch * tokens], start * dim * 4)
        };
        let rows = [slice(key_heads, 0), slice(key_heads, key_heads), slice(heads, 2 * key_heads)];
        let out = self.net(import, rows, "l2_eps", None)?;
        let normed = import.op(self.norm(), &[out]);
        self.gated(import, normed, self.port("z")?)
    }
}
