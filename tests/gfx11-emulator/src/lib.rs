//! Runs gfx1151 code objects on the CPU, so that the machine code of kernels is tested where no AMD GPU is.
//!
//! Two uses. As a Rust library: a [`device::Device`] has memory, loads code objects and launches kernels. As a shared library it
//! stands in for `libamdhip64.so`: see [`hip`].
//!
//! # How
//! The disassembler of LLVM 19 turns a code object into text, once for each object of a process. The text is known right for
//! every encoding and modifier; tables of our own would have to be proved. Each line becomes an operation: a pointer to a function
//! made for that instruction, and operands resolved to registers and bits. An instruction or modifier that is not known refuses the
//! kernel by name when it is looked up. Every function over 32 lanes exists twice, one for hosts with AVX2 and fused
//! multiply-add. Workgroups run on all threads; the waves of one take turns, each until a barrier or the end.
//!
//! # What is exact
//! Integers, bits, conversions, halves (rounded once), f32 and f64 arithmetic, subnormals as the kernel's mode says.
//! `exp`, `log`, `rcp`, `rsq`, `sqrt`, `sin` and `cos` are rounded right but for one case in a million; the chip allows itself a
//! unit of the last place. Its transcendental unit takes and gives no subnormals, here as there. Matrix products add in the
//! order of k with fused multiply-adds in f32; the chip's order is not known.
//!
//! # What stops a kernel
//! Each of these ends the launch with a [`fault::Fault`], which names kernel, address, instruction, workgroup, wave and lane.
//! * Access outside a live allocation, to freed memory (addresses are never used again), to host memory, to constants.
//! * LDS or scratch past the end; atomics and scalar loads that are not aligned. Other unaligned accesses are what compilers for
//!   Linux make, and work.
//! * A value that nobody defined, where it decides something: see below.
//! * Two waves that touch a byte of LDS between two barriers, one of them writing. Atomics may meet.
//! * Two workgroups of a launch that touch a byte of device memory, one of them writing, without an atomic that orders them. An
//!   atomic counts as an order for all that its workgroup did before and does after.
//! * A barrier with lanes masked off, or that other waves of the workgroup left behind.
//! * A matrix product with lanes masked off, or with operands that lanes 16 to 31 do not repeat.
//! * More threads than the kernel was built for, too much LDS, a wave that does not end.
//!
//! # Undefined values
//! Registers, LDS and device memory remember what was written. An undefined value may be loaded, moved, selected, exchanged,
//! stored, copied: rows have padding, and compilers compute for lanes whose results they drop. It stops the kernel when it is an
//! address or decides a branch, the execution mask or an atomic, or when a result computed from it is stored to device memory.
//! Scalar registers are followed by bits, vector registers by lanes. A copy on the device carries what is undefined along;
//! a copy to the host gives 0xff, a NaN in every float. Sixteen bits of a register count for all of it.
//!
//! # What is not seen
//! Time, caches, missing wait counts, races of the host with the device (but for `WEFT_EMULATOR_DEFER`), and races through
//! atomics on one side only. Which checks are on is set by the environment: see [`options`].

#![allow(clippy::needless_range_loop, reason = "loops over lanes read and write several arrays at one index")]
#![allow(clippy::result_large_err, reason = "a fault ends a launch; it says all it can")]

pub mod device;
pub mod fault;
pub mod hip;
pub mod launch;
pub mod object_file;
pub mod options;

mod arguments;
mod decode;
mod disassembly;
mod float;
mod group;
mod isa;
mod lanes;
mod level;
mod memory;
mod metadata;
mod op;
mod text;
mod wave;
