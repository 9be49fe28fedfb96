//! Atomics: `global_atomic_x`, `flat_atomic_x`, `ds_x` and `ds_x_rtn`.

use crate::float::{max, min};
use crate::isa::Spec;
use crate::isa::spec::plain;
use crate::memory::atomic::{global, lds};

pub fn find(name: &str) -> Option<Spec> {
    if let Some(rest) = name.strip_prefix("global_atomic_").or_else(|| name.strip_prefix("flat_atomic_")) {
        return device(rest);
    }
    local(&name.strip_prefix("ds_")?.replacen("_rtn_", "_", 1))
}

fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn signed(bits: u64) -> i32 {
    bits as u32 as i32
}

/// The changes of 32 and 64 bits by name. A macro, because memory and LDS call them by functions of their own.
macro_rules! changes {
    ($name:expr, $one:ident, $two:ident) => {
        match $name {
            "add_u32" => Some($one!(|old, x, _| old + x)),
            "sub_u32" => Some($one!(|old: u64, x, _| old.wrapping_sub(x))),
            "min_u32" => Some($one!(|old: u64, x, _| old.min(x))),
            "max_u32" => Some($one!(|old: u64, x, _| old.max(x))),
            "min_i32" => Some($one!(|old, x, _| signed(old).min(signed(x)) as u32 as u64)),
            "max_i32" => Some($one!(|old, x, _| signed(old).max(signed(x)) as u32 as u64)),
            "and_b32" => Some($one!(|old, x, _| old & x)),
            "or_b32" => Some($one!(|old, x, _| old | x)),
            "xor_b32" => Some($one!(|old, x, _| old ^ x)),
            "inc_u32" => Some($one!(|old, x, _| if old >= x { 0 } else { old + 1 })),
            "dec_u32" => Some($one!(|old, x, _| if old == 0 || old > x { x } else { old - 1 })),
            "add_f32" => Some($one!(|old, x, _| bits(float(old) + float(x)))),
            "min_f32" => Some($one!(|old, x, _| bits(min(float(old), float(x))))),
            "max_f32" => Some($one!(|old, x, _| bits(max(float(old), float(x))))),
            "swap_b32" | "storexchg_b32" => Some($one!(|_, x, _| x)),
            "add_u64" => Some($two!(|old: u64, x, _| old.wrapping_add(x))),
            "sub_u64" => Some($two!(|old: u64, x, _| old.wrapping_sub(x))),
            "min_u64" => Some($two!(|old: u64, x, _| old.min(x))),
            "max_u64" => Some($two!(|old: u64, x, _| old.max(x))),
            "min_i64" => Some($two!(|old, x, _| (old as i64).min(x as i64) as u64)),
            "max_i64" => Some($two!(|old, x, _| (old as i64).max(x as i64) as u64)),
            "and_b64" => Some($two!(|old, x, _| old & x)),
            "or_b64" => Some($two!(|old, x, _| old | x)),
            "xor_b64" => Some($two!(|old, x, _| old ^ x)),
            "swap_b64" | "storexchg_b64" => Some($two!(|_, x, _| x)),
            _ => None,
        }
    };
}

fn device(name: &str) -> Option<Spec> {
    macro_rules! one {
        ($f:expr) => {
            plain!(Atomic, global, (1, false), $f)
        };
    }
    macro_rules! two {
        ($f:expr) => {
            plain!(Atomic, global, (2, false), $f)
        };
    }
    match name {
        "cmpswap_b32" => {
            Some(plain!(Atomic, global, (1, true), |old, x, wanted| if old == wanted { x } else { old }))
        }
        "cmpswap_b64" => {
            Some(plain!(Atomic, global, (2, true), |old, x, wanted| if old == wanted { x } else { old }))
        }
        _ => changes!(name, one, two),
    }
}

fn local(name: &str) -> Option<Spec> {
    macro_rules! one {
        ($f:expr) => {
            plain!(LdsAtomic, lds, 1, $f)
        };
    }
    macro_rules! two {
        ($f:expr) => {
            plain!(LdsAtomic, lds, 2, $f)
        };
    }
    match name {
        "cmpstore_b32" => {
            Some(plain!(LdsAtomic, lds, 1, |old, x, wanted| if old == wanted { x } else { old }))
        }
        "cmpstore_b64" => {
            Some(plain!(LdsAtomic, lds, 2, |old, x, wanted| if old == wanted { x } else { old }))
        }
        _ => changes!(name, one, two),
    }
}
