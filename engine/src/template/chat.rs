//! The chat template itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde_json::Map;

use super::environment::{NAME, clock_function, environment};
use super::message::map_weight;
use super::stack::{stack_for_source, stack_for_steps, with_stack};
use super::{Message, TemplateError};

/// Used where a file has no template: ChatML.
const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content \
                      + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}\
                      {% endif %}";
/// Longest template read, in bytes.
const SOURCE_LIMIT: usize = 1 << 17;
/// Steps granted to every rendering: one for an instruction or for 64 bytes of text.
const BASE_BUDGET: u64 = 100_000;
/// Steps granted for each message.
const MESSAGE_BUDGET: u64 = 500;
/// A step is granted for this many bytes of text in the messages and variables, which pays for going over them 16 times.
const BYTES_PER_STEP: u64 = 4;
/// Most steps ever granted. As a step also pays for 64 bytes, this bounds the memory to about half a gibibyte.
const BUDGET_LIMIT: u64 = 8_000_000;
/// Time granted for compiling and for a rendering, far beyond what the steps take.
const DEADLINE: Duration = Duration::from_secs(10);

/// What a rendering is given besides the messages.
#[derive(Debug, Clone, Default)]
pub struct RenderOptions {
    /// End with the beginning of the assistant's turn.
    pub add_generation_prompt: bool,
    /// Variables by name, as the template knows them: `tools`, `enable_thinking`, ….
    pub variables: Map<String, serde_json::Value>,
    /// The time that the template sees; `None`: the system's clock. Templates see UTC.
    pub now: Option<SystemTime>,
}

/// A compiled chat template. A rendering may not run or grow without end, whatever the template says.
#[derive(Clone)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos: String,
    eos: String,
    is_fallback: bool,
    pub(super) deadline: Duration,
    /// Set once a rendering was not done in time.
    timed_out: Arc<AtomicBool>,
}

impl ChatTemplate {
    /// Compiles a template; `None` gives ChatML. `bos` and `eos` are the texts of those tokens, or empty.
    ///
    /// # Errors
    /// `TooLong` for a template beyond 128 KiB, `Syntax` for one that does not parse, `Engine` or `TimedOut` if the engine
    /// fails on it.
    pub fn new(source: Option<&str>, bos: &str, eos: &str) -> Result<Self, TemplateError> {
        let text = source.unwrap_or(CHATML).to_owned();
        if text.len() > SOURCE_LIMIT {
            return Err(TemplateError::TooLong { bytes: text.len(), limit: SOURCE_LIMIT });
        }
        let stack = stack_for_source(text.len());
        Ok(Self {
            environment: with_stack(stack, DEADLINE, move || environment(&text))??,
            bos: bos.to_owned(),
            eos: eos.to_owned(),
            is_fallback: source.is_none(),
            deadline: DEADLINE,
            timed_out: Arc::default(),
        })
    }

    /// Whether ChatML stands in for a template that the file lacks.
    pub fn is_fallback(&self) -> bool {
        self.is_fallback
    }

    /// The prompt for a conversation.
    ///
    /// Besides the messages the template sees `add_generation_prompt`, `bos_token`, `eos_token`, `tools` and `documents`
    /// (none unless given), and the given variables. Encode the result with special tokens parsed and none added.
    ///
    /// # Errors
    /// `Refused` if the template raises an exception, `TooMuchWork` or `TimedOut` if it does not come to an end, `Render` if
    /// it fails, `Engine` if the engine itself does.
    pub fn render(&self, messages: &[Message], options: &RenderOptions) -> Result<String, TemplateError> {
        if self.timed_out.load(Ordering::Relaxed) {
            return Err(TemplateError::TimedOut { seconds: self.deadline.as_secs() });
        }
        let budget = budget(messages, options);
        let context = self.context(messages, options);
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(budget));
        let outcome = with_stack(stack_for_steps(budget), self.deadline, move || {
            let template = environment.get_template(NAME).map_err(|error| TemplateError::syntax(&error))?;
            template.render(context).map_err(|error| TemplateError::render(&error, budget))
        });
        if matches!(outcome, Err(TemplateError::TimedOut { .. })) {
            self.timed_out.store(true, Ordering::Relaxed);
        }
        outcome?
    }

    /// All that the template sees.
    fn context(&self, messages: &[Message], options: &RenderOptions) -> Value {
        let now = options.now.unwrap_or_else(SystemTime::now);
        let mut seen = BTreeMap::from([
            ("bos_token", Value::from(self.bos.as_str())),
            ("eos_token", Value::from(self.eos.as_str())),
            ("tools", Value::from(())),
            ("documents", Value::from(())),
            ("strftime_now", clock_function(now)),
        ]);
        for (name, value) in &options.variables {
            seen.insert(name, Value::from(Serde(value)));
        }
        seen.insert("messages", Value::from(Serde(messages)));
        seen.insert("add_generation_prompt", Value::from(options.add_generation_prompt));
        Value::from(seen)
    }
}

/// The steps that a conversation may take: several times what the heaviest known templates need.
fn budget(messages: &[Message], options: &RenderOptions) -> u64 {
    let bytes = messages.iter().map(Message::weight).sum::<usize>() + map_weight(&options.variables);
    BASE_BUDGET
        .saturating_add(MESSAGE_BUDGET.saturating_mul(messages.len() as u64))
        .saturating_add(bytes as u64 / BYTES_PER_STEP)
        .min(BUDGET_LIMIT)
}
