//! The metadata of a synthetic model: everything that a loader may ask for, and a byte-level tokenizer.

use crate::gguf::{Array, GgufWriter};

use super::spec::{Experts, SynthArch, SynthSpec};

/// Taps of the short convolution.
pub(super) const CONVOLUTION: u32 = 4;

const CHAT: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
                    {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// Special tokens; they follow the 256 bytes. The ids of text end and turn end stand in the metadata.
const SPECIAL: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const TEXT_END: u32 = 256;
const TURN_END: u32 = 258;

/// `tokenizer.ggml.token_type` values.
const NORMAL: i32 = 1;
const CONTROL: i32 = 3;
const UNUSED: i32 = 5;

/// Sets all keys of a checked specification.
pub(super) fn set(writer: &mut GgufWriter, spec: &SynthSpec) {
    let shape = &spec.shape;
    writer.set("general.architecture", spec.arch.name());
    writer.set("general.type", "model");
    writer.set("general.name", "weft synthetic model");
    writer.set("general.file_type", spec.weights.file_type());
    writer.set("general.quantization_version", 2u32);
    writer.set("general.alignment", 32u32);

    let base = match spec.arch {
        SynthArch::Qwen35 | SynthArch::Qwen35Moe | SynthArch::Qwen3Next | SynthArch::Qwen4Exp => 1e7f32,
        SynthArch::Qwen3 | SynthArch::Qwen3Moe | SynthArch::Qwen2 => 1e6,
        SynthArch::Llama => 5e5,
    };
    let context = if spec.arch.is_hybrid() { 262_144u32 } else { 32_768 };
    let epsilon = if spec.arch == SynthArch::Llama { 1e-5f32 } else { 1e-6 };
    let mut number = |key: &str, value: u32| writer.set(&format!("{}.{key}", spec.arch.name()), value);
    number("block_count", shape.layers + u32::from(spec.has_draft()));
    number("context_length", context);
    number("embedding_length", shape.embedding);
    match shape.experts {
        Some(Experts { count, used, inner, shared }) => {
            number("expert_count", count);
            number("expert_used_count", used);
            number("expert_feed_forward_length", inner);
            if shared > 0 {
                number("expert_shared_feed_forward_length", shared);
            }
        }
        None => number("feed_forward_length", shape.feed_forward),
    }
    number("attention.head_count", shape.heads);
    number("attention.head_count_kv", shape.kv_heads);
    number("attention.key_length", shape.head_width);
    number("attention.value_length", shape.head_width);
    number("rope.dimension_count", shape.rope_width);
    number("vocab_size", shape.vocabulary);
    let mut float = |key: &str, value: f32| writer.set(&format!("{}.{key}", spec.arch.name()), value);
    float("rope.freq_base", base);
    float("attention.layer_norm_rms_epsilon", epsilon);
    if spec.arch.is_hybrid() {
        set_hybrid(writer, spec);
    }
    if let Some(extras) = &spec.shape.extras {
        extras.set(writer, spec, TEXT_END);
    }
    set_tokenizer(writer, spec);
}

fn set_hybrid(writer: &mut GgufWriter, spec: &SynthSpec) {
    let shape = &spec.shape;
    let numbers = [
        ("ssm.conv_kernel", CONVOLUTION),
        ("ssm.state_size", shape.state_width),
        ("ssm.group_count", shape.key_heads),
        ("ssm.time_step_rank", shape.value_heads),
        ("ssm.inner_size", shape.value_heads * shape.state_width),
        ("full_attention_interval", shape.interval),
        ("nextn_predict_layers", u32::from(spec.has_draft())),
    ];
    let key = |name: &str| format!("{}.{name}", spec.arch.name());
    for (name, value) in numbers {
        writer.set(&key(name), value);
    }
    if spec.arch != SynthArch::Qwen3Next {
        // Three sections of the rotated pairs, as near to equal as they get: 11, 11, 10 of 32.
        let pairs = (shape.rope_width / 2).cast_signed();
        let (first, second) = ((pairs + 2) / 3, (pairs + 1) / 3);
        let sections = [first, second, pairs - first - second, 0];
        writer.set(&key("rope.dimension_sections"), &sections[..]);
    }
    let layers = shape.layers + u32::from(spec.has_draft());
    let recurrent: Vec<bool> = (0..layers).map(|layer| !spec.is_attention(layer)).collect();
    writer.set(&key("attention.recurrent_layers"), &recurrent[..]);
}

fn set_tokenizer(writer: &mut GgufWriter, spec: &SynthSpec) {
    let split = match spec.arch {
        SynthArch::Qwen35 | SynthArch::Qwen35Moe | SynthArch::Qwen4Exp => "qwen35",
        SynthArch::Qwen3Next | SynthArch::Qwen3 | SynthArch::Qwen3Moe | SynthArch::Qwen2 => "qwen2",
        SynthArch::Llama => "llama-bpe",
    };
    let count = spec.shape.vocabulary as usize;
    let bytes = (0..=255).map(|byte| letter(byte).to_string());
    let special = SPECIAL.iter().map(|&token| token.to_owned());
    let padding = (0..).map(|id| format!("[PAD{id}]"));
    let first = 256 + SPECIAL.len();
    let tokens: Array = bytes.chain(special).chain(padding.skip(first)).take(count).collect();
    let types: Vec<i32> = (0..count)
        .map(|id| match id {
            0..256 => NORMAL,
            _ if id < first => CONTROL,
            _ => UNUSED,
        })
        .collect();
    writer.set("tokenizer.ggml.model", "gpt2");
    writer.set("tokenizer.ggml.pre", split);
    writer.set("tokenizer.ggml.tokens", tokens);
    writer.set("tokenizer.ggml.token_type", &types[..]);
    writer.set("tokenizer.ggml.merges", std::iter::empty::<&str>().collect::<Array>());
    writer.set("tokenizer.ggml.bos_token_id", TEXT_END);
    writer.set("tokenizer.ggml.eos_token_id", TURN_END);
    writer.set("tokenizer.ggml.padding_token_id", TEXT_END);
    writer.set("tokenizer.ggml.add_bos_token", false);
    writer.set("tokenizer.ggml.add_eos_token", false);
    writer.set("tokenizer.chat_template", CHAT);
}

/// The letter that stands for a byte in byte-level vocabularies (GPT-2): itself where it prints, else one from 256 up.
fn letter(byte: u8) -> char {
    let prints = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if prints(byte) {
        return byte.into();
    }
    let before = (0..byte).filter(|byte| !prints(*byte)).count() as u32;
    char::from_u32(256 + before).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_a_letter_of_its_own() {
        let letters: std::collections::BTreeSet<char> = (0..=255).map(letter).collect();
        assert_eq!(letters.len(), 256);
        assert_eq!((letter(b' '), letter(b'\n'), letter(b'a'), letter(0xad)), ('Ġ', 'Ċ', 'a', 'Ń'));
    }
}
