//! The laws of `docs/laws.md` that concern graphs, rules, plans and claims: a file each.
mod dbg;
mod padding;
mod s01_exact_cover;
mod s02_no_decline_for_others;
mod s03_a_revoked_claim_gives_back;
mod s04_three_states;
mod s05_every_exit_has_a_reason;
mod s06_a_chain_names_its_first_missing_link;
mod s07_reports_are_per_node;
mod s08_the_canonical_layout_is_strided;
mod s09_one_contract;
mod s10_strides_are_followed;
mod s11_order_by_range;
mod s12_aliases_cannot_break_a_match;
mod s13_placement_is_no_luck;
mod s14_context_not_tensor;
mod s15_state_writes_are_exclusive;
