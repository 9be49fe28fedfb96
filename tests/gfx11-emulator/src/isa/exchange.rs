//! Values that go from one lane to another, or between vector and scalar registers.

use crate::fault::FaultKind;
use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::{plain, run};
use crate::op::{M0, Op, Source};
use crate::wave::{LANES, Wave, both};

pub fn find(name: &str) -> Option<Spec> {
    Some(match name {
        "v_readfirstlane_b32" => plain!(Plain, read_first_lane),
        "v_readlane_b32" => plain!(Plain, read_lane),
        "v_writelane_b32" => plain!(Plain, write_lane),
        "v_permlane16_b32" => run!(Plain, exchange_rows, 0).with_select(),
        "v_permlanex16_b32" => run!(Plain, exchange_rows, 16).with_select(),
        "ds_bpermute_b32" => run!(LdsLoad, pull),
        "ds_permute_b32" => run!(LdsLoad, push),
        "ds_swizzle_b32" => run!(LdsLoad, swizzle),
        "v_movrels_b32" => plain!(Plain, move_from_relative),
        "v_movreld_b32" => plain!(Plain, move_to_relative),
        _ => return None,
    })
}

/// One lane of a source, with all bits in doubt when it is undefined.
fn lane_of(wave: &Wave, source: Source, lane: usize) -> (u32, u32) {
    let doubt = wave.doubt_of(source, 0) >> lane & 1;
    (wave.lanes_of(source, 0)[lane], if doubt == 0 { 0 } else { !0 })
}

fn read_first_lane(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (value, doubt) = lane_of(wave, op.from[0], wave.first_lane());
    wave.put_scalar(group, op, op.to, value, doubt);
}

fn read_lane(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (lane, lane_doubt) = wave.scalar_of(op.from[1]);
    let (value, doubt) = lane_of(wave, op.from[0], lane as usize & 31);
    wave.put_scalar(group, op, op.to, value, if lane_doubt == 0 { doubt } else { !0 });
}

/// Writes even a lane that is masked off.
fn write_lane(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (value, doubt) = wave.scalar_of(op.from[0]);
    let (lane, lane_doubt) = wave.scalar_of(op.from[1]);
    if lane_doubt != 0 && group.options.undefined {
        return group.stop(wave, op, FaultKind::Undefined { used: "which lane is written" });
    }
    wave.put(op.to, &[value; LANES], if doubt == 0 { 0 } else { both(!0) }, 1 << (lane & 31));
}

/// Each lane reads any lane of its own row of 16, or of the other. `op_sel` bit 0 lets it read lanes that are masked off,
/// bit 1 makes an invalid read zero; else such a lane keeps what it had.
#[inline(always)]
fn exchange_rows(wave: &mut Wave, _: &mut Group<'_>, op: &Op, flip: usize) {
    let ((low, low_doubt), (high, high_doubt)) = (wave.scalar_of(op.from[1]), wave.scalar_of(op.from[2]));
    let select = u64::from(low) | u64::from(high) << 32;
    let (reads_inactive, zero) = (op.select & 1 != 0, op.select & 2 != 0);
    let exec = wave.exec();
    let (source, source_doubt) = (wave.lanes_of(op.from[0], 0), wave.doubt_of(op.from[0], 0));
    let (mut results, mut doubt, mut writable) = ([0; LANES], 0u64, exec);
    for lane in 0..LANES {
        let from = (lane & 16 ^ flip) + (select >> (4 * (lane & 15)) & 15) as usize;
        if reads_inactive || exec >> from & 1 == 1 {
            results[lane] = source[from];
            doubt |= (source_doubt >> from & 1) << lane | (source_doubt >> (32 + from) & 1) << (32 + lane);
        } else if !zero {
            writable &= !(1 << lane);
        }
    }
    if low_doubt | high_doubt != 0 {
        doubt = !0;
    }
    wave.put(op.to, &results, doubt, writable);
}

/// Lane `l` gets what the lane at its address holds; from a lane that is masked off it gets zero.
#[inline(always)]
fn pull(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let (address, address_doubt) = (wave.lanes_of(op.from[0], 0), wave.doubt_of(op.from[0], 0));
    let (data, data_doubt) = (wave.lanes_of(op.from[2], 0), wave.doubt_of(op.from[2], 0));
    let exec = wave.exec();
    let (mut results, mut doubt) = ([0; LANES], address_doubt);
    for lane in 0..LANES {
        let from = ((address[lane].wrapping_add(op.offset as u32) / 4) & 31) as usize;
        if exec >> from & 1 == 1 {
            results[lane] = data[from];
            doubt |= (data_doubt >> from & 1) << lane | (data_doubt >> (32 + from) & 1) << (32 + lane);
        }
    }
    wave.put(op.to, &results, doubt, exec);
}

/// Lane `l` gives what it holds to the lane at its address; lanes that get nothing get zero. The highest lane wins.
#[inline(always)]
fn push(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let (address, address_doubt) = (wave.lanes_of(op.from[0], 0), wave.doubt_of(op.from[0], 0));
    let (data, data_doubt) = (wave.lanes_of(op.from[2], 0), wave.doubt_of(op.from[2], 0));
    let exec = wave.exec();
    let (mut results, mut doubt) = ([0; LANES], if address_doubt & both(exec) == 0 { 0 } else { !0 });
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
        let to = ((address[lane].wrapping_add(op.offset as u32) / 4) & 31) as usize;
        results[to] = data[lane];
        doubt |= (data_doubt >> lane & 1) << to | (data_doubt >> (32 + lane) & 1) << (32 + to);
    }
    wave.put(op.to, &results, doubt, exec);
}

/// A fixed pattern in the offset: a permutation of each four lanes, or masks for the number of the lane.
#[inline(always)]
fn swizzle(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let (data, data_doubt) = (wave.lanes_of(op.from[0], 0), wave.doubt_of(op.from[0], 0));
    let (pattern, exec) = (op.offset as usize, wave.exec());
    let (mut results, mut doubt) = ([0; LANES], 0);
    for lane in 0..LANES {
        let from = if pattern & 0x8000 != 0 {
            lane & !3 | pattern >> (2 * (lane & 3)) & 3
        } else {
            (lane & pattern & 31 | pattern >> 5 & 31) ^ pattern >> 10 & 31
        };
        if exec >> from & 1 == 1 {
            results[lane] = data[from];
            doubt |= (data_doubt >> from & 1) << lane | (data_doubt >> (32 + from) & 1) << (32 + lane);
        }
    }
    wave.put(op.to, &results, doubt, exec);
}

/// The number of a register, counted on by M0.
fn relative(wave: &Wave, register: u8) -> u8 {
    register.wrapping_add(wave.scalar[usize::from(M0)] as u8)
}

fn move_from_relative(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let Source::Vector(register) = op.from[0] else { return };
    let from = Source::Vector(relative(wave, register));
    let (words, doubt, exec) = (wave.lanes_of(from, 0), wave.doubt_of(from, 0), wave.exec());
    wave.put(op.to, &words, doubt, exec);
}

fn move_to_relative(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let to = relative(wave, op.to);
    let (words, doubt, exec) = (wave.lanes_of(op.from[0], 0), wave.doubt_of(op.from[0], 0), wave.exec());
    wave.put(to, &words, doubt, exec);
}
