//! The plan hash: FNV-1a over everything that a run could notice, nothing that it could not.

use super::{Place, Plan};
use crate::contract::Constant;
use crate::graph::Layout;
use std::collections::HashMap;

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    fn number(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    fn layout(&mut self, layout: &Layout) {
        self.text(layout.dtype.name());
        layout.shape.iter().chain(&layout.strides).for_each(|n| self.number(*n));
        self.number(layout.offset);
    }
}

/// The hash of a plan's launches. Storages count by order of appearance, so views and names do not matter.
pub(super) fn hash(plan: &Plan) -> u64 {
    let mut h = Fnv(0xcbf2_9ce4_8422_2325);
    let mut seen = HashMap::new();
    for device in &plan.devices {
        h.text(&device.name);
        h.number(device.arena_bytes);
    }
    for dispatch in &plan.dispatches {
        h.text(dispatch.kernel);
        h.text(dispatch.variant);
        h.number(dispatch.device as u64);
        h.number(u64::from(dispatch.phase));
        for (name, value) in dispatch.constants.iter() {
            h.text(name);
            match value {
                Constant::Float(v) => h.number(u64::from(v.to_bits())),
                Constant::Integer(v) => h.number(u64::from(v) | 1 << 40),
            }
        }
        for binding in &dispatch.bindings {
            let Some(binding) = binding else {
                h.number(u64::MAX);
                continue;
            };
            let count = seen.len() as u64;
            h.number(*seen.entry(binding.tensor.storage).or_insert(count));
            h.layout(&binding.tensor.layout);
            match plan.devices[dispatch.device].places[binding.tensor.storage.index()] {
                Some(Place::Arena(offset)) => h.number(offset),
                Some(Place::Input(offset)) => h.number(offset | 1 << 62),
                Some(Place::Own) | None => h.number(1 << 63),
            }
        }
    }
    for transfer in plan.splits.iter().flat_map(|s| &s.copies).chain(&plan.last_copies) {
        h.number((transfer.from as u64) << 32 | transfer.to as u64);
        h.layout(&transfer.layout);
    }
    h.0
}
