//! What `weft plan` tells by default: counts, and a line for each launch.

use crate::report;
use std::io::Write;
use weft::Model;
use weft::models::Batch;
use weft_core::graph::NodeId;
use weft_core::plan::Plan;

pub(super) fn census(out: &mut impl Write, plan: &Plan) -> anyhow::Result<()> {
    let census = plan.census();
    writeln!(out, "plan {}", census.hash)?;
    writeln!(
        out,
        "{} nodes ({} fused, {} views elided) in {} dispatches, {} phases, {} splits; {} nodes off the first device",
        census.nodes,
        census.fused,
        census.aliases,
        census.dispatches,
        census.phases,
        census.splits,
        census.off_device
    )?;
    for (device, bytes) in plan.devices.iter().zip(&census.arena_bytes) {
        writeln!(out, "{}: {} of activations", device.name, report::bytes(*bytes))?;
    }
    writeln!(
        out,
        "weights {}, state {}",
        report::bytes(census.weight_bytes),
        report::bytes(census.state_bytes)
    )?;
    for (index, split) in plan.splits.iter().enumerate().filter(|_| plan.splits.len() > 1) {
        let (device, launches) = (&plan.devices[split.device].name, split.end - split.first);
        writeln!(out, "split {index} on {device}, {launches} launches from {}:", split.first)?;
        plan.why_split(split).iter().try_for_each(|why| writeln!(out, "  {why}"))?;
    }
    for (rule, count) in &census.rules {
        writeln!(out, "  {count:>5} by rule {rule}")?;
    }
    for (kernel, count) in &census.kernels {
        writeln!(out, "  {count:>5} of {kernel}")?;
    }
    Ok(())
}

/// What experts on the CPU change: the plan with them, and the one without.
pub(super) fn experts(
    out: &mut impl Write,
    model: &Model,
    batch: &Batch,
    [plan, free]: [&Plan; 2],
) -> anyhow::Result<()> {
    let (graph, mut parts) = model.description().graph_with_experts(batch)?;
    parts.retain(|part| model.experts_on().on_cpu(part.layer));
    let bytes = parts.iter().map(|part| part.weight_bytes(&graph)).sum();
    let splits = plan.splits.len().saturating_sub(free.splits.len());
    writeln!(
        out,
        "experts of {} layers on the CPU: {} there, {splits} splits more ({} per such layer), {} copied a run",
        parts.len(),
        report::bytes(bytes),
        splits.div_ceil(parts.len().max(1)),
        report::bytes(plan.census().copied_bytes)
    )?;
    Ok(())
}

pub(super) fn dispatches(out: &mut impl Write, plan: &Plan) -> anyhow::Result<()> {
    writeln!(
        out,
        "\n{:>5} {:>5} {:<24} {:<18} {:>12} {:>12}  nodes",
        "index", "phase", "kernel", "rule", "bytes", "flops"
    )?;
    for (index, dispatch) in plan.dispatches.iter().enumerate() {
        let constants: Vec<String> =
            dispatch.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        writeln!(
            out,
            "{index:>5} {:>5} {:<24} {:<18} {:>12} {:>12}  {} {}",
            dispatch.phase,
            format!("{}/{}", dispatch.kernel, dispatch.variant),
            dispatch.rule,
            report::bytes(dispatch.cost.bytes),
            dispatch.cost.flops,
            ranges(&dispatch.nodes),
            constants.join(" ")
        )?;
    }
    Ok(())
}

/// Node indices as ranges: `7-9,13`.
fn ranges(nodes: &[NodeId]) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for node in nodes {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == node.0 => *last = node.0,
            _ => found.push((node.0, node.0)),
        }
    }
    let text =
        |(first, last): (u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    found.into_iter().map(text).collect::<Vec<_>>().join(",")
}
