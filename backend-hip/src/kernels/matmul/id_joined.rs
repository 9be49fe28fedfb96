//! `mul_mat_id_swiglu`: a gate and what it opens for, chosen for each of few columns, in one launch.

use super::any;
use super::ports::{Form, THREADS, Teams, is_wide, narrow};
use crate::kernels::{Build, Launch};

/// A team of waves some rows of both matrices chosen for one column; types of weights are found at run time.
pub(super) fn gated(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    pair(build, Form::Exact)
}

/// The same, every 32 values of the column rounded to eight bits.
pub(super) fn gated_rounded(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    pair(build, Form::Rounded)
}

fn pair(build: &Build<'_>, form: Form) -> Result<Vec<Launch>, String> {
    let (gate, up) = (build.layout("gate")?, build.layout("up")?);
    let [rows, chosen, tokens, _] = build.layout("out")?.shape;
    if !is_wide(build, "gate", &gate) || !is_wide(build, "up", &up) {
        return any(build, "mul_mat_id_swiglu_any");
    }
    let teams = Teams::of_pair(&gate, &up, rows * chosen, form);
    let grid = [teams.blocks(rows)?, narrow(chosen * tokens)?, 1];
    let function = format!("mul_mat_id_swiglu_{}", form.name());
    Ok(vec![Launch::grid(function, grid, THREADS).integer("split", teams.split)])
}
