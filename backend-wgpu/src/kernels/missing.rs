//! What a device lacks for the variants that it cannot run: found by asking the variants' own conditions, which stand nowhere
//! else.

use super::{Variant, variants};
use crate::adapter::Caps;
use weft_core::backend::Missing;

/// A feature by name, and how a device would be with it.
type Wish = (&'static str, fn(&mut Caps));

/// Features that variants ask for, beyond the least that every device has.
const WISHES: [Wish; 4] = [
    ("subgroups of 32 invocations", |caps| caps.subgroups = Some((32, 32))),
    ("16-bit floats", |caps| caps.half = true),
    ("cooperative matrices", |caps| caps.matrices = true),
    ("48 KiB of workgroup memory", |caps| caps.workgroup_bytes = caps.workgroup_bytes.max(48 << 10)),
];

/// Variants that a device cannot run, each with the fewest features that it lacks.
pub(crate) fn missing(caps: &Caps) -> Vec<Missing> {
    let lacking = |variant: &Variant| !(variant.runs_on)(caps);
    let told = |variant: &Variant| Missing {
        kernel: variant.stem,
        variant: variant.name,
        needs: needs(variant, caps),
    };
    variants().filter(|variant| lacking(variant)).map(told).collect()
}

/// The fewest wishes with which a variant would run.
fn needs(variant: &Variant, caps: &Caps) -> Vec<&'static str> {
    let mut sets: Vec<u32> = (1..1 << WISHES.len()).collect();
    sets.sort_by_key(|set| set.count_ones());
    let chosen =
        |set: u32| WISHES.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1).map(|(_, w)| w);
    let enough = sets.into_iter().find(|set| {
        let mut wished = *caps;
        chosen(*set).for_each(|(_, grant)| grant(&mut wished));
        (variant.runs_on)(&wished)
    });
    enough.map_or_else(Vec::new, |set| chosen(set).map(|(name, _)| *name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn caps() -> Caps {
        Caps {
            subgroups: None,
            half: false,
            matrices: false,
            binding: 128 << 20,
            buffers: 8,
            invocations: 256,
            workgroup_bytes: 16_384,
            timestamps: false,
        }
    }

    #[test]
    fn every_variant_that_the_least_device_lacks_is_told_with_what_it_needs() {
        let all = missing(&caps());
        assert!(all.iter().all(|missing| !missing.needs.is_empty()), "{all:?}");
        let needed: BTreeSet<_> = all.iter().flat_map(|missing| &missing.needs).collect();
        assert_eq!(needed.len(), WISHES.len(), "a wish that no variant has: {needed:?}");
        let products = all.iter().find(|m| (m.kernel, m.variant) == ("mul_mat", "bytes"));
        assert_eq!(products.map(|m| m.needs.as_slice()), Some(&["subgroups of 32 invocations"][..]));
    }

    #[test]
    fn a_device_with_all_features_lacks_nothing() {
        let mut full = caps();
        WISHES.iter().for_each(|(_, grant)| grant(&mut full));
        assert_eq!(missing(&full), []);
    }
}
