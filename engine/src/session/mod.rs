//! One sequence on a model: prefill, decode, generate.

mod counters;
mod drafter;
mod generate;
mod inputs;
mod inspect;
mod memory;
mod options;
mod shape;
mod speculate;
mod step;
mod stop;
mod timings;

pub use counters::Counters;
pub use drafter::DraftBy;
pub use generate::{Finish, GenerateOptions, Generated};
pub use inspect::Inspection;
pub use memory::{speculation_bytes, state_bytes};
pub use options::SessionOptions;
pub use speculate::Speculation;
pub use step::{Chosen, SampleOn};
pub use timings::Timings;

use crate::models::{Batch, Rows, Run, names};
use crate::{Error, Model};
use drafter::Drafter;
use inputs::{Feed, Inputs};
use memory::{fitting, states};
use shape::Shape;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tracing::trace_span;
use weft_core::backend::Buffer;
use weft_core::driver::Options as PlanOptions;
use weft_core::plan::Plan;
use weft_core::run::{RunError, Runner, Tickets};

/// Compiled plans that a session keeps, by shape. A chat meets few: decode, full ubatches, and last pieces of prompts.
const KEPT_PLANS: usize = 8;

/// Stops a session from another thread.
#[derive(Clone, Debug, Default)]
pub struct CancelHandle(Arc<AtomicBool>);

impl CancelHandle {
    /// Asks the running call to stop. It returns [`Error::Cancelled`] within a fraction of a ubatch.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Logits and residuals of all rows of an evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// `[vocabulary, tokens]`.
    pub logits: Vec<f32>,
    /// Per block `[streams · embedding, tokens]`; empty unless asked for.
    pub hidden: Vec<Vec<f32>>,
}

/// Logits on a device: of this run, which has so many rows, this row.
struct Unread {
    tickets: Tickets,
    rows: u64,
    row: u64,
}

/// One sequence on a model. `Send`, not `Sync`: one thread uses it at a time.
pub struct Session {
    model: Arc<Model>,
    options: SessionOptions,
    context: u64,
    states: HashMap<(usize, String), Buffer>,
    /// Most recently used last.
    runners: Vec<(Shape, Runner)>,
    inputs: Inputs,
    tokens: Vec<u32>,
    logits: Vec<f32>,
    /// The last run, if its logits are still on the device.
    unread: Option<Unread>,
    /// Logits of all rows of the last run, where several were read.
    rows: Vec<f32>,
    /// The snapshot to start from, and how many more tokens can be taken back.
    plane: u64,
    planes: u64,
    drafter: Option<Drafter>,
    cancel: CancelHandle,
    timings: Timings,
    counters: Counters,
}

impl Session {
    /// An empty sequence.
    ///
    /// # Errors
    /// An option is out of range, or the state does not fit into memory.
    pub fn new(model: &Arc<Model>, options: SessionOptions) -> Result<Self, Error> {
        let hyper = model.description().hyper();
        if options.ubatch == 0 || options.ubatch > 1 << 16 {
            let value = options.ubatch.to_string();
            return Err(Error::Option { name: "ubatch", value, why: "it must lie between 1 and 65536" });
        }
        if let Some(why) = options.cache.refusal(hyper) {
            return Err(Error::Option { name: "cache", value: options.cache.to_string(), why });
        }
        let context = if options.context == 0 { fitting(model, options.cache)? } else { options.context };
        let mut session = Session {
            model: Arc::clone(model),
            options,
            context,
            states: HashMap::new(),
            runners: Vec::new(),
            inputs: Inputs::default(),
            tokens: Vec::new(),
            logits: vec![0.0; hyper.vocabulary as usize],
            unread: None,
            rows: Vec::new(),
            plane: 0,
            planes: 0,
            drafter: None,
            cancel: CancelHandle::default(),
            timings: Timings::default(),
            counters: Counters::default(),
        };
        if let Some(speculation) = session.options.speculation {
            session.drafter = Some(Drafter::new(&session, &speculation)?);
        }
        session.reserve()?;
        Ok(session)
    }

    /// Fails now, and not in the middle of a prompt, if the states are too large.
    fn reserve(&mut self) -> Result<(), Error> {
        let states = states(self.model.description(), self.model.drafter(), &self.batch(1, Rows::All))?;
        let asked = states.iter().copied().fold(0, u64::saturating_add);
        let largest = states.into_iter().max().unwrap_or(0);
        let Some(device) = self.model.backends().first() else { return Ok(()) };
        let capabilities = device.capabilities();
        // A device that does not tell its memory still tells its largest buffer.
        let limits = [(asked, capabilities.memory), (largest, capabilities.largest_buffer)];
        for (asked, limit) in limits {
            if let Some(granted) = limit.filter(|limit| asked > *limit) {
                return Err(Error::Memory { context: self.context, asked, granted });
            }
        }
        Ok(())
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Tokens of context.
    pub fn context(&self) -> u64 {
        self.context
    }

    /// Tokens processed so far.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// How it works.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Logits after the last token. Empty where they are still on the device that sampled: see [`Session::fetch_logits`].
    pub fn logits(&self) -> &[f32] {
        if self.unread.is_some() { &[] } else { &self.logits }
    }

    /// What took how long since the session was made or the last [`Session::reset_timings`].
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// What the runs did since the session was made or the last [`Session::reset_timings`]: claims, fallbacks, revocations,
    /// splits, from the plans that ran.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Starts clocks and counts anew.
    pub fn reset_timings(&mut self) {
        (self.timings, self.counters) = (Timings::default(), Counters::default());
    }

    /// A handle that stops this session from another thread.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// Forgets all tokens. Buffers and plans are kept.
    pub fn reset(&mut self) {
        self.tokens.clear();
        (self.plane, self.planes) = (0, 0);
        if let Some(Drafter::Mtp(drafter)) = &mut self.drafter {
            drafter.cut(0);
        }
    }

    /// Processes a prompt in ubatches and leaves the logits after its last token in [`Session::logits`].
    ///
    /// # Errors
    /// The prompt is empty, too long, or holds unknown tokens; the run failed or was cancelled. A session that was stopped
    /// inside a ubatch has lost its state and is empty again; one that was stopped between two keeps those before.
    pub fn prefill(&mut self, ids: &[u32]) -> Result<&[f32], Error> {
        self.check(ids)?;
        let _span = trace_span!("prefill", tokens = ids.len()).entered();
        let started = Instant::now();
        let pieces = ids.len().div_ceil(self.options.ubatch as usize);
        for (number, piece) in ids.chunks(self.options.ubatch as usize).enumerate() {
            let rows = if number + 1 == pieces { Rows::Some(1) } else { Rows::None };
            self.run(piece, rows)?;
        }
        self.timings.prompt_tokens += ids.len() as u64;
        self.timings.prompt += started.elapsed();
        Ok(&self.logits)
    }

    /// Brings the sequence to exactly these tokens. What it has already processed of them is kept if they begin with it;
    /// else it starts over, since a recurrent state cannot be cut.
    ///
    /// # Errors
    /// As [`Session::prefill`].
    pub fn prefill_to(&mut self, ids: &[u32]) -> Result<&[f32], Error> {
        let known = self.tokens.len();
        if known == 0 || ids.len() <= known || !ids.starts_with(&self.tokens) {
            self.reset();
            return self.prefill(ids);
        }
        self.prefill(&ids[known..])
    }

    /// Processes one token and gives the logits after it.
    ///
    /// # Errors
    /// As [`Session::prefill`].
    pub fn decode(&mut self, id: u32) -> Result<&[f32], Error> {
        self.check(&[id])?;
        let _span = trace_span!("decode").entered();
        let started = Instant::now();
        self.run(&[id], Rows::All)?;
        self.timings.decoded_tokens += 1;
        self.timings.decode += started.elapsed();
        Ok(&self.logits)
    }

    /// Processes tokens and gives the logits of every one, and the residual after each block if `hidden`.
    ///
    /// # Errors
    /// As [`Session::prefill`].
    pub fn evaluate(&mut self, ids: &[u32], hidden: bool) -> Result<Evaluation, Error> {
        self.check(ids)?;
        let hyper = self.model.description().hyper();
        let (layers, vocabulary) = (hyper.layers, hyper.vocabulary as usize);
        let width = (hyper.embedding * hyper.streams) as usize;
        let mut all = Evaluation {
            logits: Vec::new(),
            hidden: vec![Vec::new(); if hidden { layers as usize } else { 0 }],
        };
        for piece in ids.chunks(self.options.ubatch as usize) {
            let batch = Batch { hidden, ..self.batch(piece.len() as u64, Rows::All) };
            let tickets = self.submit(batch, piece)?;
            let start = all.logits.len();
            all.logits.resize(start + piece.len() * vocabulary, 0.0);
            self.output(&tickets, names::LOGITS, bytemuck::cast_slice_mut(&mut all.logits[start..]))?;
            for (layer, rows) in all.hidden.iter_mut().enumerate() {
                let start = rows.len();
                rows.resize(start + piece.len() * width, 0.0);
                let name = names::hidden(layer as u64);
                self.output(&tickets, &name, bytemuck::cast_slice_mut(&mut rows[start..]))?;
            }
            self.tokens.extend_from_slice(piece);
        }
        self.unread = None;
        if let Some(last) = all.logits.len().checked_sub(vocabulary) {
            self.logits.copy_from_slice(&all.logits[last..]);
        }
        Ok(all)
    }

    /// The plan of a ubatch of this many tokens. Compiles it if need be.
    ///
    /// # Errors
    /// No plan covers the model's graph, or a device refused it.
    pub fn plan(&mut self, tokens: u64) -> Result<Arc<Plan>, Error> {
        let rows = if tokens == 1 { Rows::All } else { Rows::Some(1) };
        let batch = self.batch(tokens, rows);
        self.runner(batch.into())?;
        let plan = self.runners.last().map(|(_, runner)| Arc::clone(runner.plan()));
        plan.ok_or(Error::EmptyPrompt)
    }

    fn batch(&self, tokens: u64, rows: Rows) -> Batch {
        let whole = self.model.description().chooses_all(self.tokens.len() as u64 + tokens);
        let batch = Batch { tokens, rows, whole, ..Batch::token(self.context, self.options.cache) };
        self.options.speculation.map_or(batch, |speculation| speculation.batch(batch, self.options.ubatch))
    }

    /// Rows of residuals that are kept for a draft block, its own last one with them; 0 without one.
    fn kept(&self) -> u64 {
        self.batch(1, Rows::All).kept
    }

    fn check(&self, ids: &[u32]) -> Result<(), Error> {
        if ids.is_empty() {
            return Err(Error::EmptyPrompt);
        }
        let limit = self.model.description().hyper().vocabulary;
        if let Some(id) = ids.iter().find(|id| u64::from(**id) >= limit) {
            return Err(Error::Token { id: *id, limit });
        }
        let asked = (self.tokens.len() + ids.len()) as u64;
        if asked > self.context { Err(Error::Context { asked, context: self.context }) } else { Ok(()) }
    }

    /// Runs one ubatch and fetches the last row's logits if there are any.
    fn run(&mut self, ids: &[u32], rows: Rows) -> Result<(), Error> {
        let batch = self.batch(ids.len() as u64, rows);
        let tickets = self.submit(batch, ids)?;
        if rows != Rows::None {
            let got = if rows == Rows::All { batch.tokens } else { 1 };
            self.keep_unread(tickets, got, got - 1);
            self.fetch_logits()?;
        }
        self.tokens.extend_from_slice(ids);
        Ok(())
    }

    /// Reads an output of the last run.
    fn output(&mut self, tickets: &Tickets, name: &str, into: &mut [u8]) -> Result<(), Error> {
        let outcome = self.last_runner()?.output(tickets, name, into);
        outcome.map_err(|error| self.broken(error))
    }

    /// What a failure leaves: the states may be half written, or gone with their device.
    fn broken(&mut self, error: RunError) -> Error {
        self.reset();
        self.unread = None;
        self.cancel.0.store(false, Ordering::Relaxed);
        Error::from(error)
    }

    fn submit(&mut self, batch: Batch, ids: &[u32]) -> Result<Tickets, Error> {
        self.with_drafter(|drafter, session| drafter.make_room(session, ids.len() as u64))?;
        let cell = self.tokens.len() as u64;
        let ring = self.kept().saturating_sub(1);
        let kept = (cell % ring.max(1), ring);
        let feed = Feed { ids, cell, ahead: 0, plane: self.plane, rows: batch.rows, kept };
        let tickets = self.launch(batch, &feed, None)?;
        self.plane = 0;
        self.planes = batch.snapshots.min(batch.tokens) - 1;
        Ok(tickets)
    }

    /// Runs a graph. `before` names the residual that a drafter's only token follows, if it is not the trunk's.
    fn launch(&mut self, batch: Batch, feed: &Feed<'_>, before: Option<u64>) -> Result<Tickets, Error> {
        if self.cancel.0.swap(false, Ordering::Relaxed) {
            return Err(Error::Cancelled { position: self.tokens.len() as u64 });
        }
        self.runner(Shape { batch, checked: self.is_check_due(batch.tokens) })?;
        self.inputs.fill(feed);
        before.into_iter().for_each(|row| self.inputs.follow(row));
        if !batch.draft {
            let description = self.model.description();
            let (ids, cells, form) = (feed.ids, batch.cells, description.sparse_form());
            let run = Run { past: &self.tokens, ids, cells, form };
            description.write_inputs(&run, &mut self.inputs.host)?;
        }
        self.unread = None;
        let Some((_, runner)) = self.runners.last_mut() else { return Err(Error::EmptyPrompt) };
        let graph = Arc::clone(&runner.plan().graph);
        let given = self.inputs.given(&graph);
        let hash = runner.plan().hash;
        tracing::trace!(tokens = feed.ids.len(), cell = feed.cell, draft = batch.draft, hash, "ubatch");
        let (outcome, tally) = (runner.run(&given, Some(&self.cancel.0)), *runner.tally());
        self.counters.ran(batch.tokens, &tally);
        outcome.map_err(|error| self.broken(error))
    }

    /// The runner of the last launch.
    fn last_runner(&mut self) -> Result<&mut Runner, Error> {
        self.runners.last_mut().map(|(_, runner)| runner).ok_or(Error::EmptyPrompt)
    }

    /// Whether so many tokens reach the next place where values are looked at.
    fn is_check_due(&self, tokens: u64) -> bool {
        let (every, known) = (self.options.check_finite, self.tokens.len() as u64);
        every > 0 && known.div_ceil(every) * every < known + tokens
    }

    /// Makes the runner of a shape the last of the list.
    fn runner(&mut self, shape: Shape) -> Result<(), Error> {
        let Shape { batch, checked } = shape;
        if self.runners.last().is_some_and(|(last, _)| *last == shape) {
            return Ok(());
        }
        if let Some(at) = self.runners.iter().position(|(known, _)| *known == shape) {
            let found = self.runners.remove(at);
            self.runners.push(found);
            return Ok(());
        }
        let started = Instant::now();
        let (graph, placement) = self.model.placed_graph(&batch)?;
        let graph = Arc::new(graph);
        let options = PlanOptions {
            exact: self.options.exact,
            disabled: self.options.disabled_rules.clone(),
            placement,
            keep_values: self.options.keep_values,
            ..PlanOptions::default()
        };
        let (model, states) = (&self.model, &mut self.states);
        let runner = Runner::prepare_with(&graph, model.backends(), &options, checked, |plan| {
            model.buffers(plan, batch.draft, |device, name, bytes| {
                if let Some(known) = states.get(&(device, name.to_owned())) {
                    return Ok(known.clone());
                }
                let buffer = model.backends()[device].allocate(name, bytes)?;
                states.insert((device, name.to_owned()), buffer.clone());
                Ok(buffer)
            })
        })?;
        tell_plan(runner.plan(), &batch);
        // Rounds of speculation add one to check guesses, and one to draft for each number of tokens caught up with.
        let rounds = self.options.speculation.map_or(0, |speculation| speculation.most as usize + 3);
        if self.runners.len() == KEPT_PLANS + rounds {
            self.runners.remove(0);
        }
        self.runners.push((shape, runner));
        self.timings.planning += started.elapsed();
        Ok(())
    }
}

/// Tells listeners of a new plan; at the finest level also of each of its dispatches. A listener sees the finished plan and
/// cannot change it.
fn tell_plan(plan: &Plan, batch: &Batch) {
    tracing::debug!(
        hash = format!("{:016x}", plan.hash),
        tokens = batch.tokens,
        dispatches = plan.dispatches.len(),
        splits = plan.splits.len(),
        revoked = plan.revoked.len(),
        "plan"
    );
    for (index, dispatch) in plan.dispatches.iter().enumerate() {
        let (kernel, variant, rule) = (dispatch.kernel, dispatch.variant, dispatch.rule);
        tracing::trace!(index, kernel, variant, rule, phase = dispatch.phase, "dispatch");
    }
}
