//! The laws of `docs/laws.md` that concern graphs, rules, plans and claims: a file each.
mod s01_exact_cover;
mod s02_no_decline_for_others;
mod s11_order_by_range;
