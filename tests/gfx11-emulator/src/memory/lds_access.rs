//! `ds_load`, `ds_store`, and the forms with two addresses.
//!
//! Source 0 is the address, source 2 what is stored; of two values the second is source 3.

use crate::fault::{FaultKind, Space};
use crate::group::Group;
use crate::memory::transfer::{Transfer, UNDEFINED_ADDRESS, is_defined};
use crate::op::Op;
use crate::wave::{LANES, Lanes, Wave, both};

/// The byte that lane `lane` means, when all of the access is inside.
#[inline(always)]
pub fn place(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    (lane, base): (usize, u32),
    offset: i32,
    bytes: usize,
) -> Option<usize> {
    let at = u64::from(base) + offset as u64;
    if at + bytes as u64 <= group.lds.size() as u64 {
        return Some(at as usize);
    }
    let nearest = format!("{} bytes are allocated", group.lds.size());
    group.stop(wave, op, FaultKind::OutOfBounds { space: Space::Lds, lane, address: at, bytes, nearest });
    None
}

#[inline(always)]
pub fn address(wave: &mut Wave, group: &mut Group<'_>, op: &Op) -> Option<Lanes> {
    if group.options.undefined && !is_defined(wave, op.from[0]) {
        group.stop(wave, op, UNDEFINED_ADDRESS);
        return None;
    }
    Some(wave.lanes_of(op.from[0], 0))
}

/// Whether all lanes are in use and each is `bytes` behind the one before, without a wrap.
#[inline(always)]
fn is_run(wave: &Wave, address: &Lanes, bytes: usize) -> bool {
    if wave.exec() != !0 {
        return false;
    }
    let first = address[0];
    let mut all = first < 1 << 24;
    for lane in 0..LANES {
        all &= address[lane] == first.wrapping_add((lane * bytes) as u32);
    }
    all
}

#[inline(always)]
pub fn load(wave: &mut Wave, group: &mut Group<'_>, op: &Op, transfer: Transfer) {
    let Some(address) = address(wave, group, op) else { return };
    let mut values = [[0; LANES]; 4];
    let mut doubt = [0; 4];
    if read(wave, group, op, (&address, op.offset), transfer.bytes(), (&mut values, &mut doubt)) {
        transfer.put(wave, op, &values, &doubt);
    }
}

/// Two loads into one run of registers: `words` for each.
#[inline(always)]
pub fn load_two(wave: &mut Wave, group: &mut Group<'_>, op: &Op, words: usize, unit: i32) {
    let Some(address) = address(wave, group, op) else { return };
    let (mut values, mut doubt) = ([[0; LANES]; 4], [0; 4]);
    let (mut second, mut second_doubt) = ([[0; LANES]; 4], [0; 4]);
    let (first_at, second_at) = ((&address, op.offset * unit), (&address, op.offset1 * unit));
    if !read(wave, group, op, first_at, 4 * words, (&mut values, &mut doubt))
        || !read(wave, group, op, second_at, 4 * words, (&mut second, &mut second_doubt))
    {
        return;
    }
    values[words..2 * words].copy_from_slice(&second[..words]);
    doubt[words..2 * words].copy_from_slice(&second_doubt[..words]);
    Transfer::Words(2 * words).put(wave, op, &values, &doubt);
}

/// `false` when the wave was stopped.
#[inline(always)]
fn read(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    (address, offset): (&Lanes, i32),
    bytes: usize,
    (values, doubt): (&mut [Lanes; 4], &mut [u32; 4]),
) -> bool {
    let exec = wave.exec();
    if is_run(wave, address, bytes) {
        let Some(at) = place(wave, group, op, (0, address[0]), offset, LANES * bytes) else { return false };
        if let Err(kind) = group.lds.read_by(wave.index, at, LANES * bytes) {
            group.stop(wave, op, kind);
            return false;
        }
        if bytes.is_multiple_of(4) && at.is_multiple_of(4) && group.lds.is_written(at, LANES * bytes) {
            let found = group.lds.words(at, LANES * bytes / 4);
            for word in 0..bytes / 4 {
                for lane in 0..LANES {
                    values[word][lane] = found[lane * (bytes / 4) + word];
                }
            }
            return true;
        }
    }
    // Fragments of a matrix: the upper lanes repeat the lower ones.
    let repeats = exec == !0 && address[..16] == address[16..];
    for lane in 0..if repeats { 16 } else { LANES } {
        if exec >> lane & 1 == 0 {
            continue;
        }
        let quick = (address[lane] as usize).wrapping_add(offset as usize);
        let done = match bytes {
            4 => take::<1>(group, wave.index, quick, lane, values),
            8 => take::<2>(group, wave.index, quick, lane, values),
            12 => take::<3>(group, wave.index, quick, lane, values),
            16 => take::<4>(group, wave.index, quick, lane, values),
            _ => false,
        };
        if done {
            continue;
        }
        let Some(at) = place(wave, group, op, (lane, address[lane]), offset, bytes) else { return false };
        if let Err(kind) = group.lds.read_by(wave.index, at, bytes) {
            group.stop(wave, op, kind);
            return false;
        }
        for word in 0..bytes.div_ceil(4) {
            let (at, count) = (at + 4 * word, (bytes - 4 * word).min(4));
            values[word][lane] = group.lds.load(at, count);
            doubt[word] |= u32::from(group.options.undefined && !group.lds.is_written(at, count)) << lane;
        }
    }
    if repeats {
        for word in 0..bytes.div_ceil(4) {
            let (low, high) = values[word].split_at_mut(16);
            high.copy_from_slice(low);
            doubt[word] |= doubt[word] << 16;
        }
    }
    true
}

/// The usual case of one lane's read. `false` when it needs a closer look.
#[inline(always)]
fn take<const W: usize>(
    group: &mut Group<'_>,
    wave: u32,
    at: usize,
    lane: usize,
    values: &mut [Lanes; 4],
) -> bool {
    let Some(found) = group.lds.read_words::<W>(wave, at) else { return false };
    for (value, found) in values.iter_mut().zip(found) {
        value[lane] = found;
    }
    true
}

#[inline(always)]
pub fn store(wave: &mut Wave, group: &mut Group<'_>, op: &Op, transfer: Transfer) {
    let Some(address) = address(wave, group, op) else { return };
    let (values, doubt) = transfer.get(wave, op);
    write(wave, group, op, (&address, op.offset), transfer.bytes(), (&values, &doubt));
}

#[inline(always)]
pub fn store_two(wave: &mut Wave, group: &mut Group<'_>, op: &Op, words: usize, unit: i32) {
    let Some(address) = address(wave, group, op) else { return };
    for (source, offset) in [(2, op.offset), (3, op.offset1)] {
        let (mut values, mut doubt) = ([[0; LANES]; 4], [0; 4]);
        for word in 0..words {
            values[word] = wave.lanes_of(op.from[source], word as u8);
            doubt[word] = wave.doubt_of(op.from[source], word as u8) & both(wave.exec());
        }
        if !write(wave, group, op, (&address, offset * unit), 4 * words, (&values, &doubt)) {
            return;
        }
    }
}

#[inline(always)]
fn write(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    (address, offset): (&Lanes, i32),
    bytes: usize,
    (values, doubt): (&[Lanes; 4], &[u64; 4]),
) -> bool {
    let exec = wave.exec();
    for lane in 0..LANES {
        if exec >> lane & 1 == 0 {
            continue;
        }
        if bytes == 4 {
            let (at, is_defined) =
                ((address[lane] as usize).wrapping_add(offset as usize), doubt[0] >> lane & 1 == 0);
            if group.lds.write_word(wave.index, at, values[0][lane], is_defined) {
                continue;
            }
        }
        let Some(at) = place(wave, group, op, (lane, address[lane]), offset, bytes) else { return false };
        if let Err(kind) = group.lds.written_by(wave.index, at, bytes) {
            group.stop(wave, op, kind);
            return false;
        }
        for word in 0..bytes.div_ceil(4) {
            let (at, count) = (at + 4 * word, (bytes - 4 * word).min(4));
            // LDS keeps one bit of doubt: nonsense may pass through it and is then seen as undefined.
            group.lds.store(at, count, values[word][lane], doubt[word] as u32 >> lane & 1 == 0);
        }
    }
    true
}
