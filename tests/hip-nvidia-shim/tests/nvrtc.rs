//! Every kernel's text compiles for an NVIDIA GPU. nvrtc needs no GPU; without nvrtc nothing is compiled, loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the test's own calls of the interface")]

use hip_nvidia_shim::*;
use std::ffi::{CString, c_char};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As the HIP backend says it, for the chip that the shim would name.
const OPTIONS: [&str; 5] =
    ["-O3", "-ffast-math", "-fno-finite-math-only", "-std=c++17", "--offload-arch=sm_90"];

/// Bytes of code, or what the compiler says.
fn compile(stem: &str, text: &str) -> Result<usize, String> {
    let (text, name) = (CString::new(text).unwrap(), CString::new(format!("{stem}.hip")).unwrap());
    let options = OPTIONS.map(|option| CString::new(option).unwrap());
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let (mut program, mut bytes, none) = (null_mut(), 0, std::ptr::null());
    unsafe {
        assert_eq!(hiprtcCreateProgram(&mut program, text.as_ptr(), name.as_ptr(), 0, none, none), 0);
        let status = hiprtcCompileProgram(program, options.len() as i32, options.as_ptr());
        let outcome = if status == 0 {
            assert_eq!(hiprtcGetCodeSize(program, &mut bytes), 0);
            Ok(bytes)
        } else {
            hiprtcGetProgramLogSize(program, &mut bytes);
            let mut log = vec![0u8; bytes];
            hiprtcGetProgramLog(program, log.as_mut_ptr().cast());
            let log = String::from_utf8_lossy(&log).into_owned();
            let errors: Vec<&str> = log.lines().filter(|line| line.contains("error")).take(5).collect();
            Err(format!("{stem}: status {status}\n{}", errors.join("\n")))
        };
        hiprtcDestroyProgram(&mut program);
        outcome
    }
}

#[test]
fn every_text_compiles() {
    if !has_compiler() {
        eprintln!("LEFT OUT: no libnvrtc; HIPSHIM_NVRTC names its file");
        return;
    }
    // Each as the backend would have it compiled: in parts, where there are some.
    let texts: Vec<(String, String)> = weft_hip::stems()
        .flat_map(|stem| match weft_hip::parts(stem) {
            [] => vec![(stem.to_owned(), weft_hip::source_text(stem).unwrap())],
            parts => parts
                .iter()
                .map(|part| (format!("{stem}.{part}"), weft_hip::part_text(stem, part).unwrap()))
                .collect(),
        })
        .collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = std::time::Instant::now();
                    match compile(name, text) {
                        Ok(bytes) => println!("{name}: {bytes} bytes in {:.1?}", start.elapsed()),
                        Err(why) => failed.lock().unwrap().push(why),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), texts.len(), failed.join("\n"));
}

#[test]
fn code_for_another_chip_is_refused_by_its_number() {
    const NO_BINARY_FOR_GPU: i32 = 209;
    let mut image = [0u8; 64];
    image[..4].copy_from_slice(b"\x7fELF");
    image[18] = 0xe0;
    let mut module = null_mut();
    assert_eq!(unsafe { hipModuleLoadData(&mut module, image.as_ptr().cast()) }, NO_BINARY_FOR_GPU);
}
