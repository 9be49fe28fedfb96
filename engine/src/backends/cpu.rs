//! The CPU: one device, always there.

use super::{BackendOptions, Choice, Found, Kind};
use std::sync::Arc;
use weft_core::backend::{Backend, DeviceError};

pub(super) const KIND: Kind = Kind { name: "cpu", open, find };

fn open(choice: &Choice, options: &BackendOptions) -> Result<Arc<dyn Backend>, DeviceError> {
    let asked = match choice {
        Choice::Automatic | Choice::Best | Choice::Index(0) => None,
        Choice::Index(index) => Some(index.to_string()),
        Choice::Named(part) => Some(part.clone()),
    };
    if let Some(asked) = asked {
        let (name, reason) = (format!("cpu:{asked}"), "the CPU is a single device".to_owned());
        return Err(DeviceError::Unavailable { name, reason });
    }
    let (threads, profile) = (options.threads, options.profile.clone());
    let options = weft_cpu::Options { threads, profile, ..weft_cpu::Options::default() };
    Ok(Arc::new(weft_cpu::Cpu::open(&options)?))
}

fn find(options: &BackendOptions) -> Vec<Found> {
    let found = match open(&Choice::Best, options) {
        Ok(cpu) => {
            let name = cpu.capabilities().device.clone();
            Found::of(KIND.name, (0, name), Vec::new(), Ok(&*cpu), options)
        }
        Err(error) => Found::none(KIND.name, error),
    };
    vec![found]
}
