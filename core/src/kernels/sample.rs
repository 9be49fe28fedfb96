//! One token for each row of logits, and its log-probability.
//!
//! `params` holds [`WORDS`] words for each row, see [`Draw`]; `out` gets two: the id, and the bits of an f32,
//! `ln softmax(logits)[id]` at temperature 1 over the whole row.
//!
//! A row is `logits[0 .. n, r]`, where n is `limit` if that is neither 0 nor beyond the row, else all of it; logits
//! behind it are not looked at. A logit that is not finite is never chosen and has no weight. A row without a finite
//! logit gives id −1 and minus infinity.
//!
//! * Greedy, where the temperature is not at least the smallest normal f32 (0, negative, NaN): the first of the largest.
//! * Else the candidate with the largest score `(logits[i] − m) / temperature + gumbel(i)`, of equal scores the lower
//!   index; m is the row's largest logit. Candidates are the `top_k` largest logits, of equal ones those of lower index; 0 takes all, more
//!   than [`MOST_K`] counts as that many. Adding Gumbel noise and taking the largest draws from the softmax.
//!
//! The noise is `gumbel(i) = −ln(−ln(u))` with `u = ((h >> 9) + 0.5)·2⁻²³` and `h = hash([seed low, seed high, counter, i])`,
//! see [`hash`]. u has 24 bits, so it is exact in f32 and never 0 or 1.
//!
//! Devices compute the score in f32. Two rules keep it within about 1e-5 of this reference: subtract m before dividing;
//! and where u ≥ 0.5 take −ln(u) not from a logarithm, whose absolute error swamps it, but from `w = 1 − u`, which is
//! exact too, as `2·(s + s³/3 + s⁵/5 + … + s¹³/13)` with `s = w / (2 − w)`. So devices agree on the id unless the two best
//! scores are nearer than that; [`Choice::margin`] tells how near they are. Selection of candidates compares logits alone
//! and is exact. Of the log-probability the contract's largest error counts relative to the larger of it and 1.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Contract,
    Extent::{Is, Named},
    F32, I32, Port,
};

/// Words of parameters for each row.
pub const WORDS: usize = 8;
/// Most candidates that can be asked for, apart from all.
pub const MOST_K: u32 = 64;

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract::new(
        "sample",
        &[
            Port::read("logits", F32).shape([Named("V"), Named("R"), Is(1), Is(1)]),
            Port::read("params", I32).shape([Is(WORDS as u64), Named("R"), Is(1), Is(1)]),
            Port::write("out", I32).shape([Is(2), Named("R"), Is(1), Is(1)]),
        ],
    ),
    reference,
};

/// How one row's token is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Draw {
    /// Divides the logits; greedy where it is not at least the smallest normal number.
    pub temperature: f32,
    /// How many candidates; 0 takes all.
    pub top_k: u32,
    /// Repeats a sequence of draws.
    pub seed: u64,
    /// Which draw of the sequence.
    pub counter: u32,
    /// Ids from this one on are never chosen; 0 allows all.
    pub limit: u32,
}

impl Draw {
    /// As words of `params`: temperature bits, top-k, seed low, seed high, counter, limit, 0, 0.
    pub fn words(&self) -> [i32; WORDS] {
        let words = [
            self.temperature.to_bits(),
            self.top_k,
            self.seed as u32,
            (self.seed >> 32) as u32,
            self.counter,
            self.limit,
            0,
            0,
        ];
        words.map(u32::cast_signed)
    }

    /// From words of `params`; the last two are not looked at.
    pub fn from_words(words: [i32; WORDS]) -> Self {
        let [temperature, top_k, low, high, counter, limit, ..] = words.map(i32::cast_unsigned);
        let seed = u64::from(high) << 32 | u64::from(low);
        Draw { temperature: f32::from_bits(temperature), top_k, seed, counter, limit }
    }

    fn is_greedy(&self) -> bool {
        self.temperature.is_nan() || self.temperature < f32::MIN_POSITIVE
    }

    /// The noise of an index.
    pub fn gumbel(&self, index: u32) -> f64 {
        let bits = hash([self.seed as u32, (self.seed >> 32) as u32, self.counter, index]);
        let uniform = (f64::from(bits >> 9) + 0.5) / f64::from(1u32 << 23);
        -(-uniform.ln()).ln()
    }
}

/// The last word of `pcg4d` (Jarzynski and Olano, Hash Functions for GPU Rendering, 2020). All arithmetic is modulo 2³².
pub fn hash(key: [u32; 4]) -> u32 {
    let mix = |[x, y, z, w]: [u32; 4]| {
        let x = x.wrapping_add(y.wrapping_mul(w));
        let y = y.wrapping_add(z.wrapping_mul(x));
        let z = z.wrapping_add(x.wrapping_mul(y));
        let w = w.wrapping_add(y.wrapping_mul(z));
        [x, y, z, w]
    };
    let key = key.map(|word| word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let [.., last] = mix(mix(key).map(|word| word ^ (word >> 16)));
    last
}

/// What was chosen from a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Its index.
    pub id: u32,
    /// Its log-probability in the softmax of the row.
    pub log_probability: f64,
    /// How far behind the second best score is; infinite where no rounding decides.
    pub margin: f64,
}

/// Chooses from a row of logits; `None` if none of them is finite.
pub fn choose(row: &[f64], draw: &Draw) -> Option<Choice> {
    let row = if draw.limit == 0 { row } else { &row[..row.len().min(draw.limit as usize)] };
    let finite = || (0u32..).zip(row.iter().copied()).filter(|(_, logit)| logit.is_finite());
    let largest = finite().fold(f64::NEG_INFINITY, |largest, (_, logit)| largest.max(logit));
    let weights: f64 = finite().map(|(_, logit)| (logit - largest).exp()).sum();
    let chosen = |(id, logit): (u32, f64), margin| Choice {
        id,
        log_probability: logit - largest - weights.ln(),
        margin,
    };
    if draw.is_greedy() {
        return finite().find(|(_, logit)| *logit == largest).map(|first| chosen(first, f64::INFINITY));
    }
    let candidates = match draw.top_k.min(MOST_K) {
        0 => finite().collect(),
        k => likeliest(finite(), k as usize),
    };
    let mut best = None;
    let (mut best_score, mut margin) = (f64::NEG_INFINITY, f64::INFINITY);
    for (id, logit) in candidates {
        let score = (logit - largest) / f64::from(draw.temperature) + draw.gumbel(id);
        if best.is_none_or(|(first, _)| score > best_score || (score == best_score && id < first)) {
            margin = score - best_score;
            (best, best_score) = (Some((id, logit)), score);
        } else {
            margin = margin.min(best_score - score);
        }
    }
    best.map(|best| chosen(best, margin))
}

/// The k largest logits with their indices, of equal ones those of lower index.
fn likeliest(logits: impl Iterator<Item = (u32, f64)>, k: usize) -> Vec<(u32, f64)> {
    let mut found: Vec<(u32, f64)> = Vec::with_capacity(k + 1);
    for (id, logit) in logits {
        if found.len() < k || found.last().is_some_and(|(_, least)| logit > *least) {
            let at = found.partition_point(|(_, larger)| *larger >= logit);
            found.insert(at, (id, logit));
            found.truncate(k);
        }
    }
    found
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (logits, params, out) = (call.port("logits")?, call.port("params")?, call.port("out")?);
    out.rows(|[r, ..]| {
        let words = std::array::from_fn(|w| params.index([w as u64, r, 0, 0]) as i32);
        let choice = choose(&logits.row([r, 0, 0]), &Draw::from_words(words));
        let id = choice.map_or(-1, |choice| i64::from(choice.id));
        let log_probability = choice.map_or(f32::NEG_INFINITY, |choice| choice.log_probability as f32);
        out.put([0, r, 0, 0], id as f64);
        out.put([1, r, 0, 0], f64::from(log_probability.to_bits().cast_signed()));
        Ok(())
    })
}
