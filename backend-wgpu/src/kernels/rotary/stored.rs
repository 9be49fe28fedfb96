//! Rotary embeddings that end in rows of a cache.

use super::{Build, Heads, Launch, heads, launches, rows, rows_port};
use weft_core::contract::{Allowed, Port, Symbol};
use weft_core::graph::{DType, Layout};

/// Values of a head that the fast form keeps in workgroup memory.
const MOST: u64 = 1024;
/// Heads of the fast form: whole words of two halves.
pub(super) const HEADS: &[Symbol] = &[Symbol { name: "D", allowed: Allowed::MultipleOf(2, MOST) }];
/// Room for what is bound besides a part: its start and end are rounded to 256 bytes.
const SLACK: u64 = 512;

/// Heads of the fast form for blocks: pairs of them, which are whole words.
pub(super) const PAIRS: &[Symbol] = &[Symbol { name: "D", allowed: Allowed::MultipleOf(64, MOST) }];

pub(super) fn block_port(port: Port) -> Port {
    let port = self::port(port);
    if port.name == "out" { Port { dtypes: &[DType::Q8_0, DType::Q4_0], ..port } } else { port }
}

pub(super) fn port(port: Port) -> Port {
    match port.name {
        "out" => Port { dtypes: &[DType::F32, DType::F16], ..port }.packed_rows().aligned(4),
        _ => rows_port(port),
    }
}

/// One workgroup a head; whole words are written.
pub(super) fn norm_rope_words(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let x = Heads::of_x(build)?;
    let all = launches(build, x, heads)?;
    let all = rows(into_parts(build, all, "words")?);
    let blocks = build.layout("out")?.dtype.is_quantised();
    let stored = |launch: Launch| launch.define("most", format!("{MOST}u")).flag("blocks", blocks);
    Ok(all.into_iter().map(stored).collect())
}

/// One workgroup a head. Blocks may span heads: those are encoded by a workgroup a token, from scratch memory.
pub(super) fn norm_rope_rows(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let x = Heads::of_x(build)?;
    let all = launches(build, x, heads)?;
    if !build.layout("out")?.dtype.is_quantised() {
        return into_parts(build, all, "values");
    }
    let x = build.layout("x")?;
    // Behind the angles.
    let home = u32::try_from(build.scratch / 4).map_err(|e| e.to_string())?;
    build.scratch += 4 * x.elements();
    let tokens = u32::try_from(x.shape[2]).map_err(|_| "more than 2^32 tokens".to_owned())?;
    let encode = into_parts(build, vec![Launch::flat(if x.elements() == 0 { 0 } else { tokens })], "encode")?;
    let turn = all.into_iter().map(|launch| launch.define("form", "turn"));
    Ok(turn.chain(encode).map(|launch| launch.integer("home", home)).collect())
}

/// Launches that write, once for each part of the cache that a binding holds.
fn into_parts(build: &Build<'_>, launches: Vec<Launch>, form: &str) -> Result<Vec<Launch>, String> {
    let extent = build.shape("out")?[1];
    let parts = parts(build)?;
    let mut all = Vec::new();
    for launch in launches {
        if launch.defines.contains_key("prepare") {
            all.push(launch);
            continue;
        }
        let launch = launch.define("form", form).integer("extent", extent);
        all.extend(
            parts.iter().map(|(first, part)| launch.clone().integer("first", *first).layout("out", *part)),
        );
    }
    Ok(all)
}

/// The parts of the cache, each with the number of its first row.
fn parts(build: &Build<'_>) -> Result<Vec<(u32, Layout)>, String> {
    let whole = build.layout("out")?;
    let part = |first: u64, rows: u64| {
        let offset = whole.offset + first * whole.strides[1];
        Layout { shape: [whole.shape[0], rows, 1, 1], offset, ..whole }
    };
    let bytes = |rows| part(0, rows).range().map_or(u64::MAX, |range| range.end - range.start + SLACK);
    let (all, limit) = (whole.shape[1], build.caps.binding);
    let most = if bytes(all) <= limit {
        all.max(1)
    } else {
        let room = limit.checked_sub(bytes(1)).ok_or("one row of `out` fills a binding")?;
        room / whole.strides[1].max(1) + 1
    };
    // Without rows there is one part, too: indices are still judged.
    let firsts = (0..all.max(1)).step_by(most as usize);
    Ok(firsts.map(|first| (first as u32, part(first, most.min(all - first)))).collect())
}
