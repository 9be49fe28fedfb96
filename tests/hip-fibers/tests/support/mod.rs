//! A host for small texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "not every test program uses all of it")]

use hip_fibers::api::*;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

const HEADER: &str = include_str!("../../../../kernels/include/pk_cpu.h");

/// Whether texts can be compiled; says so if not.
pub fn has_compiler() -> bool {
    let found = ["clang++-19", "clang++", "g++"]
        .iter()
        .any(|name| std::process::Command::new(name).arg("--version").output().is_ok());
    let required = std::env::var("WEFT_REQUIRE").is_ok_and(|all| all.split(',').any(|one| one == "hip"));
    assert!(found || !required, "no C++ compiler, and WEFT_REQUIRE names hip");
    if !found {
        eprintln!("LEFT OUT: no C++ compiler");
    }
    found
}

/// Compiles a text behind pk_cpu.h and gives its kernel of this name.
pub fn kernel(text: &str, name: &str) -> Handle {
    let source = CString::new(format!("{HEADER}\n{text}")).unwrap();
    let (mut program, mut size, mut module, mut function) = (null_mut(), 0, null_mut(), null_mut());
    let name = CString::new(name).unwrap();
    unsafe {
        let none = std::ptr::null();
        assert_eq!(hiprtcCreateProgram(&mut program, source.as_ptr(), name.as_ptr(), 0, none, none), 0);
        if hiprtcCompileProgram(program, 0, none) != 0 {
            hiprtcGetProgramLogSize(program, &mut size);
            let mut log = vec![0u8; size];
            hiprtcGetProgramLog(program, log.as_mut_ptr().cast());
            panic!("{}", String::from_utf8_lossy(&log));
        }
        assert_eq!(hiprtcGetCodeSize(program, &mut size), 0);
        let mut code = vec![0u8; size];
        assert_eq!(hiprtcGetCode(program, code.as_mut_ptr().cast()), 0);
        assert_eq!(hiprtcDestroyProgram(&mut program), 0);
        assert_eq!(hipModuleLoadData(&mut module, code.as_ptr().cast()), 0);
        assert_eq!(hipModuleGetFunction(&mut function, module, name.as_ptr()), 0);
    }
    function
}

/// Device memory of this size.
pub fn memory(bytes: usize) -> Handle {
    let mut at = null_mut();
    assert_eq!(unsafe { hipMalloc(&mut at, bytes) }, 0);
    at
}

/// Runs a kernel whose argument is a structure of one pointer, in a stream of its own: a failure stays with its stream.
pub fn launch(function: Handle, blocks: u32, threads: u32, out: Handle) -> Status {
    let (mut argument, mut stream, none) = (out, null_mut(), null_mut());
    let mut parameters = [(&raw mut argument).cast::<c_void>()];
    let all = parameters.as_mut_ptr();
    unsafe {
        assert_eq!(hipStreamCreateWithFlags(&mut stream, 1), 0);
        let launched = hipModuleLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, all, none);
        let ended = hipStreamSynchronize(stream);
        assert_eq!(hipStreamDestroy(stream), 0);
        if launched == 0 { ended } else { launched }
    }
}

/// Numbers of device memory.
pub fn numbers(at: Handle, count: usize) -> Vec<i32> {
    let mut all = vec![0i32; count];
    assert_eq!(unsafe { hipMemcpyDtoHAsync(all.as_mut_ptr().cast(), at, 4 * count, null_mut()) }, 0);
    all
}
