//! Rotary embeddings. Angles are prepared by the host: a shader's own sine and cosine are too inexact.

mod pooled;
mod stored;

use super::{Build, Launch, Variant};
use weft_core::contract::{F32, I32, Port, Stride};
use weft_core::kernels::rope::Angles;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "rows",
        port: rows_port,
        ..Variant::any("norm_rope", |build| Ok(rows(norm_rope(build)?)))
    },
    Variant::any("norm_rope", norm_rope),
    Variant {
        name: "rows",
        port: stored::port,
        symbols: stored::HEADS,
        ..Variant::any("norm_rope_rows", stored::norm_rope_words)
    },
    Variant {
        name: "blocks",
        port: stored::block_port,
        symbols: stored::PAIRS,
        ..Variant::any("norm_rope_rows", stored::norm_rope_words)
    },
    Variant::any("norm_rope_rows", stored::norm_rope_rows),
    Variant {
        name: "heads",
        port: pooled::port,
        symbols: pooled::WIDTHS,
        ..Variant::any("pool_rows", pooled::pool_rows)
    },
    Variant { name: "rows", port: rows_port, ..Variant::any("rope", |build| Ok(rows(rope(build)?))) },
    Variant::any("rope", rope),
];

/// Pairs that the table of one launch holds: half of the least uniform block.
const MOST_PAIRS: u64 = 2048;
/// Entries of the smallest table; sizes are powers of two, so that few texts differ.
const LEAST_ENTRIES: usize = 32;

fn rows_port(port: Port) -> Port {
    const ROWS: [Stride; 4] = [Stride::Packed, Stride::Any, Stride::Any, Stride::Any];
    match port.name {
        "x" | "weight" => Port { dtypes: F32, ..port }.strides(ROWS).aligned(4),
        "out" => Port { dtypes: F32, ..port }.packed_rows().aligned(4),
        "positions" => Port { dtypes: I32, ..port },
        _ => port,
    }
}

fn rope(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let x = Heads::of_x(build)?;
    launches(build, x, |items, rows| (items * rows).div_ceil(256))
}

fn norm_rope(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let pairs = build.integer("dims")? / 2;
    if u64::from(pairs) > MOST_PAIRS {
        // A second launch would take the norm of what the first has turned.
        return Err(format!("it turns {pairs} pairs, one launch at most {MOST_PAIRS}"));
    }
    let x = Heads::of_x(build)?;
    launches(build, x, heads)
}

/// The same launches where x and the weight lie in rows of words.
fn rows(launches: Vec<Launch>) -> Vec<Launch> {
    launches.into_iter().map(|launch| launch.flag("rows", true)).collect()
}

/// One workgroup a head.
fn heads(items: u64, rows: u64) -> u64 {
    if items == 0 { 0 } else { rows }
}

/// What is turned: rows of so many values.
#[derive(Clone, Copy)]
struct Heads {
    width: u64,
    rows: u64,
}

impl Heads {
    /// The rows of port `x`.
    fn of_x(build: &Build<'_>) -> Result<Self, String> {
        let x = build.layout("x")?;
        Ok(Heads { width: x.shape[0], rows: x.rows() })
    }
}

/// Launches of as many pairs as a table holds; the last one also passes the other dimensions through. `groups` counts
/// workgroups from pairs and other dimensions of a row, and rows.
fn launches(
    build: &mut Build<'_>,
    x: Heads,
    groups: impl Fn(u64, u64) -> u64,
) -> Result<Vec<Launch>, String> {
    let angles = Angles::new(&build.dispatch.constants).map_err(|e| e.to_string())?;
    let pairs = (angles.dims as u64 / 2).min(x.width / 2);
    let divided = build.maybe("divisors").is_some();
    let mut all = Vec::new();
    let mut first = 0;
    loop {
        let here = (pairs - first).min(MOST_PAIRS);
        let last = first + here == pairs;
        let rest = if last { x.width - 2 * pairs } else { 0 };
        let groups =
            u32::try_from(groups(here + rest, x.rows)).map_err(|_| "more than 2^32 workgroups".to_owned())?;
        let table = table(&angles, first as usize..(first + here) as usize, divided);
        let bytes = 4 * table.len() as u64;
        let with = |launch: Launch| {
            let launch = launch.integer("first_pair", first as u32).integer("pairs", here as u32);
            launch.integer("rest", rest as u32).table(table.clone())
        };
        if divided && here > 0 {
            build.scratch = build.scratch.max(bytes);
            all.push(with(Launch::flat((here as u32).div_ceil(64))).flag("prepare", true));
        }
        all.push(with(Launch::flat(groups)));
        first += here;
        if last {
            return Ok(all);
        }
    }
}

/// The entries of pairs, as `shaders/include/rope_angles.wgsl` describes them.
fn table(angles: &Angles, pairs: std::ops::Range<usize>, divided: bool) -> Vec<u32> {
    let entries = pairs.len().next_power_of_two().max(LEAST_ENTRIES);
    let mut table = Vec::with_capacity(4 * entries);
    for i in pairs {
        let turns = angles.frequency(i, 1.0) / std::f64::consts::TAU;
        let magnitude = if turns.is_finite() { angles.magnitude as f32 } else { f32::NAN };
        let axis = angles.axis(i) as u32;
        let (words, third) = if divided {
            let (words, exponent) = leading(turns.abs());
            (words, axis | u32::from(turns < 0.0) << 8 | exponent.wrapping_add(1024).cast_unsigned() << 16)
        } else {
            (fraction(turns), axis)
        };
        table.extend([(words >> 32) as u32, words as u32, third, magnitude.to_bits()]);
    }
    table.resize(4 * entries, 0);
    table
}

/// The part of a number behind the point, in units of 2^-64.
fn fraction(turns: f64) -> u64 {
    // A part that rounds up to a whole turn saturates: 2^-64 of a turn is lost.
    ((turns - turns.floor()) * 2f64.powi(64)) as u64
}

/// The leading 64 bits of a number, and the exponent: `bits · 2^(exponent − 64)`. Zero for what has no leading bit.
fn leading(turns: f64) -> (u64, i32) {
    if !turns.is_normal() {
        return (0, 0);
    }
    let bits = turns.to_bits();
    ((bits & ((1 << 52) - 1) | 1 << 52) << 11, (bits >> 52) as i32 - 1022)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_bits_and_exponent_give_the_number_back() {
        for turns in [0.159, 1.0, 3.7e-9, 12.5] {
            let (bits, exponent) = leading(turns);
            assert!(bits >> 63 == 1);
            assert_eq!(bits as f64 * 2f64.powi(exponent - 64), turns);
        }
        assert_eq!(leading(0.0), (0, 0));
    }

    #[test]
    fn fractions_wrap() {
        assert_eq!(fraction(0.25), 1 << 62);
        assert_eq!(fraction(-0.25), 3 << 62);
        assert_eq!(fraction(7.5), 1 << 63);
    }
}
