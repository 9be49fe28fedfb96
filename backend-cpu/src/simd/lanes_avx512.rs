//! AVX-512 registers: sixteen lanes, with 8-bit dot products.

use std::arch::x86_64::*;

use super::lanes::Lanes;
use super::level::Task;

#[derive(Clone, Copy)]
pub(crate) struct Avx512;

#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline(never)]
fn run<T: Task>(task: T) -> T::Output {
    task.run::<Avx512>()
}

/// Methods that are one expression over registers.
macro_rules! registers {
    ($(fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty { $body:expr })*) => { $(
        #[inline(always)]
        fn $name($($argument: $of),*) -> $result {
            // SAFETY: no memory is touched, and `Avx512` is only named where its instructions exist.
            unsafe { $body }
        }
    )* };
}

/// Lanes of one row in each group of four, by group.
const SECOND: __mmask16 = 0x00F0;
const THIRD: __mmask16 = 0x0F00;
const FOURTH: __mmask16 = 0xF000;

/// The lowest `count` lanes.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
    if count >= 16 { !0 } else { (1 << count) - 1 }
}

/// Four bytes of rows 0, 4, 8 and 12, each four times.
///
/// # Safety
/// They must be readable.
#[inline(always)]
unsafe fn four_of_four(rows: *const u8, stride: usize) -> __m512i {
    // SAFETY: as the caller says; this module is only reached where AVX-512 exists.
    unsafe {
        let v = _mm512_set1_epi32(rows.cast::<i32>().read_unaligned());
        let v = _mm512_mask_set1_epi32(v, SECOND, rows.add(4 * stride).cast::<i32>().read_unaligned());
        let v = _mm512_mask_set1_epi32(v, THIRD, rows.add(8 * stride).cast::<i32>().read_unaligned());
        _mm512_mask_set1_epi32(v, FOURTH, rows.add(12 * stride).cast::<i32>().read_unaligned())
    }
}

/// Sixteen bytes of rows 0, 4, 8 and 12.
///
/// # Safety
/// They must be readable.
#[inline(always)]
unsafe fn sixteen_of_four(rows: *const u8, stride: usize) -> __m512i {
    // SAFETY: as the caller says; this module is only reached where AVX-512 exists.
    unsafe {
        let v = _mm512_broadcast_i32x4(_mm_loadu_si128(rows.cast()));
        let v = _mm512_mask_broadcast_i32x4(v, SECOND, _mm_loadu_si128(rows.add(4 * stride).cast()));
        let v = _mm512_mask_broadcast_i32x4(v, THIRD, _mm_loadu_si128(rows.add(8 * stride).cast()));
        _mm512_mask_broadcast_i32x4(v, FOURTH, _mm_loadu_si128(rows.add(12 * stride).cast()))
    }
}

/// 32 bytes of row 0, then of row 4.
///
/// # Safety
/// They must be readable.
#[inline(always)]
unsafe fn two_rows(rows: *const u8, stride: usize) -> __m512i {
    // SAFETY: as the caller says; this module is only reached where AVX-512 exists.
    unsafe {
        let first = _mm512_castsi256_si512(_mm256_loadu_si256(rows.cast()));
        _mm512_inserti64x4::<1>(first, _mm256_loadu_si256(rows.add(4 * stride).cast()))
    }
}

/// Transposes 4 × 4 lanes within each quarter of the registers.
#[inline(always)]
fn transpose(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> [__m512i; 4] {
    // SAFETY: no memory is touched, and this module is only reached where AVX-512 exists.
    unsafe {
        let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab, cd),
            _mm512_unpackhi_epi64(ab, cd),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

impl Lanes for Avx512 {
    const WIDTH: usize = 16;
    const BIAS: i32 = 128;
    const TILE_COLUMNS: [usize; 3] = [6, 4, 12];

    type I = __m512i;
    type F = __m512;

    #[inline(always)]
    fn enter<T: Task>(task: T) -> T::Output {
        // SAFETY: `Avx512` is only named where its instructions exist.
        unsafe { run(task) }
    }

    registers! {
        fn prefetch(at: *const u8) -> () { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }

        fn splat_i(value: i32) -> __m512i { _mm512_set1_epi32(value) }
        fn and(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }
        fn or(a: __m512i, b: __m512i) -> __m512i { _mm512_or_si512(a, b) }
        fn xor(a: __m512i, b: __m512i) -> __m512i { _mm512_xor_si512(a, b) }
        fn add_i(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi32(a, b) }
        fn add_bytes(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi8(a, b) }
        fn shift_right(a: __m512i, bits: u32) -> __m512i { _mm512_srl_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        fn shift_right_signed(a: __m512i, bits: u32) -> __m512i {
            _mm512_sra_epi32(a, _mm_cvtsi32_si128(bits as i32))
        }
        fn shift_left(a: __m512i, bits: u32) -> __m512i { _mm512_sll_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        fn mul_i(a: __m512i, b: __m512i) -> __m512i { _mm512_mullo_epi32(a, b) }
        fn max_i(a: __m512i, b: __m512i) -> __m512i { _mm512_max_epi32(a, b) }
        fn largest_i(a: __m512i) -> i32 { _mm512_reduce_max_epi32(a) }

        fn lookup(levels: &[i8; 16], numbers: __m512i) -> __m512i {
            _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(levels.as_ptr().cast())), numbers)
        }

        fn start(minus_128_sums: i32) -> __m512i { _mm512_set1_epi32(minus_128_sums) }
        fn dot_signed(sum: __m512i, weights: __m512i, activations: __m512i) -> __m512i {
            _mm512_dpbusd_epi32(sum, weights, activations)
        }
        fn dot_unsigned(sum: __m512i, weights: __m512i, activations: __m512i) -> __m512i {
            _mm512_dpbusd_epi32(sum, weights, activations)
        }

        fn to_float(a: __m512i) -> __m512 { _mm512_cvtepi32_ps(a) }
        fn round(a: __m512) -> __m512i { _mm512_cvtps_epi32(a) }
        fn as_float(a: __m512i) -> __m512 { _mm512_castsi512_ps(a) }
        fn as_bits(a: __m512) -> __m512i { _mm512_castps_si512(a) }
        fn low_half(a: __m512i) -> __m512 { _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)) }

        fn splat(value: f32) -> __m512 { _mm512_set1_ps(value) }
        fn add(a: __m512, b: __m512) -> __m512 { _mm512_add_ps(a, b) }
        fn sub(a: __m512, b: __m512) -> __m512 { _mm512_sub_ps(a, b) }
        fn mul(a: __m512, b: __m512) -> __m512 { _mm512_mul_ps(a, b) }
        fn div(a: __m512, b: __m512) -> __m512 { _mm512_div_ps(a, b) }
        fn fma(a: __m512, b: __m512, c: __m512) -> __m512 { _mm512_fmadd_ps(a, b, c) }
        fn max(a: __m512, b: __m512) -> __m512 { _mm512_max_ps(a, b) }
        fn min(a: __m512, b: __m512) -> __m512 { _mm512_min_ps(a, b) }
        fn select_greater(a: __m512, b: __m512, yes: __m512, no: __m512) -> __m512 {
            _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), no, yes)
        }
        fn sum(a: __m512) -> f32 { _mm512_reduce_add_ps(a) }
        fn sum_four(a: [__m512; 4]) -> [f32; 4] {
            {
                let [a, b, c, d] = a;
                let ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
                let cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
                // Each quarter holds two of each in pairs (a, b) and (c, d).
                let (ab, cd) = (_mm512_castps_pd(ab), _mm512_castps_pd(cd));
                let low = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
                let high = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
                let four = _mm512_add_ps(low, high);
                let two = _mm256_add_ps(_mm512_castps512_ps256(four), _mm512_extractf32x8_ps::<1>(four));
                let one = _mm_add_ps(_mm256_castps256_ps128(two), _mm256_extractf128_ps::<1>(two));
                std::mem::transmute::<__m128, [f32; 4]>(one)
            }
        }
        fn largest(a: __m512) -> f32 { _mm512_reduce_max_ps(a) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        // SAFETY: the caller has sixteen floats.
        unsafe { _mm512_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: __m512) {
        // SAFETY: the caller has room for sixteen floats.
        unsafe { _mm512_storeu_ps(to, value) }
    }
    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize) -> __m512 {
        // SAFETY: the caller has `count` floats; masked lanes are not read.
        unsafe { _mm512_maskz_loadu_ps(first(count), from) }
    }
    #[inline(always)]
    unsafe fn store_some(to: *mut f32, value: __m512, count: usize) {
        // SAFETY: the caller has room for `count` floats; masked lanes are not written.
        unsafe { _mm512_mask_storeu_ps(to, first(count), value) }
    }
    #[inline(always)]
    unsafe fn load_half(from: *const u16) -> __m512 {
        // SAFETY: the caller has sixteen halves.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store_half(to: *mut u16, value: __m512) {
        // SAFETY: the caller has room for sixteen halves.
        unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(value)) }
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const i8) -> __m512i {
        // SAFETY: the caller has sixteen bytes.
        unsafe { _mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store_bytes(to: *mut i8, value: __m512i) {
        // SAFETY: the caller has room for sixteen bytes.
        unsafe { _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(value)) }
    }
    #[inline(always)]
    unsafe fn sum_sixteen(from: *const i8) -> i32 {
        // SAFETY: the caller has sixteen bytes. Each gets 128 added so that it has no sign.
        unsafe {
            let unsigned = _mm_xor_si128(_mm_loadu_si128(from.cast()), _mm_set1_epi8(-128));
            let sums = _mm_sad_epu8(unsigned, _mm_setzero_si128());
            _mm_cvtsi128_si32(sums) + _mm_extract_epi32::<2>(sums) - 16 * 128
        }
    }
    #[inline(always)]
    unsafe fn splat_four(from: *const i8) -> __m512i {
        // SAFETY: the caller has four bytes.
        unsafe { _mm512_set1_epi32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn pick(table: *const u32, places: __m512i) -> __m512i {
        // SAFETY: the caller's places lie in the table.
        unsafe { _mm512_i32gather_epi32::<4>(places, table.cast()) }
    }
    #[inline(always)]
    unsafe fn gather(rows: *const u8, stride: usize) -> __m512i {
        // SAFETY: the caller has four bytes in each row.
        unsafe {
            let (a, b) = (four_of_four(rows, stride), four_of_four(rows.add(stride), stride));
            let (c, d) =
                (four_of_four(rows.add(2 * stride), stride), four_of_four(rows.add(3 * stride), stride));
            let even = _mm512_mask_blend_epi32(0x4444, a, c);
            let odd = _mm512_mask_blend_epi32(0x8888, b, d);
            _mm512_mask_blend_epi32(0xAAAA, even, odd)
        }
    }
    #[inline(always)]
    unsafe fn gather_sixteen(rows: *const u8, stride: usize) -> [__m512i; 4] {
        // SAFETY: the caller has sixteen bytes in each row.
        unsafe {
            let (a, b) = (sixteen_of_four(rows, stride), sixteen_of_four(rows.add(stride), stride));
            let c = sixteen_of_four(rows.add(2 * stride), stride);
            let d = sixteen_of_four(rows.add(3 * stride), stride);
            transpose(a, b, c, d)
        }
    }
    #[inline(always)]
    unsafe fn gather_thirty_two(rows: *const u8, stride: usize) -> [[__m512i; 4]; 2] {
        // SAFETY: the caller has 32 bytes in each row. Quarters of `low` and `high`: the first 16 bytes of four rows, the
        // last 16 bytes of these, the first of four other rows, the last of those.
        unsafe {
            let eight = rows.add(8 * stride);
            let low = transpose(
                two_rows(rows, stride),
                two_rows(rows.add(stride), stride),
                two_rows(rows.add(2 * stride), stride),
                two_rows(rows.add(3 * stride), stride),
            );
            let high = transpose(
                two_rows(eight, stride),
                two_rows(eight.add(stride), stride),
                two_rows(eight.add(2 * stride), stride),
                two_rows(eight.add(3 * stride), stride),
            );
            let mut result = [low, high];
            for i in 0..4 {
                result[0][i] = _mm512_shuffle_i32x4::<0b10_00_10_00>(low[i], high[i]);
                result[1][i] = _mm512_shuffle_i32x4::<0b11_01_11_01>(low[i], high[i]);
            }
            result
        }
    }
}
