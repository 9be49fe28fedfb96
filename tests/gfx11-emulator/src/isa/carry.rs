//! Sums with carries in and out.

use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::run;
use crate::op::{Op, Source};
use crate::wave::{LANES, Wave, both, computed};

pub fn find(name: &str) -> Option<Spec> {
    Some(match name {
        "v_add_co_u32" | "v_add_co_ci_u32" => run!(Carry, with_carry, |a, b, carry| {
            let sum = u64::from(a) + u64::from(b) + u64::from(carry);
            (sum as u32, (sum >> 32) as u32)
        }),
        "v_sub_co_u32" | "v_sub_co_ci_u32" => {
            run!(Carry, with_carry, borrowed)
        }
        "v_subrev_co_u32" | "v_subrev_co_ci_u32" => {
            run!(Carry, with_carry, |a, b, carry| borrowed(b, a, carry))
        }
        _ => return None,
    })
}

#[inline(always)]
fn borrowed(a: u32, b: u32, carry: u32) -> (u32, u32) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(carry));
    (difference as u32, (difference >> 32) as u32 & 1)
}

/// The third source, when there is one, is the mask of carries in.
#[inline(always)]
fn with_carry(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32, u32) -> (u32, u32)) {
    let (carries, carries_doubt) = match op.from[2] {
        Source::Absent => (0, 0),
        mask => wave.scalar_of(mask),
    };
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0) | both(carries_doubt);
    let (a, b) = (wave.words(op, 0), wave.words(op, 1));
    let (mut sums, mut out) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let (sum, carry) = f(a[lane], b[lane], carries >> lane & 1);
        sums[lane] = sum;
        out[lane] = carry << lane;
    }
    let out = out.iter().fold(0, |mask, bit| mask | bit);
    let writable = wave.writable(op);
    let doubt = computed(doubt);
    wave.put(op.to, &sums, doubt, writable);
    wave.put_scalar(group, op, op.mask_to, out & writable, doubt as u32 & writable);
}
