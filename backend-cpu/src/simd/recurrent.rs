//! The gated delta rule: one token at a time, and in chunks of tokens by small matrix products.

use super::lanes::Lanes;
use super::level::{Simd, Task};
use super::product::{Product, multiply};
use super::vector;

/// Tokens of a chunk.
pub const CHUNK: usize = 32;

/// `to += a · b`, element by element.
pub fn add_product(simd: Simd, a: &[f32], b: &[f32], to: &mut [f32]) {
    simd.run(AddProduct { a, b, to });
}

struct AddProduct<'a> {
    a: &'a [f32],
    b: &'a [f32],
    to: &'a mut [f32],
}

impl Task for AddProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let length = self.to.len().min(self.a.len()).min(self.b.len());
        let (a, b, to) = (self.a.as_ptr(), self.b.as_ptr(), self.to.as_mut_ptr());
        for at in (0..length).step_by(L::WIDTH) {
            let count = (length - at).min(L::WIDTH);
            // SAFETY: `at + count` is at most the length of all three.
            unsafe {
                let sum = L::fma(
                    L::load_some(a.add(at), count),
                    L::load_some(b.add(at), count),
                    L::load_some(to.add(at), count),
                );
                L::store_some(to.add(at), sum, count);
            }
        }
    }
}

/// One token of one head: what is written, what is asked, how much is forgotten.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    /// Query, D values.
    pub q: &'a [f32],
    /// Key, D values.
    pub k: &'a [f32],
    /// Value, D values.
    pub v: &'a [f32],
    /// Log decay.
    pub gate: f32,
    /// Write strength.
    pub beta: f32,
}

/// `state ← e^gate·state; δ = (v − state·k)·beta; state += δ⊗k; out = state·q / √D`.
///
/// `state` holds D rows of D values, a row per value channel. One pass over it: with `e = e^gate`, both sums are taken of
/// the old state. Slices shorter than D, or a D that is not a multiple of 16, leave `out` untouched.
pub fn step(simd: Simd, state: &mut [f32], token: &Token<'_>, out: &mut [f32]) {
    let dim = token.q.len();
    let whole = dim.is_multiple_of(16) && token.k.len() == dim && token.v.len() == dim && out.len() == dim;
    if whole && state.len() == dim * dim {
        let inner = vector::dot(simd, token.q, token.k);
        simd.run(Step { state, token: *token, inner, out });
    }
}

struct Step<'a> {
    state: &'a mut [f32],
    token: Token<'a>,
    inner: f32,
    out: &'a mut [f32],
}

/// State rows that share the loads of q and k.
const ROWS: usize = 4;

impl Task for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Token { q, k, v, gate, beta } = self.token;
        let dim = q.len();
        let scale = 1.0 / (dim as f32).sqrt();
        let decay = gate.exp();
        let (q, k) = (q.as_ptr(), k.as_ptr());
        for first in (0..dim).step_by(ROWS) {
            let rows = self.state[first * dim..(first + ROWS) * dim].as_mut_ptr();
            let mut held = [L::splat(0.0); ROWS];
            let mut asked = [L::splat(0.0); ROWS];
            for at in (0..dim).step_by(L::WIDTH) {
                // SAFETY: `dim` is a multiple of `WIDTH`; four rows of `dim` values begin at `rows`.
                unsafe {
                    let (key, query) = (L::load(k.add(at)), L::load(q.add(at)));
                    for r in 0..ROWS {
                        let row = L::load(rows.add(r * dim + at));
                        held[r] = L::fma(row, key, held[r]);
                        asked[r] = L::fma(row, query, asked[r]);
                    }
                }
            }
            let mut delta = [0.0; ROWS];
            for r in 0..ROWS {
                delta[r] = (v[first + r] - decay * L::sum(held[r])) * beta;
                self.out[first + r] = (decay * L::sum(asked[r]) + delta[r] * self.inner) * scale;
            }
            let (decay, delta) = (L::splat(decay), delta.map(L::splat));
            for at in (0..dim).step_by(L::WIDTH) {
                // SAFETY: as above.
                unsafe {
                    let key = L::load(k.add(at));
                    for r in 0..ROWS {
                        let row = rows.add(r * dim + at);
                        L::store(row, L::fma(delta[r], key, L::mul(decay, L::load(row))));
                    }
                }
            }
        }
    }
}

/// Floats that [`Chunks`] works in, for heads of D values.
pub const fn chunk_floats(dim: usize) -> usize {
    dim * dim + 6 * CHUNK * dim + 2 * CHUNK * CHUNK
}

/// A head's state while chunks of tokens pass over it: transposed, with room for one chunk.
pub struct Chunks<'a> {
    simd: Simd,
    dim: usize,
    /// `[key channel][value channel]`
    state: &'a mut [f32],
    q: &'a mut [f32],
    k: &'a mut [f32],
    /// Values, then what is written in their place.
    v: &'a mut [f32],
    /// Keys, a column per token.
    columns: &'a mut [f32],
    held: &'a mut [f32],
    out: &'a mut [f32],
    among_keys: &'a mut [f32],
    among: &'a mut [f32],
}

impl<'a> Chunks<'a> {
    /// Takes a state of rows per value channel. `room` must hold [`chunk_floats`]; `None` if it does not, or if D is not a
    /// multiple of 16.
    pub fn new(simd: Simd, dim: usize, state: &[f32], room: &'a mut [f32]) -> Option<Self> {
        if room.len() < chunk_floats(dim) || !dim.is_multiple_of(16) || state.len() != dim * dim {
            return None;
        }
        let (own, room) = room.split_at_mut(dim * dim);
        transpose(state, own, dim, dim);
        let (q, room) = room.split_at_mut(CHUNK * dim);
        let (k, room) = room.split_at_mut(CHUNK * dim);
        let (v, room) = room.split_at_mut(CHUNK * dim);
        let (columns, room) = room.split_at_mut(CHUNK * dim);
        let (held, room) = room.split_at_mut(CHUNK * dim);
        let (out, room) = room.split_at_mut(CHUNK * dim);
        let (among_keys, room) = room.split_at_mut(CHUNK * CHUNK);
        let among = &mut room[..CHUNK * CHUNK];
        Some(Chunks { simd, dim, state: own, q, k, v, columns, held, out, among_keys, among })
    }

    /// Passes at most [`CHUNK`] tokens over the state; `emit` gets each token's number and output.
    pub fn pass<'t>(&mut self, tokens: impl Iterator<Item = Token<'t>>, mut emit: impl FnMut(usize, &[f32])) {
        let dim = self.dim;
        let simd = self.simd;
        // Missing tokens have no key and no strength: they change nothing.
        self.q.fill(0.0);
        self.k.fill(0.0);
        self.v.fill(0.0);
        let (mut total, mut strength) = ([0f32; CHUNK], [0f32; CHUNK]);
        let (mut sum, mut count) = (0.0, 0);
        for token in tokens.take(CHUNK) {
            let part = count * dim..(count + 1) * dim;
            self.q[part.clone()].copy_from_slice(token.q);
            self.k[part.clone()].copy_from_slice(token.k);
            self.v[part].copy_from_slice(token.v);
            sum += token.gate;
            (total[count], strength[count]) = (sum, token.beta);
            count += 1;
        }
        total[count..].fill(sum);
        transpose(self.k, self.columns, CHUNK, dim);
        let product = |a: &[f32], steps: (usize, usize), inner, b: &[f32], to: &mut [f32], columns| {
            multiply(simd, Product { a, steps, inner, b, to, columns, add: false });
        };
        product(self.k, (dim, 1), dim, self.columns, self.among_keys, CHUNK);
        product(self.q, (dim, 1), dim, self.columns, self.among, CHUNK);
        product(self.k, (dim, 1), dim, self.state, self.held, dim);
        product(self.q, (dim, 1), dim, self.state, self.out, dim);
        // What each token writes, given what those before it wrote.
        for t in 0..count {
            let (before, rest) = self.v.split_at_mut(t * dim);
            let written = &mut rest[..dim];
            vector::add_scaled(simd, -total[t].exp(), &self.held[t * dim..(t + 1) * dim], written);
            for u in 0..t {
                let near = self.among_keys[t * CHUNK + u] * (total[t] - total[u]).exp();
                vector::add_scaled(simd, -near, &before[u * dim..(u + 1) * dim], written);
            }
            vector::scale(simd, strength[t], written);
        }
        let scale = 1.0 / (dim as f32).sqrt();
        for t in 0..count {
            let out = &mut self.out[t * dim..(t + 1) * dim];
            vector::scale(simd, total[t].exp() * scale, out);
            for u in 0..=t {
                let near = self.among[t * CHUNK + u] * (total[t] - total[u]).exp() * scale;
                vector::add_scaled(simd, near, &self.v[u * dim..(u + 1) * dim], out);
            }
            emit(t, out);
        }
        let last = sum;
        for u in 0..count {
            vector::scale(simd, (last - total[u]).exp(), &mut self.k[u * dim..(u + 1) * dim]);
        }
        vector::scale(simd, last.exp(), self.state);
        let (a, b, to) = (&*self.k, &*self.v, &mut *self.state);
        multiply(simd, Product { a, steps: (1, dim), inner: count, b, to, columns: dim, add: true });
    }

    /// Gives the state back as rows per value channel.
    pub fn finish(self, state: &mut [f32]) {
        transpose(self.state, state, self.dim, self.dim);
    }
}

/// `to[c][r] = from[r][c]`
fn transpose(from: &[f32], to: &mut [f32], rows: usize, columns: usize) {
    for (r, row) in from.chunks_exact(columns).take(rows).enumerate() {
        row.iter().enumerate().for_each(|(c, value)| to[c * rows + r] = *value);
    }
}
