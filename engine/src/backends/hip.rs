//! AMD GPUs through the HIP runtime.

use super::{BackendOptions, Choice, Found, Kind, cache};
use std::sync::Arc;
use weft_core::backend::{Backend, DeviceError};
use weft_hip::{Hip, Options};

pub(super) const KIND: Kind = Kind { name: "hip", open, find };

fn open(choice: &Choice, options: &BackendOptions) -> Result<Arc<dyn Backend>, DeviceError> {
    let device = match choice {
        Choice::Automatic | Choice::Best => None,
        Choice::Index(index) => Some(index.to_string()),
        Choice::Named(part) => Some(part.clone()),
    };
    Ok(Arc::new(Hip::open(&with(device, options))?))
}

fn with(device: Option<String>, options: &BackendOptions) -> Options {
    let progress = options.shaders.clone().map(|progress| progress.0);
    let (repack, graphs, profile) = (options.repack, options.hip_graph, options.profile.clone());
    Options { device, repack, graphs, profile, cache: cache(), progress, ..Options::default() }
}

fn find(options: &BackendOptions) -> Vec<Found> {
    let all = match weft_hip::devices(&with(None, options)) {
        Ok(all) => all,
        Err(error) => return vec![Found::none(KIND.name, error)],
    };
    let tested = |found: weft_hip::Found| {
        let mut detail =
            vec![("architecture".to_owned(), found.architecture), ("driver".to_owned(), found.driver)];
        detail.extend(found.detail);
        let opened = Hip::open(&with(Some(found.index.to_string()), options));
        let opened = opened.as_ref().map(|hip| hip as &dyn Backend).map_err(DeviceError::clone);
        Found::of(KIND.name, (found.index, found.name), detail, opened, options)
    };
    all.into_iter().map(tested).collect()
}
