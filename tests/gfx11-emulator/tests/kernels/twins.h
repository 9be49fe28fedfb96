// Functions of three words that the host's compiler and the one for gfx1151 both translate: their results must be equal bit for
// bit. Each shape of numbers has its own list; F32 and the like say what the words are.
#pragma once
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned short u16;
typedef short i16;
typedef unsigned char u8;
typedef signed char i8;
typedef _Float16 f16;
typedef f16 h2 __attribute__((ext_vector_type(2)));
typedef i16 s2 __attribute__((ext_vector_type(2)));
typedef u16 t2 __attribute__((ext_vector_type(2)));
typedef u8 b4 __attribute__((ext_vector_type(4)));

template <class T, class F> TWIN T bits(F x) { return __builtin_bit_cast(T, x); }
TWIN float F(u32 x) { return bits<float>(x); }
TWIN u32 U(float x) { return bits<u32>(x); }
TWIN f16 H(u32 x) { return bits<f16>((u16)x); }
TWIN u32 U(f16 x) { return bits<u16>(x); }
TWIN u64 L(u32 a, u32 b) { return (u64)a << 32 | b; }
TWIN double D(u32 a, u32 b) { return (double)(i32)a + (double)(i32)b / 65536.0; }
TWIN u32 fold(u64 x) { return (u32)x ^ (u32)(x >> 32); }
TWIN u32 fold(double x) { return fold(bits<u64>(x)); }

// name, expression of the words a, b, c
#define INTEGERS(T) \
  T(add, a + b) T(subtract, a - b) T(multiply, a * b) T(multiply_add, a * b + c) T(add3, a + b + c) \
  T(high, (u32)(((u64)a * b) >> 32)) T(high_signed, (u32)(((i64)(i32)a * (i32)b) >> 32)) \
  T(wide_add, fold(L(a, b) + L(b, c))) T(wide_subtract, fold(L(a, b) - L(c, a))) T(wide_multiply, fold(L(a, b) * L(b, c))) \
  T(wide_mad, fold((u64)a * b + L(c, a))) T(wide_mad_signed, fold((u64)((i64)(i32)a * (i32)b + (i64)L(c, a)))) \
  T(divide, a / (b | 1)) T(modulo, a % (b | 1)) T(divide_signed, (u32)((i32)(a >> 1) / (i32)(b >> 1 | 1))) \
  T(divide_small, a / (b % 1000 + 1)) T(divide_constant, a / 7 + b % 10) T(wide_divide, fold(L(a, b) / (c | 1))) \
  T(shift_left, a << (b & 31)) T(shift_right, a >> (b & 31)) T(shift_signed, (u32)((i32)a >> (b & 31))) \
  T(wide_left, fold(L(a, b) << (c & 63))) T(wide_right, fold(L(a, b) >> (c & 63))) T(wide_signed, fold((u64)((i64)L(a, b) >> (c & 63)))) \
  T(and_or, (a & b) | c) T(or3, a | b | c) T(xor3, a ^ b ^ c) T(xor_add, (a ^ b) + c) T(exclusive_nor, ~(a ^ b)) T(insert, (a & b) | (~a & c)) \
  T(shift_add, (a << (b & 31)) + c) T(add_shift, (a + b) << (c & 31)) T(shift_or, (a << (b & 31)) | c) \
  T(field, (a >> (b & 15)) & 0x1ff) T(field_signed, (u32)((i32)(a << 7) >> 20)) T(mask, ((1u << (a & 31)) - 1) << (b & 31)) \
  T(rotate, __builtin_rotateleft32(a, b & 31)) T(funnel, (u32)(L(a, b) >> (c & 31))) T(reverse, __builtin_bitreverse32(a)) \
  T(swap, __builtin_bswap32(a)) T(count, __builtin_popcount(a) + b) T(count_wide, (u32)__builtin_popcountll(L(a, b))) \
  T(leading, a ? __builtin_clz(a) : 32u) T(trailing, a ? __builtin_ctz(a) : 32u) T(leading_wide, L(a, b) ? (u32)__builtin_clzll(L(a, b)) : 64u) \
  T(least, a < b ? a : b) T(most, a > b ? a : b) T(least_signed, (i32)a < (i32)b ? a : b) T(most_signed, (i32)a > (i32)b ? a : b) \
  T(least3, min3(a, b, c)) T(most3, max3(a, b, c)) T(middle, max3(min2(a, b), min2(max2(a, b), c), 0)) \
  T(clamp_signed, (u32)((i32)a < -1000 ? -1000 : (i32)a > 1000 ? 1000 : (i32)a)) T(magnitude, (u32)((i32)a < 0 ? -a : a)) \
  T(difference, a > b ? a - b : b - a) T(saturate, a + b < a ? ~0u : a + b) T(saturate_down, a < b ? 0 : a - b) \
  T(compare, (a < b) + 2 * (a <= b) + 4 * ((i32)a < (i32)b) + 8 * ((i32)a >= (i32)b) + 16 * (a == c) + 32 * (a != b)) \
  T(compare_wide, (L(a, b) < L(b, c)) + 2 * ((i64)L(a, b) >= (i64)L(b, c)) + 4 * (L(a, a) == L(b, c))) \
  T(choose, a & 1 ? b : c) T(choose_wide, fold(a & 1 ? L(a, b) : L(b, c))) \
  T(low24, (a & 0xffffff) * (b & 0xffffff) + c) T(low24_signed, (u32)(((i32)(a << 8) >> 8) * ((i32)(b << 8) >> 8)) + c) \
  T(bytes, (u8)a + (u8)(a >> 8) * (u8)(b >> 16) + (u8)(c >> 24)) T(signed_bytes, (u32)((i8)a + (i8)(a >> 8) * (i8)(b >> 16) + (i8)(c >> 24))) \
  T(shorts, (u32)((i16)a * (i16)(b >> 16)) + c) T(short_add, (u16)(a + b)) T(short_shift, (u16)((u16)a >> (b & 15))) T(short_signed, (u16)((i16)a >> (b & 15))) \
  T(pick_bytes, bits<u32>(__builtin_shufflevector(bits<b4>(a), bits<b4>(b), 6, 0, 3, 5))) T(pick_shorts, bits<u32>(__builtin_shufflevector(bits<t2>(a), bits<t2>(b), 3, 0)))

#define PAIRS(T) \
  T(pair_add, bits<u32>(bits<t2>(a) + bits<t2>(b))) T(pair_subtract, bits<u32>(bits<t2>(a) - bits<t2>(b))) T(pair_multiply, bits<u32>(bits<t2>(a) * bits<t2>(b))) \
  T(pair_mad, bits<u32>(bits<t2>(a) * bits<t2>(b) + bits<t2>(c))) T(pair_left, bits<u32>(bits<t2>(a) << (bits<t2>(b) & (u16)15))) \
  T(pair_right, bits<u32>(bits<t2>(a) >> (bits<t2>(b) & (u16)15))) T(pair_signed, bits<u32>(bits<s2>(a) >> (bits<s2>(b) & (i16)15))) \
  T(pair_least, bits<u32>(__builtin_elementwise_min(bits<s2>(a), bits<s2>(b)))) T(pair_most, bits<u32>(__builtin_elementwise_max(bits<t2>(a), bits<t2>(b)))) \
  T(pair_swapped, bits<u32>(bits<t2>(a) + bits<t2>(b).yx)) T(pair_constant, bits<u32>(bits<t2>(a) + (u16)3)) \
  T(pair_saturate, bits<u32>(__builtin_elementwise_add_sat(bits<s2>(a), bits<s2>(b)))) T(pair_floor, bits<u32>(__builtin_elementwise_sub_sat(bits<t2>(a), bits<t2>(b))))

#define HALVES(T) \
  T(half_add, U((f16)(H(a) + H(b)))) T(half_subtract, U((f16)(H(a) - H(b)))) T(half_multiply, U((f16)(H(a) * H(b)))) T(half_negate, U((f16)-H(a))) \
  T(half_high, U((f16)(H(a >> 16) * H(b)))) T(half_constant, U((f16)((f16)(H(a) * (f16)3.25f) + (f16)1.0f))) \
  T(half_floor, U((f16)__builtin_floorf(H(a)))) T(half_compare, (H(a) < H(b)) + 2 * (H(a) >= H(c)) + 4 * (H(b) != H(c))) \
  T(half_wide, U((float)H(a) + (float)H(b >> 16))) T(half_narrow, U((f16)F(a))) T(half_integer, U((f16)(i16)a)) T(half_unsigned, U((f16)(u16)a)) \
  T(halves_add, bits<u32>(bits<h2>(a) + bits<h2>(b))) T(halves_multiply, bits<u32>(bits<h2>(a) * bits<h2>(b))) T(halves_subtract, bits<u32>(bits<h2>(a) - bits<h2>(b))) \
  T(halves_swapped, bits<u32>(bits<h2>(a) * bits<h2>(b).yx)) T(halves_one, bits<u32>(bits<h2>(a) + (h2)(H(b)))) T(halves_constant, bits<u32>(bits<h2>(a) * (f16)0.5f)) \
  T(halves_negate, bits<u32>(bits<h2>(a) * -bits<h2>(b)))

#define FLOATS(T) \
  T(float_add, U(F(a) + F(b))) T(float_subtract, U(F(a) - F(b))) T(float_multiply, U(F(a) * F(b))) T(float_fused, U(__builtin_fmaf(F(a), F(b), F(c)))) \
  T(float_fused_back, U(__builtin_fmaf(-F(a), F(b), F(c)))) T(float_constant, U(__builtin_fmaf(F(a), 3.14159f, F(b)))) T(float_constant_sum, U(__builtin_fmaf(F(a), F(b), 2.71828f))) \
  T(float_divide, U(F(a) / F(b))) T(float_root, U(__builtin_sqrtf(__builtin_fabsf(F(a))))) \
  T(float_floor, U(__builtin_floorf(F(a)))) T(float_ceil, U(__builtin_ceilf(F(a)))) T(float_trunc, U(__builtin_truncf(F(a)))) T(float_even, U(__builtin_rintf(F(a)))) \
  T(float_scale, U(__builtin_ldexpf(F(a), (i32)(b % 300) - 150))) T(float_sign, U(__builtin_copysignf(F(a), F(b)))) T(float_magnitude, U(__builtin_fabsf(F(a)) - __builtin_fabsf(F(b)))) \
  T(float_compare, (F(a) < F(b)) + 2 * (F(a) <= F(b)) + 4 * (F(a) > F(c)) + 8 * (F(a) >= F(c)) + 16 * (F(b) == F(c)) + 32 * (F(b) != F(a)) + 64 * !(F(a) < F(c)) + 128 * __builtin_isunordered(F(a), F(b))) \
  T(float_kind, (u32)__builtin_isnan(F(a)) + 2 * (__builtin_fabsf(F(b)) == __builtin_inff())) T(float_choose, U(F(a) < F(b) ? F(a) : F(c))) \
  T(float_from_unsigned, U((float)a)) T(float_from_signed, U((float)(i32)a)) T(float_from_byte, U((float)(u8)(a >> 16) + (float)(u8)b)) T(float_from_wide, U((float)L(a, b))) \
  T(float_to_integer, (u32)(i32)(F(a & 0xbfffffff | 0x3f000000) * 1000.0f)) T(float_to_unsigned, (u32)F(a & 0x0effffff | 0x40000000)) \
  T(float_bf16, (U(F(a)) + 0x7fff + (U(F(a)) >> 16 & 1)) >> 16)

#define DOUBLES(T) \
  T(double_add, fold(D(a, b) + D(b, c))) T(double_multiply, fold(D(a, b) * D(b, c))) T(double_fused, fold(__builtin_fma(D(a, b), D(b, c), D(c, a)))) T(double_divide, fold(D(a, b) / D(b, c))) \
  T(double_root, fold(__builtin_sqrt(D(a & 0x7fffffff, b)))) T(double_floor, fold(__builtin_floor(D(a, b)))) T(double_even, fold(__builtin_rint(D(a, b)))) \
  T(double_compare, (D(a, b) < D(b, c)) + 2 * (D(a, b) >= D(c, a))) T(double_narrow, U((float)D(a, b))) T(double_wide, fold((double)F(a))) \
  T(double_integer, (u32)(i32)D((u32)((i32)a >> 1), b)) T(double_from, fold((double)a)) T(double_most, fold(D(a, b) > D(b, c) ? D(a, b) : D(b, c))) T(double_scale, fold(__builtin_ldexp(D(a, b), (i32)(c % 100) - 50)))

TWIN u32 min2(u32 a, u32 b) { return a < b ? a : b; }
TWIN u32 max2(u32 a, u32 b) { return a > b ? a : b; }
TWIN u32 min3(u32 a, u32 b, u32 c) { return min2(min2(a, b), c); }
TWIN u32 max3(u32 a, u32 b, u32 c) { return max2(max2(a, b), c); }

#define ALL(T) INTEGERS(T) PAIRS(T) HALVES(T) FLOATS(T) DOUBLES(T)
