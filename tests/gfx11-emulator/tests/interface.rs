//! The host's path through the C interface: load, copy, launch, record, replay, and the errors on the way.

mod support;

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::Mutex;

use gfx11_emulator::fault::FaultKind;
use gfx11_emulator::hip::*;
use support::*;

/// The interface has one device and one last fault in a process.
static ALONE: Mutex<()> = Mutex::new(());

fn ok(error: i32) {
    assert_eq!(error, 0);
}

fn load(object: &[u8]) -> (i32, Handle) {
    let mut module = null_mut();
    // SAFETY: the image is whole.
    (unsafe { hipModuleLoadData(&mut module, object.as_ptr().cast()) }, module)
}

fn function(module: Handle, name: &CStr) -> Result<Handle, i32> {
    let mut function = null_mut();
    // SAFETY: valid pointers.
    match unsafe { hipModuleGetFunction(&mut function, module, name.as_ptr()) } {
        0 => Ok(function),
        error => Err(error),
    }
}

fn device_copy(data: &[f32], stream: Handle) -> Handle {
    let mut at = null_mut();
    // SAFETY: valid pointers and sizes.
    unsafe {
        ok(hipMalloc(&mut at, size_of_val(data)));
        ok(hipMemcpyHtoDAsync(at, data.as_ptr().cast(), size_of_val(data), stream));
    }
    at
}

fn read_back(at: Handle, count: usize, stream: Handle) -> Vec<f32> {
    let mut data = vec![0f32; count];
    // SAFETY: valid pointers and sizes.
    ok(unsafe { hipMemcpyDtoHAsync(data.as_mut_ptr().cast(), at, 4 * count, stream) });
    ok(hipStreamSynchronize(stream));
    data
}

fn launch(
    function: Handle,
    groups: u32,
    threads: u32,
    stream: Handle,
    from: Handle,
    to: Handle,
    count: i32,
) -> i32 {
    let (mut from, mut to, mut count) = (from, to, count);
    let mut parameters: [*mut c_void; 3] =
        [(&raw mut from).cast(), (&raw mut to).cast(), (&raw mut count).cast()];
    // SAFETY: a pointer for each of the three arguments.
    unsafe {
        hipModuleLaunchKernel(
            function,
            groups,
            1,
            1,
            threads,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
            null_mut(),
        )
    }
}

#[test]
fn the_device_says_what_it_is() {
    let _alone = ALONE.lock();
    let (mut count, mut value, mut bytes) = (0, 0, 0usize);
    let mut properties = [0xaau8; 4096];
    // SAFETY: valid pointers, and room for the properties.
    unsafe {
        ok(hipInit(0));
        ok(hipGetDeviceCount(&mut count));
        for (attribute, wanted) in [(63, 20), (87, 32), (74, 65536), (56, 1024), (16, 1), (23, 11), (61, 5)] {
            ok(hipDeviceGetAttribute(&mut value, attribute, 0));
            assert_eq!(value, wanted, "attribute {attribute}");
        }
        assert_eq!(hipDeviceGetAttribute(&mut value, 123_456, 0), 1);
        ok(hipDeviceTotalMem(&mut bytes, 0));
        ok(hipGetDevicePropertiesR0600(properties.as_mut_ptr().cast(), 0));
        assert_eq!(hipGetDeviceCount(null_mut()), 1);
    }
    assert_eq!((count, bytes), (1, 8 << 30));
    assert_eq!(CStr::from_bytes_until_nul(&properties).unwrap(), c"weft gfx11 emulator");
    assert_eq!(CStr::from_bytes_until_nul(&properties[1160..]).unwrap(), c"gfx1151");
    assert_eq!(properties[288..296], (8u64 << 30).to_le_bytes());
    assert_eq!(properties[1472], 0xaa);
    assert_eq!((hipSetDevice(0), hipSetDevice(1)), (0, 101));
    assert_eq!((hipGetLastError(), hipGetLastError()), (101, 0));
    // SAFETY: names are static.
    assert_eq!(unsafe { CStr::from_ptr(hipGetErrorName(719)) }, c"hipErrorLaunchFailure");
}

#[test]
fn errors_are_those_of_the_real_runtime() {
    if !is_ready() {
        return;
    }
    let _alone = ALONE.lock();
    let text = "extern \"C\" __attribute__((global)) void k(int *o) { *o = 1; }";
    assert_eq!(load(&compile_text(text, "gfx1100", &[])).0, 209);
    assert_eq!(load(&[0; 64]).0, 200);
    let (loaded, module) = load(&compile("waves.hip", &FAST));
    ok(loaded);
    assert_eq!(function(module, c"absent").unwrap_err(), 500);
    let blocksum = function(module, c"blocksum").unwrap();
    let (mut host, mut value, mut device) = (null_mut(), 0, null_mut());
    // SAFETY: valid pointers; device memory is never touched by the host.
    unsafe {
        ok(hipFuncGetAttribute(&mut value, 0, blocksum));
        assert_eq!(value, 256);
        ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut value, blocksum, 256, 0));
        assert_eq!(value, 8);
        ok(hipHostMalloc(&mut host, 64, 0));
        assert_eq!(hipMemcpyDtoHAsync(host, host, 64, null_mut()), 1);
        ok(hipMalloc(&mut device, 64));
        assert_eq!(hipMemcpyHtoDAsync(device, host, 65, null_mut()), 1);
        assert_eq!(hipMalloc(&mut device, 9 << 30), 2);
        ok(hipFree(device));
        assert_eq!(hipFree(device), 1);
        ok(hipHostFree(host));
    }
    assert_eq!(hipStreamSynchronize(7 as Handle), 400);
    assert_eq!(hipEventQuery(module), 400);
    ok(hipModuleUnload(module));
    assert_eq!(hipModuleUnload(module), 400);
}

#[test]
fn a_sum_goes_through_a_stream_and_a_graph_and_not_through_host_memory() {
    if !is_ready() {
        return;
    }
    let _alone = ALONE.lock();
    let (loaded, module) = load(&compile("waves.hip", &FAST));
    ok(loaded);
    let blocksum = function(module, c"blocksum").unwrap();
    let x = Random(1).floats(2 * 1024);
    let wanted: Vec<f64> = x.chunks(1024).map(|block| block.iter().map(|x| f64::from(*x)).sum()).collect();
    let is_right = |found: &[f32]| max_error(found, &wanted) < 1e-4;
    let (mut stream, mut graph, mut executable, mut host) = (null_mut(), null_mut(), null_mut(), null_mut());
    let (mut events, mut milliseconds) = ([null_mut(); 2], -1f32);
    // SAFETY: valid pointers and sizes throughout.
    unsafe {
        ok(hipStreamCreateWithFlags(&mut stream, 1));
        for event in &mut events {
            ok(hipEventCreateWithFlags(event, 0));
        }
        let (input, output) = (device_copy(&x, stream), device_copy(&[0f32; 2], stream));
        ok(hipEventRecord(events[0], stream));
        ok(launch(blocksum, 2, 256, stream, input, output, 1024));
        ok(hipEventRecord(events[1], stream));
        assert!(is_right(&read_back(output, 2, stream)));
        ok(hipEventSynchronize(events[1]));
        ok(hipEventElapsedTime(&mut milliseconds, events[0], events[1]));
        assert!(milliseconds > 0.0);

        // Recorded work runs only when the graph is launched.
        ok(hipStreamBeginCapture(stream, 1));
        ok(hipMemsetAsync(output, 0, 8, stream));
        ok(launch(blocksum, 2, 256, stream, input, output, 1024));
        assert_eq!(hipStreamSynchronize(stream), 900);
        ok(hipStreamEndCapture(stream, &mut graph));
        ok(hipGraphInstantiate(&mut executable, graph, null_mut(), null_mut(), 0));
        ok(hipMemsetD32Async(output, -1, 2, stream));
        assert!(read_back(output, 2, stream).iter().all(|x| x.is_nan()));
        ok(hipGraphLaunch(executable, stream));
        assert!(is_right(&read_back(output, 2, stream)));
        ok(hipGraphExecDestroy(executable));
        ok(hipGraphDestroy(graph));

        ok(hipHostMalloc(&mut host, 2 * 1024 * 4, 0));
        assert_eq!(launch(blocksum, 2, 256, stream, host, output, 1024), 719);
        assert!(matches!(last_fault().unwrap().kind, FaultKind::HostMemory { .. }));
        let mut text = [1i8; 32];
        let length = gfx11EmulatorLastFault(text.as_mut_ptr().cast(), text.len());
        assert!(length > 32 && text[31] == 0);
        assert_eq!(launch(blocksum, 2, 512, stream, input, output, 1024), 719);
        ok(hipHostFree(host));
        ok(hipFree(input));
        ok(hipFree(output));
    }
    ok(hipStreamDestroy(stream));
    ok(hipModuleUnload(module));
}
