//! A decoded instruction: what runs it, and its operands resolved to registers and bits.

use crate::group::Group;
use crate::wave::{LANES, Wave};

/// Runs one instruction.
///
/// A function may be compiled for instructions of the host that not every host has: see [`crate::level`].
pub type Run = unsafe fn(&mut Wave, &mut Group<'_>, &Op);

/// Scalar registers with a fixed number.
pub const VCC: u8 = 106;
pub const NULL: u8 = 124;
pub const M0: u8 = 125;
pub const EXEC: u8 = 126;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// The first of as many vector registers as the operand has words.
    Vector(u8),
    /// The first of as many scalar registers.
    Scalar(u8),
    /// The bits, already in the form of the operand's type.
    Constant(u64),
    Absent,
}

/// Where each lane's first source comes from.
#[derive(Clone, Debug)]
pub struct Permutation {
    pub from: [u8; LANES],
    /// Lanes whose pattern points inside the row.
    pub inside: u32,
    /// Lanes that `row_mask` and `bank_mask` let be written.
    pub enabled: u32,
    /// An invalid source reads as zero; without it the lane is not written.
    pub zero: bool,
    /// A lane that is masked off can still be read.
    pub inactive: bool,
}

#[derive(Clone, Debug)]
pub struct Op {
    pub run: Run,
    pub from: [Source; 4],
    /// A vector or a scalar register.
    pub to: u8,
    /// The scalar register of a carry or of a comparison.
    pub mask_to: u8,
    /// One bit a source: `neg` or `neg_lo`.
    pub negate: u8,
    /// `neg_hi` of packed operands.
    pub negate_high: u8,
    /// One bit a source: `|x|`.
    pub absolute: u8,
    /// `op_sel`, bit 3 for the destination.
    pub select: u8,
    /// `op_sel_hi`.
    pub select_high: u8,
    pub clamp: bool,
    /// `mul:2`, `mul:4` and `div:2` as powers of two.
    pub scale: i8,
    /// `glc`: an atomic gives back what was there.
    pub returns: bool,
    pub offset: i32,
    pub offset1: i32,
    /// Index of the operation that a branch goes to.
    pub target: u32,
    pub permutation: Option<Box<Permutation>>,
    /// The halves of a pair that cannot run one after the other.
    pub pair: Option<Box<[Op; 2]>>,
    /// Index of the line of the disassembly.
    pub line: u32,
}

impl Op {
    pub fn new(run: Run, line: u32) -> Op {
        Op {
            run,
            from: [Source::Absent; 4],
            to: 0,
            mask_to: NULL,
            negate: 0,
            negate_high: 0,
            absolute: 0,
            select: 0,
            select_high: 0,
            clamp: false,
            scale: 0,
            returns: false,
            offset: 0,
            offset1: 0,
            target: 0,
            permutation: None,
            pair: None,
            line,
        }
    }
}
