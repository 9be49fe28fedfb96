//! `mul_mats`, `mul_mat_swiglu` and `mul_mat_mix`: products of several weights with the same few columns, in one launch. For more columns the
//! parts are as good alone.

use super::any;
use super::ports::{Form, THREADS, Teams, is_wide, narrow};
use crate::kernels::{Build, Launch};

/// Names of weights and results, in order.
const NAMES: [(&str, &str); 4] = [("w0", "out0"), ("w1", "out1"), ("w2", "out2"), ("w3", "out3")];

/// Each weight has blocks of its own; its type is found at run time.
pub(super) fn several(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    together(build, Form::Exact)
}

/// The same, every 32 values of a column rounded to eight bits.
pub(super) fn several_rounded(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    together(build, Form::Rounded)
}

fn together(build: &Build<'_>, form: Form) -> Result<Vec<Launch>, String> {
    let mut bound = Vec::new();
    for (port, result) in NAMES {
        let Some(weight) = build.maybe(port) else { continue };
        bound.push((port, result, weight, build.layout(result)?.shape[0]));
    }
    if !bound.iter().all(|(port, _, weight, _)| is_wide(build, port, weight)) {
        let alone = |(port, result, ..): &(&'static str, &'static str, _, _)| {
            let launch = Launch::threads("mul_mat_any", build.elements(result)? * 32)?;
            Ok(launch.of("mul_mat", vec![(*port, "weight"), ("x", "x"), (*result, "out")]))
        };
        return bound.iter().map(alone).collect();
    }
    let rows: u64 = bound.iter().map(|(.., rows)| rows).sum();
    // Teams suit the weight with the fewest units.
    let teams = bound.iter().map(|(_, _, weight, _)| Teams::new(weight, rows, form));
    let teams = teams.min_by_key(|teams| teams.split).ok_or("no weights")?;
    let blocks = bound.iter().map(|(.., rows)| teams.blocks(*rows)).sum::<Result<u32, String>>()?;
    let columns = build.layout("x")?.shape[1].next_power_of_two();
    let launch = Launch::grid(format!("mul_mats_{}_{columns}", form.name()), [blocks, 1, 1], THREADS);
    Ok(vec![launch.integer("split", teams.split)])
}

/// A gate and what it opens for.
pub(super) fn gated(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    pair(build, Form::Exact)
}

/// The same, every 32 values of a column rounded to eight bits.
pub(super) fn gated_rounded(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    pair(build, Form::Rounded)
}

fn pair(build: &Build<'_>, form: Form) -> Result<Vec<Launch>, String> {
    let (gate, up, [rows, columns, ..]) =
        (build.layout("gate")?, build.layout("up")?, build.layout("out")?.shape);
    if !is_wide(build, "gate", &gate) || !is_wide(build, "up", &up) {
        return any(build, "mul_mat_swiglu_any");
    }
    let teams = Teams::of_pair(&gate, &up, rows, form);
    let function = format!("mul_mat_swiglu_{}_{}", form.name(), columns.next_power_of_two());
    let grid = [narrow(rows.div_ceil(teams.rows()))?, 1, 1];
    Ok(vec![Launch::grid(function, grid, THREADS).integer("split", teams.split)])
}

/// A gate for every value of the streams.
pub(super) fn mixed(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    mix(build, Form::Exact)
}

/// The same, every 32 values of a column rounded to eight bits.
pub(super) fn mixed_rounded(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    mix(build, Form::Rounded)
}

fn mix(build: &Build<'_>, form: Form) -> Result<Vec<Launch>, String> {
    let (weight, [rows, columns, ..]) = (build.layout("weight")?, build.layout("out")?.shape);
    if !is_wide(build, "weight", &weight) {
        return any(build, "mul_mat_mix_any");
    }
    let teams = Teams::new(&weight, weight.rows(), form);
    let function = format!("mul_mat_mix_{}_{}", form.name(), columns.next_power_of_two());
    Ok(vec![Launch::grid(function, [teams.blocks(rows)?, 1, 1], THREADS).integer("split", teams.split)])
}
