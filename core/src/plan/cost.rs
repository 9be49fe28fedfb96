//! What a dispatch costs: bytes moved and arithmetic done, from its layouts.

use super::Binding;
use crate::kernels::mul_mats;

/// Bytes moved and floating-point operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes read and written, each operand once. Pools and caches count whole; the run decides how much of them is used.
    pub bytes: u64,
    /// Floating-point operations.
    pub flops: u64,
}

impl Cost {
    /// The cost of a kernel on these tensors.
    pub fn of(kernel: &str, bindings: &[Option<Binding>]) -> Self {
        let shape =
            |port: &str| bindings.iter().flatten().find(|b| b.port == port).map(|b| b.tensor.layout.shape);
        let elements =
            |port: &str| shape(port).map_or(0, |s| s.iter().fold(1u64, |n, e| n.saturating_mul(*e)));
        let bytes = bindings.iter().flatten().fold(0u64, |sum, binding| {
            // Of a table or a pool of rows only the rows themselves move.
            let moved = match (kernel, binding.port) {
                ("get_rows", "table") => Some(elements("out")),
                ("set_rows" | "norm_rope_rows", "out") => Some(elements("x")),
                ("pool_rows", "cache") => Some(elements("cells").saturating_mul(elements("weight"))),
                ("pool_rows", "out") => Some(elements("rows").saturating_mul(elements("weight"))),
                _ => None,
            };
            if kernel.starts_with("mul_mat_id") && binding.tensor.layout.shape[2] > 0 {
                // Of the matrices at most one for each column.
                let (all, used) = (binding.tensor.layout.shape[2], elements("ids"));
                if matches!(binding.port, "weight" | "gate" | "up") {
                    return sum.saturating_add(binding.tensor.layout.bytes() / all * used.min(all));
                }
            }
            if let Some(moved) = moved {
                let (bytes, values) =
                    (binding.tensor.dtype().block_bytes(), binding.tensor.dtype().block_values());
                return sum.saturating_add(moved / values * bytes);
            }
            let times = if binding.access == crate::contract::Access::Update { 2 } else { 1 };
            sum.saturating_add(binding.tensor.layout.bytes().saturating_mul(times))
        });
        let flops = match kernel {
            "mul_mat" | "mul_mat_id" => {
                elements("out").saturating_mul(2).saturating_mul(shape("weight").map_or(0, |s| s[0]))
            }
            "mul_mats" => {
                let results = mul_mats::PRODUCTS.iter().map(|(_, out)| elements(out));
                let results = results.fold(0u64, u64::saturating_add);
                results.saturating_mul(2).saturating_mul(shape("x").map_or(0, |s| s[0]))
            }
            "mul_mat_swiglu" | "mul_mat_id_swiglu" => {
                elements("out").saturating_mul(4).saturating_mul(shape("x").map_or(0, |s| s[0]))
            }
            "mul_mat_mix" => {
                elements("streams").saturating_mul(2).saturating_mul(shape("x").map_or(0, |s| s[0]))
            }
            "pool_rows" => elements("cells").saturating_mul(elements("weight")),
            "flash_attention" | "gated_attention" => {
                let cells = shape("k").map_or(0, |s| s[1]);
                elements("q").saturating_add(elements("out")).saturating_mul(2).saturating_mul(cells)
            }
            "gated_delta_net" | "gdn_core" => {
                elements("v").saturating_mul(8).saturating_mul(shape("v").map_or(0, |s| s[0]))
            }
            "gdn_layer" => {
                let dim = shape("out").map_or(0, |s| s[0]);
                let taps = shape("conv").map_or(0, |s| s[0]);
                elements("out")
                    .saturating_mul(8)
                    .saturating_mul(dim)
                    .saturating_add(elements("x").saturating_mul(2 * taps))
            }
            "get_rows" => elements("out"),
            "set_rows" | "norm_rope_rows" => elements("x"),
            _ => bindings.iter().flatten().map(|b| b.tensor.layout.elements()).max().unwrap_or(0),
        };
        Cost { bytes, flops }
    }
}
