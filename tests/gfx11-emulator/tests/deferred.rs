//! `WEFT_EMULATOR_DEFER=1`: work waits as long as streams allow, so that a host that does not wait is seen.

use std::env;
use std::ptr::null_mut;

use gfx11_emulator::hip::*;

fn ok(error: i32) {
    assert_eq!(error, 0);
}

/// The only test of this program: the variable is read once in a process.
#[test]
fn work_runs_when_somebody_waits_for_it() {
    // SAFETY: no other thread of this program reads or writes the environment.
    unsafe { env::set_var("WEFT_EMULATOR_DEFER", "1") };
    let (mut stream, mut event, mut device, mut locked) = (null_mut(), null_mut(), null_mut(), null_mut());
    let (ordinary, mut result) = ([1u8; 64], [0u8; 64]);
    // SAFETY: valid pointers and sizes throughout; the host writes only its own memory.
    unsafe {
        ok(hipStreamCreateWithFlags(&mut stream, 1));
        ok(hipEventCreateWithFlags(&mut event, 2));
        ok(hipMalloc(&mut device, 128));
        ok(hipHostMalloc(&mut locked, 64, 0));
        let source = locked.cast::<u8>();
        source.write_bytes(2, 64);
        ok(hipMemcpyHtoDAsync(device, ordinary.as_ptr().cast(), 64, stream));
        ok(hipMemcpyHtoDAsync(device.byte_add(64), locked, 64, stream));
        ok(hipEventRecord(event, stream));
        // Too early: the copy from page-locked memory has not run.
        source.write_bytes(3, 64);
        let answers: Vec<i32> = (0..4).map(|_| hipEventQuery(event)).collect();
        assert_eq!(answers, [600, 600, 600, 0]);
        for (from, wanted) in [(device, 1), (device.byte_add(64), 3)] {
            // A copy to ordinary memory waits.
            ok(hipMemcpyDtoHAsync(result.as_mut_ptr().cast(), from, 64, stream));
            assert_eq!(result, [wanted; 64]);
        }
        // A copy to page-locked memory does not, and a wait for the stream runs it.
        ok(hipMemcpyDtoHAsync(locked, device, 64, stream));
        assert_eq!((source.read(), hipStreamQuery(stream)), (3, 600));
        ok(hipStreamSynchronize(stream));
        assert_eq!((source.read(), hipStreamQuery(stream)), (1, 0));
        ok(hipHostFree(locked));
        ok(hipFree(device));
    }
    ok(hipEventDestroy(event));
    ok(hipStreamDestroy(stream));
}
