//! `--profile`: launches by their device's clock and the host's work, as a trace file and a table.

use crate::report;
use anyhow::Context;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context as Listening;
use tracing_subscriber::registry::LookupSpan;
use weft_core::backend::Backend;
use weft_core::bandwidth;
use weft_core::profile::{Device, Profile, Span};

/// Measures what a copy reaches on each device, and forgets what opening them has recorded.
pub fn begin(profile: &Profile, backends: &[Arc<dyn Backend>]) {
    for backend in backends {
        let copy = bandwidth::copy(&**backend);
        if let Err(error) = &copy {
            report::note(&format!("{}: no copy was measured: {error}", backend.name()));
        }
        let words = backend.capabilities().device.clone();
        profile.device(backend.name(), Device { words, copy: copy.ok() });
    }
    profile.take();
}

/// Writes the trace and shows the table.
pub fn end(profile: &Profile, path: &Path, about: Map<String, Value>) -> anyhow::Result<()> {
    let name = path.display();
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        profile.write_trace(&mut out, about)?;
        out.flush()
    };
    write().with_context(|| format!("writing {name}"))?;
    profile.table().lines().for_each(report::note);
    report::note(&format!("trace in {name}: open it in https://ui.perfetto.dev or chrome://tracing"));
    Ok(())
}

/// What a trace says of the program that wrote it.
pub fn about(model: &str, options: &str) -> Map<String, Value> {
    let all = json!({ "weft": env!("CARGO_PKG_VERSION"), "model": model, "options": options });
    match all {
        Value::Object(all) => all,
        _ => Map::new(),
    }
}

/// Hands spans of weft on to a profile when they end.
pub struct Spans(pub Arc<Profile>);

/// A span that has begun.
struct Begun {
    start: Duration,
    fields: Fields,
}

#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push((field.name(), format!("{value:?}")));
    }
}

impl<S: tracing::Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Listening<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        // Each is entered once, as soon as it is made.
        span.extensions_mut().insert(Begun { start: self.0.now(), fields });
    }

    fn on_close(&self, id: Id, context: Listening<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let depth = span.scope().count() - 1;
        let Some(Begun { start, fields }) = span.extensions_mut().remove() else { return };
        let time = self.0.now().saturating_sub(start);
        self.0.span(Span { name: span.name(), depth, start, time, fields: fields.0 });
    }
}
