//! One allocation of device memory.
//!
//! Words are atomics with relaxed order, because workgroups on several threads may touch the same ones, as they may on the
//! device. A second array has one bit for each byte: whether anyone wrote it. Bytes that nobody wrote read as 0xff, a NaN in
//! every float type; nothing is stored for that, so large allocations cost only what is used of them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::memory::races::Races;

pub struct Allocation {
    pub start: u64,
    pub bytes: u64,
    pub is_read_only: bool,
    words: Box<[AtomicU32]>,
    /// Bit `b % 64` of word `b / 64` belongs to byte `b`.
    written: Box<[AtomicU64]>,
    pub races: Races,
}

/// An array of zeros that costs memory only where it is touched.
pub fn zeroed_words(count: usize) -> Box<[AtomicU32]> {
    // SAFETY: all bits zero is a valid AtomicU32.
    unsafe { Box::new_zeroed_slice(count).assume_init() }
}

fn zeroed_longs(count: usize) -> Box<[AtomicU64]> {
    // SAFETY: all bits zero is a valid AtomicU64.
    unsafe { Box::new_zeroed_slice(count).assume_init() }
}

impl Allocation {
    pub fn new(start: u64, bytes: u64) -> Allocation {
        // A word more than the bytes need, so that an unaligned access may read the word after its last byte.
        let words = zeroed_words(bytes.div_ceil(4) as usize + 1);
        let written = zeroed_longs(bytes.div_ceil(64) as usize + 1);
        Allocation { start, bytes, is_read_only: false, words, written, races: Races::new(bytes) }
    }

    #[inline(always)]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.start && address - self.start + bytes <= self.bytes
    }

    /// `count` words from word `at`.
    #[inline(always)]
    pub fn words(&self, at: usize, count: usize) -> &[AtomicU32] {
        &self.words[at..at + count]
    }

    #[inline(always)]
    pub fn word(&self, at: usize) -> &AtomicU32 {
        &self.words[at]
    }

    /// Whether `bytes` bytes from `at` were all written.
    #[inline(always)]
    pub fn is_written(&self, at: usize, bytes: usize) -> bool {
        let (mut word, last) = (at / 64, (at + bytes - 1) / 64);
        let mut wanted = !0 << (at % 64);
        while word < last {
            if self.written[word].load(Relaxed) & wanted != wanted {
                return false;
            }
            wanted = !0;
            word += 1;
        }
        wanted &= !0 >> (63 - (at + bytes - 1) % 64);
        self.written[word].load(Relaxed) & wanted == wanted
    }

    /// Which of up to 16 bytes from `at` were written, one bit each.
    #[inline(always)]
    pub fn written_bits(&self, at: usize, bytes: usize) -> u32 {
        let (word, shift) = (at / 64, at % 64);
        let mut bits = self.written[word].load(Relaxed) >> shift;
        if shift + bytes > 64 {
            bits |= self.written[word + 1].load(Relaxed) << (64 - shift);
        }
        bits as u32 & ((1u32 << bytes) - 1)
    }

    /// Records that the bytes of `mask` (one bit each, up to 16) from `at` were written, or that they hold nothing again.
    #[inline(always)]
    pub fn mark(&self, at: usize, bytes: usize, is_defined: bool) {
        let (mut at, end) = (at, at + bytes);
        while at < end {
            let count = (64 - at % 64).min(end - at);
            let mask = (!0 >> (64 - count)) << (at % 64);
            let word = &self.written[at / 64];
            let old = word.load(Relaxed);
            if is_defined && old & mask != mask {
                word.fetch_or(mask, Relaxed);
            } else if !is_defined && old & mask != 0 {
                word.fetch_and(!mask, Relaxed);
            }
            at += count;
        }
    }

    /// Up to four bytes at any offset as the low bytes of a word, whoever wrote them.
    #[inline(always)]
    pub fn load(&self, at: usize, bytes: usize) -> u32 {
        let (word, shift) = (at / 4, 8 * (at as u32 % 4));
        let low = self.words[word].load(Relaxed) >> shift;
        let value = if shift != 0 && at % 4 + bytes > 4 {
            low | self.words[word + 1].load(Relaxed) << (32 - shift)
        } else {
            low
        };
        if bytes == 4 { value } else { value & ((1 << (8 * bytes)) - 1) }
    }

    /// As [`Self::load`], with 0xff for bytes that nobody wrote.
    #[inline(always)]
    pub fn load_or_nan(&self, at: usize, bytes: usize) -> u32 {
        let value = self.load(at, bytes);
        let written = self.written_bits(at, bytes);
        if written == (1 << bytes) - 1 { value } else { value | holes(written, bytes) }
    }

    /// Stores up to four bytes at any offset. Neighbours in the same word may be written by others at the same time.
    #[inline(always)]
    pub fn store(&self, at: usize, bytes: usize, value: u32) {
        if bytes == 4 && at.is_multiple_of(4) {
            self.words[at / 4].store(value, Relaxed);
            return;
        }
        let long = u64::from(value) << (8 * (at % 4));
        let mask = (((1u64 << (8 * bytes)) - 1) << (8 * (at % 4))) as u128 as u64;
        for (word, (value, mask)) in
            [(0, (long as u32, mask as u32)), (1, ((long >> 32) as u32, (mask >> 32) as u32))]
        {
            if mask != 0 {
                merge(&self.words[at / 4 + word], value, mask);
            }
        }
    }

    // ---- copies by the host

    pub fn write(&self, at: u64, data: &[u8]) {
        let mut at = at as usize;
        self.mark_all(at, data.len());
        let head = data.len().min((4 - at % 4) % 4);
        let (head, rest) = data.split_at(head);
        for byte in head {
            self.store(at, 1, u32::from(*byte));
            at += 1;
        }
        let (words, tail) = rest.as_chunks::<4>();
        for word in words {
            self.words[at / 4].store(u32::from_le_bytes(*word), Relaxed);
            at += 4;
        }
        for byte in tail {
            self.store(at, 1, u32::from(*byte));
            at += 1;
        }
    }

    fn mark_all(&self, at: usize, bytes: usize) {
        self.mark(at, bytes, true);
    }

    pub fn read(&self, at: u64, data: &mut [u8]) {
        let mut at = at as usize;
        let all_written = data.is_empty() || self.is_written(at, data.len());
        let head = data.len().min((4 - at % 4) % 4);
        let (head, rest) = data.split_at_mut(head);
        let (words, tail) = rest.as_chunks_mut::<4>();
        for byte in head {
            *byte = self.load_or_nan(at, 1) as u8;
            at += 1;
        }
        for word in words {
            let value = if all_written { self.words[at / 4].load(Relaxed) } else { self.load_or_nan(at, 4) };
            *word = value.to_le_bytes();
            at += 4;
        }
        for byte in tail {
            *byte = self.load_or_nan(at, 1) as u8;
            at += 1;
        }
    }
}

/// 0xff in each byte that nobody wrote.
fn holes(written: u32, bytes: usize) -> u32 {
    (0..bytes).filter(|k| written >> k & 1 == 0).fold(0, |mask, k| mask | 0xff << (8 * k))
}

fn merge(word: &AtomicU32, value: u32, mask: u32) {
    let mut old = word.load(Relaxed);
    while let Err(found) = word.compare_exchange_weak(old, old & !mask | value & mask, Relaxed, Relaxed) {
        old = found;
    }
}
