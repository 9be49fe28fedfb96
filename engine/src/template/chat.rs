//! The chat template itself.

use std::time::SystemTime;

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
}

impl ChatTemplate {
    /// Compiles a template; `None` gives ChatML. `bos` and `eos` are the texts of those tokens, or empty.
    ///
    /// # Errors
    /// `TooLong` for a template beyond 128 KiB, `Syntax` for one that does not parse, `Engine` if the engine fails.
    pub fn new(source: Option<&str>, bos: &str, eos: &str) -> Result<Self, TemplateError> {
        let text = source.unwrap_or(CHATML);
        if text.len() > SOURCE_LIMIT {
            return Err(TemplateError::TooLong { bytes: text.len(), limit: SOURCE_LIMIT });
        }
        let environment = with_stack(stack_for_source(text.len()), || environment(text))??;
        Ok(Self { environment, bos: bos.to_owned(), eos: eos.to_owned(), is_fallback: source.is_none() })
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
    /// `Refused` if the template raises an exception, `TooMuchWork` if it does not come to an end, `Render` if it fails,
    /// `Engine` if the engine itself does.
    pub fn render(&self, messages: &[Message], options: &RenderOptions) -> Result<String, TemplateError> {
        let bytes: usize = messages.iter().map(Message::weight).sum::<usize>() + map_weight(&options.variables);
        let budget = BASE_BUDGET
            .saturating_add(MESSAGE_BUDGET.saturating_mul(messages.len() as u64))
            .saturating_add(bytes as u64 / BYTES_PER_STEP)
            .min(BUDGET_LIMIT);
        with_stack(stack_for_steps(budget), || self.render_here(messages, options, budget))?
    }

    /// Renders on the stack of the current thread.
    fn render_here(
        &self,
        messages: &[Message],
        options: &RenderOptions,
        budget: u64,
    ) -> Result<String, TemplateError> {
        let now = options.now.unwrap_or_else(SystemTime::now);
        let given = [
            ("bos_token", Value::from(self.bos.as_str())),
            ("eos_token", Value::from(self.eos.as_str())),
            ("tools", Value::from(())),
            ("documents", Value::from(())),
            ("strftime_now", clock_function(now)),
        ];
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables = options.variables.iter();
        let variables = variables.map(|(name, value)| (name.clone(), Value::from(Serde(value))));
        let fixed = [
            ("messages".to_owned(), Value::from(Serde(messages))),
            ("add_generation_prompt".to_owned(), Value::from(options.add_generation_prompt)),
        ];
        let context: Value = given.chain(variables).chain(fixed).collect::<std::collections::BTreeMap<_, _>>().into();

        let mut environment = self.environment.clone();
        environment.set_fuel(Some(budget));
        let template = environment.get_template(NAME).map_err(|error| TemplateError::syntax(&error))?;
        template.render(context).map_err(|error| TemplateError::render(&error, budget))
    }
}
