//! The laws of `docs/laws.md` that concern graphs, rules, plans and claims: a file each.
mod s01_exact_cover;
mod s02_no_decline_for_others;
mod s03_a_revoked_claim_gives_back;
mod s04_three_states;
mod s05_every_exit_has_a_reason;
mod s06_a_chain_names_its_first_missing_link;
mod s07_reports_are_per_node;
mod s11_order_by_range;
