//! Bindings of a dispatch, and functions that reach a port's elements whatever their type and layout.

use super::sources::source;
use crate::memory::ALIGNMENT;
use std::fmt::Write;
use std::ops::Range;
use weft_core::contract::FEW_BITS;
use weft_core::graph::DType;
use weft_core::quant::codebooks;
use weft_core::quant::planes::parts;

/// A bound port, as far as the shader's text depends on it.
#[derive(Clone, Debug)]
pub(crate) struct PortText {
    pub name: &'static str,
    /// Its number in the contract, for faults.
    pub number: u32,
    pub dtype: DType,
    /// Whether the kernel writes it.
    pub writes: bool,
    /// Whether each element begins at a multiple of four bytes.
    pub aligned: bool,
    /// Whether its rows are repacked.
    pub repacked: bool,
    /// Which buffer it lies in; equal for equal buffers.
    pub buffer: usize,
    /// Its bytes in that buffer.
    pub range: Range<u64>,
}

/// One storage binding of a shader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binding {
    /// Element type of the array.
    pub element: String,
    pub writes: bool,
    /// Ports that it holds; also `codebooks`, `scratch`, `shared` and `fault`.
    pub ports: Vec<String>,
}

/// A buffer, and the bytes of it that a binding spans.
type Span = (usize, Range<u64>);

/// Ports of one buffer and one element type share a binding, as long as it spans no more than `limit` bytes. The fault
/// words come last.
pub(super) fn bindings(
    ports: &[PortText],
    declared: &[(String, String)],
    fault: bool,
    limit: u64,
) -> Result<Vec<Binding>, String> {
    let port = |name: &str| ports.iter().find(|port| port.name == name);
    let bound: Vec<(&PortText, &str)> =
        declared.iter().filter_map(|(name, kind)| port(name).map(|p| (p, kind.as_str()))).collect();
    // Parts of words are written by atomic operations; then every word of that buffer is reached that way.
    let atomic = |buffer: usize| {
        bound.iter().any(|(p, kind)| *kind == "any" && p.buffer == buffer && p.writes && !words(p))
    };
    let written = |buffer: usize| bound.iter().any(|(p, _)| p.buffer == buffer && p.writes);
    let mut all: Vec<(Option<Span>, Binding)> = Vec::new();
    for (port, kind) in &bound {
        let element = match *kind {
            "any" if atomic(port.buffer) => "atomic<u32>",
            "any" => "u32",
            other => other,
        };
        let joint = |span: &Range<u64>| span.start.min(port.range.start)..span.end.max(port.range.end);
        let shared = all.iter_mut().find(|(home, binding)| {
            binding.element == element
                && home.as_ref().is_some_and(|(buffer, span)| {
                    *buffer == port.buffer && bound_bytes(&joint(span)) <= limit
                })
        });
        match shared {
            Some((Some((_, span)), binding)) => {
                *span = joint(span);
                binding.ports.push(port.name.to_owned());
            }
            _ => all.push((
                Some((port.buffer, port.range.clone())),
                Binding {
                    element: element.to_owned(),
                    writes: written(port.buffer),
                    ports: vec![port.name.to_owned()],
                },
            )),
        }
    }
    if declared.iter().any(|(name, _)| name == CODEBOOKS) {
        let ports = vec![CODEBOOKS.to_owned()];
        all.push((None, Binding { element: "u32".to_owned(), writes: false, ports }));
    }
    for (name, kind) in declared.iter().filter(|(name, _)| name == "scratch" || name == "shared") {
        all.push((None, Binding { element: kind.clone(), writes: true, ports: vec![name.clone()] }));
    }
    let mut bindings: Vec<Binding> = all.into_iter().map(|(_, binding)| binding).collect();
    if fault {
        let ports = vec!["fault".to_owned()];
        bindings.push(Binding { element: "atomic<u32>".to_owned(), writes: true, ports });
    }
    Ok(bindings)
}

/// Bytes of a binding for a range: it begins and ends at multiples of [`ALIGNMENT`].
fn bound_bytes(range: &Range<u64>) -> u64 {
    range.end.next_multiple_of(ALIGNMENT) - (range.start & !(ALIGNMENT - 1))
}

/// Whether elements are whole words.
fn words(port: &PortText) -> bool {
    port.aligned && matches!(port.dtype, DType::F32 | DType::I32)
}

/// Functions of a port of kind `any`: `PORT_at`, `PORT_int`, `PORT_put`, and what they need.
pub(super) fn functions(port: &PortText, bindings: &[Binding]) -> Result<String, String> {
    let at = bindings.iter().position(|b| b.ports.iter().any(|p| p == port.name));
    let at = at.ok_or_else(|| format!("port `{}` is not bound", port.name))?;
    let variable = format!("b{}", at + 1);
    let atomic = bindings[at].element == "atomic<u32>";
    let load = if atomic { format!("atomicLoad(&{variable}[w])") } else { format!("{variable}[w]") };
    let mut parts = vec!["words".to_owned()];
    if port.dtype.is_quantised() {
        parts.push(if port.repacked { "blocks_repacked" } else { "blocks" }.to_owned());
    }
    if matches!(port.dtype, DType::Q4_K | DType::Q5_K) {
        parts.push("groups_k".to_owned());
    }
    if FEW_BITS.contains(&port.dtype) {
        parts.extend(["type_few_bits".to_owned(), format!("sixteen_{}", port.dtype.name().to_lowercase())]);
    } else {
        parts.push(format!("type_{}", port.dtype.name().to_lowercase()));
    }
    if port.writes {
        parts.push(if atomic { "store_parts" } else { "store_words" }.to_owned());
        parts.extend(port.dtype.is_quantised().then(|| "put_blocks".to_owned()));
        parts.push(format!("put_{}", port.dtype.name().to_lowercase()));
    }
    let mut text = String::new();
    for part in parts {
        let name = format!("include/{part}");
        let part = source(&name).ok_or_else(|| format!("no shader `{name}`"))?;
        part.lines().filter(|l| !l.trim_start().starts_with("//")).for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
    }
    let text = text
        .replace("@LOAD@", &load)
        .replace("@BUFFER@", &variable)
        .replace("@LOCATE@", &locate(port.dtype))
        .replace("@VALUES@", &format!("{}u", port.dtype.block_values()))
        .replace("@NUMBER@", &format!("{}u", port.number));
    Ok(text.replace('@', port.name))
}

/// The binding of all codebooks, one behind the other.
pub(crate) const CODEBOOKS: &str = "codebooks";

/// Whether values of a type are codewords.
pub(crate) fn is_coded(dtype: DType) -> bool {
    use DType::{IQ1_M, IQ1_S, IQ2_S, IQ2_XS, IQ2_XXS, IQ3_S, IQ3_XXS};
    matches!(dtype, IQ1_S | IQ1_M | IQ2_XXS | IQ2_XS | IQ2_S | IQ3_XXS | IQ3_S)
}

/// Where each table begins.
pub(super) fn codebook_places() -> String {
    let (mut text, mut at) = (String::new(), 0);
    for (name, words) in codebooks::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "const CODEBOOK_{name}: u32 = {at}u;");
        at += words.len();
    }
    text
}

/// Statements that find byte `k` of block `block.y` in the repacked row at `block.x`. They do not branch, and `&&` would: a
/// decoder loads a dozen times, and compilers of shaders take memory by the square of branches.
pub(crate) fn locate(dtype: DType) -> String {
    let mut text = String::from("var place = vec3<u32>(0u);\n  var plane = 0u;\n");
    for part in parts(dtype) {
        let (start, bytes) = (part.start, part.bytes);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  place = select(place, vec3<u32>(plane, {bytes}u, {start}u), k - {start}u < {bytes}u);\n  \
             plane += (p.@.blocks * {bytes}u + 15u) & ~15u;"
        );
    }
    text.push_str("  return block.x + place.x + block.y * place.y + (k - place.z);");
    text
}
