//! Choosing an adapter.

use weft_core::backend::{Backend, DeviceError};
use weft_tests::devices;
use weft_wgpu::{Bounds, Options, Wgpu, adapters};

fn refusal(options: &Options) -> String {
    match Wgpu::open(options) {
        Err(DeviceError::Unavailable { name, reason }) => format!("{name}: {reason}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it opened"),
    }
}

#[test]
fn an_unknown_adapter_is_refused_with_the_names_of_those_there_are() {
    let text = refusal(&Options { adapter: Some("abacus 3000".to_owned()), ..Options::default() });
    assert!(text.contains("`abacus 3000`"), "{text}");
    for found in adapters() {
        assert!(text.contains(&found.name), "{text}");
    }
    let text = refusal(&Options { adapter: Some("99".to_owned()), ..Options::default() });
    assert!(text.contains("`99`"), "{text}");
}

#[test]
fn a_software_adapter_is_taken_only_when_asked_for() {
    if adapters().iter().all(|found| found.software) {
        let text = refusal(&Options::default());
        assert!(text.contains("no GPU was found"), "{text}");
    }
}

#[test]
fn an_adapter_without_a_needed_limit_is_refused() {
    for found in adapters() {
        let adapter = Some(found.index.to_string());
        let bounds = [
            (Bounds { buffers: 7, ..Bounds::default() }, "7 storage buffers a kernel, 8 are needed"),
            (Bounds { invocations: 128, ..Bounds::default() }, "128 invocations a workgroup, 256 are needed"),
        ];
        for (bounds, want) in bounds {
            let text = refusal(&Options { adapter: adapter.clone(), bounds, ..Options::default() });
            assert!(text.contains(want) && text.contains(&found.name), "{text}");
        }
    }
}

#[test]
fn every_adapter_opens_and_tells_of_itself() {
    for gpu in devices::all_gpus() {
        let capabilities = gpu.capabilities();
        assert!(capabilities.largest_buffer.is_some_and(|bytes| bytes > 0));
        assert!(!capabilities.device.is_empty());
        gpu.self_test().unwrap();
    }
}
