//! GPUs through Vulkan, Metal or DirectX 12. Software adapters are taken only when asked for.

use super::{BackendOptions, Choice, Found, Kind, cache};
use std::sync::Arc;
use weft_core::backend::{Backend, DeviceError};
use weft_wgpu::{Options, Wgpu};

pub(super) const KIND: Kind = Kind { name: "wgpu", open, find };

fn open(choice: &Choice, options: &BackendOptions) -> Result<Arc<dyn Backend>, DeviceError> {
    let open = |adapter| Wgpu::open(&with(adapter, options));
    let opened = match choice {
        Choice::Automatic => open(None),
        // A software adapter, where there is nothing else. Looking for adapters starts every driver, so it is not done
        // before.
        Choice::Best => match open(None) {
            Err(none) if chose_nothing(&none) => match open(Some("0".to_owned())) {
                Err(again) if chose_nothing(&again) => Err(none),
                opened => opened,
            },
            opened => opened,
        },
        Choice::Index(index) => open(Some(index.to_string())),
        Choice::Named(part) => open(Some(part.clone())),
    };
    Ok(Arc::new(opened?))
}

/// Whether no adapter was chosen: a refusal of one names it behind the backend.
fn chose_nothing(error: &DeviceError) -> bool {
    matches!(error, DeviceError::Unavailable { name, .. } if name == KIND.name)
}

fn with(adapter: Option<String>, options: &BackendOptions) -> Options {
    let progress = options.shaders.clone().map(|progress| progress.0);
    let (name, repack, profile) = (KIND.name.to_owned(), options.repack, options.profile.clone());
    Options { name, adapter, repack, profile, cache: cache(), progress, ..Options::default() }
}

fn find(options: &BackendOptions) -> Vec<Found> {
    let tested = |found: weft_wgpu::Found| {
        let mut detail = vec![("driver".to_owned(), found.driver)];
        detail.extend(found.detail);
        let opened = Wgpu::open(&with(Some(found.index.to_string()), options));
        let opened = opened.as_ref().map(|gpu| gpu as &dyn Backend).map_err(DeviceError::clone);
        Found::of(KIND.name, (found.index, found.name), detail, opened, options)
    };
    let all: Vec<Found> = weft_wgpu::adapters().into_iter().map(tested).collect();
    if all.is_empty() {
        let why = "no adapter: is a driver for Vulkan, Metal or DirectX 12 installed?";
        return vec![Found::none(KIND.name, why)];
    }
    all
}
