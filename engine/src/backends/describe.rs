//! What an open device says of itself: what it is, and what it leaves to other variants and devices.

use serde::Serialize;
use weft_core::backend::{Backend, Offer};
use weft_core::kernels;
use weft_core::rules::FUSED;

/// An open device that has passed its self-test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceReport {
    /// The device in words.
    pub device: String,
    /// Bytes of memory that are free, if the device tells.
    pub memory_free: Option<u64>,
    /// Bytes of the largest buffer, if that is limited.
    pub largest_buffer: Option<u64>,
    /// Features in use.
    pub features: Vec<String>,
    /// Whether tokens are sampled here by default.
    pub samples: bool,
    /// Every kernel of weft.
    pub kernels: Vec<KernelReport>,
}

/// What a device has of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// The kernel's stem.
    pub kernel: &'static str,
    /// Variants offered: the first that admits the operands is taken.
    pub variants: Vec<VariantReport>,
    /// Variants that this device cannot run: the next of those offered takes over.
    pub missing: Vec<MissingReport>,
    /// Where the kernel is not here at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent: Option<AbsentReport>,
}

/// A variant that is offered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantReport {
    /// Its name.
    pub variant: &'static str,
    /// Whether it computes in f32 or better throughout.
    pub exact: bool,
}

/// A variant that is not offered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingReport {
    /// Its name.
    pub variant: &'static str,
    /// The features that the device lacks.
    pub needs: Vec<&'static str>,
}

/// A kernel that a device does not have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AbsentReport {
    /// What is done in its place: `parts`, the kernels that it joins, or `next device`.
    pub instead: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// What an open device says of itself.
pub fn describe(backend: &dyn Backend) -> DeviceReport {
    let has = backend.capabilities();
    DeviceReport {
        device: has.device.clone(),
        memory_free: backend.free_memory(),
        largest_buffer: has.largest_buffer,
        features: has.features.clone(),
        samples: has.prefers_device_sampling,
        kernels: kernels::ALL.iter().map(|kernel| kernel_of(backend, kernel.contract.kernel)).collect(),
    }
}

fn kernel_of(backend: &dyn Backend, stem: &'static str) -> KernelReport {
    let offered = |offer: &&Offer| offer.contract.kernel == stem;
    let variant = |offer: &Offer| VariantReport { variant: offer.variant, exact: offer.exact };
    let variants: Vec<_> = backend.offers().iter().filter(offered).map(variant).collect();
    let missing = backend.capabilities().missing.iter().filter(|missing| missing.kernel == stem);
    let missing =
        missing.map(|missing| MissingReport { variant: missing.variant, needs: missing.needs.clone() });
    let absent = variants.is_empty().then(|| {
        let contract = kernels::by_stem(stem).map(|kernel| kernel.contract);
        let known = contract.and_then(|c| c.absent.iter().find(|absent| absent.backend == backend.name()));
        // A claim of several nodes stays on the first device: there its parts run one by one.
        let fused = FUSED.iter().any(|rule| rule.kernel == stem);
        AbsentReport {
            instead: if fused { "parts" } else { "next device" },
            reason: known.map_or("it is not offered", |absent| absent.reason),
        }
    });
    KernelReport { kernel: stem, variants, missing: missing.collect(), absent }
}
