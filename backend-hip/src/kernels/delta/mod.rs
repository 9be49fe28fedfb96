//! The gated delta net: the recurrence, and its fused forms.

mod heads;
mod layer;

use super::{Build, Launch, Scalars, Variant};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    heads::PLAIN,
    Variant::any("gated_delta_net", |build| any(build, "gated_delta_net")),
    heads::CORE,
    Variant::any("gdn_core", |build| any(build, "gdn_core")),
    layer::MATRIX,
    layer::HEADS,
    Variant::any("gdn_layer", layer::any),
];

pub(super) const SCALARS: Scalars = &[
    // Whether old states lie in scratch memory.
    ("gated_delta_net", &["groups_x", "gathered"]),
    ("gdn_core", &["groups_x", "gathered"]),
    // Where convolved rows, matrices of chunks and turned keys begin in scratch memory, in groups of 16 bytes.
    ("gdn_layer", &["groups_x", "mixed", "matrices", "turned"]),
];

/// Old states to scratch memory, then one thread per value channel of a head of a sequence or segment.
fn any(build: &mut Build<'_>, stem: &str) -> Result<Vec<Launch>, String> {
    let channels = load(build)?;
    Ok(vec![
        Launch::threads(format!("{stem}_load"), channels)?,
        Launch::threads(format!("{stem}_any"), channels)?,
    ])
}

/// Asks for scratch memory that holds all old states and where they belong; gives the number of value channels.
fn load(build: &mut Build<'_>) -> Result<u64, String> {
    let [dim, heads, _, _] = build.shape("v")?;
    let entries = entries(build)?;
    let channels = product(&[dim, heads, entries])?;
    let states = channels.checked_mul(u64::from(dim) * 4).ok_or("states beyond 64 bits")?;
    build.scratch = u64::from(entries) * 16 + states;
    Ok(channels)
}

/// Sequences, or segments where there is a table.
fn entries(build: &Build<'_>) -> Result<u32, String> {
    if build.maybe("segments").is_some() { Ok(build.shape("segments")?[1]) } else { Ok(build.shape("v")?[3]) }
}

/// The product of extents, as a number of threads or blocks.
fn product(extents: &[u32]) -> Result<u64, String> {
    let all = extents.iter().try_fold(1u64, |all, extent| all.checked_mul(u64::from(*extent)));
    all.ok_or_else(|| "a launch of more than 2^64 threads".to_owned())
}

/// The same where one dimension of a grid must hold it.
fn blocks(extents: &[u32]) -> Result<u32, String> {
    u32::try_from(product(extents)?).map_err(|_| "more than 2^32 blocks".to_owned())
}
