//! The switch from one stack to another.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!(
    "fibers switch stacks on x86-64 Linux only; another machine needs its own `hip_fibers_switch`"
);

use std::arch::global_asm;
use std::ffi::c_void;

// What a function of the System V interface keeps is put on the stack that is left and taken from the one that is gone to.
global_asm!(
    ".text",
    ".globl hip_fibers_switch",
    ".hidden hip_fibers_switch",
    ".type hip_fibers_switch, @function",
    "hip_fibers_switch:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    ".size hip_fibers_switch, . - hip_fibers_switch",
    ".globl hip_fibers_start",
    ".hidden hip_fibers_start",
    ".type hip_fibers_start, @function",
    "hip_fibers_start:",
    "mov rdi, r12",
    "call r13",
    "ud2",
    ".size hip_fibers_start, . - hip_fibers_start",
);

unsafe extern "C" {
    /// Leaves the present stack, whose place it writes to `save`, and goes on where the stack `to` was left.
    pub(crate) fn hip_fibers_switch(save: *mut *mut c_void, to: *mut c_void);
    fn hip_fibers_start();
}

/// Makes a stack from which the first switch calls `main(argument)`, which never returns.
///
/// # Safety
/// `top` is aligned to 16 bytes and the end of memory for a stack.
pub(crate) unsafe fn prepare<T>(
    top: *mut u8,
    main: unsafe extern "C" fn(*mut T) -> !,
    argument: *mut T,
) -> *mut c_void {
    let start: unsafe extern "C" fn() = hip_fibers_start;
    // In the order of the pops: r15, r14, r13, r12, rbp, rbx, the address to return to.
    let frame = [0, 0, main as *const () as usize, argument as usize, 0, 0, start as *const () as usize];
    // SAFETY: the memory below `top` is the stack's.
    unsafe {
        let sp = top.cast::<usize>().sub(frame.len());
        sp.copy_from_nonoverlapping(frame.as_ptr(), frame.len());
        sp.cast()
    }
}
