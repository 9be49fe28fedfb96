//! A machine without a runtime, without a GPU, or with something else under the runtime's name.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft::backends::{BackendOptions, open};
use weft_core::backend::{Backend, DeviceError};
use weft_hip::{Hip, Options, devices};
use weft_tests::submissions;

fn reason_of(options: &Options) -> String {
    match Hip::open(options).map(|_| ()) {
        Err(DeviceError::Unavailable { name, reason }) => {
            assert!(name.starts_with("hip"), "{name}");
            reason
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_library_is_an_error_that_says_what_was_looked_for() {
    let options = Options { library: Some("/nowhere/libamdhip64.so".into()), ..Options::default() };
    let reason = reason_of(&options);
    assert!(reason.contains("libamdhip64.so") && reason.contains("HIP_PATH"), "{reason}");
    assert!(devices(&options).is_err());
}

#[test]
fn a_library_without_the_functions_is_an_error_that_names_the_first() {
    // Some library that every Linux has.
    let found = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6"];
    let Some(library) = found.into_iter().map(PathBuf::from).find(|file| file.exists()) else {
        panic!("no libm.so.6 where it is looked for");
    };
    let reason = reason_of(&Options { library: Some(library), ..Options::default() });
    assert!(reason.contains("libm.so.6 has no function hip"), "{reason}");
}

#[test]
fn a_runtime_without_a_device_is_an_error() {
    // AMD's own library from a distribution, if it is installed; a machine with a GPU has nothing to show here.
    let library = PathBuf::from("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5");
    if !library.exists() || PathBuf::from("/dev/kfd").exists() {
        let required = weft_tests::devices::required().iter().any(|name| name == "hip");
        assert!(!required || PathBuf::from("/dev/kfd").exists(), "libamdhip64-5 is not installed");
        eprintln!("left out: AMD's runtime without a GPU");
        return;
    }
    let reason = reason_of(&Options { library: Some(library), ..Options::default() });
    assert!(reason.contains("NoDevice") || reason.contains("no device"), "{reason}");
}

#[test]
fn without_a_runtime_the_next_backend_is_taken() {
    if !weft_tests::hip::real().is_empty() {
        eprintln!("left out: this machine has a runtime");
        return;
    }
    let opened = open("auto", &BackendOptions::default()).unwrap();
    assert_ne!(opened[0].name(), "hip");
    let error = open("hip", &BackendOptions::default()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("backend `hip` is not available"), "{error}");
}

#[test]
fn an_unknown_device_is_refused_with_those_that_exist() {
    for (number, gpu) in crate::all().iter().enumerate() {
        let asked = |device: &str| {
            let change = |options: &mut Options| options.device = Some(device.to_owned());
            weft_tests::hip::all_options(change).into_iter().nth(number).map(|options| reason_of(&options))
        };
        let known = gpu.capabilities().device.split(" (").next().unwrap_or_default().to_owned();
        for device in ["7", "voodoo"] {
            let reason = asked(device).unwrap();
            assert!(reason.contains(device) && reason.contains(&known), "{reason}");
        }
    }
}

/// How many times each device made a kernel's code while this many threads ran one plan at the same time.
fn made(threads: usize) -> Vec<usize> {
    let cache = std::env::temp_dir().join(format!("weft-loading-{}-{threads}", std::process::id()));
    let counts = Arc::new(AtomicUsize::new(0));
    let mut all = Vec::new();
    for options in weft_tests::hip::all_options(|_| {}) {
        counts.store(0, Ordering::Relaxed);
        let counted = Arc::clone(&counts);
        let progress = move |_, _| {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let options = Options { cache: Some(cache.clone()), progress: Some(Arc::new(progress)), ..options };
        let gpu = Hip::open(&options).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| submissions::own_their_inputs(&gpu));
            }
        });
        all.push(counts.load(Ordering::Relaxed));
    }
    std::fs::remove_dir_all(cache).unwrap_or_default();
    all
}

#[test]
fn threads_that_need_the_same_code_at_a_time_make_it_once() {
    assert_eq!(made(4), made(1));
}
