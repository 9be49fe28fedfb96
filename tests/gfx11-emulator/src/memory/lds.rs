//! The local memory of a workgroup: its bytes, which were written, and who touched them since the last barrier.

use crate::fault::FaultKind;

/// Tags hold the barrier interval in the high bits; below it zero for "several waves", else the wave plus one.
const WAVE_BITS: u32 = 6;
const LAST_INTERVAL: u16 = (1 << (16 - WAVE_BITS)) - 1;

#[derive(Default)]
pub struct Lds {
    bytes: Vec<u8>,
    written: Vec<bool>,
    writers: Vec<u16>,
    readers: Vec<u16>,
    interval: u16,
    races: bool,
}

impl Lds {
    /// As at the start of a workgroup.
    pub fn reset(&mut self, bytes: usize, races: bool) {
        self.bytes.clear();
        self.bytes.resize(bytes, 0xcd);
        self.written.clear();
        self.written.resize(bytes, false);
        self.races = races;
        for tags in [&mut self.writers, &mut self.readers] {
            tags.clear();
            tags.resize(if races { bytes } else { 0 }, 0);
        }
        self.interval = 1;
    }

    pub fn size(&self) -> usize {
        self.bytes.len()
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

    #[inline(always)]
    pub fn bytes(&self, at: usize, count: usize) -> &[u8] {
        &self.bytes[at..at + count]
    }

    /// One word or less, little-endian.
    #[inline(always)]
    pub fn load(&self, at: usize, count: usize) -> u32 {
        if count == 4 {
            let bytes = &self.bytes[at..at + 4];
            return u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        self.bytes[at..at + count].iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    #[inline(always)]
    pub fn store(&mut self, at: usize, count: usize, value: u32, is_defined: bool) {
        self.bytes[at..at + count].copy_from_slice(&value.to_le_bytes()[..count]);
        self.written[at..at + count].fill(is_defined);
    }

    #[inline(always)]
    pub fn is_written(&self, at: usize, count: usize) -> bool {
        self.written[at..at + count].iter().fold(true, |all, written| all & written)
    }

    /// Records a read by a wave.
    #[inline(always)]
    pub fn read_by(&mut self, wave: u32, at: usize, count: usize) -> Result<(), FaultKind> {
        if !self.races {
            return Ok(());
        }
        let (first, mine) = self.tags(wave);
        let (writers, readers) = (&self.writers[at..at + count], &mut self.readers[at..at + count]);
        let mut clash = false;
        for (writer, reader) in writers.iter().zip(readers) {
            clash |= *writer >= first && *writer != mine;
            // Several readers: a tag that every writer differs from.
            *reader = if *reader >= first && *reader != mine { first } else { mine };
        }
        if clash { Err(self.race(wave, at, count)) } else { Ok(()) }
    }

    #[inline(always)]
    pub fn written_by(&mut self, wave: u32, at: usize, count: usize) -> Result<(), FaultKind> {
        if !self.races {
            return Ok(());
        }
        let (first, mine) = self.tags(wave);
        let (writers, readers) = (&mut self.writers[at..at + count], &self.readers[at..at + count]);
        let mut clash = false;
        for (writer, reader) in writers.iter_mut().zip(readers) {
            clash |= *writer >= first && *writer != mine || *reader >= first && *reader != mine;
            *writer = mine;
        }
        if clash { Err(self.race(wave, at, count)) } else { Ok(()) }
    }

    /// Records an atomic: it may meet other atomics, but nothing else.
    pub fn changed_by(&mut self, wave: u32, at: usize, count: usize) -> Result<(), FaultKind> {
        if !self.races {
            return Ok(());
        }
        let (first, mine) = self.tags(wave);
        for k in at..at + count {
            let (writer, reader) = (self.writers[k], self.readers[k]);
            if writer > first && writer != mine || reader >= first && reader != mine {
                return Err(self.race(wave, k, 1));
            }
            self.writers[k] = first;
        }
        Ok(())
    }

    /// The first tag of this interval (of several waves) and a wave's own.
    #[inline(always)]
    fn tags(&self, wave: u32) -> (u16, u16) {
        let first = self.interval << WAVE_BITS;
        (first, first + wave as u16 + 1)
    }

    #[cold]
    fn race(&self, wave: u32, at: usize, count: usize) -> FaultKind {
        let (first, mine) = self.tags(wave);
        let foreign = |tag: &u16| *tag >= first && *tag != mine;
        let all = (at..at + count).find_map(|k| {
            let tag = [self.writers[k], self.readers[k]].into_iter().find(foreign)?;
            Some((k, tag.saturating_sub(first + 1)))
        });
        let (at, other) = all.unwrap_or((at, 0));
        FaultKind::LdsRace { at, first: u32::from(other), second: wave }
    }
}
