//! Private memory of each lane: `scratch_load` and `scratch_store`.
//!
//! Source 0 is a vector offset or absent, source 1 a scalar one or absent, source 2 what is stored.

use crate::fault::{FaultKind, Space};
use crate::group::Group;
use crate::memory::transfer::{Transfer, UNDEFINED_ADDRESS, is_defined};
use crate::op::Op;
use crate::wave::{LANES, Wave};

/// The first byte of the access in the memory of lane `lane`, counted over all lanes.
fn place(wave: &mut Wave, group: &mut Group<'_>, op: &Op, lane: usize, bytes: usize) -> Option<usize> {
    let vector = wave.lanes_of(op.from[0], 0)[lane];
    let (scalar, scalar_doubt) = wave.scalar_of(op.from[1]);
    if group.options.undefined && (scalar_doubt != 0 || !is_defined(wave, op.from[0])) {
        group.stop(wave, op, UNDEFINED_ADDRESS);
        return None;
    }
    let at = i64::from(vector) + i64::from(scalar) + i64::from(op.offset);
    let size = wave.scratch.len() / LANES;
    if at >= 0 && at as usize + bytes <= size {
        return Some(lane * size + at as usize);
    }
    let nearest = format!("{size} bytes a lane");
    let kind = FaultKind::OutOfBounds { space: Space::Scratch, lane, address: at as u64, bytes, nearest };
    group.stop(wave, op, kind);
    None
}

pub fn load(wave: &mut Wave, group: &mut Group<'_>, op: &Op, transfer: Transfer) {
    let (mut values, mut doubt) = ([[0; LANES]; 4], [0; 4]);
    let bytes = transfer.bytes();
    let exec = wave.exec();
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
        let Some(at) = place(wave, group, op, lane, bytes) else { return };
        for byte in 0..bytes {
            values[byte / 4][lane] |= u32::from(wave.scratch[at + byte]) << (8 * (byte % 4));
            doubt[byte / 4] |= u32::from(group.options.undefined && wave.scratch_doubt[at + byte]) << lane;
        }
    }
    transfer.put(wave, op, &values, &doubt);
}

pub fn store(wave: &mut Wave, group: &mut Group<'_>, op: &Op, transfer: Transfer) {
    let (values, doubt) = transfer.get(wave, op);
    let bytes = transfer.bytes();
    let exec = wave.exec();
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
        let Some(at) = place(wave, group, op, lane, bytes) else { return };
        for byte in 0..bytes {
            wave.scratch[at + byte] = (values[byte / 4][lane] >> (8 * (byte % 4))) as u8;
            wave.scratch_doubt[at + byte] = doubt[byte / 4] >> lane & 1 == 1;
        }
    }
}
