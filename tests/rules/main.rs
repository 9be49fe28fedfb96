//! Rules: each fires on its fixture, refuses its near misses for the right reason, and gives what the unfused graph gives.
mod absent;
mod add_rms_norm;
mod expect;
mod gated_attention;
mod gated_norm;
mod gdn_core;
mod gdn_core_in_place;
mod gdn_layer;
mod inner_values;
mod mul_mat_gated;
mod mul_mat_swiglu;
mod mul_mats;
mod near_misses;
mod norm_rope;
mod norm_rope_rows;
mod rms_norm_weight;
mod swiglu;
