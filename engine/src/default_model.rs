//! The model that is compiled in.

use crate::gguf::{Gguf, GgufError};

/// Alignment of weights in the program, as kernels want them.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

static BYTES: &Aligned<[u8]> = &Aligned(*include_bytes!("../../models/weft-tales-12m.Q8_0.gguf"));

/// The embedded file.
pub(crate) fn gguf() -> Result<Gguf, GgufError> {
    Gguf::from_bytes("weft-tales-12m.Q8_0.gguf (embedded)", &BYTES.0)
}
