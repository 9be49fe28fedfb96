//! Codewords: levels chosen several at a time from a table (`codebooks.rs`), and the search for them.

use std::sync::LazyLock;

use super::{codebooks, halves, levels};

/// Level `i` of a codeword of IQ1: eight times -1, 0 or 1.
pub(super) fn iq1(word: u16, i: usize) -> i8 {
    levels::IQ1[usize::from(word >> (2 * i) & 3)]
}

/// Level `i` of a codeword of IQ2.
pub(super) fn iq2(word: u16, i: usize) -> i8 {
    levels::IQ2[usize::from(word >> (2 * i) & 3)]
}

/// Level `i` of a codeword of IQ3_XXS.
pub(super) fn iq3_xxs(word: u16, i: usize) -> i8 {
    levels::IQ3_XXS[usize::from(word >> (4 * i) & 7)]
}

/// Level `i` of a codeword of IQ3_S.
pub(super) fn iq3_s(word: u16, i: usize) -> i8 {
    levels::IQ3_S[usize::from(word >> (4 * i) & 7)]
}

/// A level, negative where bit `i` of `signs` is set.
pub(super) fn with_sign(level: i8, signs: u32, i: usize) -> i8 {
    if signs >> i & 1 == 0 { level } else { -level }
}

/// Eight signs of which the low seven bits are kept: the number of negative levels is even.
pub(super) fn even_signs(seven: u32) -> u32 {
    let seven = seven & 127;
    seven | (seven.count_ones() & 1) << 7
}

/// All codewords of a type, `N` levels each.
pub(super) struct Book<const N: usize> {
    words: Vec<[f32; N]>,
    /// The sum of squares of each.
    squares: Vec<f32>,
    /// How many steps the largest magnitude of a group may be, to be tried.
    peaks: [f32; 3],
}

impl<const N: usize> Book<N> {
    fn new(words: &[u16], level: fn(u16, usize) -> i8, peaks: [f32; 3]) -> Self {
        let words: Vec<[f32; N]> =
            words.iter().map(|word| std::array::from_fn(|i| f32::from(level(*word, i)))).collect();
        let squares = words.iter().map(|word| word.iter().map(|level| level * level).sum()).collect();
        Self { words, squares, peaks }
    }

    /// The codeword nearest to `wanted`, and what of the sums of squares depends on the choice: `Σ x·l` and `Σ l·l`.
    fn nearest(&self, wanted: &[f32; N]) -> (u16, f32, f32) {
        let mut best = (0, f32::INFINITY, 0.0, 0.0);
        for ((number, word), square) in (0u16..).zip(&self.words).zip(&self.squares) {
            let mut products = [0.0; N];
            for i in 0..N {
                products[i] = wanted[i] * word[i];
            }
            let sum: f32 = products.iter().sum();
            let off = square - 2.0 * sum;
            if off < best.1 {
                best = (number, off, sum, *square);
            }
        }
        (best.0, best.2, best.3)
    }

    /// The codeword nearest to `wanted`, and its sum of squares less that of `wanted`.
    pub(super) fn closest(&self, wanted: &[f32; N]) -> (u16, f32) {
        let (number, xl, ll) = self.nearest(wanted);
        (number, ll - 2.0 * xl)
    }

    /// The numbers of the codewords nearest to a group's values.
    pub(super) fn numbers(&self, values: &[[f32; N]], step: f32) -> Vec<u16> {
        let inverse = halves::inverse(step);
        values.iter().map(|values| self.nearest(&values.map(|x| x * inverse)).0).collect()
    }

    /// The step of a group, found among a few candidates, and the sum of squares that it removes.
    pub(super) fn step(&self, values: &[[f32; N]]) -> (f32, f32) {
        let peak = halves::peak(values.as_flattened()).abs();
        if peak == 0.0 || !peak.is_finite() {
            return (0.0, 0.0);
        }
        let mut best = (0.0, 0.0);
        for peaks in self.peaks {
            let (mut xl, mut ll) = (0.0, 0.0);
            for values in values {
                let (_, x, l) = self.nearest(&values.map(|x| x * (peaks / peak)));
                xl += x;
                ll += l;
            }
            // In units of peak / peaks, the best step for these codewords is xl / ll.
            let unit = peak / peaks;
            let removed = unit * unit * xl * xl / ll;
            if xl > 0.0 && ll > 0.0 && removed > best.1 {
                best = (unit * xl / ll, removed);
            }
        }
        best
    }
}

/// IQ1 with an eighth added to each level, and with an eighth taken off.
pub(super) static IQ1_BOOKS: LazyLock<[Book<8>; 2]> = LazyLock::new(|| {
    let peaks = [9.0, 14.0, 19.0];
    [
        Book::new(&codebooks::IQ1, |word, i| iq1(word, i) + 1, peaks),
        Book::new(&codebooks::IQ1, |word, i| iq1(word, i) - 1, peaks),
    ]
});
const IQ2_PEAKS: [f32; 3] = [43.0, 52.0, 62.0];
pub(super) static IQ2_XXS_BOOK: LazyLock<Book<8>> =
    LazyLock::new(|| Book::new(&codebooks::IQ2_XXS, iq2, IQ2_PEAKS));
pub(super) static IQ2_XS_BOOK: LazyLock<Book<8>> =
    LazyLock::new(|| Book::new(&codebooks::IQ2_XS, iq2, IQ2_PEAKS));
pub(super) static IQ2_S_BOOK: LazyLock<Book<8>> =
    LazyLock::new(|| Book::new(&codebooks::IQ2_S, iq2, IQ2_PEAKS));
pub(super) static IQ3_XXS_BOOK: LazyLock<Book<4>> =
    LazyLock::new(|| Book::new(&codebooks::IQ3_XXS, iq3_xxs, [58.0, 66.0, 76.0]));
pub(super) static IQ3_S_BOOK: LazyLock<Book<4>> =
    LazyLock::new(|| Book::new(&codebooks::IQ3_S, iq3_s, [14.5, 16.5, 19.0]));

/// Eight magnitudes and their signs. Where all eight signs cannot be kept, the smallest magnitude becomes negative instead.
pub(super) fn magnitudes(values: &[f32; 8], even: bool) -> ([f32; 8], u8) {
    let mut sizes = values.map(f32::abs);
    let mut signs = (0..8).fold(0, |signs, i| signs | u8::from(values[i] < 0.0) << i);
    if even && signs.count_ones() % 2 == 1 {
        let smallest = (1..8).fold(0, |least, i| if sizes[i] < sizes[least] { i } else { least });
        sizes[smallest] = -sizes[smallest];
        signs ^= 1 << smallest;
    }
    (sizes, signs)
}

/// Scales that are odd multiples, up to `2 · top + 1`, of a half over `unit`.
pub(super) struct OddScales<const GROUPS: usize> {
    /// The half.
    pub bytes: [u8; 2],
    /// Half of what each multiple is less one.
    pub scales: [u8; GROUPS],
    /// The steps that a reader will see.
    pub steps: [f32; GROUPS],
}

impl<const GROUPS: usize> OddScales<GROUPS> {
    pub(super) fn new(wanted: &[f32; GROUPS], top: u8, unit: f32) -> Self {
        let most = f32::from(2 * top + 1);
        let (bytes, d) = halves::round(halves::peak(wanted) * unit / most);
        let inverse = halves::inverse(d / unit);
        let scales = wanted.map(|step| halves::level((step * inverse - 1.0) / 2.0, top));
        Self { bytes, scales, steps: scales.map(|scale| d * f32::from(2 * scale + 1) / unit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_kept_or_made_even() {
        let values = [1.0, -2.0, 3.0, -4.0, 0.5, -6.0, 7.0, 8.0];
        assert_eq!(magnitudes(&values, false), (values.map(f32::abs), 0b10_1010));
        let (sizes, signs) = magnitudes(&values, true);
        assert_eq!((sizes[4], signs), (-0.5, 0b11_1010));
        assert_eq!(even_signs(u32::from(signs)), u32::from(signs));
    }

    #[test]
    fn codewords_are_nearest_to_themselves() {
        for (number, word) in IQ2_S_BOOK.words.iter().enumerate() {
            assert_eq!(usize::from(IQ2_S_BOOK.nearest(word).0), number);
        }
        for (number, word) in IQ3_XXS_BOOK.words.iter().enumerate() {
            assert_eq!(usize::from(IQ3_XXS_BOOK.nearest(word).0), number);
        }
    }
}
