//! A little text assembler: includes, conditions, names.
//!
//! Directives stand alone on a line:
//! * `//#include NAME`: the text of `shaders/include/NAME.wgsl`, once.
//! * `//#include NAME WORD`: the same text with `@` replaced by the word, once for each word.
//! * `//#if NAME`, `//#if !NAME`, `//#if NAME=VALUE`, `//#else`, `//#end`: text that depends on definitions.
//! * `//#repeat NAME COUNT` to `//#end`: the text so many times, `%NAME` replaced by 0, 1 and so on. The count is a definition.
//! * `//#port NAME KIND`: declares the binding of a port. `KIND` is `any` (functions that read or write any type and
//!   layout are written for it) or the element type of the array, as `vec4<f32>`.
//! * `//#scratch TYPE`: memory that lives as long as the dispatch, as `$scratch`.
//! * `//#shared TYPE`: one more array on the scratch memory, as `$shared`; for a second element type.
//! * `//#codebooks`: the codewords of IQ1, IQ2 and IQ3 as `$codebooks`, sixteen bits each, and where each table begins.
//! * `//#fault`: the function `fault(port, got, limit)`, which reports an index that only run time can refuse.
//!
//! `$NAME` is replaced by the value of a definition; `$PORT` by the variable of the port's binding.

use super::ports::{self, Binding, CODEBOOKS, PortText, is_coded};
use super::sources::source;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use weft_core::contract::FEW_BITS;

/// What to assemble.
pub(crate) struct Request<'a> {
    /// The kernel's stem.
    pub stem: &'a str,
    /// Definitions by name; flags have the value `1`.
    pub defines: &'a BTreeMap<String, String>,
    /// Bound ports in the order of the contract.
    pub ports: &'a [PortText],
    /// Scalars of the parameter block by name and WGSL type, in order.
    pub scalars: &'a [(String, &'static str)],
    /// Vectors of the table at the end of the parameter block.
    pub table: usize,
    /// Most bytes of one binding.
    pub limit: u64,
}

/// A text ready for a compiler, and what it binds.
pub(crate) struct Assembled {
    /// The kernel's stem.
    pub stem: String,
    pub text: String,
    /// Bindings from 1 on; 0 is the parameter block.
    pub bindings: Vec<Binding>,
}

#[derive(Default)]
struct State {
    text: String,
    included: BTreeSet<String>,
    declared: Vec<(String, String)>,
    fault: bool,
}

/// Assembles a kernel.
///
/// # Errors
/// A directive that names nothing.
pub(crate) fn assemble(request: &Request<'_>) -> Result<Assembled, String> {
    let mut state = State::default();
    let text = source(request.stem).ok_or_else(|| format!("no shader `{}`", request.stem))?;
    walk(request, request.stem, text, &mut state)?;
    let mut out = String::new();
    if state.text.contains("f16") && state.text.contains("enable_f16") {
        out.push_str("enable f16;\n");
    }
    if state.text.contains("coop_mat") {
        out.push_str("enable wgpu_cooperative_matrix;\n");
    }
    let general: Vec<&PortText> = request
        .ports
        .iter()
        .filter(|port| state.declared.iter().any(|(name, kind)| name == port.name && kind == "any"))
        .collect();
    let mut helpers = State { included: std::mem::take(&mut state.included), ..State::default() };
    let mut include = |name: &str| -> Result<(), String> {
        walk(request, name, &format!("//#include {name}"), &mut helpers)
    };
    if !general.is_empty() {
        include("numbers")?;
    }
    if general.iter().any(|port| FEW_BITS.contains(&port.dtype)) {
        include("few_bits")?;
    }
    if general.iter().any(|port| is_coded(port.dtype)) {
        include("codewords")?;
    }
    state.declared.append(&mut helpers.declared);
    let bindings = ports::bindings(request.ports, &state.declared, state.fault, request.limit)?;
    parameters(request, &mut out);
    for (index, binding) in bindings.iter().enumerate() {
        let access = if binding.writes { "read_write" } else { "read" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "@group(0) @binding({}) var<storage, {access}> b{}: array<{}>;",
            index + 1,
            index + 1,
            binding.element
        );
    }
    if state.fault {
        let text = source("include/fault").ok_or("no include `fault`")?;
        out.push_str(&text.replace("$fault", &format!("b{}", bindings.len())));
    }
    if state.declared.iter().any(|(name, _)| name == CODEBOOKS) {
        out.push_str(&ports::codebook_places());
    }
    out.push_str(&replace(request, &helpers.text, &bindings)?);
    for port in general {
        out.push_str(&ports::functions(port, &bindings)?);
    }
    out.push_str(&replace(request, &state.text, &bindings)?);
    Ok(Assembled { stem: request.stem.to_owned(), text: out, bindings })
}

fn parameters(request: &Request<'_>, out: &mut String) {
    out.push_str(
        "struct Tensor { shape: vec4<u32>, stride: vec4<u32>, offset: u32, block: u32, blocks: u32, spare: u32 }\n",
    );
    out.push_str("struct Params {\n");
    for port in request.ports {
        let _ = writeln!(out, "  {}: Tensor,", port.name);
    }
    for (name, kind) in request.scalars {
        let _ = writeln!(out, "  {name}: {kind},");
    }
    // A uniform block is never empty.
    out.push_str("  index: u32,\n");
    if request.table > 0 {
        let _ = writeln!(out, "  table: array<vec4<u32>, {}>,", request.table);
    }
    out.push_str("}\n@group(0) @binding(0) var<uniform> p: Params;\n");
}

fn walk(request: &Request<'_>, name: &str, text: &str, state: &mut State) -> Result<(), String> {
    // Whether each open condition holds, and whether one outside it failed.
    let mut open: Vec<bool> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    // Lines below this one belong to a repetition that is done.
    let mut next = 0;
    for (number, line) in lines.iter().copied().enumerate() {
        if number < next {
            continue;
        }
        let Some(directive) = line.trim().strip_prefix("//#") else {
            let comment = line.trim_start().starts_with("//");
            if open.iter().all(|holds| *holds) && !comment && !line.trim().is_empty() {
                state.text.push_str(line);
                state.text.push('\n');
            }
            continue;
        };
        let mut words = directive.split_whitespace();
        let (verb, first, second) = (words.next().unwrap_or(""), words.next(), words.next());
        let wrong = || format!("{name}.wgsl:{}: `{line}`", number + 1);
        match verb {
            "if" => open.push(holds(request, first.ok_or_else(wrong)?)),
            "repeat" if open.iter().all(|holds| *holds) => {
                let (variable, count) = (first.ok_or_else(wrong)?, second.ok_or_else(wrong)?);
                let count = request.defines.get(count).and_then(|v| v.trim_end_matches('u').parse().ok());
                let count: u32 = count.ok_or_else(wrong)?;
                let end = end_of(&lines, number).ok_or_else(wrong)?;
                let body = lines[number + 1..end].join("\n");
                for n in 0..count {
                    walk(request, name, &body.replace(&format!("%{variable}"), &n.to_string()), state)?;
                }
                next = end + 1;
            }
            "repeat" => open.push(false),
            "else" => {
                let last = open.last_mut().ok_or_else(wrong)?;
                *last = !*last;
            }
            "end" => {
                open.pop().ok_or_else(wrong)?;
            }
            _ if !open.iter().all(|holds| *holds) => {}
            "include" => {
                let include = format!("include/{}", first.ok_or_else(wrong)?);
                if state
                    .included
                    .insert(second.map_or_else(|| include.clone(), |word| format!("{include} {word}")))
                {
                    let text = source(&include).ok_or_else(wrong)?;
                    match second {
                        None => walk(request, &include, text, state)?,
                        Some(word) => walk(request, &include, &text.replace('@', word), state)?,
                    }
                }
            }
            "port" => {
                let (port, kind) = (first.ok_or_else(wrong)?, second.ok_or_else(wrong)?);
                if request.ports.iter().any(|p| p.name == port) {
                    state.declared.push((port.to_owned(), kind.to_owned()));
                }
            }
            "scratch" | "shared" => {
                state.declared.push((verb.to_owned(), first.ok_or_else(wrong)?.to_owned()))
            }
            "fault" => state.fault = true,
            CODEBOOKS => state.declared.push((verb.to_owned(), "u32".to_owned())),
            _ => return Err(wrong()),
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{name}.wgsl: `//#if` without `//#end`")) }
}

/// The line that ends what begins in line `start`.
fn end_of(lines: &[&str], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (number, line) in lines.iter().enumerate().skip(start) {
        let verb = line.trim().strip_prefix("//#").and_then(|d| d.split_whitespace().next());
        match verb {
            Some("if" | "repeat") => depth += 1,
            Some("end") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(number);
        }
    }
    None
}

fn holds(request: &Request<'_>, condition: &str) -> bool {
    if let Some(name) = condition.strip_prefix('!') {
        return !holds(request, name);
    }
    match condition.split_once('=') {
        Some((name, value)) => request.defines.get(name).is_some_and(|v| v == value),
        None => {
            request.defines.contains_key(condition)
                || condition.strip_prefix("has_").is_some_and(|p| request.ports.iter().any(|q| q.name == p))
        }
    }
}

/// Replaces `$NAME`.
fn replace(request: &Request<'_>, text: &str, bindings: &[Binding]) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let length = tail.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(tail.len());
        let name = &tail[..length];
        match request.defines.get(name) {
            Some(value) => out.push_str(value),
            None => {
                let index = bindings.iter().position(|b| b.ports.iter().any(|p| p == name));
                let index = index.ok_or_else(|| format!("`${name}` in `{}` means nothing", request.stem))?;
                let _ = write!(out, "b{}", index + 1);
            }
        }
        rest = &tail[length..];
    }
    out.push_str(rest);
    Ok(out)
}
