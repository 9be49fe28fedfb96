//! Bytes that a sequence takes.

use super::{SessionOptions, Speculation};
use crate::models::{Batch, CacheTypes, Description, ModelError};
use crate::{Error, Model};
use std::collections::HashMap;
use weft_core::graph::Owner;

/// The context that the model was made for, halved until its state fits into half of the free memory.
pub(super) fn fitting(model: &Model, cache: CacheTypes) -> Result<u64, Error> {
    const LEAST: u64 = 4096;
    let mut context = model.description().hyper().context.max(1);
    let Some(memory) = model.backends().first().and_then(|b| b.capabilities().memory) else {
        return Ok(context);
    };
    while context > LEAST && state_bytes(model, context, cache)? > memory / 2 {
        context /= 2;
    }
    Ok(context)
}

/// Bytes of caches and recurrent states of one sequence with this context.
///
/// # Errors
/// The model's tensors do not fit its metadata.
pub fn state_bytes(model: &Model, context: u64, cache: CacheTypes) -> Result<u64, Error> {
    let states = states(model.description(), model.drafter(), &Batch::token(context, cache))?;
    Ok(states.into_iter().fold(0, u64::saturating_add))
}

/// Bytes that speculation adds to the states of a sequence: snapshots, and what a draft block keeps.
///
/// # Errors
/// The model has no draft block, or its tensors do not fit its metadata.
pub fn speculation_bytes(
    model: &Description,
    context: u64,
    cache: CacheTypes,
    speculation: &Speculation,
) -> Result<u64, ModelError> {
    let sum = |batch: &Batch| Ok(states(model, model, batch)?.into_iter().fold(0, u64::saturating_add));
    let plain = Batch::token(context, cache);
    let with: Result<u64, ModelError> = sum(&speculation.batch(plain, SessionOptions::default().ubatch));
    Ok(with?.saturating_sub(sum(&plain)?))
}

/// Bytes of each cache and recurrent state, those of a draft block among them if one reads what is kept.
pub(super) fn states(
    model: &Description,
    drafter: &Description,
    batch: &Batch,
) -> Result<Vec<u64>, ModelError> {
    let mut graphs = vec![model.graph(batch)?];
    if batch.kept > 0 {
        graphs.push(drafter.graph(&Batch { draft: true, ..*batch })?);
    }
    let all = graphs.iter().flat_map(|graph| &graph.storages).filter(|s| s.owner == Owner::State);
    let by_name: HashMap<_, _> = all.map(|s| (&s.name, s.bytes)).collect();
    Ok(by_name.into_values().collect())
}
