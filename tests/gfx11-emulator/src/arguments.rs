//! The arguments of a launch, laid out as the kernel expects them.

use crate::launch::Launch;
use crate::metadata::About;

/// Wide scalar loads may run past the last argument.
const SLACK: usize = 64;
pub const PACKET_BYTES: usize = 64;

/// The argument segment and behind it, from the offset that comes back, the dispatch packet.
pub fn segment(about: &About, launch: &Launch, arguments: &[u8]) -> (Vec<u8>, usize) {
    let mut bytes = vec![0; about.argument_bytes.max(arguments.len())];
    bytes[..arguments.len()].copy_from_slice(arguments);
    for argument in &about.arguments {
        if let Some(value) = hidden(&argument.kind, launch)
            && let Some(slot) = bytes.get_mut(argument.offset..argument.offset + argument.size.min(8))
        {
            slot.copy_from_slice(&value.to_le_bytes()[..slot.len()]);
        }
    }
    let packet_at = (bytes.len() + SLACK).next_multiple_of(64);
    bytes.resize(packet_at, 0);
    bytes.extend(packet(launch));
    (bytes, packet_at)
}

/// What the runtime fills in; other hidden arguments stay zero.
fn hidden(kind: &str, launch: &Launch) -> Option<u64> {
    let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| name.ends_with(axis));
    let dimensions = |sizes: [u32; 3]| 1 + u64::from(sizes[1] > 1).max(2 * u64::from(sizes[2] > 1));
    if kind.starts_with("hidden_block_count_") {
        Some(u64::from(launch.grid[axis(kind)?]))
    } else if kind.starts_with("hidden_group_size_") {
        Some(u64::from(launch.block[axis(kind)?]))
    } else if kind == "hidden_grid_dims" {
        Some(dimensions(std::array::from_fn(|k| launch.grid[k].max(launch.block[k]))))
    } else if kind == "hidden_dynamic_lds_size" {
        Some(launch.dynamic_lds as u64)
    } else {
        None
    }
}

/// `hsa_kernel_dispatch_packet_t`: the sizes are what kernels read.
fn packet(launch: &Launch) -> [u8; PACKET_BYTES] {
    let mut packet = [0; PACKET_BYTES];
    for axis in 0..3 {
        let (block, all) = (launch.block[axis], launch.grid[axis].wrapping_mul(launch.block[axis]));
        packet[4 + 2 * axis..6 + 2 * axis].copy_from_slice(&(block as u16).to_le_bytes());
        packet[12 + 4 * axis..16 + 4 * axis].copy_from_slice(&all.to_le_bytes());
    }
    packet
}
