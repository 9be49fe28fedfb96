//! `s_load`: up to sixteen words for the whole wave.
//!
//! Source 0 is the address, source 1 an offset in a register or absent.

use crate::fault::FaultKind;
use crate::group::Group;
use crate::memory::transfer::UNDEFINED_ADDRESS;
use crate::op::Op;
use crate::wave::Wave;

#[inline(always)]
pub fn load(wave: &mut Wave, group: &mut Group<'_>, op: &Op, words: usize) {
    let (base, base_doubt) = wave.scalar_pair_of(op.from[0]);
    let (register, register_doubt) = wave.scalar_of(op.from[1]);
    if (base_doubt != 0 || register_doubt != 0) && group.options.undefined {
        return group.stop(wave, op, UNDEFINED_ADDRESS);
    }
    let address = base.wrapping_add(u64::from(register)).wrapping_add(op.offset as u64);
    if !address.is_multiple_of(4) {
        return group.stop(wave, op, FaultKind::Misaligned { lane: 0, address, alignment: 4 });
    }
    if !group.locate(address, 4 * words as u64) {
        let kind = group.memory.explain(0, address, 4 * words);
        return group.stop(wave, op, kind);
    }
    for word in 0..words {
        let at = (address - group.located().start) as usize + 4 * word;
        let is_written = group.located().written_bits(at, 4) == 15;
        let value = group.located().load_or_nan(at, 4);
        let doubt = if is_written || !group.options.undefined { 0 } else { !0 };
        wave.put_scalar(group, op, op.to + word as u8, value, doubt);
    }
    if !group.located().is_read_only {
        watch(wave, group, op, address, 4 * words);
    }
}

fn watch(wave: &mut Wave, group: &mut Group<'_>, op: &Op, address: u64, bytes: usize) {
    let allocation = group.located();
    let Some(watch) = &group.watch else { return };
    let touched =
        allocation.races.records().touch(watch, (address - allocation.start) as usize, bytes, false);
    if let Some((at, first)) = touched {
        let (address, second) = (allocation.start + at as u64, watch.group);
        group.stop(wave, op, FaultKind::GlobalRace { address, first, second });
    }
}
