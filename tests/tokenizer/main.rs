//! The tokenizer against stored token ids, round trips, hostile vocabularies, and the time a large vocabulary takes.

mod detokenizing;
mod fixture;
mod large;
mod meaning;
mod refusals;
mod vectors;
