//! The one place where a layout is accepted or refused, and where constants are derived from it.

use super::{Allowed, Attribute, Constant, Constants, Contract, Extent, Port, Quantity, Stride};
use crate::driver::Why;
use crate::graph::Layout;

/// The values of a contract's named extents for given operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound(Vec<(&'static str, u64)>);

impl Bound {
    /// The value of a name; 1 if the name did not occur.
    pub fn get(&self, name: &str) -> u64 {
        self.known(name).unwrap_or(1)
    }

    fn known(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    pub(super) fn set(&mut self, name: &'static str, value: u64) {
        self.0.push((name, value));
    }
}

impl Port {
    /// Whether alignment has a say in the stride of a dimension: not inside packed rows.
    pub(super) fn aligns(&self, dim: usize) -> bool {
        dim > 0 || self.strides[0] != Stride::Packed
    }

    /// Type, strides and alignment; extents need the whole contract.
    ///
    /// # Errors
    /// The first property that the layout lacks.
    fn check(&self, layout: &Layout) -> Result<(), Why> {
        if !self.dtypes.contains(&layout.dtype) {
            return Err(Why::DType { port: self.name, want: self.dtypes, got: layout.dtype });
        }
        if !layout.offset.is_multiple_of(self.alignment) {
            return Err(Why::Alignment { port: self.name, want: self.alignment, got: layout.offset });
        }
        for dim in (0..4).filter(|dim| steps(layout, *dim) > 1 && self.aligns(*dim)) {
            let got = layout.strides[dim];
            if !got.is_multiple_of(self.alignment) {
                return Err(Why::Stride {
                    port: self.name,
                    dim,
                    want: Stride::MultipleOf(self.alignment),
                    got,
                });
            }
        }
        for dim in 0..4 {
            let (got, want) = (layout.strides[dim], self.strides[dim]);
            let fits = match want {
                Stride::Any => true,
                Stride::Packed => layout.is_packed_at(dim),
                Stride::AtLeastPacked => keeps_apart(layout, dim),
                Stride::MultipleOf(n) => got.is_multiple_of(n),
                Stride::Between(low, high) => (low..=high).contains(&got),
            };
            if !fits && steps(layout, dim) > 1 {
                return Err(Why::Stride { port: self.name, dim, want, got });
            }
        }
        Ok(())
    }
}

/// How many places a dimension has: blocks of a row count as one, and a tensor without elements has none.
fn steps(layout: &Layout, dim: usize) -> u64 {
    if layout.is_empty() {
        0
    } else if dim == 0 {
        layout.shape[0] / layout.dtype.block_values()
    } else {
        layout.shape[dim]
    }
}

/// Whether indices of this dimension address bytes that do not overlap: the stride spans all dimensions of smaller stride.
fn keeps_apart(layout: &Layout, dim: usize) -> bool {
    let stride = layout.strides[dim];
    let mut span = layout.dtype.block_bytes();
    for other in (0..4).filter(|o| *o != dim) {
        let count = steps(layout, other);
        if count > 1 && (layout.strides[other], other) < (stride, dim) {
            span = span.saturating_add((count - 1).saturating_mul(layout.strides[other]));
        }
    }
    stride >= span
}

impl Contract {
    /// Whether the kernel addresses these operands, in the order of the ports.
    ///
    /// # Errors
    /// The first port and property that do not fit.
    pub fn check(&self, operands: &[Option<Layout>], constants: &Constants) -> Result<Bound, Why> {
        let mut bound = Bound::default();
        let bound_ports =
            || self.ports.iter().zip(operands).filter_map(|(port, layout)| layout.map(|l| (port, l)));
        for (port, layout) in self.ports.iter().zip(operands) {
            match layout {
                Some(layout) => port.check(layout)?,
                None if port.optional => {}
                None => return Err(Why::Unbound { port: port.name }),
            }
        }
        let is_bound =
            |name: &str| self.port(name).and_then(|at| operands.get(at)).is_some_and(Option::is_some);
        if let Some((_, port)) = self.needs.iter().find(|(port, needed)| is_bound(port) && !is_bound(needed))
        {
            return Err(Why::Unbound { port });
        }
        for (port, layout) in bound_ports() {
            for dim in 0..4 {
                let Extent::Named(name) = port.shape[dim] else { continue };
                let got = layout.shape[dim];
                match bound.known(name) {
                    None => bound.set(name, got),
                    Some(want) if want == got => {}
                    Some(want) => {
                        return Err(Why::Extent {
                            port: port.name,
                            dim,
                            want: port.shape[dim],
                            bound: want,
                            got,
                        });
                    }
                }
            }
        }
        for (port, layout) in bound_ports() {
            for dim in 0..4 {
                let (got, want) = (layout.shape[dim], port.shape[dim]);
                let (fits, limit) = match want {
                    Extent::Any | Extent::Named(_) => (true, 0),
                    Extent::Is(n) => (got == n, n),
                    Extent::Repeats(name) => {
                        (got > 0 && bound.get(name).is_multiple_of(got), bound.get(name))
                    }
                    Extent::AtLeast(name) => (got >= bound.get(name), bound.get(name)),
                    Extent::Product(a, b) => {
                        let product = bound.get(a).saturating_mul(bound.get(b));
                        (got == product, product)
                    }
                };
                if !fits {
                    return Err(Why::Extent { port: port.name, dim, want, bound: limit, got });
                }
            }
        }
        for symbol in self.symbols {
            let Some(got) = bound.known(symbol.name) else { continue };
            let fits = match symbol.allowed {
                Allowed::Between(low, high) => (low..=high).contains(&got),
                Allowed::MultipleOf(n, most) => got > 0 && got.is_multiple_of(n) && got <= most,
                Allowed::OneOf(values) => values.contains(&got),
                Allowed::DivisorOf(other) => got > 0 && bound.get(other).is_multiple_of(got),
            };
            if !fits {
                return Err(Why::Symbol { name: symbol.name, want: symbol.allowed, got });
            }
        }
        let many =
            self.ones.iter().find(|(name, port)| is_bound(port) && bound.known(name).is_some_and(|n| n != 1));
        if let Some((name, _)) = many {
            return Err(Why::Symbol { name, want: Allowed::OneOf(&[1]), got: bound.get(name) });
        }
        self.check_constants(constants)?;
        Ok(bound)
    }

    fn check_constants(&self, constants: &Constants) -> Result<(), Why> {
        for attribute in self.attributes {
            let got = constants.get(attribute.name());
            let fits = match (attribute, got) {
                (Attribute::Float(_), Some(Constant::Float(_))) => true,
                (Attribute::Integer(_, low, high), Some(Constant::Integer(v))) => (*low..=*high).contains(&v),
                (Attribute::Choice(_, values), Some(Constant::Integer(v))) => values.contains(&v),
                _ => false,
            };
            if !fits {
                return Err(Why::Constant { want: *attribute, got });
            }
        }
        Ok(())
    }

    /// Adds the constants that follow from layouts. Call after [`Contract::check`] accepted the operands.
    ///
    /// # Errors
    /// A quantity does not fit 32 bits or is not a whole number of elements.
    pub fn derive(&self, operands: &[Option<Layout>], constants: &mut Constants) -> Result<(), Why> {
        for derived in self.derived {
            let layout = self.port(derived.port).and_then(|index| operands.get(index).copied().flatten());
            let Some(layout) = layout else { continue };
            let (bytes, unit) = match derived.quantity {
                Quantity::Extent(dim) => (layout.shape[dim], 1),
                Quantity::Stride(dim) => (layout.strides[dim], layout.dtype.block_bytes()),
                Quantity::Offset => (layout.offset, layout.dtype.block_bytes()),
            };
            let value = if bytes.is_multiple_of(unit) { u32::try_from(bytes / unit).ok() } else { None };
            let Some(value) = value else {
                return Err(Why::Derived { name: derived.name, port: derived.port, got: bytes });
            };
            constants.push(derived.name, Constant::Integer(value));
        }
        Ok(())
    }
}
