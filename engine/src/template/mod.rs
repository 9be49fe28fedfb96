//! Conversations to prompts, by the chat template that a model file carries.

mod chat;
mod clock;
mod environment;
mod error;
mod json;
mod message;
mod stack;
#[cfg(test)]
mod tests;

pub use chat::{ChatTemplate, RenderOptions};
pub use error::TemplateError;
pub use message::Message;
