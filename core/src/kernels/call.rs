//! How reference kernels see their operands: strided, by port name, element by element.

use crate::contract::{Constants, Contract};
use crate::graph::{DType, Layout};
use crate::quant;
use std::cell::Cell;
use thiserror::Error;

/// A kernel met operands that only run time could refuse, or was called against its contract.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum KernelError {
    #[error("port `{port}` is not bound")]
    Unbound { port: &'static str },
    #[error("constant `{name}` is missing or of the wrong type")]
    Constant { name: &'static str },
    #[error("`{port}` holds index {got}, allowed are 0..{limit}")]
    Index { port: &'static str, got: i64, limit: u64 },
    #[error("type {dtype} cannot be decoded")]
    Undecodable { dtype: DType },
    #[error("port `{port}` leaves its storage")]
    Outside { port: &'static str },
    #[error("a worker failed: {message}")]
    Worker { message: String },
}

/// One operand: a layout on the bytes of its storage. Cells, since an operation may work in place.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    /// Port name.
    pub name: &'static str,
    /// Where the elements lie.
    pub layout: Layout,
    /// The storage's bytes.
    pub bytes: &'a [Cell<u8>],
}

impl<'a> Operand<'a> {
    /// The operand, if its layout stays inside its bytes.
    ///
    /// # Errors
    /// [`KernelError::Outside`].
    pub fn new(name: &'static str, layout: Layout, bytes: &'a [Cell<u8>]) -> Result<Self, KernelError> {
        match layout.range() {
            Some(range) if range.end <= bytes.len() as u64 => Ok(Operand { name, layout, bytes }),
            _ => Err(KernelError::Outside { port: name }),
        }
    }

    /// Extents, innermost first.
    pub fn shape(&self) -> [u64; 4] {
        self.layout.shape
    }

    fn address(&self, index: [u64; 4]) -> usize {
        let steps: u64 = (0..4).map(|d| index[d] * self.layout.strides[d]).sum();
        (self.layout.offset + steps) as usize
    }

    fn load<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|i| self.bytes[at + i].get())
    }

    fn store(&self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].iter().zip(bytes).for_each(|(cell, byte)| cell.set(*byte));
    }

    /// One element as f64; of a quantised tensor by decoding its block.
    pub fn get(&self, index: [u64; 4]) -> f64 {
        let at = self.address(index);
        match self.layout.dtype {
            DType::F32 => f64::from(f32::from_le_bytes(self.load(at))),
            DType::F16 => f64::from(half::f16::from_le_bytes(self.load(at))),
            DType::BF16 => f64::from(half::bf16::from_le_bytes(self.load(at))),
            DType::F64 => f64::from_le_bytes(self.load(at)),
            DType::I32 => f64::from(i32::from_le_bytes(self.load(at))),
            DType::I64 => i64::from_le_bytes(self.load(at)) as f64,
            _ => {
                let row = self.row([index[1], index[2], index[3]]);
                row.get(index[0] as usize).copied().unwrap_or(f64::NAN)
            }
        }
    }

    /// Stores one element of a plain tensor, rounded to its type.
    pub fn put(&self, index: [u64; 4], value: f64) {
        let at = self.address(index);
        match self.layout.dtype {
            DType::F32 => self.store(at, &(value as f32).to_le_bytes()),
            DType::F16 => self.store(at, &half::f16::from_f32(value as f32).to_le_bytes()),
            DType::BF16 => self.store(at, &half::bf16::from_f32(value as f32).to_le_bytes()),
            DType::F64 => self.store(at, &value.to_le_bytes()),
            DType::I32 => self.store(at, &(value as i32).to_le_bytes()),
            DType::I64 => self.store(at, &(value as i64).to_le_bytes()),
            _ => {}
        }
    }

    /// One element as an index.
    pub fn index(&self, index: [u64; 4]) -> i64 {
        let at = self.address(index);
        match self.layout.dtype {
            DType::I64 => i64::from_le_bytes(self.load(at)),
            DType::I32 => i64::from(i32::from_le_bytes(self.load(at))),
            _ => self.get(index) as i64,
        }
    }

    /// One element as an index below `limit`.
    ///
    /// # Errors
    /// [`KernelError::Index`].
    pub fn index_below(&self, index: [u64; 4], limit: u64) -> Result<u64, KernelError> {
        let got = self.index(index);
        u64::try_from(got).ok().filter(|i| *i < limit).ok_or(KernelError::Index {
            port: self.name,
            got,
            limit,
        })
    }

    /// One row along the innermost dimension; `outer` holds the indices of the other three.
    pub fn row(&self, outer: [u64; 3]) -> Vec<f64> {
        let [i1, i2, i3] = outer;
        let dtype = self.layout.dtype;
        let Some(block) = quant::block_type(dtype).filter(|_| dtype.is_quantised()) else {
            return (0..self.layout.shape[0]).map(|i| self.get([i, i1, i2, i3])).collect();
        };
        let start = self.address([0, i1, i2, i3]);
        let (size, count) = (dtype.block_bytes() as usize, dtype.block_values() as usize);
        let blocks = self.layout.shape[0] as usize / count;
        let mut values = vec![0f32; count];
        let mut row = Vec::with_capacity(blocks * count);
        for b in 0..blocks {
            let at = start + b * self.layout.strides[0] as usize;
            let bytes: Vec<u8> = self.bytes[at..at + size].iter().map(Cell::get).collect();
            (block.decode)(&bytes, &mut values);
            row.extend(values.iter().map(|v| f64::from(*v)));
        }
        row
    }

    /// Stores one row, encoding it for quantised types.
    pub fn put_row(&self, outer: [u64; 3], row: &[f64]) {
        let [i1, i2, i3] = outer;
        let dtype = self.layout.dtype;
        let Some(block) = quant::block_type(dtype).filter(|_| dtype.is_quantised()) else {
            row.iter().enumerate().for_each(|(i, value)| self.put([i as u64, i1, i2, i3], *value));
            return;
        };
        let start = self.address([0, i1, i2, i3]);
        let mut bytes = vec![0u8; dtype.block_bytes() as usize];
        for (b, chunk) in row.chunks_exact(dtype.block_values() as usize).enumerate() {
            let values: Vec<f32> = chunk.iter().map(|v| *v as f32).collect();
            (block.encode)(&values, &mut bytes);
            self.store(start + b * self.layout.strides[0] as usize, &bytes);
        }
    }

    /// Calls `each` for every row's outer indices.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn rows(&self, mut each: impl FnMut([u64; 3]) -> Result<(), KernelError>) -> Result<(), KernelError> {
        let [_, n1, n2, n3] = self.layout.shape;
        for i3 in 0..n3 {
            for i2 in 0..n2 {
                for i1 in 0..n1 {
                    each([i1, i2, i3])?;
                }
            }
        }
        Ok(())
    }

    /// The outer indices at which a repeated operand supplies a row of a larger one.
    pub fn repeated(&self, outer: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|d| outer[d] % self.layout.shape[d + 1].max(1))
    }
}

/// A layout and the bytes of its storage.
pub type Place<'a> = (Layout, &'a [Cell<u8>]);

/// Operands by port and constants by name.
pub struct Call<'a> {
    operands: Vec<Option<Operand<'a>>>,
    /// Constants.
    pub constants: &'a Constants,
}

impl<'a> Call<'a> {
    /// Operands in the order of the contract's ports, each with its storage's bytes.
    ///
    /// # Errors
    /// [`KernelError::Outside`] if a layout leaves its bytes.
    pub fn new(
        contract: &Contract,
        operands: &[Option<Place<'a>>],
        constants: &'a Constants,
    ) -> Result<Self, KernelError> {
        let operands = contract
            .ports
            .iter()
            .zip(operands)
            .map(|(port, operand)| {
                operand.map(|(layout, bytes)| Operand::new(port.name, layout, bytes)).transpose()
            })
            .collect::<Result<_, _>>()?;
        Ok(Call { operands, constants })
    }

    /// A bound port.
    ///
    /// # Errors
    /// [`KernelError::Unbound`].
    pub fn port(&self, name: &'static str) -> Result<Operand<'a>, KernelError> {
        self.maybe(name).ok_or(KernelError::Unbound { port: name })
    }

    /// A port that may be unbound.
    pub fn maybe(&self, name: &str) -> Option<Operand<'a>> {
        self.operands.iter().flatten().find(|operand| operand.name == name).copied()
    }
}
