//! Arguments that several commands share.

use crate::cache::CacheArgs;
use crate::{profile, report};
use anyhow::{Context, bail};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use weft::Model;
use weft::backends::{self, BackendOptions};
use weft::gguf::Gguf;
use weft::models::ExpertsOn;
use weft::sampling::SamplingParams;
use weft::session::{DraftBy, GenerateOptions, SampleOn, SessionOptions, Speculation};
use weft_core::graph::DType;
use weft_core::profile::Profile;

/// Where to run.
#[derive(Args, Clone)]
pub struct BackendArgs {
    /// Where to run: auto takes the best that is found; wgpu:1 or wgpu:radeon is one device of several, by index or a part
    /// of its name. See `weft doctor`.
    #[arg(long, default_value = "auto", value_name = "NAME[:DEVICE]")]
    pub backend: String,
    /// CPU threads; 0 takes one per processor.
    #[arg(short, long, default_value_t = 0)]
    pub threads: usize,
    /// Leave weights on the device as they lie in the file.
    #[arg(long)]
    pub no_repack: bool,
    /// On HIP submit each decoded token as one graph, where the runtime makes graphs that compute the same.
    #[arg(long)]
    pub hip_graph: bool,
}

impl BackendArgs {
    /// How to open it.
    pub fn options(&self) -> BackendOptions {
        self.profiled(None)
    }

    /// The same, with a profile for the times of launches.
    fn profiled(&self, profile: Option<Arc<Profile>>) -> BackendOptions {
        BackendOptions {
            profile,
            threads: self.threads,
            repack: !self.no_repack,
            hip_graph: self.hip_graph,
            shaders: Some(report::shaders()),
            measure: false,
        }
    }
}

/// Where experts are computed.
#[derive(Args, Clone, Default)]
pub struct ExpertArgs {
    /// Where a mixture's expert matrices lie and are multiplied: gpu, the first device; cpu; cpu:12, those of the first 12
    /// layers on the CPU and the others on the first device; gpu:12 the other way round.
    #[arg(long, default_value_t = ExpertsOn::Gpu, value_name = "cpu|gpu[:LAYERS]", value_parser = experts_on)]
    experts_on: ExpertsOn,
    /// As --experts-on cpu; -cmoe is understood too.
    #[arg(long, conflicts_with_all = ["experts_on", "n_cpu_moe"])]
    cpu_moe: bool,
    /// As --experts-on cpu:N; -ncmoe is understood too.
    #[arg(long, value_name = "N", conflicts_with = "experts_on")]
    n_cpu_moe: Option<u64>,
}

impl ExpertArgs {
    /// Experts here.
    pub fn on(experts_on: ExpertsOn) -> Self {
        ExpertArgs { experts_on, ..ExpertArgs::default() }
    }

    /// Which experts where.
    pub fn experts_on(&self) -> ExpertsOn {
        match (self.cpu_moe, self.n_cpu_moe) {
            (true, _) => ExpertsOn::Cpu,
            (false, Some(layers)) => ExpertsOn::CpuFirst(layers),
            (false, None) => self.experts_on,
        }
    }
}

fn experts_on(text: &str) -> anyhow::Result<ExpertsOn> {
    text.parse().map_err(anyhow::Error::msg)
}

/// Options with one dash and several letters that other engines have, and what they are called here.
const SHORT: [(&str, &str); 5] = [
    ("-cmoe", "--cpu-moe"),
    ("-ncmoe", "--n-cpu-moe"),
    ("-md", "--spec-draft-model"),
    ("-ctk", "--cache-type-k"),
    ("-ctv", "--cache-type-v"),
];

/// The program's arguments, other engines' short options written out.
pub fn written_out(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut open = true;
    let mut long = |argument: OsString| {
        open &= argument != "--";
        let text = argument.to_str().filter(|_| open).unwrap_or_default();
        let (name, value) = text.split_at(text.find('=').unwrap_or(text.len()));
        let known = SHORT.iter().find(|(short, _)| name == *short);
        match known {
            Some((_, long)) => format!("{long}{value}").into(),
            None => argument,
        }
    };
    arguments.map(&mut long).collect()
}

/// Which model, on what.
#[derive(Args, Clone)]
pub struct ModelArgs {
    /// GGUF file; of a split model any part. Without it, the model inside this program.
    #[arg(short, long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub backend: BackendArgs,
    #[command(flatten)]
    pub experts: ExpertArgs,
}

impl ModelArgs {
    /// Opens devices and file, and puts the weights on the device.
    pub fn open(&self) -> anyhow::Result<Arc<Model>> {
        self.open_with(None, Ok)
    }

    /// The same with a change before any weight is loaded, and launches timed where there is a profile.
    pub fn open_with(
        &self,
        profile: Option<&Arc<Profile>>,
        change: impl FnOnce(Arc<Model>) -> anyhow::Result<Arc<Model>>,
    ) -> anyhow::Result<Arc<Model>> {
        let options = self.backend.profiled(profile.cloned());
        let backends = backends::open(&self.backend.backend, &options)?;
        profile.into_iter().for_each(|profile| profile::begin(profile, &backends));
        let model = match &self.model {
            Some(path) => Model::open(path, backends)?,
            None => embedded(backends)?,
        };
        let model = change(model.with_experts_on(self.experts.experts_on()))?;
        let bar = report::bar("loading", 0);
        tracing::trace_span!("load").in_scope(|| {
            model.load(&mut |done, total| {
                bar.set_length(total);
                bar.set_position(done);
            })
        })?;
        bar.finish_and_clear();
        Ok(model)
    }

    /// The device in words.
    pub fn device(model: &Model) -> String {
        let first = model.backends().first();
        first.map_or_else(String::new, |b| format!("{} ({})", b.name(), b.capabilities().device))
    }
}

#[cfg(feature = "default-model")]
fn embedded(backends: Vec<Arc<dyn weft_core::backend::Backend>>) -> anyhow::Result<Arc<Model>> {
    Ok(Model::default_model(backends)?)
}

#[cfg(not(feature = "default-model"))]
fn embedded(_: Vec<Arc<dyn weft_core::backend::Backend>>) -> anyhow::Result<Arc<Model>> {
    bail!("this build has no model inside: name a GGUF file with -m")
}

/// How a session works.
#[derive(Args, Clone)]
pub struct SessionArgs {
    /// Tokens of context; 0 takes what the model was made for.
    #[arg(short, long, visible_alias = "context", default_value_t = 0)]
    pub ctx: u64,
    /// Most tokens of a prompt that are processed at once.
    #[arg(long, visible_alias = "ub", default_value_t = 512)]
    pub ubatch: u64,
    #[command(flatten)]
    pub cache: CacheArgs,
    /// Exact arithmetic: f32 throughout, no 8-bit products. Slower.
    #[arg(long)]
    pub exact: bool,
    /// Stop at the first value that is not finite and name what made it: finite, after every ubatch; finite=N, whenever N
    /// more tokens are processed.
    #[arg(long, value_name = "finite[=N]", value_parser = check_finite)]
    pub check: Option<u64>,
    /// Where tokens are sampled: auto lets the device say; host; or device, as far as it can: greedy, or temperature with
    /// --top-k from 1 to 64, --top-p 1, --min-p 0 and no penalties.
    #[arg(long, default_value = "auto", value_name = "WHERE", value_parser = sample_on)]
    pub sample_on: SampleOn,
    /// Guess next tokens and check several at once; the text stays the same: none; draft-mtp, by the model's own draft block;
    /// or ngram, by what stood in the text before.
    #[arg(long, default_value = "none", value_name = "KIND")]
    pub spec_type: String,
    /// Guess by the draft block in this file, which may hold nothing else; draft-mtp follows from it. -md is understood too.
    #[arg(long, visible_alias = "model-draft", value_name = "FILE")]
    pub spec_draft_model: Option<PathBuf>,
    /// Most tokens of one guess, 1 to 16.
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub spec_draft_n_max: u64,
    /// Stop a guess before a token that the draft block gives less than this probability.
    #[arg(long, default_value_t = 0.0, value_name = "P")]
    pub spec_draft_p_min: f32,
}

fn check_finite(text: &str) -> anyhow::Result<u64> {
    let (what, every) = text.split_once('=').unwrap_or((text, "1"));
    let every = every.parse().ok().filter(|every| *every > 0);
    every.filter(|_| what == "finite").context("finite and finite=N are known, N at least 1")
}

fn sample_on(text: &str) -> anyhow::Result<SampleOn> {
    let known = SampleOn::NAMES.iter().find(|(name, _)| *name == text);
    known.map(|(_, sample_on)| *sample_on).context("auto, host and device are known")
}

impl SessionArgs {
    /// The session's options.
    pub fn options(&self) -> anyhow::Result<SessionOptions> {
        let exact = self.exact;
        let cache = self.cache.types(if exact { DType::F32 } else { DType::F16 })?;
        Ok(SessionOptions {
            context: self.ctx,
            ubatch: self.ubatch,
            cache,
            exact,
            sample_on: self.sample_on,
            speculation: self.speculation()?,
            check_finite: self.check.unwrap_or(0),
            ..SessionOptions::default()
        })
    }

    /// The model with the draft block that was asked for.
    pub fn drafting(&self, model: Arc<Model>) -> anyhow::Result<Arc<Model>> {
        match &self.spec_draft_model {
            Some(path) => Ok(model.with_drafter(Gguf::open(path).map_err(weft::Error::from)?)?),
            None => Ok(model),
        }
    }

    fn speculation(&self) -> anyhow::Result<Option<Speculation>> {
        let kind = match (self.spec_type.as_str(), &self.spec_draft_model) {
            ("none", None) => return Ok(None),
            ("none", Some(_)) => "draft-mtp",
            ("ngram", Some(_)) => {
                bail!("--spec-type ngram guesses without --spec-draft-model: leave one of them out")
            }
            (kind, _) => kind,
        };
        let Some((_, by)) = DraftBy::NAMES.iter().find(|(name, _)| *name == kind) else {
            bail!("--spec-type {kind}: none, draft-mtp and ngram are known");
        };
        let (most, least_probability) = (self.spec_draft_n_max, self.spec_draft_p_min);
        Ok(Some(Speculation { by: *by, most, least_probability }))
    }
}

/// How tokens are chosen. Order: bias, penalties, top-k, top-p, min-p, temperature.
#[derive(Args, Clone)]
pub struct SamplingArgs {
    /// Randomness; 0 always takes the likeliest token.
    #[arg(long, visible_alias = "temp", default_value_t = 0.8)]
    pub temperature: f32,
    /// Keep only the k likeliest tokens; 0 keeps all.
    #[arg(long, default_value_t = 40)]
    pub top_k: u32,
    /// Keep the likeliest tokens that together have this probability; 1 keeps all.
    #[arg(long, default_value_t = 0.95)]
    pub top_p: f32,
    /// Drop tokens less likely than this share of the likeliest; 0 keeps all.
    #[arg(long, default_value_t = 0.05)]
    pub min_p: f32,
    /// Divide the score of tokens seen lately; 1 does nothing.
    #[arg(long, default_value_t = 1.0)]
    pub repeat_penalty: f32,
    /// Take this off the score of tokens seen lately.
    #[arg(long, default_value_t = 0.0)]
    pub presence_penalty: f32,
    /// Take this off the score of tokens seen lately, once for each time.
    #[arg(long, default_value_t = 0.0)]
    pub frequency_penalty: f32,
    /// How many tokens count as lately.
    #[arg(long, default_value_t = 64)]
    pub repeat_last_n: u32,
    /// Add to a token's score: ID=VALUE. May be repeated.
    #[arg(long, value_name = "ID=VALUE", value_parser = bias)]
    pub logit_bias: Vec<(u32, f32)>,
    /// Seed of the randomness; without it a new one each time.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Most tokens of the answer; 0 goes on until the model ends.
    #[arg(short = 'n', long, default_value_t = 0)]
    pub max_tokens: u64,
    /// Text that ends the answer. May be repeated.
    #[arg(long, value_name = "TEXT")]
    pub stop: Vec<String>,
    /// Go on after the model's own end token.
    #[arg(long)]
    pub ignore_eos: bool,
}

fn bias(text: &str) -> anyhow::Result<(u32, f32)> {
    let (id, value) = text.split_once('=').context("write ID=VALUE")?;
    Ok((
        id.trim().parse().context("the id is a whole number")?,
        value.trim().parse().context("the value is a number")?,
    ))
}

impl SamplingArgs {
    /// The sampler's parameters. Padding rows of the head are never drawn.
    pub fn params(&self, model: &Model) -> SamplingParams {
        SamplingParams {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repeat_penalty: self.repeat_penalty,
            presence_penalty: self.presence_penalty,
            frequency_penalty: self.frequency_penalty,
            penalty_last_n: self.repeat_last_n,
            logit_bias: self.logit_bias.clone(),
            seed: self.seed,
            valid_ids: Some(model.tokenizer().valid_ids()),
            ..SamplingParams::default()
        }
    }

    /// When to stop.
    pub fn generate(&self) -> GenerateOptions {
        GenerateOptions {
            max_tokens: self.max_tokens,
            stops: self.stop.clone(),
            ignore_end: self.ignore_eos,
            ..GenerateOptions::default()
        }
    }
}
