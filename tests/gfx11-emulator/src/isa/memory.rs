//! Loads and stores.

use crate::isa::Spec;
use crate::isa::spec::{plain, run};
use crate::memory::transfer::Transfer::{self, *};
use crate::memory::{global, lds_access, scalar_load, scratch};

pub fn find(name: &str) -> Option<Spec> {
    if let Some(rest) = name.strip_prefix("global_load_").or_else(|| name.strip_prefix("flat_load_")) {
        return global_load(rest);
    }
    if let Some(rest) = name.strip_prefix("global_store_").or_else(|| name.strip_prefix("flat_store_")) {
        return global_store(rest);
    }
    if let Some(rest) = name.strip_prefix("scratch_load_") {
        return scratch_load(rest);
    }
    if let Some(rest) = name.strip_prefix("scratch_store_") {
        return scratch_store(rest);
    }
    if let Some(rest) = name.strip_prefix("ds_load_") {
        return lds_load(rest);
    }
    if let Some(rest) = name.strip_prefix("ds_store_") {
        return lds_store(rest);
    }
    match name.strip_prefix("s_load_")? {
        "b32" => Some(plain!(ScalarLoad, scalar_load::load, 1)),
        "b64" => Some(plain!(ScalarLoad, scalar_load::load, 2)),
        "b128" => Some(plain!(ScalarLoad, scalar_load::load, 4)),
        "b256" => Some(plain!(ScalarLoad, scalar_load::load, 8)),
        "b512" => Some(plain!(ScalarLoad, scalar_load::load, 16)),
        _ => None,
    }
}

/// A load or store of each width. A macro, because each width is compiled by itself.
macro_rules! widths {
    ($rest:expr, $form:ident, $f:expr, $($name:literal => $transfer:expr,)*) => {
        match $rest {
            $($name => Some(run!($form, $f, { const MOVED: Transfer = $transfer; MOVED })),)*
            _ => None,
        }
    };
}

macro_rules! loads {
    ($rest:expr, $form:ident, $f:expr) => {
        widths!($rest, $form, $f,
            "u8" => Byte,
            "i8" => SignedByte,
            "u16" => Short,
            "i16" => SignedShort,
            "d16_u8" => HalfByte(false),
            "d16_hi_u8" => HalfByte(true),
            "u8_d16" => HalfByte(false),
            "u8_d16_hi" => HalfByte(true),
            "d16_i8" => HalfSignedByte(false),
            "d16_hi_i8" => HalfSignedByte(true),
            "i8_d16" => HalfSignedByte(false),
            "i8_d16_hi" => HalfSignedByte(true),
            "d16_b16" => HalfShort(false),
            "d16_hi_b16" => HalfShort(true),
            "u16_d16" => HalfShort(false),
            "u16_d16_hi" => HalfShort(true),
            "b32" => Words(1),
            "b64" => Words(2),
            "b96" => Words(3),
            "b128" => Words(4),
        )
    };
}

macro_rules! stores {
    ($rest:expr, $form:ident, $f:expr) => {
        widths!($rest, $form, $f,
            "b8" => Byte,
            "b16" => Short,
            "d16_hi_b8" => HalfByte(true),
            "d16_hi_b16" => HalfShort(true),
            "b8_d16_hi" => HalfByte(true),
            "b16_d16_hi" => HalfShort(true),
            "b32" => Words(1),
            "b64" => Words(2),
            "b96" => Words(3),
            "b128" => Words(4),
        )
    };
}

fn global_load(rest: &str) -> Option<Spec> {
    loads!(rest, Load, global::load)
}

fn global_store(rest: &str) -> Option<Spec> {
    stores!(rest, Store, global::store)
}

fn scratch_load(rest: &str) -> Option<Spec> {
    loads!(rest, Load, scratch::load)
}

fn scratch_store(rest: &str) -> Option<Spec> {
    stores!(rest, Store, scratch::store)
}

fn lds_load(rest: &str) -> Option<Spec> {
    match rest {
        "2addr_b32" => Some(run!(LdsLoad, lds_access::load_two, 1, 4)),
        "2addr_b64" => Some(run!(LdsLoad, lds_access::load_two, 2, 8)),
        "2addr_stride64_b32" => Some(run!(LdsLoad, lds_access::load_two, 1, 256)),
        "2addr_stride64_b64" => Some(run!(LdsLoad, lds_access::load_two, 2, 512)),
        _ => loads!(rest, LdsLoad, lds_access::load),
    }
}

fn lds_store(rest: &str) -> Option<Spec> {
    match rest {
        "2addr_b32" => Some(run!(LdsStore, lds_access::store_two, 1, 4)),
        "2addr_b64" => Some(run!(LdsStore, lds_access::store_two, 2, 8)),
        "2addr_stride64_b32" => Some(run!(LdsStore, lds_access::store_two, 1, 256)),
        "2addr_stride64_b64" => Some(run!(LdsStore, lds_access::store_two, 2, 512)),
        _ => stores!(rest, LdsStore, lds_access::store),
    }
}
