//! What a load or store moves: how many bytes, and how they lie in registers.

use crate::fault::FaultKind;
use crate::op::{Op, Source};
use crate::wave::{LANES, Lanes, Wave, both};

pub const UNDEFINED_ADDRESS: FaultKind = FaultKind::Undefined { used: "an address" };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Zero-extended.
    Byte,
    SignedByte,
    Short,
    SignedShort,
    /// `d16`: into 16 bits of a register whose other half stays. The flag says the upper half.
    HalfByte(bool),
    HalfSignedByte(bool),
    HalfShort(bool),
    /// This many registers.
    Words(usize),
}

impl Transfer {
    #[inline(always)]
    pub const fn bytes(self) -> usize {
        match self {
            Transfer::Byte | Transfer::SignedByte | Transfer::HalfByte(_) | Transfer::HalfSignedByte(_) => 1,
            Transfer::Short | Transfer::SignedShort | Transfer::HalfShort(_) => 2,
            Transfer::Words(words) => 4 * words,
        }
    }

    #[inline(always)]
    pub const fn words(self) -> usize {
        match self {
            Transfer::Words(words) => words,
            _ => 1,
        }
    }

    /// Extends one loaded value.
    #[inline(always)]
    fn extend(self, value: u32) -> u32 {
        match self {
            Transfer::SignedByte => value as u8 as i8 as i32 as u32,
            Transfer::HalfSignedByte(_) => u32::from(value as u8 as i8 as i16 as u16),
            Transfer::SignedShort => value as u16 as i16 as i32 as u32,
            _ => value,
        }
    }

    /// Puts what was loaded into the destination.
    #[inline(always)]
    pub fn put(self, wave: &mut Wave, op: &Op, values: &[Lanes; 4], doubt: &[u32; 4]) {
        let exec = wave.exec();
        match self {
            Transfer::Words(words) => {
                for word in 0..words {
                    // Loaded, not computed: only the low half of the doubt.
                    wave.put(op.to.wrapping_add(word as u8), &values[word], u64::from(doubt[word]), exec);
                }
            }
            Transfer::HalfByte(high) | Transfer::HalfSignedByte(high) | Transfer::HalfShort(high) => {
                let old = wave.vector[op.to as usize];
                let mut merged = [0; LANES];
                for lane in 0..LANES {
                    let value = self.extend(values[0][lane]);
                    merged[lane] =
                        if high { old[lane] & 0xffff | value << 16 } else { old[lane] & 0xffff_0000 | value };
                }
                // The other half is usually written next, or never used: it does not count.
                wave.put(op.to, &merged, u64::from(doubt[0]), exec);
            }
            _ => {
                let mut extended = [0; LANES];
                for lane in 0..LANES {
                    extended[lane] = self.extend(values[0][lane]);
                }
                wave.put(op.to, &extended, u64::from(doubt[0]), exec);
            }
        }
    }

    /// What a store takes from its source, and the doubt of it.
    #[inline(always)]
    pub fn get(self, wave: &Wave, op: &Op) -> ([Lanes; 4], [u64; 4]) {
        let (mut values, mut doubt) = ([[0; LANES]; 4], [0; 4]);
        for word in 0..self.words() {
            values[word] = wave.lanes_of(op.from[2], word as u8);
            doubt[word] = wave.doubt_of(op.from[2], word as u8) & both(wave.exec());
        }
        if matches!(self, Transfer::HalfByte(true) | Transfer::HalfShort(true)) {
            for value in &mut values[0] {
                *value >>= 16;
            }
        }
        (values, doubt)
    }
}

/// Whether the lanes in use of a source are all defined.
#[inline(always)]
pub fn is_defined(wave: &Wave, source: Source) -> bool {
    wave.doubt_of(source, 0) & both(wave.exec()) == 0
}
