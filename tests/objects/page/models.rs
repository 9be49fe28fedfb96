//! The models of the page, and what others measured on this chip.

/// A model, by names that synthetic models go by.
pub struct Model {
    pub arch: &'static str,
    pub size: &'static str,
    pub weights: &'static str,
    pub name: &'static str,
    /// Tokens a second that others published, the best and of which engine; empty where nothing is known.
    pub decode: &'static str,
    pub prefill: &'static str,
}

const fn model(names: [&'static str; 4], decode: &'static str, prefill: &'static str) -> Model {
    let [arch, size, weights, name] = names;
    Model { arch, size, weights, name, decode, prefill }
}

pub const MODELS: [Model; 11] = [
    model(
        ["qwen35", "0.8b", "Q4_K_M", "Qwen3.5-0.8B"],
        "235 (hipfire, own 4 bits)",
        "4241 of 128 (hipfire, own 4 bits)",
    ),
    model(["qwen35", "2b", "Q4_K_M", "Qwen3.5-2B"], "", ""),
    model(
        ["qwen35", "4b", "Q4_K_M", "Qwen3.5-4B"],
        "60.4 (llama.cpp, a fork); 69.1 (hipfire, own 4 bits)",
        "1913 (llama.cpp, a fork)",
    ),
    model(["qwen35", "4b", "Q8_0", "Qwen3.5-4B"], "", ""),
    model(
        ["qwen35", "9b", "Q4_K_M", "Qwen3.5-9B"],
        "36.5 (llama.cpp, a fork); 46.0 (hipfire, own 4 bits)",
        "1138 (llama.cpp, a fork)",
    ),
    model(
        ["qwen35", "27b", "Q4_K_M", "27B"],
        "12.56 (llama.cpp, Vulkan)",
        "298 to 332 of 512 (llama.cpp, ROCm)",
    ),
    model(
        ["qwen35", "27b", "Q8_0", "27B"],
        "6.6 (llama.cpp, Vulkan, UD-Q8_K_XL)",
        "391 of 2048 (llama.cpp, ROCm, UD-Q8_K_XL)",
    ),
    model(
        ["qwen35moe", "35b-a3b", "Q4_K_M", "35B-A3B"],
        "62.8 (llama.cpp, Vulkan, UD-Q4_K_XL); 115 (hipfire, own 4 bits)",
        "1604 of 2048 (llama.cpp, ROCm, UD-Q4_K_XL)",
    ),
    model(
        ["qwen35moe", "35b-a3b", "Q8_0", "35B-A3B"],
        "49.2 (llama.cpp, Vulkan, UD-Q8_K_XL)",
        "1483 of 2048 (llama.cpp, ROCm, UD-Q8_K_XL)",
    ),
    model(
        ["qwen35moe", "122b-a10b", "Q5_K_M", "122B-A10B"],
        "22.3 (llama.cpp, Vulkan, UD-Q5_K_XL)",
        "337 of 512 (llama.cpp, ROCm, UD-Q5_K_XL)",
    ),
    model(
        ["qwen3next", "80b-a3b", "Q4_K_M", "Qwen3-Next-80B-A3B"],
        "28.4 (llama.cpp, Vulkan, first numbers)",
        "290 of 512 (llama.cpp, Vulkan, first numbers)",
    ),
];
