//! `mul_mats` and `mul_mat_swiglu`: products of several weights with the same few columns, in one launch. For many columns the
//! parts are as good alone.

use super::ports::{Teams, rows_port, weight};
use super::windows::fits;
use crate::kernels::{Build, Launch};
use weft_core::contract::{ANY_WEIGHT, Port};
use weft_core::graph::Layout;

/// Ports of a product of few columns, weights by their types.
pub(super) fn port(port: Port) -> Port {
    if port.dtypes == ANY_WEIGHT { port.packed_rows() } else { rows_port(if is_result(&port) { out(port) } else { port }) }
}

fn is_result(port: &Port) -> bool {
    port.access.writes()
}

fn out(port: Port) -> Port {
    port.packed_rows().aligned(4)
}

/// The layout of a weight that one binding holds.
fn whole(build: &Build<'_>, port: &str, layout: Layout) -> Result<Layout, String> {
    if fits(build, port, &layout) { Ok(layout) } else { Err(format!("one binding does not hold `{port}`")) }
}

/// Several weights, each with workgroups of its own.
pub(super) fn several(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [_, columns, ..] = build.shape("x")?;
    let columns = columns.next_power_of_two();
    let mut weights = Vec::new();
    for (port, result) in [("w0", "out0"), ("w1", "out1"), ("w2", "out2"), ("w3", "out3")] {
        let Some(layout) = build.maybe(port) else { continue };
        weights.push((port, whole(build, port, layout)?, u64::from(build.shape(result)?[0])));
    }
    let most = weights.iter().max_by_key(|(_, _, rows)| *rows).ok_or("no weights")?;
    let teams = Teams::new(build, &most.1, most.2, columns);
    let groups: u64 = weights.iter().map(|(_, _, rows)| rows.div_ceil(teams.rows())).sum();
    let groups = u32::try_from(groups).map_err(|e| e.to_string())?;
    let launch = teams.define(Launch::flat(groups), columns);
    Ok(vec![weights.iter().fold(launch, |launch, (port, layout, _)| weight(launch, build, port, layout))])
}

/// A gate and what it opens for.
pub(super) fn gated(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [rows, columns, ..] = build.shape("out")?;
    let columns = columns.next_power_of_two();
    let (gate, up) = (build.layout("gate")?, build.layout("up")?);
    let (gate, up) = (whole(build, "gate", gate)?, whole(build, "up", up)?);
    let teams = Teams::new(build, &gate, u64::from(rows), columns);
    let groups = u32::try_from(u64::from(rows).div_ceil(teams.rows())).map_err(|e| e.to_string())?;
    let launch = teams.define(Launch::flat(groups), columns);
    Ok(vec![weight(weight(launch, build, "gate", &gate), build, "up", &up)])
}
