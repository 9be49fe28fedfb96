//! The address sanitizer sees a kernel leave a block of memory. It must be in the process from its start, so the test runs
//! itself anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the test's own calls of the interface")]

mod support;

use std::process::Command;
use support::{has_compiler, kernel, launch, memory};

/// The program that is sanitized: a kernel writes to `out[INDEX]`, which may be one too far. The other tests run it in a
/// process of its own and say where; without that there is nothing to write.
#[test]
fn writes_where_it_is_told() {
    let Ok(index) = std::env::var("INDEX") else { return };
    let text = format!(
        "struct out_args {{ int *out; }}; PK_KERNEL(k, 64, out_args) {{ pk_sync(); if (pk_tid() == 3) p.out[{index}] = 1; pk_sync(); }}"
    );
    assert_eq!(launch(kernel(&text, "k"), 1, 64, memory(40)), 0);
}

/// What that program prints, and whether it ends well.
fn sanitized(index: &str) -> Option<(bool, String)> {
    let runtime =
        Command::new("clang++-19").arg("-print-file-name=libclang_rt.asan-x86_64.so").output().ok()?.stdout;
    let runtime = String::from_utf8(runtime).unwrap().trim().to_owned();
    std::path::Path::new(&runtime).exists().then_some(())?;
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writes_where_it_is_told", "--nocapture"])
        .env("LD_PRELOAD", runtime)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .env("HIP_FIBERS_SANITIZE", "1")
        .env("INDEX", index)
        .output()
        .unwrap();
    Some((ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned()))
}

#[test]
fn sees_the_first_byte_too_far() {
    if !has_compiler() {
        return;
    }
    let Some((inside, said)) = sanitized("9") else {
        eprintln!("LEFT OUT: clang-19 has no address sanitizer here");
        return;
    };
    assert!(inside, "{said}");
    let (outside, said) = sanitized("10").unwrap();
    assert!(!outside && said.contains("heap-buffer-overflow"), "{said}");
}
