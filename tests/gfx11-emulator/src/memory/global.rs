//! `global_load`, `global_store` and their `flat` forms.
//!
//! Source 0 is the vector address, source 1 the scalar one or absent, source 2 what is stored.

use std::sync::atomic::Ordering::Relaxed;

use crate::fault::{FaultKind, Space};
use crate::group::Group;
use crate::memory::transfer::{Transfer, UNDEFINED_ADDRESS};
use crate::op::{NULL, Op, Source};
use crate::wave::{LANES, Lanes, Wave, both, join};

/// The address of each lane; `None` when it is undefined for a lane in use.
#[inline(always)]
pub fn addresses(wave: &mut Wave, group: &mut Group<'_>, op: &Op) -> Option<[u64; LANES]> {
    let exec = wave.exec();
    let low = wave.lanes_of(op.from[0], 0);
    let mut addresses = [0; LANES];
    let doubt = match op.from[1] {
        Source::Absent | Source::Scalar(NULL) => {
            let high = wave.lanes_of(op.from[0], 1);
            for lane in 0..LANES {
                addresses[lane] = join(low[lane], high[lane]).wrapping_add(op.offset as u64);
            }
            wave.doubt_of(op.from[0], 0) | wave.doubt_of(op.from[0], 1)
        }
        scalar => {
            let (base, doubt) = wave.scalar_pair_of(scalar);
            let base = base.wrapping_add(op.offset as u64);
            for lane in 0..LANES {
                addresses[lane] = base.wrapping_add(u64::from(low[lane]));
            }
            wave.doubt_of(op.from[0], 0) | if doubt == 0 { 0 } else { !0 }
        }
    };
    if doubt & both(exec) != 0 && group.options.undefined {
        group.stop(wave, op, UNDEFINED_ADDRESS);
        return None;
    }
    Some(addresses)
}

/// How the lanes of an access lie in one allocation.
#[allow(clippy::large_enum_variant, reason = "it lives for one instruction, on the stack")]
enum Shape {
    /// Lane after lane without a gap, all lanes, from this offset.
    Run(usize),
    /// All lanes at this offset.
    Same(usize),
    /// Anywhere inside.
    Inside([usize; LANES]),
    /// In more than one allocation, or outside.
    Scattered,
}

/// Lanes that are masked off get the address of one that is not: they may then be loaded like the others.
#[inline(always)]
fn shape(wave: &Wave, group: &mut Group<'_>, addresses: &mut [u64; LANES], bytes: usize) -> Shape {
    let exec = wave.exec();
    let first = addresses[wave.first_lane()];
    if exec != !0 {
        for lane in 0..LANES {
            addresses[lane] = if exec >> lane & 1 == 1 { addresses[lane] } else { first };
        }
    }
    let (mut is_run, mut is_same) = (exec == !0, true);
    let (mut least, mut greatest) = (first as i64, first as i64);
    for (lane, address) in addresses.iter().enumerate() {
        is_run &= *address == first.wrapping_add((lane * bytes) as u64);
        is_same &= *address == first;
        least = least.min(*address as i64);
        greatest = greatest.max(*address as i64);
    }
    let Some(extent) = (greatest as u64).wrapping_sub(least as u64).checked_add(bytes as u64) else {
        return Shape::Scattered;
    };
    if !group.locate(least as u64, extent) {
        return Shape::Scattered;
    }
    let start = group.located().start;
    if is_run {
        Shape::Run((first - start) as usize)
    } else if is_same {
        Shape::Same((first - start) as usize)
    } else {
        let mut offsets = [0; LANES];
        for lane in 0..LANES {
            offsets[lane] = (addresses[lane] - start) as usize;
        }
        Shape::Inside(offsets)
    }
}

#[inline(always)]
pub fn load(wave: &mut Wave, group: &mut Group<'_>, op: &Op, transfer: Transfer) {
    if wave.exec() == 0 {
        return;
    }
    let Some(mut addresses) = addresses(wave, group, op) else { return };
    let bytes = transfer.bytes();
    let words = transfer.words();
    let mut values: [Lanes; 4] = [[0; LANES]; 4];
    let mut doubt = [0u32; 4];
    match shape(wave, group, &mut addresses, bytes) {
        Shape::Run(at)
            if bytes.is_multiple_of(4)
                && at.is_multiple_of(4)
                && group.located().is_written(at, LANES * bytes) =>
        {
            let found = group.located().words(at / 4, LANES * words);
            for word in 0..words {
                for lane in 0..LANES {
                    values[word][lane] = found[lane * words + word].load(Relaxed);
                }
            }
        }
        Shape::Run(at) => gather(group, |lane| at + lane * bytes, bytes, &mut values, &mut doubt),
        Shape::Inside(offsets) => gather(group, |lane| offsets[lane], bytes, &mut values, &mut doubt),
        Shape::Same(at) => {
            let (mut one, mut unknown) = ([[0; LANES]; 4], [0; 4]);
            lane_load(group, at, bytes, 0, &mut one, &mut unknown);
            for word in 0..words {
                values[word] = [one[word][0]; LANES];
                doubt[word] = if unknown[word] == 0 { 0 } else { !0 };
            }
        }
        Shape::Scattered => {
            for lane in 0..LANES {
                if !locate_lane(wave, group, op, lane, addresses[lane], bytes) {
                    return;
                }
                let at = (addresses[lane] - group.located().start) as usize;
                lane_load(group, at, bytes, lane, &mut values, &mut doubt);
            }
        }
    }
    if group.watch.is_some() {
        watch(wave, group, op, &addresses, bytes, false);
    }
    if !group.options.undefined {
        doubt = [0; 4];
    }
    transfer.put(wave, op, &values, &doubt);
}

#[inline(always)]
fn gather(
    group: &Group<'_>,
    at: impl Fn(usize) -> usize,
    bytes: usize,
    values: &mut [Lanes; 4],
    doubt: &mut [u32; 4],
) {
    for lane in 0..LANES {
        lane_load(group, at(lane), bytes, lane, values, doubt);
    }
}

#[inline(always)]
fn lane_load(
    group: &Group<'_>,
    at: usize,
    bytes: usize,
    lane: usize,
    values: &mut [Lanes; 4],
    doubt: &mut [u32; 4],
) {
    let allocation = group.located();
    for word in 0..bytes.div_ceil(4) {
        let (at, count) = (at + 4 * word, (bytes - 4 * word).min(4));
        if allocation.written_bits(at, count) == (1 << count) - 1 {
            values[word][lane] = allocation.load(at, count);
        } else {
            values[word][lane] = allocation.load_or_nan(at, count);
            doubt[word] |= 1 << lane;
        }
    }
}

#[inline(never)]
pub fn locate_lane(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    lane: usize,
    address: u64,
    bytes: usize,
) -> bool {
    // An address near the end of the numbers is outside, not at the start.
    if address.checked_add(bytes as u64).is_some() && group.locate(address, bytes as u64) {
        return true;
    }
    let kind = group.memory.explain(lane, address, bytes);
    group.stop(wave, op, kind);
    false
}

#[inline(always)]
pub fn store(wave: &mut Wave, group: &mut Group<'_>, op: &Op, transfer: Transfer) {
    let exec = wave.exec();
    if exec == 0 {
        return;
    }
    let Some(mut addresses) = addresses(wave, group, op) else { return };
    let bytes = transfer.bytes();
    let words = transfer.words();
    let (values, doubt) = transfer.get(wave, op);
    for word_doubt in &doubt[..words] {
        if *word_doubt & both(exec) != 0 && refuse_nonsense(wave, group, op, &addresses, *word_doubt) {
            return;
        }
    }
    let undefined = if group.options.undefined { doubt.map(|doubt| doubt as u32) } else { [0; 4] };
    let shape = shape(wave, group, &mut addresses, bytes);
    if !matches!(shape, Shape::Scattered) && group.located().is_read_only {
        let (lane, address) = (wave.first_lane(), addresses[wave.first_lane()]);
        return group.stop(wave, op, FaultKind::ReadOnly { lane, address });
    }
    match shape {
        Shape::Run(at) if bytes.is_multiple_of(4) && at.is_multiple_of(4) && undefined == [0; 4] => {
            let allocation = group.located();
            let slots = allocation.words(at / 4, LANES * words);
            for word in 0..words {
                for lane in 0..LANES {
                    slots[lane * words + word].store(values[word][lane], Relaxed);
                }
            }
            allocation.mark(at, LANES * bytes, true);
        }
        _ => {
            for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
                if !locate_lane(wave, group, op, lane, addresses[lane], bytes) {
                    return;
                }
                let allocation = group.located();
                let at = (addresses[lane] - allocation.start) as usize;
                for word in 0..words {
                    let (at, count) = (at + 4 * word, (bytes - 4 * word).min(4));
                    allocation.store(at, count, values[word][lane]);
                    allocation.mark(at, count, undefined[word] >> lane & 1 == 0);
                }
            }
        }
    }
    if group.watch.is_some() {
        watch(wave, group, op, &addresses, bytes, true);
    }
}

/// Copying what nobody wrote is allowed (the padding of a row); storing what was computed from it is not.
#[cold]
fn refuse_nonsense(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    addresses: &[u64; LANES],
    doubt: u64,
) -> bool {
    let nonsense = (doubt >> 32) as u32 & wave.exec();
    if nonsense == 0 || !group.options.undefined {
        return false;
    }
    let lane = nonsense.trailing_zeros() as usize;
    group.stop(wave, op, FaultKind::UndefinedStore { space: Space::Device, lane, address: addresses[lane] });
    true
}

/// Records who touched what, to find races between workgroups.
#[inline(never)]
fn watch(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    addresses: &[u64; LANES],
    bytes: usize,
    writes: bool,
) {
    let exec = wave.exec();
    let mut lane = 0;
    while lane < LANES {
        if exec >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        if !group.locate(addresses[lane], bytes as u64) {
            return;
        }
        let allocation = group.located();
        // Constants and arguments: nobody writes them.
        if allocation.is_read_only {
            return;
        }
        let Some(watch) = &group.watch else { return };
        let records = allocation.races.records();
        // As many lanes as lie in this allocation; those that follow one another are one access.
        while lane < LANES && (exec >> lane & 1 == 0 || allocation.contains(addresses[lane], bytes as u64)) {
            let start = addresses[lane];
            let mut end = start;
            while lane < LANES
                && exec >> lane & 1 == 1
                && (addresses[lane] == end || end == addresses[lane] + bytes as u64)
            {
                end = addresses[lane] + bytes as u64;
                lane += 1;
            }
            if end == start {
                lane += 1;
                continue;
            }
            if !allocation.contains(start, end - start) {
                return;
            }
            let at = (start - allocation.start) as usize;
            if let Some((at, first)) = records.touch(watch, at, (end - start) as usize, writes) {
                let (address, second) = (allocation.start + at as u64, watch.group);
                return group.stop(wave, op, FaultKind::GlobalRace { address, first, second });
            }
        }
    }
}
