//! Lane-by-lane arithmetic: how operands of each type are read and results written, and the loops over 32 lanes.

use crate::float::Half;
use crate::group::Group;
use crate::op::Op;
use crate::wave::{LANES, Lanes, Wave, computed, join};

/// The type of an operand, on which the bits of a constant and the allowed modifiers depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Float,
    /// A 16-bit integer.
    Short,
    Half,
    /// Two halves; `op_sel` chooses which of a source meet.
    Packed,
    /// Two 16-bit integers.
    PackedShort,
    /// An f32, or a half of the register, as `op_sel_hi` says.
    Mixed,
    Double,
    /// 64 bits of an integer.
    Long,
}

impl Kind {
    pub fn takes_signs(self) -> bool {
        matches!(self, Kind::Float | Kind::Half | Kind::Double | Kind::Mixed)
    }

    pub fn takes_select(self) -> bool {
        matches!(self, Kind::Half | Kind::Short | Kind::Packed | Kind::PackedShort | Kind::Mixed)
    }

    pub fn takes_clamp(self) -> bool {
        matches!(self, Kind::Float | Kind::Half | Kind::Double | Kind::Packed)
    }
}

/// A value that one lane holds.
pub trait Lane: Copy + Default {
    const KIND: Kind;
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [Self; LANES];
    fn store(wave: &mut Wave, op: &Op, values: [Self; LANES], doubt: u64);

    #[inline(always)]
    fn doubt(wave: &Wave, op: &Op, k: usize) -> u64 {
        wave.doubt(op, k, 0)
    }
}

impl Lane for u32 {
    const KIND: Kind = Kind::Word;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> Lanes {
        wave.words(op, k)
    }

    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, values: Lanes, doubt: u64) {
        let writable = wave.writable(op);
        wave.put(op.to, &values, doubt, writable);
    }
}

impl Lane for i32 {
    const KIND: Kind = Kind::Word;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [i32; LANES] {
        wave.words(op, k).map_lanes(|bits| bits as i32)
    }

    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, values: [i32; LANES], doubt: u64) {
        u32::store(wave, op, values.map_lanes(|value| value as u32), doubt);
    }
}

impl Lane for f32 {
    const KIND: Kind = Kind::Float;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [f32; LANES] {
        let mut words = wave.words(op, k);
        if op.absolute >> k & 1 == 1 {
            words = words.map_lanes(|bits| bits & 0x7fff_ffff);
        }
        if op.negate >> k & 1 == 1 {
            words = words.map_lanes(|bits| bits ^ 0x8000_0000);
        }
        let values = words.map_lanes(f32::from_bits);
        if wave.flushes { values.map_lanes(flushed) } else { values }
    }

    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, mut values: [f32; LANES], doubt: u64) {
        if op.scale != 0 {
            let factor = (f32::from(op.scale)).exp2();
            values = values.map_lanes(|value| value * factor);
        }
        if op.clamp {
            let nan = if wave.clamps_nan { 0.0 } else { f32::NAN };
            values = values.map_lanes(|value| if value.is_nan() { nan } else { value.clamp(0.0, 1.0) });
        }
        if wave.flushes {
            values = values.map_lanes(flushed);
        }
        u32::store(wave, op, values.map_lanes(f32::to_bits), doubt);
    }
}

#[inline(always)]
pub fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { f32::from_bits(value.to_bits() & 0x8000_0000) } else { value }
}

impl Lane for Half {
    const KIND: Kind = Kind::Half;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [Half; LANES] {
        let mut words = wave.words(op, k);
        if op.select >> k & 1 == 1 {
            words = words.map_lanes(|bits| bits >> 16);
        }
        if op.absolute >> k & 1 == 1 {
            words = words.map_lanes(|bits| bits & 0x7fff);
        }
        if op.negate >> k & 1 == 1 {
            words = words.map_lanes(|bits| bits ^ 0x8000);
        }
        words.map_lanes(|bits| Half(bits & 0xffff))
    }

    /// The other half of the register stays.
    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, mut values: [Half; LANES], doubt: u64) {
        if op.scale != 0 {
            let factor = (f32::from(op.scale)).exp2();
            values = values.map_lanes(|value| Half::of(value.value() * factor));
        }
        if op.clamp {
            values = values.map_lanes(Half::clamped);
        }
        store_half(wave, op, op.select & 8 != 0, values.map_lanes(|half| half.0), doubt);
    }
}

/// Writes 16 bits, the low or the high half of a register. The other half does not count in what is known of it.
#[inline(always)]
pub fn store_half(wave: &mut Wave, op: &Op, high: bool, values: Lanes, doubt: u64) {
    let old = wave.vector[op.to as usize];
    let mut merged = [0; LANES];
    if !high {
        for lane in 0..LANES {
            merged[lane] = old[lane] & 0xffff_0000 | values[lane] & 0xffff;
        }
    } else {
        for lane in 0..LANES {
            merged[lane] = old[lane] & 0xffff | values[lane] << 16;
        }
    }
    u32::store(wave, op, merged, doubt);
}

/// A 16-bit integer operand; results as for [`Half`].
#[derive(Clone, Copy, Default)]
pub struct Short(pub u16);

impl Lane for Short {
    const KIND: Kind = Kind::Short;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [Short; LANES] {
        let words = wave.words(op, k);
        let shift = if op.select >> k & 1 == 1 { 16 } else { 0 };
        words.map_lanes(|bits| Short((bits >> shift) as u16))
    }

    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, values: [Short; LANES], doubt: u64) {
        store_half(wave, op, op.select & 8 != 0, values.map_lanes(|value| u32::from(value.0)), doubt);
    }
}

impl Lane for u64 {
    const KIND: Kind = Kind::Long;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [u64; LANES] {
        let (low, high) = (wave.lanes_of(op.from[k], 0), wave.lanes_of(op.from[k], 1));
        let mut values = [0; LANES];
        for lane in 0..LANES {
            values[lane] = join(low[lane], high[lane]);
        }
        values
    }

    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, values: [u64; LANES], doubt: u64) {
        let writable = wave.exec();
        wave.put(op.to, &values.map_lanes(|value| value as u32), doubt, writable);
        wave.put(op.to.wrapping_add(1), &values.map_lanes(|value| (value >> 32) as u32), doubt, writable);
    }

    #[inline(always)]
    fn doubt(wave: &Wave, op: &Op, k: usize) -> u64 {
        wave.doubt_of(op.from[k], 0) | wave.doubt_of(op.from[k], 1)
    }
}

impl Lane for i64 {
    const KIND: Kind = Kind::Long;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [i64; LANES] {
        u64::fetch(wave, op, k).map_lanes(|bits| bits as i64)
    }

    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, values: [i64; LANES], doubt: u64) {
        u64::store(wave, op, values.map_lanes(|value| value as u64), doubt);
    }

    #[inline(always)]
    fn doubt(wave: &Wave, op: &Op, k: usize) -> u64 {
        u64::doubt(wave, op, k)
    }
}

impl Lane for f64 {
    const KIND: Kind = Kind::Double;

    #[inline(always)]
    fn fetch(wave: &Wave, op: &Op, k: usize) -> [f64; LANES] {
        let (absolute, negate) = (op.absolute >> k & 1 == 1, op.negate >> k & 1 == 1);
        u64::fetch(wave, op, k).map_lanes(|bits| {
            let value = f64::from_bits(bits);
            let value = if absolute { value.abs() } else { value };
            if negate { -value } else { value }
        })
    }

    #[inline(always)]
    fn store(wave: &mut Wave, op: &Op, mut values: [f64; LANES], doubt: u64) {
        if op.scale != 0 {
            let factor = f64::from(op.scale).exp2();
            values = values.map_lanes(|value| value * factor);
        }
        if op.clamp {
            values = values.map_lanes(|value| if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) });
        }
        u64::store(wave, op, values.map_lanes(f64::to_bits), doubt);
    }

    #[inline(always)]
    fn doubt(wave: &Wave, op: &Op, k: usize) -> u64 {
        u64::doubt(wave, op, k)
    }
}

/// `map` of all lanes as a plain loop, which the compiler turns into vector instructions; `array::map` it does not.
pub trait MapLanes<A> {
    fn map_lanes<B: Copy + Default>(self, f: impl Fn(A) -> B) -> [B; LANES];
}

impl<A: Copy> MapLanes<A> for [A; LANES] {
    #[inline(always)]
    fn map_lanes<B: Copy + Default>(self, f: impl Fn(A) -> B) -> [B; LANES] {
        // One call of the closure in the text: of two, the compiler would make a function.
        let mut results = [B::default(); LANES];
        for lane in 0..LANES {
            results[lane] = f(self[lane]);
        }
        results
    }
}

// ---- the loops

#[inline(always)]
pub fn one<A: Lane, R: Lane>(wave: &mut Wave, _: &mut Group<'_>, op: &Op, f: impl Fn(A) -> R) {
    let doubt = A::doubt(wave, op, 0);
    let results = A::fetch(wave, op, 0).map_lanes(f);
    R::store(wave, op, results, computed(doubt));
}

#[inline(always)]
pub fn two<A: Lane, B: Lane, R: Lane>(wave: &mut Wave, _: &mut Group<'_>, op: &Op, f: impl Fn(A, B) -> R) {
    let doubt = A::doubt(wave, op, 0) | B::doubt(wave, op, 1);
    let (a, b) = (A::fetch(wave, op, 0), B::fetch(wave, op, 1));
    let mut results = [R::default(); LANES];
    for lane in 0..LANES {
        results[lane] = f(a[lane], b[lane]);
    }
    R::store(wave, op, results, computed(doubt));
}

#[inline(always)]
pub fn three<A: Lane, B: Lane, C: Lane, R: Lane>(
    wave: &mut Wave,
    _: &mut Group<'_>,
    op: &Op,
    f: impl Fn(A, B, C) -> R,
) {
    let doubt = A::doubt(wave, op, 0) | B::doubt(wave, op, 1) | C::doubt(wave, op, 2);
    let (a, b, c) = (A::fetch(wave, op, 0), B::fetch(wave, op, 1), C::fetch(wave, op, 2));
    let mut results = [R::default(); LANES];
    for lane in 0..LANES {
        results[lane] = f(a[lane], b[lane], c[lane]);
    }
    R::store(wave, op, results, computed(doubt));
}

/// The types of up to three sources and of the result.
pub type Kinds = [Kind; 4];

pub const fn kinds_of_one<A: Lane, R: Lane>(_: &impl Fn(A) -> R) -> Kinds {
    [A::KIND, Kind::Word, Kind::Word, R::KIND]
}

pub const fn kinds_of_two<A: Lane, B: Lane, R: Lane>(_: &impl Fn(A, B) -> R) -> Kinds {
    [A::KIND, B::KIND, Kind::Word, R::KIND]
}

pub const fn kinds_of_three<A: Lane, B: Lane, C: Lane, R: Lane>(_: &impl Fn(A, B, C) -> R) -> Kinds {
    [A::KIND, B::KIND, C::KIND, R::KIND]
}
