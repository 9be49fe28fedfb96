//! AVX2 registers: eight lanes, FMA and f16 conversion.

use std::arch::x86_64::*;

use super::lanes::Lanes;
use super::level::Task;

#[derive(Clone, Copy)]
pub(crate) struct Avx2;

#[target_feature(enable = "avx2,fma,f16c")]
#[inline(never)]
fn run<T: Task>(task: T) -> T::Output {
    task.run::<Avx2>()
}

/// Methods that are one expression over registers.
macro_rules! registers {
    ($(fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty { $body:expr })*) => { $(
        #[inline(always)]
        fn $name($($argument: $of),*) -> $result {
            // SAFETY: no memory is touched, and `Avx2` is only named where its instructions exist.
            unsafe { $body }
        }
    )* };
}

/// Adds pairs of i16 into i32 sums.
#[inline(always)]
fn add_pairs(sum: __m256i, pairs: __m256i) -> __m256i {
    // SAFETY: no memory is touched, and this module is only reached where AVX2 exists.
    unsafe { _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))) }
}

/// All bits set in the lowest `count` lanes.
#[inline(always)]
fn first(count: usize) -> __m256i {
    // SAFETY: no memory is touched, and this module is only reached where AVX2 exists.
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

#[inline(always)]
fn halves(a: __m256i) -> (__m128i, __m128i) {
    // SAFETY: no memory is touched, and this module is only reached where AVX2 exists.
    unsafe { (_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a)) }
}

#[inline(always)]
fn float_halves(a: __m256) -> (__m128, __m128) {
    // SAFETY: no memory is touched, and this module is only reached where AVX2 exists.
    unsafe { (_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a)) }
}

/// # Safety
/// Four bytes must be readable.
#[inline(always)]
unsafe fn four(from: *const u8) -> i32 {
    // SAFETY: as the caller says.
    unsafe { from.cast::<i32>().read_unaligned() }
}

/// Sixteen bytes of rows 0 and 4.
///
/// # Safety
/// They must be readable.
#[inline(always)]
unsafe fn sixteen_of_two(rows: *const u8, stride: usize) -> __m256i {
    // SAFETY: as the caller says; this module is only reached where AVX2 exists.
    unsafe {
        let (low, high) = (_mm_loadu_si128(rows.cast()), _mm_loadu_si128(rows.add(4 * stride).cast()));
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }
}

impl Lanes for Avx2 {
    const WIDTH: usize = 8;
    const BIAS: i32 = 0;
    const TILE_COLUMNS: [usize; 3] = [2, 2, 6];

    type I = __m256i;
    type F = __m256;

    #[inline(always)]
    fn enter<T: Task>(task: T) -> T::Output {
        // SAFETY: `Avx2` is only named where its instructions exist.
        unsafe { run(task) }
    }

    registers! {
        fn prefetch(at: *const u8) -> () { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }

        fn splat_i(value: i32) -> __m256i { _mm256_set1_epi32(value) }
        fn and(a: __m256i, b: __m256i) -> __m256i { _mm256_and_si256(a, b) }
        fn or(a: __m256i, b: __m256i) -> __m256i { _mm256_or_si256(a, b) }
        fn xor(a: __m256i, b: __m256i) -> __m256i { _mm256_xor_si256(a, b) }
        fn add_i(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi32(a, b) }
        fn add_bytes(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi8(a, b) }
        fn shift_right(a: __m256i, bits: u32) -> __m256i { _mm256_srl_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        fn shift_right_signed(a: __m256i, bits: u32) -> __m256i {
            _mm256_sra_epi32(a, _mm_cvtsi32_si128(bits as i32))
        }
        fn shift_left(a: __m256i, bits: u32) -> __m256i { _mm256_sll_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        fn mul_i(a: __m256i, b: __m256i) -> __m256i { _mm256_mullo_epi32(a, b) }
        fn max_i(a: __m256i, b: __m256i) -> __m256i { _mm256_max_epi32(a, b) }
        fn largest_i(a: __m256i) -> i32 {
            {
                let (low, high) = halves(a);
                let four = _mm_max_epi32(low, high);
                let two = _mm_max_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
                _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two)))
            }
        }

        fn lookup(levels: &[i8; 16], numbers: __m256i) -> __m256i {
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(levels.as_ptr().cast())), numbers)
        }

        fn start(_minus_128_sums: i32) -> __m256i { _mm256_setzero_si256() }
        // |w| is at most 128 and |a| at most 127, so that a pair of products fits 16 bits.
        fn dot_signed(sum: __m256i, weights: __m256i, activations: __m256i) -> __m256i {
            add_pairs(
                sum,
                _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(activations, weights)),
            )
        }
        fn dot_unsigned(sum: __m256i, weights: __m256i, activations: __m256i) -> __m256i {
            add_pairs(sum, _mm256_maddubs_epi16(weights, activations))
        }

        fn to_float(a: __m256i) -> __m256 { _mm256_cvtepi32_ps(a) }
        fn round(a: __m256) -> __m256i { _mm256_cvtps_epi32(a) }
        fn as_float(a: __m256i) -> __m256 { _mm256_castsi256_ps(a) }
        fn as_bits(a: __m256) -> __m256i { _mm256_castps_si256(a) }
        fn low_half(a: __m256i) -> __m256 {
            {
                let (low, high) = halves(_mm256_and_si256(a, _mm256_set1_epi32(0xFFFF)));
                _mm256_cvtph_ps(_mm_packus_epi32(low, high))
            }
        }

        fn splat(value: f32) -> __m256 { _mm256_set1_ps(value) }
        fn add(a: __m256, b: __m256) -> __m256 { _mm256_add_ps(a, b) }
        fn sub(a: __m256, b: __m256) -> __m256 { _mm256_sub_ps(a, b) }
        fn mul(a: __m256, b: __m256) -> __m256 { _mm256_mul_ps(a, b) }
        fn div(a: __m256, b: __m256) -> __m256 { _mm256_div_ps(a, b) }
        fn fma(a: __m256, b: __m256, c: __m256) -> __m256 { _mm256_fmadd_ps(a, b, c) }
        fn max(a: __m256, b: __m256) -> __m256 { _mm256_max_ps(a, b) }
        fn min(a: __m256, b: __m256) -> __m256 { _mm256_min_ps(a, b) }
        fn select_greater(a: __m256, b: __m256, yes: __m256, no: __m256) -> __m256 {
            _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_GT_OQ>(a, b))
        }
        fn sum(a: __m256) -> f32 {
            {
                let (low, high) = float_halves(a);
                let four = _mm_add_ps(low, high);
                let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
            }
        }
        fn sum_four(a: [__m256; 4]) -> [f32; 4] {
            {
                let [a, b, c, d] = a;
                let ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                // Each half holds two of each in pairs (a, b) and (c, d).
                let (ab, cd) = (_mm256_castps_pd(ab), _mm256_castps_pd(cd));
                let low = _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd));
                let high = _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd));
                let (low, high) = float_halves(_mm256_add_ps(low, high));
                std::mem::transmute::<__m128, [f32; 4]>(_mm_add_ps(low, high))
            }
        }
        fn largest(a: __m256) -> f32 {
            {
                let (low, high) = float_halves(a);
                let four = _mm_max_ps(low, high);
                let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
            }
        }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        // SAFETY: the caller has eight floats.
        unsafe { _mm256_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: __m256) {
        // SAFETY: the caller has room for eight floats.
        unsafe { _mm256_storeu_ps(to, value) }
    }
    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize) -> __m256 {
        // SAFETY: the caller has `count` floats; masked lanes are not read.
        unsafe { _mm256_maskload_ps(from, first(count)) }
    }
    #[inline(always)]
    unsafe fn store_some(to: *mut f32, value: __m256, count: usize) {
        // SAFETY: the caller has room for `count` floats; masked lanes are not written.
        unsafe { _mm256_maskstore_ps(to, first(count), value) }
    }
    #[inline(always)]
    unsafe fn load_half(from: *const u16) -> __m256 {
        // SAFETY: the caller has eight halves.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store_half(to: *mut u16, value: __m256) {
        // SAFETY: the caller has room for eight halves.
        unsafe { _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(value)) }
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const i8) -> __m256i {
        // SAFETY: the caller has eight bytes.
        unsafe { _mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store_bytes(to: *mut i8, value: __m256i) {
        // SAFETY: the caller has room for eight bytes.
        unsafe {
            let (low, high) = halves(value);
            let words = _mm_packs_epi32(low, high);
            _mm_storel_epi64(to.cast(), _mm_packs_epi16(words, words));
        }
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
    unsafe fn splat_four(from: *const i8) -> __m256i {
        // SAFETY: the caller has four bytes.
        unsafe { _mm256_set1_epi32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn pick(table: *const u32, places: __m256i) -> __m256i {
        // SAFETY: the caller's places lie in the table.
        unsafe { _mm256_i32gather_epi32::<4>(table.cast(), places) }
    }
    #[inline(always)]
    unsafe fn gather(rows: *const u8, stride: usize) -> __m256i {
        // SAFETY: the caller has four bytes in each row.
        unsafe {
            _mm256_setr_epi32(
                four(rows),
                four(rows.add(stride)),
                four(rows.add(2 * stride)),
                four(rows.add(3 * stride)),
                four(rows.add(4 * stride)),
                four(rows.add(5 * stride)),
                four(rows.add(6 * stride)),
                four(rows.add(7 * stride)),
            )
        }
    }
    #[inline(always)]
    unsafe fn gather_sixteen(rows: *const u8, stride: usize) -> [__m256i; 4] {
        // SAFETY: the caller has sixteen bytes in each row.
        unsafe {
            let (a, b) = (sixteen_of_two(rows, stride), sixteen_of_two(rows.add(stride), stride));
            let c = sixteen_of_two(rows.add(2 * stride), stride);
            let d = sixteen_of_two(rows.add(3 * stride), stride);
            let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
            let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
            [
                _mm256_unpacklo_epi64(ab, cd),
                _mm256_unpackhi_epi64(ab, cd),
                _mm256_unpacklo_epi64(ab_high, cd_high),
                _mm256_unpackhi_epi64(ab_high, cd_high),
            ]
        }
    }
}
