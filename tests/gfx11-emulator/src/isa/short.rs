//! Arithmetic on one 16-bit integer a lane.

use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::{lane1, lane2, lane3, run};
use crate::lanes::{Kind, Short, store_half};
use crate::op::{Op, Source, VCC};
use crate::wave::{LANES, Wave, both};

fn signed(a: Short) -> i16 {
    a.0 as i16
}

pub fn find(name: &str) -> Option<Spec> {
    two(name).or_else(|| three(name))
}

fn two(name: &str) -> Option<Spec> {
    Some(match name {
        "v_mov_b16" => lane1!(|a: Short| a),
        "v_not_b16" => lane1!(|a: Short| Short(!a.0)),
        "v_cndmask_b16" => run!(Select, select).kinds([Kind::Short; 4]),
        "v_add_nc_u16" | "v_add_nc_i16" => lane2!(|a: Short, b: Short| Short(a.0.wrapping_add(b.0))),
        "v_sub_nc_u16" | "v_sub_nc_i16" => lane2!(|a: Short, b: Short| Short(a.0.wrapping_sub(b.0))),
        "v_add_nc_u16 clamp" => lane2!(|a: Short, b: Short| Short(a.0.saturating_add(b.0))),
        "v_sub_nc_u16 clamp" => lane2!(|a: Short, b: Short| Short(a.0.saturating_sub(b.0))),
        "v_add_nc_i16 clamp" => {
            lane2!(|a: Short, b: Short| Short(signed(a).saturating_add(signed(b)) as u16))
        }
        "v_sub_nc_i16 clamp" => {
            lane2!(|a: Short, b: Short| Short(signed(a).saturating_sub(signed(b)) as u16))
        }
        "v_mul_lo_u16" => lane2!(|a: Short, b: Short| Short(a.0.wrapping_mul(b.0))),
        "v_min_u16" => lane2!(|a: Short, b: Short| Short(a.0.min(b.0))),
        "v_max_u16" => lane2!(|a: Short, b: Short| Short(a.0.max(b.0))),
        "v_min_i16" => lane2!(|a: Short, b: Short| Short(signed(a).min(signed(b)) as u16)),
        "v_max_i16" => lane2!(|a: Short, b: Short| Short(signed(a).max(signed(b)) as u16)),
        "v_and_b16" => lane2!(|a: Short, b: Short| Short(a.0 & b.0)),
        "v_or_b16" => lane2!(|a: Short, b: Short| Short(a.0 | b.0)),
        "v_xor_b16" => lane2!(|a: Short, b: Short| Short(a.0 ^ b.0)),
        "v_lshlrev_b16" => lane2!(|a: Short, b: Short| Short(b.0 << (a.0 & 15))),
        "v_lshrrev_b16" => lane2!(|a: Short, b: Short| Short(b.0 >> (a.0 & 15))),
        "v_ashrrev_i16" => lane2!(|a: Short, b: Short| Short((signed(b) >> (a.0 & 15)) as u16)),
        _ => return None,
    })
}

fn three(name: &str) -> Option<Spec> {
    Some(match name {
        "v_mad_u16" | "v_mad_i16" => {
            lane3!(|a: Short, b: Short, c: Short| Short(a.0.wrapping_mul(b.0).wrapping_add(c.0)))
        }
        "v_min3_u16" => lane3!(|a: Short, b: Short, c: Short| Short(a.0.min(b.0).min(c.0))),
        "v_max3_u16" => lane3!(|a: Short, b: Short, c: Short| Short(a.0.max(b.0).max(c.0))),
        "v_med3_u16" => {
            lane3!(|a: Short, b: Short, c: Short| Short(a.0.min(b.0).max(a.0.max(b.0).min(c.0))))
        }
        "v_min3_i16" => {
            lane3!(|a: Short, b: Short, c: Short| Short(signed(a).min(signed(b)).min(signed(c)) as u16))
        }
        "v_max3_i16" => {
            lane3!(|a: Short, b: Short, c: Short| Short(signed(a).max(signed(b)).max(signed(c)) as u16))
        }
        "v_med3_i16" => lane3!(|a: Short, b: Short, c: Short| {
            let (a, b, c) = (signed(a), signed(b), signed(c));
            Short(a.min(b).max(a.max(b).min(c)) as u16)
        }),
        _ => return None,
    })
}

fn select(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let mask = if op.from[2] == Source::Absent { Source::Scalar(VCC) } else { op.from[2] };
    let (mask, mask_doubt) = wave.scalar_of(mask);
    let (first, second) = (wave.words(op, 0), wave.words(op, 1));
    let part = |word: u32, k: u8| if op.select >> k & 1 == 1 { word >> 16 } else { word & 0xffff };
    let results: [u32; LANES] =
        std::array::from_fn(
            |lane| {
                if mask >> lane & 1 == 1 { part(second[lane], 1) } else { part(first[lane], 0) }
            },
        );
    let chosen = both(mask);
    let doubt = wave.doubt(op, 0, 0) & !chosen | wave.doubt(op, 1, 0) & chosen | both(mask_doubt);
    store_half(wave, op, op.select & 8 != 0, results, doubt);
}
