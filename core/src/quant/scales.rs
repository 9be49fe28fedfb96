//! The twelve bytes in which Q4_K and Q5_K keep eight scales and eight minimums of six bits.
//!
//! Groups 0 to 3 hold their scale in the low six bits of byte `j` and their minimum in those of byte `j + 4`. Groups 4
//! to 7 hold the low four bits of both in byte `j + 4` (scale below, minimum above) and the upper two bits of the scale
//! in the top of byte `j − 4`, of the minimum in the top of byte `j`.

/// Scale and minimum of each group.
pub(super) fn unpack(bytes: &[u8; 12]) -> [(u8, u8); 8] {
    std::array::from_fn(|j| {
        if j < 4 {
            (bytes[j] & 63, bytes[j + 4] & 63)
        } else {
            let scale = (bytes[j + 4] & 15) | (bytes[j - 4] >> 6) << 4;
            let minimum = (bytes[j + 4] >> 4) | (bytes[j] >> 6) << 4;
            (scale, minimum)
        }
    })
}

/// Undoes [`unpack`]; the numbers are below 64.
pub(super) fn pack(groups: &[(u8, u8); 8]) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (j, &(scale, minimum)) in groups.iter().enumerate() {
        if j < 4 {
            bytes[j] |= scale & 63;
            bytes[j + 4] |= minimum & 63;
        } else {
            bytes[j + 4] = (scale & 15) | (minimum & 15) << 4;
            bytes[j - 4] |= (scale >> 4 & 3) << 6;
            bytes[j] |= (minimum >> 4 & 3) << 6;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_bit_pairs_survive_packing() {
        for seed in 0..64 {
            let groups =
                std::array::from_fn(|j| (((seed + 9 * j) % 64) as u8, ((3 * seed + 17 * j) % 64) as u8));
            assert_eq!(unpack(&pack(&groups)), groups);
        }
    }
}
