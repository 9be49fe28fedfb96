//! The template engine as chat templates expect it, with bounds on what a template from a file may do.

use std::borrow::Cow;
use std::time::SystemTime;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::TemplateError;
use super::clock::format_time;
use super::error::Refusal;
use super::json::tojson;

/// The template's name inside its environment.
pub(super) const NAME: &str = "chat";
/// Depth of macros and includes inside each other.
const RECURSION_LIMIT: usize = 120;

/// An environment with one compiled template.
///
/// Blocks are trimmed as the public runners of these templates do, undefined values print as nothing, nothing is escaped,
/// and there is no way to another file.
///
/// # Errors
/// `Syntax` if the template does not parse.
pub(super) fn environment(source: &str) -> Result<Environment<'static>, TemplateError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(false)
        .build()
        .map_err(|error| TemplateError::syntax(&error))?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_recursion_limit(RECURSION_LIMIT);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_formatter(|out, state, value| {
        charge_parts(state, value)?;
        minijinja::escape_formatter(out, state, value)
    });
    environment.add_filter("tojson", tojson);
    environment.add_filter("string", |state: &State, value: &Value| {
        charge_parts(state, value)?;
        Ok::<_, Error>(if value.as_str().is_some() { value.clone() } else { Value::from(value.to_string()) })
    });
    // Both write nested values in time that grows with the square of their depth; chat templates have no use for them.
    environment.remove_filter("pprint");
    environment.remove_global("debug");
    environment.add_function("raise_exception", raise_exception);
    let source = without_generation_marks(source).into_owned();
    environment.add_template_owned(NAME, source).map_err(|error| TemplateError::syntax(&error))?;
    Ok(environment)
}

/// Pays for every part of a nested value before it is written out: a list that holds another twice, and that one a third
/// twice, is short to build and endless to write.
///
/// # Errors
/// The steps are used up.
pub(super) fn charge_parts(state: &State, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Map => {
            for key in value.try_iter()?.checked() {
                charge_parts(state, &value.get_item(&key?)?)?;
            }
        }
        ValueKind::Seq | ValueKind::Iterable => {
            for item in value.try_iter()?.checked() {
                charge_parts(state, &item?)?;
            }
        }
        _ => {}
    }
    state.consume_fuel(1)
}

/// The function `strftime_now`, for one moment.
pub(super) fn clock_function(now: SystemTime) -> Value {
    Value::from_function(move |state: &State, format: &str, arguments: Kwargs| {
        arguments.assert_all_used()?;
        state.consume_fuel(1 + format.len() as u64 / 8)?;
        Ok::<_, Error>(format_time(now, format))
    })
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    let message = message.to_string();
    Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Refusal(message)))
}

/// Replaces `{% generation %}` … `{% endgeneration %}`, which mark the assistant's words for training, by a block that is
/// always entered.
fn without_generation_marks(source: &str) -> Cow<'_, str> {
    if !source.contains("generation") {
        return Cow::Borrowed(source);
    }
    let mut rewritten = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start + 2);
        rewritten.push_str(before);
        let (opening, body) = tag.split_at(tag.len() - tag.trim_start_matches(['-', '+']).trim_start().len());
        let word_length = body.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(body.len());
        let (word, after) = body.split_at(word_length);
        let closes = after.trim_start().trim_start_matches(['-', '+']).starts_with("%}");
        rewritten.push_str(opening);
        rewritten.push_str(match word {
            "generation" if closes => "if true",
            "endgeneration" if closes => "endif",
            _ => word,
        });
        rest = after;
    }
    rewritten.push_str(rest);
    Cow::Owned(rewritten)
}

#[cfg(test)]
mod tests {
    use super::without_generation_marks;

    #[test]
    fn only_generation_tags_are_rewritten() {
        for source in ["", "{%", "{%-", "{% generation", "{% if generation %}", "generation {{ generation }}"]
        {
            assert_eq!(without_generation_marks(source), source);
        }
        assert_eq!(
            without_generation_marks("a{%- generation -%}b{%endgeneration%}{% if add_generation_prompt %}"),
            "a{%- if true -%}b{%endif%}{% if add_generation_prompt %}"
        );
    }
}
