//! Moving rows: gathers, scatters and copies.

use super::Tuned;
use crate::job::{Args, Job, Worker};
use crate::simd::{Simd, vector};
use crate::view::View;
use half::f16;
use weft_core::contract::Port;
use weft_core::graph::DType;
use weft_core::kernels::KernelError;
use weft_core::quant::{self, BlockType};

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "get_rows",
        variant: "rows",
        exact: true,
        port: gather_port,
        symbols: &[],
        build: build_gather,
    },
    Tuned {
        stem: "set_rows",
        variant: "rows",
        exact: true,
        port: scatter_port,
        symbols: &[],
        build: build_scatter,
    },
    Tuned {
        stem: "set_rows",
        variant: "blocks",
        exact: true,
        port: scatter_blocks_port,
        symbols: &[],
        build: build_scatter,
    },
    Tuned { stem: "copy", variant: "rows", exact: true, port: copy_port, symbols: &[], build: build_copy },
];

/// Types that rows are copied as.
const PLAIN: &[DType] = &[DType::F32, DType::F16];

fn gather_port(port: Port) -> Port {
    match port.name {
        "out" => super::float_rows(port),
        "table" => Port { dtypes: weft_core::contract::ANY_WEIGHT, ..port }.strides(row_strides()),
        _ => port,
    }
}

fn scatter_port(port: Port) -> Port {
    match port.name {
        "x" => super::float_rows(port),
        "out" => Port { dtypes: PLAIN, ..port }.packed_rows().aligned(4),
        _ => port,
    }
}

fn scatter_blocks_port(port: Port) -> Port {
    match port.name {
        "x" => super::float_rows(port),
        "out" => Port { dtypes: &[DType::Q8_0, DType::Q4_0], ..port }.packed_rows(),
        _ => port,
    }
}

fn copy_port(port: Port) -> Port {
    use weft_core::contract::Extent::Named;
    let port =
        Port { dtypes: PLAIN, ..port }.shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]).aligned(4);
    if port.name == "x" { port.strides(row_strides()) } else { port.packed_rows() }
}

const fn row_strides() -> [weft_core::contract::Stride; 4] {
    use weft_core::contract::Stride::{Any, Packed};
    [Packed, Any, Any, Any]
}

struct Gather {
    table: View,
    rows: View,
    out: View,
    block: &'static BlockType,
}

fn build_gather(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let table = args.view("table")?;
    let block = quant::block_type(table.dtype()).ok_or(KernelError::Undecodable { dtype: table.dtype() })?;
    Ok(Box::new(Gather { table, rows: args.view("rows")?, out: args.view("out")?, block }))
}

impl Job for Gather {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        for number in worker.share(self.out.layout.rows() as usize, 1) {
            let [t, b, c] = self.out.outer(number);
            // SAFETY: indices lie inside by the shape rule; each worker writes its own rows; the table is not written
            // in this phase.
            unsafe {
                let row = self.rows.index_below([t, b, c, 0], self.table.layout.shape[1])?;
                (self.block.decode)(self.table.row_bytes([row, b, c]), self.out.row_mut([t, b, c]));
            }
        }
        Ok(())
    }
}

struct Scatter {
    simd: Simd,
    x: View,
    rows: View,
    out: View,
}

fn build_scatter(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Scatter {
        simd: args.simd,
        x: args.view("x")?,
        rows: args.view("rows")?,
        out: args.view("out")?,
    }))
}

impl Job for Scatter {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        // Later rows win: so one worker writes all rows of one plane, in order.
        let [_, rows, n2, n3] = self.x.shape();
        for plane in worker.share(n2 * n3, 1) {
            let (b, c) = (plane % n2, plane / n2);
            for t in 0..rows {
                // SAFETY: indices lie inside by the shape rule; each worker writes its own planes.
                unsafe {
                    let index = [t, b % self.rows.shape()[1], c % self.rows.shape()[2], 0];
                    if self.rows.index(index) == -1 {
                        continue;
                    }
                    let row = self.rows.index_below(index, self.out.layout.shape[1])?;
                    store(self.simd, self.x.row([t, b, c]), &self.out, [row, b, c]);
                }
            }
        }
        Ok(())
    }
}

/// Writes a row as f32, f16 or blocks.
///
/// # Safety
/// The row lies inside, is packed, and nobody else touches it now.
unsafe fn store(simd: Simd, from: &[f32], out: &View, outer: [usize; 3]) {
    let [i1, i2, i3] = outer;
    let at = out.at([0, i1, i2, i3]);
    // SAFETY: by the caller's word.
    unsafe {
        if let Some(block) = quant::block_type(out.dtype()).filter(|block| block.dtype.is_quantised()) {
            let bytes = block.dtype.row_bytes(from.len() as u64).unwrap_or(0) as usize;
            (block.encode)(from, std::slice::from_raw_parts_mut(at, bytes));
        } else if out.dtype() == DType::F32 {
            std::ptr::copy_nonoverlapping(from.as_ptr(), at.cast(), from.len());
        } else {
            vector::to_half(simd, from, std::slice::from_raw_parts_mut(at.cast::<f16>(), from.len()));
        }
    }
}

struct Copy {
    simd: Simd,
    x: View,
    out: View,
}

fn build_copy(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Copy { simd: args.simd, x: args.view("x")?, out: args.view("out")? }))
}

impl Job for Copy {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let width = self.x.shape()[0];
        for number in worker.share(self.out.layout.rows() as usize, 1) {
            let outer = self.out.outer(number);
            // SAFETY: both have this row; each worker writes its own.
            unsafe {
                if self.x.dtype() == DType::F32 {
                    store(self.simd, self.x.row(outer), &self.out, outer);
                } else if self.out.dtype() == DType::F32 {
                    vector::from_half(self.simd, self.x.row_half(outer), self.out.row_mut(outer));
                } else {
                    let bytes = self.x.row_bytes(outer);
                    let [i1, i2, i3] = outer;
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.out.at([0, i1, i2, i3]), width * 2);
                }
            }
        }
        Ok(())
    }
}
