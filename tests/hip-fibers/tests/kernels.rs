//! Small kernels: what must run, and what must be stopped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the test's own calls of the interface")]

mod support;

use support::{has_compiler, kernel, launch, memory, numbers};

const ARGUMENTS: &str = "struct out_args { int *out; };\n";
const LAUNCH_FAILURE: i32 = 719;

/// Runs one block of `threads` of a kernel with this body.
fn run(body: &str, threads: u32, count: usize) -> Result<Vec<i32>, i32> {
    let function = kernel(&format!("{ARGUMENTS}PK_KERNEL(k, 1024, out_args) {{ {body} }}"), "k");
    let out = memory(4 * count);
    match launch(function, 1, threads, out) {
        0 => Ok(numbers(out, count)),
        status => Err(status),
    }
}

#[test]
fn lanes_exchange_and_waves_wait() {
    if !has_compiler() {
        return;
    }
    let body = "
        PK_LDS int room[1024];
        int sum = pk_tid() & 31;
        sum += pk_xor<1>(sum); sum += pk_xor<2>(sum); sum += pk_xor<4>(sum); sum += pk_xor<8>(sum); sum += pk_xor<16>(sum);
        room[pk_tid()] = sum + pk_tid();
        pk_sync();
        p.out[pk_tid()] = room[1023 - pk_tid()] + pk_shuffle(pk_tid(), 5);";
    let expected = (0..1024).map(|i| 496 + 1023 - i + i / 32 * 32 + 5).collect();
    assert_eq!(run(body, 1024, 1024), Ok(expected));
}

#[test]
fn every_block_runs_once() {
    if !has_compiler() {
        return;
    }
    let text = format!(
        "{ARGUMENTS}PK_KERNEL(k, 64, out_args) {{ p.out[pk_bx() * 64 + pk_tid()] = pk_bx() + pk_tid(); pk_sync(); }}"
    );
    let (function, out) = (kernel(&text, "k"), memory(4 * 64 * 1000));
    assert_eq!(launch(function, 1000, 64, out), 0);
    assert_eq!(numbers(out, 64_000), (0..64_000).map(|i| i / 64 + i % 64).collect::<Vec<_>>());
}

#[test]
fn what_nothing_wrote_is_nan() {
    if !has_compiler() {
        return;
    }
    let body =
        "PK_LDS float room[32]; p.out[32 + pk_tid()] = room[pk_tid()] == room[pk_tid()]; room[pk_tid()] = 1;";
    for _ in 0..2 {
        let out = run(body, 32, 64).unwrap();
        assert!(out[..32].iter().all(|x| *x == -1), "memory");
        assert!(out[32..].iter().all(|x| *x == 0), "workgroup memory");
    }
}

#[test]
fn threads_that_part_are_stopped() {
    if !has_compiler() {
        return;
    }
    let faults = [
        "if (pk_tid() < 32) pk_sync();",
        "if (pk_tid() & 1) pk_shuffle(1, 0);",
        "if (pk_tid() & 1) pk_sync(); else pk_shuffle(1, 0);",
        "if (pk_tid() & 1)\n pk_sync();\n else\n pk_sync();",
        "for (int i = 0; i < pk_tid(); i++) pk_wave_sync();",
    ];
    for body in faults {
        assert_eq!(run(body, 64, 64), Err(LAUNCH_FAILURE), "{body}");
    }
    // Stacks of threads that were left are used again.
    assert_eq!(run("pk_sync(); p.out[pk_tid()] = 7;", 64, 64), Ok(vec![7; 64]));
}

#[test]
fn memory_that_is_not_there_is_a_failed_launch() {
    if !has_compiler() {
        return;
    }
    let faults = [
        "if (pk_tid() == 5) *(volatile int *)16 = 1;",
        "pk_sync(); p.out[1l << 36] = 1;",
        "volatile int none = 0; p.out[0] = pk_tid() / none;",
        "volatile char large[1 << 18]; for (int i = (1 << 18) - 1; i >= 0; i--) large[i] = 1; pk_sync(); p.out[0] = large[0];",
    ];
    for body in faults {
        assert_eq!(run(body, 64, 64), Err(LAUNCH_FAILURE), "{body}");
    }
}

#[test]
fn launches_beyond_what_a_kernel_declares_are_refused() {
    if !has_compiler() {
        return;
    }
    let text = format!("{ARGUMENTS}PK_KERNEL(k, 64, out_args) {{ p.out[0] = 1; }}");
    let (function, out) = (kernel(&text, "k"), memory(4));
    assert_eq!(launch(function, 1, 64, out), 0);
    for (blocks, threads) in [(1, 96), (1, 33), (0, 64), (1, 0)] {
        assert_ne!(launch(function, blocks, threads, out), 0, "{blocks} blocks of {threads}");
    }
}
