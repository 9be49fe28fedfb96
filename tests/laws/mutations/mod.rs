//! Tests of the tests: laws broken on purpose, each by a small fault, and the check that the law has must notice it.
mod aliases;
mod claims;
mod copies;
mod rows;
mod rules;
