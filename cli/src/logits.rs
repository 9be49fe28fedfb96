//! `weft logits`: the conformance door. Token ids in, logits out.

use crate::args::ModelArgs;
use anyhow::{Context, bail};
use clap::Args;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::BTreeMap;
use std::path::PathBuf;
use weft::session::{Evaluation, Session, SessionOptions};

/// Arguments of `weft logits`.
#[derive(Args)]
#[command(
    after_help = "Writes a safetensors file with `logits`, f32 [tokens, vocabulary], and with --hidden \
    `hidden_0`, `hidden_1`, …, f32 [tokens, embedding], the residual after each block."
)]
pub struct LogitsArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// JSON file with a list of token ids.
    #[arg(long, value_name = "IDS.json")]
    tokens: PathBuf,
    /// Most tokens processed at once.
    #[arg(long, default_value_t = 512)]
    ubatch: u64,
    /// Process the ids before this index as a prompt and the rest one at a time.
    #[arg(long, value_name = "N")]
    decode_from: Option<usize>,
    /// Also write the residual after each block.
    #[arg(long)]
    hidden: bool,
    /// The fast arithmetic of normal runs in place of exact f32.
    #[arg(long)]
    fast: bool,
    /// The file to write.
    #[arg(short, long, value_name = "OUT.safetensors")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: &LogitsArgs) -> anyhow::Result<()> {
    let name = args.tokens.display();
    let text = std::fs::read_to_string(&args.tokens).with_context(|| format!("reading {name}"))?;
    let ids: Vec<u32> =
        serde_json::from_str(&text).with_context(|| format!("{name} must hold a JSON list of token ids"))?;
    if ids.is_empty() {
        return Err(weft::Error::EmptyPrompt.into());
    }
    let prompt = args.decode_from.unwrap_or(ids.len());
    if prompt > ids.len() {
        bail!("--decode-from {prompt}: there are only {} ids", ids.len());
    }
    let model = args.model.open()?;
    let base = if args.fast { SessionOptions::default() } else { SessionOptions::exact() };
    let context = ids.len().max(1) as u64;
    let mut session = Session::new(&model, SessionOptions { ubatch: args.ubatch, context, ..base })?;
    let mut all = Evaluation::default();
    let (prefilled, single) = ids.split_at(prompt);
    let pieces = (!prefilled.is_empty()).then_some(prefilled).into_iter().chain(single.chunks(1));
    for piece in pieces {
        let part = session.evaluate(piece, args.hidden)?;
        all.logits.extend(part.logits);
        all.hidden.resize(part.hidden.len(), Vec::new());
        all.hidden.iter_mut().zip(part.hidden).for_each(|(rows, more)| rows.extend(more));
    }
    write(args, &all, ids.len())
}

fn write(args: &LogitsArgs, all: &Evaluation, tokens: usize) -> anyhow::Result<()> {
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut tensors = BTreeMap::from([("logits".to_owned(), (all.logits.len(), bytes(&all.logits)))]);
    for (layer, rows) in all.hidden.iter().enumerate() {
        tensors.insert(format!("hidden_{layer}"), (rows.len(), bytes(rows)));
    }
    let views = tensors
        .iter()
        .map(|(name, (count, bytes))| {
            Ok((name, TensorView::new(Dtype::F32, vec![tokens, count / tokens], bytes)?))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
    let name = args.output.display();
    safetensors::serialize_to_file(views, None, &args.output).with_context(|| format!("writing {name}"))?;
    Ok(())
}
