//! `mul_mats`, `mul_mat_swiglu` and `mul_mat_mix`: products of several weights with the same column, in one launch. For more columns the
//! parts are as good alone.

use super::bytes::Waves;
use super::ports::{Teams, is_wide, rows_port, weight};
use super::windows::fits;
use crate::kernels::{Build, Launch};
use weft_core::contract::{ANY_WEIGHT, COMMON, Port};
use weft_core::graph::Layout;

/// Ports of a product of one column, weights by their types: those of few bits go one by one.
pub(super) fn port(port: Port) -> Port {
    if port.dtypes == ANY_WEIGHT {
        Port { dtypes: COMMON, ..port.packed_rows() }
    } else if port.access.writes() {
        port.packed_rows().aligned(4)
    } else {
        rows_port(port)
    }
}

/// The layout of a weight that one binding holds.
pub(super) fn whole(build: &Build<'_>, port: &str, layout: Layout) -> Result<Layout, String> {
    if fits(build, port, &layout) { Ok(layout) } else { Err(format!("one binding does not hold `{port}`")) }
}

/// Names of weights and results, in order.
const NAMES: [(&str, &str); 4] = [("w0", "out0"), ("w1", "out1"), ("w2", "out2"), ("w3", "out3")];

/// A weight of a dispatch, with its result.
struct One {
    port: &'static str,
    result: &'static str,
    layout: Layout,
    rows: u64,
}

/// Weights of one type share a launch, each with workgroups of its own: a shader for each mixture of types would be one
/// for each file.
pub(super) fn several(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let mut groups: Vec<Vec<One>> = Vec::new();
    for (port, result) in NAMES {
        let Some(layout) = build.maybe(port) else { continue };
        let one = One {
            port,
            result,
            layout: whole(build, port, layout)?,
            rows: u64::from(build.shape(result)?[0]),
        };
        let like = |other: &One| {
            other.layout.dtype == layout.dtype
                && is_wide(build, other.port, &other.layout) == is_wide(build, port, &layout)
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(like)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().map(|group| together(build, group)).collect()
}

fn together(build: &Build<'_>, group: &[One]) -> Result<Launch, String> {
    let most = group.iter().max_by_key(|one| one.rows).ok_or("no weights")?;
    let wide = is_wide(build, most.port, &most.layout);
    let teams = Teams::new(build, &most.layout, most.rows, 1).if_wide(wide);
    let groups: u64 = group.iter().map(|one| one.rows.div_ceil(teams.rows())).sum();
    let launch = teams.define(Launch::flat(u32::try_from(groups).map_err(|e| e.to_string())?), 1);
    if let [one] = group {
        let names = vec![("x", "x"), (one.port, "weight"), (one.result, "out")];
        return Ok(weight(
            launch.define("form", "vec").shader("mul_mat", names),
            build,
            one.port,
            "weight",
            &one.layout,
        ));
    }
    let mut names = vec![("x", "x")];
    let mut launch = launch;
    for (one, (port, result)) in group.iter().zip(NAMES) {
        names.extend([(one.port, port), (one.result, result)]);
        launch = weight(launch, build, one.port, port, &one.layout);
    }
    Ok(launch.shader("mul_mats", names))
}

/// A gate and what it opens for.
pub(super) fn gated(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [rows, ..] = build.shape("out")?;
    let (gate, up) = (build.layout("gate")?, build.layout("up")?);
    let (gate, up) = (whole(build, "gate", gate)?, whole(build, "up", up)?);
    let wide = is_wide(build, "gate", &gate) && is_wide(build, "up", &up);
    let teams = Teams::new(build, &gate, u64::from(rows), 1).if_wide(wide);
    let groups = u32::try_from(u64::from(rows).div_ceil(teams.rows())).map_err(|e| e.to_string())?;
    let launch = teams.define(Launch::flat(groups), 1).define("form", "vec");
    Ok(vec![weight(weight(launch, build, "gate", "gate", &gate), build, "up", "up", &up)])
}

/// The same of columns that are rounded to 16 bits.
pub(super) fn gated_bytes(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [rows, ..] = build.shape("out")?;
    let (gate, up) = (build.layout("gate")?, build.layout("up")?);
    let (gate, up) = (whole(build, "gate", gate)?, whole(build, "up", up)?);
    let waves = Waves::new(build, "gate", &gate, u64::from(rows), 1).of_two();
    let groups = u32::try_from(u64::from(rows).div_ceil(waves.rows())).map_err(|e| e.to_string())?;
    let launch = waves.define(Launch::flat(groups), 1);
    Ok(vec![weight(weight(launch, build, "gate", "gate", &gate), build, "up", "up", &up)])
}

/// A gate for every value of the streams.
pub(super) fn mixed(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [rows, ..] = build.shape("out")?;
    let layout = build.layout("weight")?;
    let layout = whole(build, "weight", layout)?;
    let teams = Teams::new(build, &layout, u64::from(rows), 1).if_wide(is_wide(build, "weight", &layout));
    let groups = u32::try_from(u64::from(rows).div_ceil(teams.rows())).map_err(|e| e.to_string())?;
    Ok(vec![weight(teams.define(Launch::flat(groups), 1), build, "weight", "weight", &layout)])
}
