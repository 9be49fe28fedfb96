//! What can be wrong with a template or a conversation.

use std::error::Error;

/// Why a chat template could not be read or rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template is longer than any real one.
    #[error("the chat template has {bytes} bytes; at most {limit} are read")]
    TooLong {
        /// Length of the template.
        bytes: usize,
        /// Longest length read.
        limit: usize,
    },
    /// The template is not valid.
    #[error("the chat template does not parse, line {line}: {reason}")]
    Syntax {
        /// Line in the template, from 1; 0 if not known.
        line: usize,
        /// What the parser said.
        reason: String,
    },
    /// The template refused the conversation by its own rule (`raise_exception`).
    #[error("the chat template refuses these messages: {message}")]
    Refused {
        /// The template's words.
        message: String,
    },
    /// The template did more work than a conversation of this size can need.
    #[error("the chat template did not finish within {budget} steps; it loops or builds too large a text")]
    TooMuchWork {
        /// The steps that were granted.
        budget: u64,
    },
    /// The template was still at work when its time was over. It is not tried again.
    #[error("the chat template was not done after {seconds} s; it loops or builds too large a list")]
    TimedOut {
        /// The time that was granted.
        seconds: u64,
    },
    /// The template engine itself failed.
    #[error("the template engine failed: {reason}")]
    Engine {
        /// What happened.
        reason: String,
    },
    /// The template failed while rendering.
    #[error("the chat template fails on these messages, line {line}: {reason}")]
    Render {
        /// Line in the template, from 1; 0 if not known.
        line: usize,
        /// What the engine said.
        reason: String,
    },
}

/// The words of a template's own refusal, carried through the template engine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub String);

impl TemplateError {
    /// Reads an error that came from compiling.
    pub(super) fn syntax(error: &minijinja::Error) -> Self {
        Self::Syntax { line: error.line().unwrap_or(0), reason: reason(error) }
    }

    /// Reads an error that came from rendering with `budget` steps.
    pub(super) fn render(error: &minijinja::Error, budget: u64) -> Self {
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(current) = cause {
            if let Some(Refusal(message)) = current.downcast_ref() {
                return Self::Refused { message: message.clone() };
            }
            if let Some(inner) = current.downcast_ref::<minijinja::Error>()
                && inner.kind() == minijinja::ErrorKind::OutOfFuel
            {
                return Self::TooMuchWork { budget };
            }
            cause = current.source();
        }
        Self::Render { line: error.line().unwrap_or(0), reason: reason(error) }
    }
}

/// The error in one line, without the place.
fn reason(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
