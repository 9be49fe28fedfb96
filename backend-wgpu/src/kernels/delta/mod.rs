//! The gated delta net: convolution, recurrence, and their fused forms.

mod heads;
mod layer;

use super::{Build, Launch, Variant};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant::any("ssm_conv", convolution),
    Variant::any("conv_history", history),
    heads::PLAIN,
    Variant::any("gated_delta_net", recurrence),
    heads::CORE,
    Variant::any("gdn_core", recurrence),
    layer::HEADS,
    Variant::any("gdn_layer", layer::any),
];

/// Invocations of a workgroup of the general forms.
const GROUP: u32 = 256;

/// Invocations of a workgroup of the forms for heads.
const TEAM: u32 = 128;

/// One invocation an element.
fn convolution(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(GROUP))])
}

/// One invocation per channel and segment.
fn history(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (channels, segments) = (build.shape("x")?[0], build.shape("segments")?[1]);
    Ok(vec![Launch::flat(invocations(&[channels, segments])?.div_ceil(GROUP))])
}

/// One invocation per value channel of a head of a sequence or segment. Without segments states are loaded first: a
/// gather may read what another sequence stores.
fn recurrence(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [dim, heads, tokens, sequences] = build.shape("v")?;
    let gates = build.maybe("gate").is_some();
    let launch = |work: &str, count: u32| {
        let groups = invocations(&[dim, heads, count])?.div_ceil(GROUP);
        Ok::<_, String>(Launch::flat(groups).define("work", work).flag("gates", gates))
    };
    if build.maybe("segments").is_some() {
        return Ok(vec![launch("pool", build.shape("segments")?[1])?.flag("recur", true)]);
    }
    let mut work = "out";
    if tokens == 0 {
        // The result has no state to work on then.
        work = "scratch";
        let states = invocations(&[dim, heads, sequences])?;
        build.scratch = u64::from(states) * u64::from(dim) * 4;
    }
    Ok(vec![launch(work, sequences)?, launch(work, sequences)?.flag("recur", true)])
}

/// The product of these extents, as a number of invocations.
fn invocations(extents: &[u32]) -> Result<u32, String> {
    let all = extents.iter().try_fold(1u32, |all, extent| all.checked_mul(*extent));
    all.ok_or_else(|| "more than 2^32 invocations".to_owned())
}
