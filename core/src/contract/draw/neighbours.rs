//! What lies one step outside a contract, each with the reason that must be reported.

use super::extents::{self, fits};
use super::{Case, Draft, constants, layouts};
use crate::contract::{Allowed, Attribute, Constant, Constants, Contract, Extent, Port, Quantity, Stride};
use crate::driver::Why;
use crate::graph::{DType, Layout, TYPES};

/// Operands and constants that differ from a legal case in one property.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Layouts by port.
    pub operands: Vec<Option<Layout>>,
    /// Attributes.
    pub constants: Constants,
    /// The refusal: by [`Contract::check`], or by [`Contract::derive`] if it is [`Why::Derived`].
    pub why: Why,
}

struct Neighbours<'a> {
    case: &'a Case,
    contract: &'static Contract,
    all: Vec<Neighbour>,
}

/// All just-illegal neighbours of a legal case.
pub fn neighbours(case: &Case) -> Vec<Neighbour> {
    let mut found = Neighbours { case, contract: case.draft.contract, all: Vec::new() };
    for at in 0..found.contract.ports.len() {
        found.binding(at);
        if let Some(layout) = case.operands[at] {
            found.alignment(at, layout);
            (0..4).for_each(|dim| found.stride(at, dim, layout));
            (0..4).for_each(|dim| found.extent(at, dim, layout));
        }
    }
    found.symbols();
    found.ones();
    found.attributes();
    found.derived();
    found.all
}

impl Neighbours<'_> {
    fn port(&self, at: usize) -> &'static Port {
        &self.contract.ports[at]
    }

    fn push(&mut self, at: usize, layout: Option<Layout>, why: Why) {
        let mut operands = self.case.operands.clone();
        operands[at] = layout;
        self.all.push(Neighbour { operands, constants: self.case.constants.clone(), why });
    }

    /// A required port left out; a type that is not listed.
    fn binding(&mut self, at: usize) {
        let port = self.port(at);
        let needed = |(by, needed): &(&str, &str)| *needed == port.name && self.case.draft.is_bound(by);
        if !port.optional || self.contract.needs.iter().any(needed) {
            self.push(at, None, Why::Unbound { port: port.name });
        }
        let shape = self.case.operands[at].map_or_else(|| extents::shape(&self.case.draft, at), |l| l.shape);
        let plain = TYPES.iter().filter(|row| row.values == 1).map(|row| row.dtype);
        let unlisted: Vec<DType> = plain.filter(|dtype| !port.dtypes.contains(dtype)).collect();
        // One type of the size of a listed one, and one of another size, where there are such.
        let size = port.dtypes.first().map_or(4, |dtype| dtype.block_bytes());
        let same = unlisted.iter().find(|dtype| dtype.block_bytes() == size);
        let other = unlisted.iter().find(|dtype| dtype.block_bytes() != size);
        for got in same.into_iter().chain(other).copied() {
            let layout = Layout::packed(got, shape);
            self.push(at, layout, Why::DType { port: port.name, want: port.dtypes, got });
        }
    }

    /// Offset and strides one byte off.
    fn alignment(&mut self, at: usize, layout: Layout) {
        let port = self.port(at);
        if port.alignment <= 1 {
            return;
        }
        let got = layout.offset + 1;
        self.push(
            at,
            Some(Layout { offset: got, ..layout }),
            Why::Alignment { port: port.name, want: port.alignment, got },
        );
        for dim in (0..4).filter(|dim| layouts::counts(&layout)[*dim] > 1 && port.aligns(*dim)) {
            let mut off = layout;
            off.strides[dim] += 1;
            let want = Stride::MultipleOf(port.alignment);
            self.push(at, Some(off), Why::Stride { port: port.name, dim, want, got: off.strides[dim] });
        }
    }

    /// A stride one element, or one aligned step, off.
    fn stride(&mut self, at: usize, dim: usize, layout: Layout) {
        let port = self.port(at);
        // In a tight layout no other dimension is near its own limit.
        let Some(tight) = layouts::tight(port, layout.dtype, layout.shape) else { return };
        if layouts::counts(&layout)[dim] <= 1 {
            return;
        }
        let grain = extents::lcm(layout.dtype.block_bytes(), port.alignment.max(1));
        let stride = tight.strides[dim];
        let wrong = match port.strides[dim] {
            Stride::Any => Vec::new(),
            Stride::Packed => vec![stride.checked_sub(grain), Some(stride + grain)],
            // Smaller by one step than what the dimensions inside cover.
            Stride::AtLeastPacked => vec![span(&tight, dim).next_multiple_of(grain).checked_sub(grain)],
            Stride::MultipleOf(n) if n > 1 && !grain.is_multiple_of(n) => vec![Some(stride + grain)],
            Stride::MultipleOf(_) => Vec::new(),
            Stride::Between(low, high) => {
                let below = low.checked_sub(1).map(|most| most / grain * grain);
                vec![below, high.checked_add(1).map(|least| least.next_multiple_of(grain))]
            }
        };
        for got in wrong.into_iter().flatten() {
            let mut off = tight;
            off.strides[dim] = got;
            // A dimension without steps cannot overlap.
            if port.strides[dim] == Stride::AtLeastPacked && got >= span(&off, dim) {
                continue;
            }
            self.push(at, Some(off), Why::Stride { port: port.name, dim, want: port.strides[dim], got });
        }
    }

    /// An extent one more and one less than its relation to other extents allows.
    fn extent(&mut self, at: usize, dim: usize, layout: Layout) {
        let port = self.port(at);
        let (draft, want, value) = (&self.case.draft, port.shape[dim], layout.shape[dim]);
        let step = if dim == 0 { layout.dtype.block_values() } else { 1 };
        let around = [value.checked_sub(step), value.checked_add(step)];
        let (wrong, bound): (Vec<Option<u64>>, u64) = match want {
            Extent::Any => return,
            Extent::Named(name) => return self.named((at, dim), layout, name, around),
            Extent::Is(n) => (around.to_vec(), n),
            Extent::Product(a, b) => (around.to_vec(), draft.extent(a).saturating_mul(draft.extent(b))),
            Extent::AtLeast(name) => (vec![draft.extent(name).checked_sub(step)], draft.extent(name)),
            Extent::Repeats(name) => {
                let whole = draft.extent(name);
                let more = if whole > 0 { Some(whole + step) } else { None };
                (vec![Some(0), more], whole)
            }
        };
        for got in wrong.into_iter().flatten() {
            let why = Why::Extent { port: port.name, dim, want, bound, got };
            self.push_extent((at, dim), layout, got, why);
        }
    }

    fn push_extent(&mut self, (at, dim): (usize, usize), layout: Layout, got: u64, why: Why) {
        let mut shape = layout.shape;
        shape[dim] = got;
        if let Some(layout) = layouts::tight(self.port(at), layout.dtype, shape) {
            self.push(at, Some(layout), why);
        }
    }

    /// A named extent that differs at one of its places: reported at the second place that shows it.
    fn named(
        &mut self,
        (at, dim): (usize, usize),
        layout: Layout,
        name: &'static str,
        around: [Option<u64>; 2],
    ) {
        let want = Extent::Named(name);
        let bound_ports = (0..self.contract.ports.len()).filter(|port| self.case.operands[*port].is_some());
        let places: Vec<(usize, usize)> = bound_ports
            .flat_map(|port| (0..4).map(move |dim| (port, dim)))
            .filter(|(port, dim)| self.port(*port).shape[*dim] == want)
            .collect();
        let (Some(first), Some(second)) = (places.first(), places.get(1)) else { return };
        let value = layout.shape[dim];
        for got in around.into_iter().flatten() {
            let (place, bound, shown) =
                if (at, dim) == *first { (*second, got, value) } else { ((at, dim), value, got) };
            let port = self.port(place.0).name;
            let why = Why::Extent { port, dim: place.1, want, bound, got: shown };
            self.push_extent((at, dim), layout, got, why);
        }
    }

    /// A named extent outside its constraint, at all its places.
    fn symbols(&mut self) {
        for symbol in self.contract.symbols {
            let case = self.case;
            let draft = &case.draft;
            let value = draft.extent(symbol.name);
            let wrong = match symbol.allowed {
                Allowed::Between(low, high) => vec![low.checked_sub(1), high.checked_add(1)],
                Allowed::MultipleOf(n, most) => {
                    let above = most.checked_add(n).filter(|more| *more <= 1 << 20);
                    vec![Some(value + 1).filter(|_| n > 1), value.checked_sub(1).filter(|_| n > 1), above]
                }
                Allowed::OneOf(values) => {
                    vec![
                        values.iter().max().map(|v| v + 1),
                        values.iter().min().and_then(|v| v.checked_sub(1)),
                    ]
                }
                Allowed::DivisorOf(other) => {
                    let whole = draft.extent(other);
                    vec![Some(0), Some(whole + 1).filter(|_| whole > 0)]
                }
            };
            for got in wrong.into_iter().flatten() {
                let mut changed = draft.clone();
                changed.set_extent(symbol.name, got);
                self.resized(&changed);
            }
        }
    }

    /// A named extent that must be one for the sake of a port.
    fn ones(&mut self) {
        for (name, _) in self.contract.ones {
            for got in [0, 2] {
                let mut changed = self.case.draft.clone();
                changed.set_extent(name, got);
                self.resized(&changed);
            }
        }
    }

    /// A draft with another named extent: the first constraint that it breaks is the reason.
    fn resized(&mut self, draft: &Draft) {
        let bound_ports = || self.contract.ports.iter().zip(&draft.bound).filter(|(_, bound)| **bound);
        let shown = |name| bound_ports().any(|(port, _)| port.shape.contains(&Extent::Named(name)));
        let constraints = self.contract.symbols.iter().map(|symbol| (symbol.name, symbol.allowed));
        let ones = self.contract.ones.iter().filter(|(_, port)| draft.is_bound(port));
        let mut all = constraints.chain(ones.map(|(name, _)| (*name, Allowed::OneOf(&[1]))));
        let broken = all.find(|(name, allowed)| shown(name) && !fits(*allowed, draft.extent(name), draft));
        let Some((name, want)) = broken else { return };
        let why = Why::Symbol { name, want, got: draft.extent(name) };
        let mut operands = vec![None; self.contract.ports.len()];
        for at in (0..operands.len()).filter(|at| draft.bound[*at]) {
            let layout = layouts::tight(self.port(at), draft.dtypes[at], extents::shape(draft, at));
            if layout.is_none() {
                return;
            }
            operands[at] = layout;
        }
        self.all.push(Neighbour { operands, constants: self.case.constants.clone(), why });
    }

    /// Attributes left out, of the other kind, and just outside their range.
    fn attributes(&mut self) {
        for (at, attribute) in self.contract.attributes.iter().enumerate() {
            let wrong = match attribute {
                Attribute::Float(_) => vec![Some(Constant::Integer(1))],
                Attribute::Integer(_, low, high) => vec![
                    low.checked_sub(1).map(Constant::Integer),
                    high.checked_add(1).map(Constant::Integer),
                    Some(Constant::Float(*low as f32)),
                ],
                Attribute::Choice(_, values) => vec![
                    values.iter().max().and_then(|v| v.checked_add(1)).map(Constant::Integer),
                    Some(Constant::Float(0.0)),
                ],
            };
            let given = &self.case.draft.constants;
            let mut without = given.clone();
            without.remove(at);
            let mut lists = vec![(without, None)];
            for got in wrong.into_iter().flatten() {
                let mut changed = given.clone();
                changed[at].1 = got;
                lists.push((changed, Some(got)));
            }
            for (list, got) in lists {
                let why = Why::Constant { want: *attribute, got };
                let operands = self.case.operands.clone();
                self.all.push(Neighbour { operands, constants: constants(&list), why });
            }
        }
    }

    /// Quantities that become constants: not whole elements, and too large.
    fn derived(&mut self) {
        for derived in self.contract.derived {
            let Some(at) = self.contract.port(derived.port) else { continue };
            let Some(layout) = self.case.operands[at] else { continue };
            let unit = layout.dtype.block_bytes();
            let mut wrong = Vec::new();
            for (more, allowed) in [(1, self.port(at).alignment <= 1 && unit > 1), (unit << 32, true)] {
                let mut off = layout;
                let got = match derived.quantity {
                    Quantity::Stride(dim) if self.port(at).strides[dim] == Stride::Any => {
                        &mut off.strides[dim]
                    }
                    Quantity::Offset => &mut off.offset,
                    Quantity::Stride(_) | Quantity::Extent(_) => continue,
                };
                *got += more;
                let got = *got;
                if allowed {
                    wrong.push((off, got));
                }
            }
            for (off, got) in wrong {
                self.push(at, Some(off), Why::Derived { name: derived.name, port: derived.port, got });
            }
        }
    }
}

/// Bytes that the dimensions inside one cover.
fn span(layout: &Layout, dim: usize) -> u64 {
    let unit = layout.dtype.block_bytes();
    let count = |d: usize| layouts::counts(layout)[d];
    let inside =
        |d: &usize| *d != dim && count(*d) > 1 && (layout.strides[*d], *d) < (layout.strides[dim], dim);
    (0..4).filter(inside).fold(unit, |sum, d| sum + (count(d) - 1) * layout.strides[d])
}
