//! Rules: each fires on its fixture, refuses its near misses for the right reason, and gives what the unfused graph gives.
mod expect;
mod inner_values;
mod near_misses;
