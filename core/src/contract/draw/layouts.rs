//! Layouts of a shape within a port's demands on strides and alignment.

use super::extents::{exceeds_one, lcm};
use super::{Source, stricter};
use crate::contract::{Access, Contract, Port, Quantity, Stride};
use crate::graph::{DType, Layout};

/// How a dimension lies relative to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StrideClass {
    /// Without gap after the dimensions below.
    Packed,
    /// With a gap: the view of a wider row.
    Wider,
    /// Inside a lower dimension: the view of a transposed tensor.
    Permuted,
    /// Not a whole number of elements.
    Odd,
    /// Less than what lies inside: neighbours share bytes.
    Overlapping,
    /// Zero: one row seen many times.
    Broadcast,
}

/// The class of a dimension; `None` where it is never stepped along.
pub fn class_of(layout: &Layout, dim: usize) -> Option<StrideClass> {
    let counts = counts(layout);
    let stride = layout.strides[dim];
    if counts[dim] <= 1 {
        return None;
    }
    let unit = layout.dtype.block_bytes();
    let inside = |other: &usize| (layout.strides[*other], *other) < (stride, dim) && counts[*other] > 1;
    let span: u64 = (0..4).filter(inside).map(|other| (counts[other] - 1) * layout.strides[other]).sum();
    let swapped = (0..dim).any(|lower| counts[lower] > 1 && layout.strides[lower] > stride);
    Some(if stride == 0 {
        StrideClass::Broadcast
    } else if !stride.is_multiple_of(unit) {
        StrideClass::Odd
    } else if stride < span + unit {
        StrideClass::Overlapping
    } else if swapped {
        StrideClass::Permuted
    } else if stride == layout.packed_stride(dim) {
        StrideClass::Packed
    } else {
        StrideClass::Wider
    })
}

/// The classes that a dimension of a port can have: none where its extent is always one.
pub fn classes(contract: &Contract, port: usize, dim: usize) -> Vec<StrideClass> {
    let drawn = &contract.ports[port];
    let free = free_from(drawn);
    let exceeds = |dim: &usize| exceeds_one(contract, drawn.shape[*dim]);
    let mut all = Vec::new();
    if !exceeds(&dim) || drawn.dtypes.is_empty() {
        return all;
    }
    let stride = drawn.strides[dim];
    if !matches!(stride, Stride::Between(..)) {
        all.push(StrideClass::Packed);
    }
    if matches!(stride, Stride::Packed | Stride::Between(..)) {
        return all;
    }
    all.push(StrideClass::Wider);
    if (free..dim).any(|lower| exceeds(&lower)) {
        all.push(StrideClass::Permuted);
    }
    let split = |dtype: &DType| !drawn.alignment.is_multiple_of(dtype.block_bytes());
    let odd = !matches!(stride, Stride::MultipleOf(_)) && !whole(contract, drawn.name)[dim];
    if odd && drawn.dtypes.iter().any(split) {
        all.push(StrideClass::Odd);
    }
    if stride == Stride::Any && drawn.access == Access::Read {
        if (0..dim).any(|lower| exceeds(&lower)) {
            all.push(StrideClass::Overlapping);
        }
        all.push(StrideClass::Broadcast);
    }
    all
}

/// Dimensions below this one have the strides of a packed tensor.
fn free_from(port: &Port) -> usize {
    port.strides.iter().rposition(|stride| *stride == Stride::Packed).map_or(0, |dim| dim + 1)
}

/// Dimensions of a port whose stride becomes a constant, which counts whole elements.
pub(super) fn whole(contract: &Contract, port: &str) -> [bool; 4] {
    std::array::from_fn(|dim| {
        contract.derived.iter().any(|d| d.port == port && d.quantity == Quantity::Stride(dim))
    })
}

/// The demands of two ports on one tensor.
pub(super) fn both(a: Port, b: &Port) -> Port {
    let strides = std::array::from_fn(|dim| stricter(a.strides[dim], b.strides[dim]));
    Port { strides, alignment: lcm(a.alignment.max(1), b.alignment.max(1)), ..a }
}

/// How often each dimension is stepped along: blocks count as one.
pub(super) fn counts(layout: &Layout) -> [u64; 4] {
    let [row, a, b, c] = layout.shape;
    if layout.is_empty() { [0; 4] } else { [row / layout.dtype.block_values(), a, b, c] }
}

/// The layout of a shape with the smallest legal strides at offset 0.
pub(super) fn tight(port: &Port, dtype: DType, shape: [u64; 4]) -> Option<Layout> {
    let mut random = |_| 0;
    let wanted = [Some(StrideClass::Packed); 4];
    let layout = spread(port, dtype, shape, wanted, [true; 4], &mut Source(&mut random))?;
    Some(Layout { offset: 0, ..layout })
}

/// A layout of a shape that the port admits. `wanted` names classes where they are possible, `whole` the dimensions whose
/// strides must be whole elements.
pub(super) fn spread(
    port: &Port,
    dtype: DType,
    shape: [u64; 4],
    wanted: [Option<StrideClass>; 4],
    whole: [bool; 4],
    random: &mut Source<'_>,
) -> Option<Layout> {
    if !shape[0].is_multiple_of(dtype.block_values()) {
        return None;
    }
    let unit = dtype.block_bytes();
    let grain = lcm(unit, port.alignment.max(1));
    let mut layout = Layout { dtype, shape, strides: [0; 4], offset: 0 };
    let counts = counts(&layout);
    let (mut span, mut on_grid) = (unit, true);
    for dim in order(port, &wanted, random) {
        if counts[dim] <= 1 {
            // Never stepped along, so it may be anything.
            layout.strides[dim] = grain * random.below(40);
            continue;
        }
        let step = Step { port, dim, unit, grain, span, whole: whole[dim], on_grid };
        let class = wanted[dim].unwrap_or_else(|| step.any(random));
        let stride = step.stride(&layout, class, random)?;
        layout.strides[dim] = stride;
        on_grid &= stride.is_multiple_of(unit);
        span = span.checked_add((counts[dim] - 1).checked_mul(stride)?)?;
    }
    layout.offset = match random.below(4) {
        0 => 0,
        1 if !whole.contains(&true) => port.alignment * (1 + random.below(9)),
        _ => grain * (1 + random.below(9)),
    };
    Some(layout)
}

/// Dimensions from the innermost in memory outwards.
fn order(port: &Port, wanted: &[Option<StrideClass>; 4], random: &mut Source<'_>) -> [usize; 4] {
    let free = free_from(port);
    let mut order = [0, 1, 2, 3];
    let permuted = wanted.iter().rposition(|class| *class == Some(StrideClass::Permuted));
    match permuted {
        Some(dim) if dim > free => order[free..=dim].rotate_right(1),
        _ if wanted.iter().all(Option::is_none) && free < 3 && random.one_in(5) => {
            let at = free + random.below(3 - free as u64) as usize;
            order.swap(at, 3);
        }
        _ => {}
    }
    order
}

/// What is known when a dimension gets its stride.
struct Step<'a> {
    port: &'a Port,
    dim: usize,
    unit: u64,
    grain: u64,
    /// Bytes that the dimensions inside cover.
    span: u64,
    whole: bool,
    /// Whether all of them lie on whole elements: only then can elements coincide without tearing each other.
    on_grid: bool,
}

impl Step<'_> {
    /// A class that the port's demand allows, the plain ones more often.
    fn any(&self, random: &mut Source<'_>) -> StrideClass {
        use StrideClass::{Broadcast, Odd, Overlapping, Packed, Wider};
        let classes: &[StrideClass] = match self.port.strides[self.dim] {
            Stride::Any => {
                &[Packed, Packed, Packed, Packed, Packed, Wider, Wider, Wider, Odd, Overlapping, Broadcast]
            }
            _ => &[Packed, Packed, Packed, Wider, Wider, Odd],
        };
        random.pick(classes).unwrap_or(Packed)
    }

    /// A stride of a class, or of the nearest that the port's demand allows.
    fn stride(&self, layout: &Layout, class: StrideClass, random: &mut Source<'_>) -> Option<u64> {
        let loose = self.port.strides[self.dim] == Stride::Any;
        let wider = |grain: u64, class: StrideClass, random: &mut Source<'_>| {
            let gap = if class == StrideClass::Wider { grain * (1 + random.below(4)) } else { 0 };
            self.span.next_multiple_of(grain) + gap
        };
        match self.port.strides[self.dim] {
            Stride::Packed => {
                let packed = layout.packed_stride(self.dim);
                let aligned = packed.is_multiple_of(self.port.alignment.max(1));
                (aligned || !self.port.aligns(self.dim)).then_some(packed)
            }
            Stride::MultipleOf(n) => Some(wider(lcm(self.grain, n), class, random)),
            Stride::Between(low, high) => {
                let least = self.span.max(low).next_multiple_of(self.grain);
                (least <= high).then_some(least)
            }
            Stride::Any | Stride::AtLeastPacked => Some(match class {
                StrideClass::Broadcast if loose => 0,
                StrideClass::Overlapping if loose && self.on_grid && self.span > self.grain => {
                    self.grain * (1 + random.below((self.span - 1) / self.grain))
                }
                StrideClass::Odd => self.odd(random),
                _ => wider(self.grain, class, random),
            }),
        }
    }

    /// A stride that is not a whole number of elements, where alignment allows one.
    fn odd(&self, random: &mut Source<'_>) -> u64 {
        let alignment = self.port.alignment.max(1);
        if self.whole || alignment.is_multiple_of(self.unit) {
            return self.span.next_multiple_of(self.grain);
        }
        let mut stride = self.span.next_multiple_of(alignment) + alignment * random.below(3);
        while stride.is_multiple_of(self.unit) {
            stride += alignment;
        }
        stride
    }
}
