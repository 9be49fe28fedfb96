// Types whose levels are codewords from tables: IQ1, IQ2 and IQ3.
#pragma once
#include "include/sixteens.h"
#include "args/codebooks.h"

// Bit n of four to bit 0 of byte n.
PKD pk_u32 spread_bits(pk_u32 four) { return (four & 15) * 0x00204081u & 0x01010101u; }
// Four levels above zero, negative where their bit is set.
PKD pk_u32 with_signs(pk_u32 levels, pk_u32 signs) {
  const pk_u32 bits = spread_bits(signs);
  return (levels ^ bits * 255) + bits;
}
// Seven signs; the eighth makes the number of negative levels even.
PKD pk_u32 even_signs(pk_u32 bits) {
  const pk_u32 seven = bits & 127, four = seven ^ seven >> 4, two = four ^ four >> 2;
  return seven | ((two ^ two >> 1) & 1) << 7;
}
// Levels 8, 25 and 43 by two bits each.
PKD pk_u32 iq2_levels(pk_u32 byte) {
  const pk_u32 numbers = spread(byte);
  return numbers * 17 + (numbers >> 1 & 0x01010101u) + 0x08080808u;
}
// Two codewords of eight levels with eight signs each.
PKD Four iq2_sixteen(pk_u32 one, pk_u32 signs, pk_u32 other, pk_u32 other_signs) {
  return of_each(with_signs(iq2_levels(one & 255), signs), with_signs(iq2_levels(one >> 8), signs >> 4),
                 with_signs(iq2_levels(other & 255), other_signs), with_signs(iq2_levels(other >> 8), other_signs >> 4));
}
// Odd multiples of a scale.
PKD float odd_step(pk_u32 half, pk_u32 scale, float unit) { return low_half(half) * (float)(2 * scale + 1) * unit; }

template <> struct Sixteens<TYPE_IQ2_XXS> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part words = {2, 64, 0}, scale = {0, 2, 64};
    const pk_u32 numbers = b.word(words, g / 2 * 8) >> (g % 2 * 16), rest = b.word(words, g / 2 * 8 + 4), signs = rest >> (g % 2 * 14);
    return signed_sixteen(iq2_sixteen(CODEBOOK_IQ2_XXS[numbers & 255], even_signs(signs),
                                      CODEBOOK_IQ2_XXS[numbers >> 8 & 255], even_signs(signs >> 7)),
                          odd_step(b.half(scale, 0), rest >> 28, 0.125f));
  }
};
template <> struct Sixteens<TYPE_IQ2_XS> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part words = {2, 64, 0}, scales = {66, 8, 64}, scale = {0, 2, 72};
    const pk_u32 two = b.word(words, 4 * g);
    return signed_sixteen(iq2_sixteen(CODEBOOK_IQ2_XS[two & 511], even_signs(two >> 9),
                                      CODEBOOK_IQ2_XS[two >> 16 & 511], even_signs(two >> 25)),
                          odd_step(b.half(scale, 0), b.byte(scales, g / 2) >> (g % 2 * 4) & 15, 0.125f));
  }
};
template <> struct Sixteens<TYPE_IQ2_S> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part words = {2, 64, 0}, rest = {66, 16, 64}, scale = {0, 2, 80};
    const pk_u32 low = b.half(words, 2 * g), signs = b.half(words, 32 + 2 * g), high = b.byte(rest, g / 2) >> (g % 2 * 4);
    return signed_sixteen(iq2_sixteen(CODEBOOK_IQ2_S[(low & 255) | (high & 3) << 8], signs,
                                      CODEBOOK_IQ2_S[low >> 8 | (high >> 2 & 3) << 8], signs >> 8),
                          odd_step(b.half(scale, 0), b.byte(rest, 8 + g / 2) >> (g % 2 * 4) & 15, 0.125f));
  }
};

// Four level numbers, four bits each, to bytes.
PKD pk_u32 spread_nibbles(pk_u32 word) {
  const pk_u32 two = (word | word << 8) & 0x00ff00ffu;
  return (two | two << 4) & 0x0f0f0f0fu;
}
// Levels 4, 12 and so on; the eighth is 62.
PKD pk_u32 iq3_xxs_levels(pk_u32 word) {
  const pk_u32 numbers = spread_nibbles(word);
  return numbers * 8 + 0x04040404u + ((numbers & numbers >> 1 & numbers >> 2) & 0x01010101u) * 2;
}
template <> struct Sixteens<TYPE_IQ3_XXS> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part words = {2, 64, 0}, rests = {66, 32, 64}, scale = {0, 2, 96};
    const pk_u32 numbers = b.word(words, 4 * g), rest = b.word(rests, g / 2 * 4), signs = rest >> (g % 2 * 14);
    const pk_u32 one = even_signs(signs), other = even_signs(signs >> 7);
    Four r;
    PK_UNROLL for (int i = 0; i < 4; i++)
      r.w[i] = with_signs(iq3_xxs_levels(CODEBOOK_IQ3_XXS[numbers >> (8 * i) & 255]), (i < 2 ? one : other) >> (i % 2 * 4));
    return signed_sixteen(r, odd_step(b.half(scale, 0), rest >> 28, 0.25f));
  }
};
template <> struct Sixteens<TYPE_IQ3_S> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    // High bits, signs and scales.
    const Part words = {2, 64, 0}, rest = {66, 44, 64}, scale = {0, 2, 108};
    const pk_u32 numbers = b.word(words, 4 * g), high = b.byte(rest, g / 2) >> (g % 2 * 4), signs = b.half(rest, 8 + 2 * g);
    Four r;
    PK_UNROLL for (int i = 0; i < 4; i++) {
      const pk_u32 word = CODEBOOK_IQ3_S[(numbers >> (8 * i) & 255) | (high >> i & 1) << 8];
      r.w[i] = with_signs(spread_nibbles(word) * 2 + 0x01010101u, signs >> (4 * i));
    }
    return signed_sixteen(r, odd_step(b.half(scale, 0), b.byte(rest, 40 + g / 4) >> (g / 2 % 2 * 4) & 15, 1.0f));
  }
};

// Eight times the levels -1, 0 and 1 by two bits each, plus one, or minus one where `down` is 1.
PKD pk_u32 iq1_levels(pk_u32 byte, pk_u32 down) { return less(spread(byte) * 8, 7 + 2 * down); }
PKD Four iq1_sixteen(pk_u32 one, pk_u32 down, pk_u32 other, pk_u32 other_down) {
  return of_each(iq1_levels(one & 255, down), iq1_levels(one >> 8, down), iq1_levels(other & 255, other_down),
                 iq1_levels(other >> 8, other_down));
}
template <> struct Sixteens<TYPE_IQ1_S> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part words = {2, 32, 0}, rests = {34, 16, 32}, scale = {0, 2, 48};
    const pk_u32 low = b.half(words, 2 * g), rest = b.half(rests, g / 2 * 2), high = rest >> (g % 2 * 6), down = rest >> 15;
    return signed_sixteen(iq1_sixteen(CODEBOOK_IQ1[(low & 255) | (high & 7) << 8], down,
                                      CODEBOOK_IQ1[low >> 8 | (high >> 3 & 7) << 8], down),
                          odd_step(b.half(scale, 0), rest >> 12 & 7, 0.125f));
  }
};
template <> struct Sixteens<TYPE_IQ1_M> {
  static const bool SIGNED = true;
  template <class B> PKD Sixteen of(const B &b, pk_u32 g) {
    const Part words = {0, 32, 0}, rests = {32, 16, 32}, scales = {48, 8, 48};
    const pk_u32 low = b.half(words, 2 * g), rest = b.byte(rests, g), s = b.word(scales, 0), t = b.word(scales, 4);
    // The scale has four bits on top of each sixteen.
    const pk_u32 d = (s >> 12 & 15) | (s >> 28) << 4 | (t >> 12 & 15) << 8 | (t >> 28) << 12;
    const pk_u32 own = (g < 8 ? s : t) >> (g / 4 % 2 * 16 + g % 4 * 3) & 7;
    return signed_sixteen(iq1_sixteen(CODEBOOK_IQ1[(low & 255) | (rest & 7) << 8], rest >> 3 & 1,
                                      CODEBOOK_IQ1[low >> 8 | (rest >> 4 & 7) << 8], rest >> 7),
                          odd_step(d, own, 0.125f));
  }
};
