//! What the types of few bits share: sixteen values after each other have one step.

/// Sixteen values of a block: `x = step · level − least`.
pub(super) struct Group {
    pub levels: [i8; 16],
    pub step: f32,
    pub least: f32,
}

impl Group {
    /// With levels around zero.
    pub(super) fn signed(step: f32, levels: [i8; 16]) -> Self {
        Self { levels, step, least: 0.0 }
    }
}

/// Decodes whole blocks of `VALUES` values in `BYTES` bytes by their groups.
pub(super) fn decode<const BYTES: usize, const VALUES: usize>(
    bytes: &[u8],
    values: &mut [f32],
    group: fn(&[u8; BYTES], usize) -> Group,
) {
    for (block, out) in bytes.as_chunks().0.iter().zip(values.as_chunks_mut::<VALUES>().0) {
        for (index, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let Group { levels, step, least } = group(block, index);
            *out = levels.map(|level| f32::from(level) * step - least);
        }
    }
}

/// Encodes whole blocks one by one.
pub(super) fn encode<const BYTES: usize, const VALUES: usize>(
    values: &[f32],
    bytes: &mut [u8],
    block: fn(&[f32; VALUES]) -> [u8; BYTES],
) {
    for (source, out) in values.as_chunks().0.iter().zip(bytes.as_chunks_mut().0) {
        *out = block(source);
    }
}

/// Two-bit level `j` of 128 that lie in 32 bytes: bits `2p` of byte `l` are value `l + 32p`.
pub(super) fn pair_of_bits(bytes: &[u8], j: usize) -> u8 {
    bytes[j / 128 * 32 + j % 32] >> (2 * (j / 32 % 4)) & 3
}

/// Undoes [`pair_of_bits`].
pub(super) fn pack_pairs(levels: &[u8; 256]) -> [u8; 64] {
    std::array::from_fn(|at| {
        let first = at / 32 * 128 + at % 32;
        (0..4).fold(0, |byte, p| byte | (levels[first + 32 * p] & 3) << (2 * p))
    })
}

/// Sixteen values `16 · index ..` of whatever numbers them.
pub(super) fn sixteen<T>(index: usize, value: impl Fn(usize) -> T) -> [T; 16] {
    std::array::from_fn(|i| value(16 * index + i))
}
