//! An open device for people: what it is, and what it leaves to other variants and devices.

use weft_core::backend::{Backend, Offer};
use weft_core::kernels;

/// What an open device says of itself: memory, features, kernels; of each kernel with several variants their order, of each
/// that it lacks the reason.
pub fn describe(backend: &dyn Backend) -> Vec<(String, String)> {
    let has = backend.capabilities();
    let known = |bytes: Option<u64>, unknown: &str| bytes.map_or_else(|| unknown.to_owned(), in_words);
    let mut all = vec![
        ("memory".to_owned(), known(has.memory, "not known")),
        ("largest buffer".to_owned(), known(has.largest_buffer, "no limit")),
        (
            "features".to_owned(),
            if has.features.is_empty() { "none".to_owned() } else { has.features.join(", ") },
        ),
        ("sampling".to_owned(), if has.prefers_device_sampling { "here" } else { "on the host" }.to_owned()),
    ];
    let offers = |stem: &str| -> Vec<&Offer> {
        backend.offers().iter().filter(|offer| offer.contract.kernel == stem).collect()
    };
    let missing: Vec<_> = kernels::ALL.iter().filter(|k| offers(k.contract.kernel).is_empty()).collect();
    let count = kernels::ALL.len();
    all.push(("kernels".to_owned(), format!("{} of {count}", count - missing.len())));
    for kernel in kernels::ALL {
        let stem = kernel.contract.kernel;
        let variants = offers(stem);
        if variants.len() > 1 {
            let name = |offer: &&Offer| match offer.exact {
                true => offer.variant.to_owned(),
                false => format!("{} (rounds)", offer.variant),
            };
            let order: Vec<String> = variants.iter().map(name).collect();
            all.push((stem.to_owned(), order.join(", else ")));
        }
    }
    for kernel in missing {
        let absent = kernel.contract.absent.iter().find(|absent| absent.backend == backend.name());
        let reason = absent.map_or("it is not offered", |absent| absent.reason);
        all.push((kernel.contract.kernel.to_owned(), format!("on the next device: {reason}")));
    }
    all
}

fn in_words(bytes: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{:.2} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} B"),
    }
}
