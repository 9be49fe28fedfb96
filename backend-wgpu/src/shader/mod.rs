//! Shader text: sources, the assembler, and what it writes from a contract.

mod assemble;
mod ports;
mod sources;

pub(crate) use assemble::{Assembled, Request, assemble};
pub(crate) use ports::{CODEBOOKS, PortText, is_coded, locate};
