//! The local memory of a workgroup: its bytes, which were written, and who touched them since the last barrier.
//!
//! Each word has two records, of its writer and of its readers: the interval between barriers, a wave (or "several", when they
//! read the same bytes) and which of the four bytes were meant. Where waves share a word with different bytes the record says only
//! that, and the word is not judged until the next barrier: a race may be missed there, none is invented.

use crate::fault::FaultKind;

/// Below the interval: six bits for the wave plus one, four for the bytes. Records of later intervals are greater.
const WAVE_SHIFT: u32 = 4;
const INTERVAL_SHIFT: u32 = 10;
const LAST_INTERVAL: u32 = (1 << (32 - INTERVAL_SHIFT)) - 1;
const ALL_BYTES: u32 = 15;
/// In the place of a wave.
const SEVERAL: u32 = 0;
const SHARED: u32 = 63;

#[derive(Default)]
pub struct Lds {
    words: Vec<u32>,
    size: usize,
    /// Four bits for each word.
    written: Vec<u8>,
    writers: Vec<u32>,
    readers: Vec<u32>,
    interval: u32,
    races: bool,
}

impl Lds {
    /// As at the start of a workgroup.
    pub fn reset(&mut self, bytes: usize, races: bool) {
        let words = bytes.div_ceil(4);
        self.size = bytes;
        self.words.clear();
        // One more, which an unaligned access may look at.
        self.words.resize(words + 1, 0xcdcd_cdcd);
        self.written.clear();
        self.written.resize(words, 0);
        self.races = races;
        for records in [&mut self.writers, &mut self.readers] {
            records.clear();
            records.resize(if races { words } else { 0 }, 0);
        }
        self.interval = 1;
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// A barrier: what was done before is ordered before what comes.
    pub fn next_interval(&mut self) {
        if self.interval == LAST_INTERVAL {
            self.writers.fill(0);
            self.readers.fill(0);
            self.interval = 0;
        }
        self.interval += 1;
    }

    /// `count` words from a byte that starts one.
    #[inline(always)]
    pub fn words(&self, at: usize, count: usize) -> &[u32] {
        &self.words[at / 4..at / 4 + count]
    }

    /// One word or less.
    #[inline(always)]
    pub fn load(&self, at: usize, count: usize) -> u32 {
        let (word, shift) = (at / 4, 8 * (at as u32 % 4));
        let both = u64::from(self.words[word]) | u64::from(self.words[word + 1]) << 32;
        (both >> shift & ((1 << (8 * count)) - 1)) as u32
    }

    /// One word or less.
    #[inline(always)]
    pub fn store(&mut self, at: usize, count: usize, value: u32, is_defined: bool) {
        let (word, shift) = (at / 4, 8 * (at as u32 % 4));
        if count == 4 && shift == 0 {
            self.words[word] = value;
            self.written[word] = if is_defined { ALL_BYTES as u8 } else { 0 };
            return;
        }
        let mask = ((1u64 << (8 * count)) - 1) << shift;
        let both = u64::from(self.words[word]) | u64::from(self.words[word + 1]) << 32;
        let both = both & !mask | (u64::from(value) << shift) & mask;
        self.words[word] = both as u32;
        self.words[word + 1] = (both >> 32) as u32;
        for (word, mask) in parts(at, count) {
            let bits = &mut self.written[word];
            *bits = if is_defined { *bits | mask as u8 } else { *bits & !mask as u8 };
        }
    }

    /// A read of whole words by a wave, when all of them were written and no other wave stands against it; else nothing is done.
    #[inline(always)]
    pub fn read_words<const W: usize>(&mut self, wave: u32, at: usize) -> Option<[u32; W]> {
        if !at.is_multiple_of(4) || at + 4 * W > self.size {
            return None;
        }
        let word = at / 4;
        let written: &[u8; W] = self.written.get(word..)?.first_chunk()?;
        if *written != [ALL_BYTES as u8; W] {
            return None;
        }
        if self.races {
            let (oldest, mine) = self.records(wave);
            let writers: &[u32; W] = self.writers.get(word..)?.first_chunk()?;
            let readers: &mut [u32; W] = self.readers.get_mut(word..)?.first_chunk_mut()?;
            let mut is_odd = false;
            for k in 0..W {
                is_odd |= (writers[k] >= oldest) & (writers[k] != mine);
                is_odd |= (readers[k] >= oldest) & (readers[k] & ALL_BYTES != ALL_BYTES);
            }
            if is_odd {
                return None;
            }
            for reader in readers {
                *reader = if *reader < oldest || *reader == mine { mine } else { oldest | ALL_BYTES };
            }
        }
        self.words.get(word..)?.first_chunk().copied()
    }

    /// A write of one whole word, as [`Self::read_words`]; `false` when nothing was done.
    #[inline(always)]
    pub fn write_word(&mut self, wave: u32, at: usize, value: u32, is_defined: bool) -> bool {
        let word = at / 4;
        if !at.is_multiple_of(4) || at + 4 > self.size {
            return false;
        }
        if self.races {
            let (oldest, mine) = self.records(wave);
            let is_free = |record: u32| record < oldest || record == mine;
            if !is_free(self.writers[word]) || !is_free(self.readers[word]) {
                return false;
            }
            self.writers[word] = mine;
        }
        self.words[word] = value;
        self.written[word] = if is_defined { ALL_BYTES as u8 } else { 0 };
        true
    }

    #[inline(always)]
    pub fn is_written(&self, at: usize, count: usize) -> bool {
        if is_whole(at, count) {
            return self.written[at / 4..(at + count) / 4].iter().fold(15, |all, bits| all & bits) == 15;
        }
        parts(at, count).all(|(word, mask)| u32::from(self.written[word]) & mask == mask)
    }

    /// Records a read by a wave.
    #[inline(always)]
    pub fn read_by(&mut self, wave: u32, at: usize, count: usize) -> Result<(), FaultKind> {
        if !self.races {
            return Ok(());
        }
        let (oldest, mine) = self.records(wave);
        if is_whole(at, count) {
            let words = at / 4..(at + count) / 4;
            let (writers, readers) = (&self.writers[words.clone()], &mut self.readers[words]);
            let mut is_odd = false;
            for (writer, reader) in writers.iter().zip(readers.iter()) {
                is_odd |= *writer >= oldest && *writer != mine
                    || *reader >= oldest && *reader & ALL_BYTES != ALL_BYTES;
            }
            if !is_odd {
                for reader in readers {
                    *reader = if *reader < oldest || *reader == mine { mine } else { oldest | ALL_BYTES };
                }
                return Ok(());
            }
        }
        self.touch(wave, at, count, false)
    }

    #[inline(always)]
    pub fn written_by(&mut self, wave: u32, at: usize, count: usize) -> Result<(), FaultKind> {
        if !self.races {
            return Ok(());
        }
        let (oldest, mine) = self.records(wave);
        if is_whole(at, count) {
            let words = at / 4..(at + count) / 4;
            let (writers, readers) = (&mut self.writers[words.clone()], &self.readers[words]);
            let is_free = |record: u32| record < oldest || record == mine;
            let mut all_free = true;
            for (writer, reader) in writers.iter().zip(readers) {
                all_free &= is_free(*writer) & is_free(*reader);
            }
            if all_free {
                writers.fill(mine);
                return Ok(());
            }
        }
        self.touch(wave, at, count, true)
    }

    /// Records an atomic: it may meet other atomics, but nothing else.
    pub fn changed_by(&mut self, wave: u32, at: usize, count: usize) -> Result<(), FaultKind> {
        if !self.races {
            return Ok(());
        }
        let (oldest, _) = self.records(wave);
        for (word, mask) in parts(at, count) {
            let writer = self.writers[word];
            let is_atomic = writer >= oldest && wave_of(writer) == SEVERAL;
            self.collide(wave, word, mask, !is_atomic, true)?;
            self.writers[word] = oldest | ALL_BYTES;
        }
        Ok(())
    }

    #[inline(never)]
    fn touch(&mut self, wave: u32, at: usize, count: usize, writes: bool) -> Result<(), FaultKind> {
        let (oldest, mine) = self.records(wave);
        for (word, mask) in parts(at, count) {
            self.collide(wave, word, mask, true, writes)?;
            let own = if writes { &mut self.writers[word] } else { &mut self.readers[word] };
            *own = if *own < oldest {
                mine & !ALL_BYTES | mask
            } else if wave_of(*own) == wave + 1 {
                *own | mask
            } else if wave_of(*own) != SHARED && *own & ALL_BYTES == mask && !writes {
                oldest | mask
            } else {
                oldest | SHARED << WAVE_SHIFT | ALL_BYTES
            };
        }
        Ok(())
    }

    /// Whether another wave wrote or, when asked, read these bytes of a word since the last barrier.
    fn collide(
        &self,
        wave: u32,
        word: usize,
        mask: u32,
        by_writer: bool,
        by_reader: bool,
    ) -> Result<(), FaultKind> {
        let (oldest, _) = self.records(wave);
        for (record, is_asked) in [(self.writers[word], by_writer), (self.readers[word], by_reader)] {
            let other = wave_of(record);
            if is_asked && record >= oldest && record & mask != 0 && other != wave + 1 && other != SHARED {
                // Of several readers the first is named.
                let first = other.saturating_sub(1);
                let at = 4 * word + (record & mask).trailing_zeros() as usize;
                return Err(FaultKind::LdsRace { at, first, second: wave });
            }
        }
        Ok(())
    }

    /// The least record of this interval, and that of a wave for a whole word.
    #[inline(always)]
    fn records(&self, wave: u32) -> (u32, u32) {
        let oldest = self.interval << INTERVAL_SHIFT;
        (oldest, oldest | (wave + 1) << WAVE_SHIFT | ALL_BYTES)
    }
}

fn wave_of(record: u32) -> u32 {
    record >> WAVE_SHIFT & 63
}

#[inline(always)]
fn is_whole(at: usize, count: usize) -> bool {
    at.is_multiple_of(4) && count.is_multiple_of(4)
}

/// The words of a range, and which of the four bytes of each.
#[inline(always)]
fn parts(at: usize, count: usize) -> impl Iterator<Item = (usize, u32)> {
    (at / 4..(at + count).div_ceil(4)).map(move |word| {
        let (from, to) = (at.max(4 * word) - 4 * word, (at + count).min(4 * word + 4) - 4 * word);
        (word, (1u32 << to) - (1 << from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lds() -> Lds {
        let mut lds = Lds::default();
        lds.reset(64, true);
        lds
    }

    #[test]
    fn remembers_what_was_written() {
        let mut lds = lds();
        lds.store(6, 4, 0x4433_2211, true);
        assert!(lds.is_written(6, 4) && !lds.is_written(5, 4) && !lds.is_written(4, 4));
        assert_eq!((lds.load(6, 4), lds.load(7, 2)), (0x4433_2211, 0x3322));
        lds.store(8, 1, 0, false);
        assert!(!lds.is_written(6, 4) && lds.is_written(6, 2));
    }

    #[test]
    fn waves_may_read_together_and_write_apart() {
        let mut lds = lds();
        for wave in [0, 1, 2, 0] {
            lds.read_by(wave, 0, 16).unwrap();
            lds.written_by(wave, 16 + 4 * wave as usize, 4).unwrap();
        }
        assert_eq!(lds.read_by(3, 20, 4), Err(FaultKind::LdsRace { at: 20, first: 1, second: 3 }));
        assert!(lds.written_by(1, 8, 2).is_err());
        lds.next_interval();
        lds.written_by(1, 8, 2).unwrap();
        lds.written_by(2, 10, 2).unwrap();
        lds.read_by(3, 12, 1).unwrap();
        assert_eq!(lds.written_by(2, 12, 4), Err(FaultKind::LdsRace { at: 12, first: 3, second: 2 }));
    }

    #[test]
    fn atomics_meet_only_each_other() {
        let mut lds = lds();
        lds.changed_by(0, 4, 4).unwrap();
        lds.changed_by(1, 4, 4).unwrap();
        assert!(lds.read_by(2, 4, 4).is_err());
        lds.next_interval();
        lds.written_by(0, 4, 4).unwrap();
        lds.changed_by(0, 4, 4).unwrap();
        assert!(lds.changed_by(1, 8, 4).is_ok() && lds.written_by(0, 8, 4).is_err());
    }
}
