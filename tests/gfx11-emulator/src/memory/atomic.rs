//! Atomics on device memory and LDS, lane after lane.
//!
//! Source 0 is the address, 1 the scalar address, 2 the operand; a compare-and-swap of LDS has what it compares with in source 3,
//! one of device memory in the words after the operand.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

use crate::fault::{FaultKind, Space};
use crate::group::Group;
use crate::memory::global::{addresses, locate_lane};
use crate::memory::lds_access::{address, place};
use crate::op::{Op, Source};
use crate::wave::{LANES, Lanes, Wave, both, join};

const UNDEFINED: FaultKind = FaultKind::Undefined { used: "an atomic" };

/// What an atomic makes of the old value, the operand and the value to compare with.
pub trait Change<T>: Fn(T, T, T) -> T {}
impl<T, F: Fn(T, T, T) -> T> Change<T> for F {}

/// 64-bit atomics take turns: their two words are not one atomic of the host.
static TURN: Mutex<()> = Mutex::new(());

/// `words` is 1 or 2, the width; `compares` says that the value to compare with follows the operand.
#[inline(always)]
pub fn global(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    (words, compares): (u8, bool),
    change: impl Change<u64>,
) {
    let Some(addresses) = addresses(wave, group, op) else { return };
    let operands = if compares { 2 * words } else { words };
    if !defined(wave, group, op, op.from[2], operands) {
        return;
    }
    let operand = long(wave, op.from[2], 0, words);
    let compared = long(wave, op.from[2], words, words);
    let bytes = 4 * usize::from(words);
    let mut old = [0; LANES];
    for lane in active(wave) {
        let address = addresses[lane];
        if !address.is_multiple_of(bytes as u64) {
            return group.stop(wave, op, FaultKind::Misaligned { lane, address, alignment: bytes });
        }
        if !locate_lane(wave, group, op, lane, address, bytes) {
            return;
        }
        if group.located().is_read_only {
            return group.stop(wave, op, FaultKind::ReadOnly { lane, address });
        }
        let at = (address - group.located().start) as usize;
        if group.options.undefined && !group.located().is_written(at, bytes) {
            return group.stop(wave, op, UNDEFINED);
        }
        old[lane] = exchange(group, at, words, |old| change(old, operand[lane], compared[lane]));
        if let Some(watch) = &mut group.watch {
            watch.meet(address);
        }
    }
    give_back(wave, op, &old, words);
}

#[inline(always)]
fn exchange(group: &Group<'_>, at: usize, words: u8, change: impl Fn(u64) -> u64) -> u64 {
    let allocation = group.located();
    let low = allocation.word(at / 4);
    if words == 1 {
        let mut old = low.load(SeqCst);
        while let Err(found) = low.compare_exchange_weak(old, change(u64::from(old)) as u32, SeqCst, SeqCst) {
            old = found;
        }
        return u64::from(old);
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let high = allocation.word(at / 4 + 1);
    let old = join(low.load(SeqCst), high.load(SeqCst));
    let new = change(old);
    low.store(new as u32, SeqCst);
    high.store((new >> 32) as u32, SeqCst);
    old
}

#[inline(always)]
pub fn lds(wave: &mut Wave, group: &mut Group<'_>, op: &Op, words: u8, change: impl Change<u64>) {
    let Some(address) = address(wave, group, op) else { return };
    if !defined(wave, group, op, op.from[2], words) || !defined(wave, group, op, op.from[3], words) {
        return;
    }
    let (operand, compared) = (long(wave, op.from[2], 0, words), long(wave, op.from[3], 0, words));
    let bytes = 4 * usize::from(words);
    let mut old = [0; LANES];
    for lane in active(wave) {
        let Some(at) = place(wave, group, op, (lane, address[lane]), op.offset, bytes) else { return };
        if !at.is_multiple_of(bytes) {
            return group.stop(
                wave,
                op,
                FaultKind::Misaligned { lane, address: at as u64, alignment: bytes },
            );
        }
        if let Err(kind) = group.lds.changed_by(wave.index, at, bytes) {
            return group.stop(wave, op, kind);
        }
        if group.options.undefined && !group.lds.is_written(at, bytes) {
            return group.stop(wave, op, UNDEFINED);
        }
        let high = if words == 2 { group.lds.load(at + 4, 4) } else { 0 };
        old[lane] = join(group.lds.load(at, 4), high);
        let new = change(old[lane], operand[lane], compared[lane]);
        group.lds.store(at, 4, new as u32, true);
        if words == 2 {
            group.lds.store(at + 4, 4, (new >> 32) as u32, true);
        }
    }
    give_back(wave, op, &old, words);
}

fn active(wave: &Wave) -> impl Iterator<Item = usize> + use<> {
    let exec = wave.exec();
    (0..LANES).filter(move |lane| exec >> lane & 1 == 1)
}

fn defined(wave: &mut Wave, group: &mut Group<'_>, op: &Op, source: Source, words: u8) -> bool {
    let doubt = (0..words).fold(0, |doubt, word| doubt | wave.doubt_of(source, word));
    if doubt & both(wave.exec()) == 0 || !group.options.undefined {
        return true;
    }
    let lane = (doubt as u32 & wave.exec()).trailing_zeros() as usize;
    group.stop(wave, op, FaultKind::UndefinedStore { space: Space::Device, lane, address: 0 });
    false
}

fn long(wave: &Wave, source: Source, first: u8, words: u8) -> [u64; LANES] {
    let low = wave.lanes_of(source, first);
    let high = if words == 2 { wave.lanes_of(source, first + 1) } else { [0; LANES] };
    std::array::from_fn(|lane| join(low[lane], high[lane]))
}

fn give_back(wave: &mut Wave, op: &Op, old: &[u64; LANES], words: u8) {
    if !op.returns {
        return;
    }
    let exec = wave.exec();
    for word in 0..words {
        let part: Lanes = std::array::from_fn(|lane| (old[lane] >> (32 * u32::from(word))) as u32);
        wave.put(op.to.wrapping_add(word), &part, 0, exec);
    }
}
