//! Rotary position embedding of the leading `dims` dimensions of each head; the rest passes through.
//!
//! Pair i turns by `θ_i = position·base^(-2i/dims)·frequency_scale / divisors[i]`:
//! `(a, b) ← (a·cos θ − b·sin θ, a·sin θ + b·cos θ)·magnitude`. Pairs are (2i, 2i + 1) for kind 0, (i, i + dims/2) for kinds
//! 1 and 2. Kind 2 has four positions per token, `[t of all tokens | h | w | e]`, picked by section. YaRN mixes the
//! scaled angle with the unscaled one, by pair.

use super::{Call, Kernel, KernelError};
use crate::contract::{
    Attribute, Constants, Contract,
    Extent::{Any, AtLeast, Is, Named},
    F32, FLOATS, I32, Port,
};

/// The kernel.
pub static KERNEL: Kernel = Kernel {
    contract: Contract {
        attributes: &[
            Attribute::Choice("kind", &[0, 1, 2]),
            Attribute::Integer("dims", 0, 1 << 16),
            Attribute::Float("base"),
            Attribute::Float("frequency_scale"),
            Attribute::Float("yarn_mix"),
            Attribute::Integer("yarn_context", 0, u32::MAX),
            Attribute::Float("magnitude"),
            Attribute::Integer("section_t", 0, 1 << 16),
            Attribute::Integer("section_h", 0, 1 << 16),
            Attribute::Integer("section_w", 0, 1 << 16),
            Attribute::Integer("section_e", 0, 1 << 16),
        ],
        may_alias: &[("x", "out")],
        edges: &[1, 2],
        ..Contract::new(
            "rope",
            &[
                Port::read("x", FLOATS).shape([Named("D"), Named("H"), Named("T"), Named("S")]),
                Port::read("positions", I32).shape([AtLeast("T"), Is(1), Is(1), Is(1)]),
                Port::read("divisors", F32).shape([Any, Is(1), Is(1), Is(1)]).optional(),
                Port::write("out", FLOATS).shape([Named("D"), Named("H"), Named("T"), Named("S")]),
            ],
        )
    },
    reference,
};

/// The attributes of one rotary embedding, from a dispatch's constants.
#[derive(Clone, Copy, Debug)]
pub struct Angles {
    /// 0 interleaved, 1 halves, 2 halves with sections.
    pub kind: u32,
    /// Rotated dimensions.
    pub dims: usize,
    /// Factor on cosine and sine.
    pub magnitude: f64,
    base: f64,
    scale: f64,
    yarn_mix: f64,
    yarn_context: f64,
    sections: [u32; 4],
}

impl Angles {
    /// Reads the constants.
    ///
    /// # Errors
    /// One is missing.
    pub fn new(constants: &Constants) -> Result<Self, KernelError> {
        Ok(Angles {
            kind: constants.u32("kind")?,
            dims: constants.u32("dims")? as usize,
            magnitude: f64::from(constants.f32("magnitude")?),
            base: f64::from(constants.f32("base")?),
            scale: f64::from(constants.f32("frequency_scale")?),
            yarn_mix: f64::from(constants.f32("yarn_mix")?),
            yarn_context: f64::from(constants.u32("yarn_context")?),
            sections: [
                constants.u32("section_t")?,
                constants.u32("section_h")?,
                constants.u32("section_w")?,
                constants.u32("section_e")?,
            ],
        })
    }

    /// Which of a token's four positions pair `i` uses.
    pub fn axis(&self, i: usize) -> usize {
        if self.kind != 2 {
            return 0;
        }
        let whole: u32 = self.sections.iter().fold(0u32, |n, s| n.saturating_add(*s)).max(1);
        let s = i as u32 % whole;
        match s % 3 {
            1 if s < 3 * self.sections[1] => 1,
            2 if s < 3 * self.sections[2] => 2,
            0 if s < 3 * self.sections[0] => 0,
            _ => 3,
        }
    }

    /// Radians per position of pair `i`.
    pub fn frequency(&self, i: usize, divisor: f64) -> f64 {
        let full = self.base.powf(-2.0 * i as f64 / self.dims as f64) / divisor;
        let interpolated = full * self.scale;
        if self.yarn_mix == 0.0 {
            return interpolated;
        }
        let dims = self.dims as f64;
        let edge = |turns: f64| {
            dims * (self.yarn_context / (turns * std::f64::consts::TAU)).ln() / (2.0 * self.base.ln())
        };
        let low = edge(32.0).floor().max(0.0);
        let high = edge(1.0).ceil().min(dims - 1.0);
        let ramp = 1.0 - ((i as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
        let mix = ramp * self.yarn_mix;
        interpolated * (1.0 - mix) + full * mix
    }

    /// The dimensions of pair `i`.
    pub fn pair(&self, i: usize) -> (usize, usize) {
        if self.kind == 0 { (2 * i, 2 * i + 1) } else { (i, i + self.dims / 2) }
    }
}

/// Turns one head in place at a token's position(s).
pub(crate) fn turn(
    row: &mut [f64],
    angles: &Angles,
    position: impl Fn(usize) -> f64,
    divisors: Option<&[f64]>,
) {
    for i in 0..angles.dims / 2 {
        let divisor = divisors.and_then(|d| d.get(i)).copied().unwrap_or(1.0);
        let theta = position(angles.axis(i)) * angles.frequency(i, divisor);
        let (sin, cos) = (theta.sin() * angles.magnitude, theta.cos() * angles.magnitude);
        let (a, b) = angles.pair(i);
        let (x, y) = (row[a], row[b]);
        row[a] = x * cos - y * sin;
        row[b] = x * sin + y * cos;
    }
}

fn reference(call: &Call<'_>) -> Result<(), KernelError> {
    let (x, positions, out) = (call.port("x")?, call.port("positions")?, call.port("out")?);
    let divisors = call.maybe("divisors").map(|d| d.row([0, 0, 0]));
    let angles = Angles::new(call.constants)?;
    let tokens = x.shape()[2];
    x.rows(|outer| {
        let mut row = x.row(outer);
        let position = |axis: usize| positions.get([outer[1] + axis as u64 * tokens, 0, 0, 0]);
        turn(&mut row, &angles, position, divisors.as_deref());
        out.put_row(outer, &row);
        Ok(())
    })
}
