//! Bytes of a case: operands between NaN, the reference's results on packed copies, and the comparison.

use crate::subject::{Subject, Values, written};
use std::cell::Cell;
use weft_core::contract::draw::Case;
use weft_core::contract::{Access, Tolerance};
use weft_core::graph::{DType, Layout};
use weft_core::kernels::{Call, KernelError, Place};
use weft_core::quant;
use weft_tests::{Random, compare};

/// A case with its bytes. Vectors are by port.
pub struct Bench {
    pub case: Case,
    /// Storages before the run; empty where the port shares another's.
    pub storages: Vec<Vec<u8>>,
    /// Elements before the run, packed.
    start: Vec<Vec<u8>>,
    /// Elements after the reference ran, packed.
    want: Vec<Vec<u8>>,
    leaves_rows: bool,
    float_words: &'static [(&'static str, u64)],
}

impl Bench {
    /// Fills the storages and runs the reference on packed copies of the operands.
    ///
    /// # Errors
    /// The reference refused its data.
    pub fn new(subject: &Subject, case: Case, random: &mut Random) -> Result<Self, KernelError> {
        let contract = case.draft.contract;
        let (storages, mut start) = (0..DRAWS)
            .map(|_| drawn(subject, &case, random))
            .find(|(_, start)| (subject.decisive)(start))
            .unwrap_or_else(|| panic!("{}: rounding decides every result", subject.kernel));
        // On packed copies nothing is shared: each written port of its own starts without a result.
        let mut want = start.clone();
        for at in written(contract) {
            if let Some(layout) = case.operands[at].filter(|_| contract.ports[at].access == Access::Write) {
                want[at] = poison(&layout);
            }
        }
        let before = want.clone();
        run_reference(subject, &case, &mut want)?;
        for at in written(contract) {
            start[at].clone_from(&before[at]);
        }
        let leaves_rows = (subject.leaves_rows)(&case);
        let float_words = subject.float_words;
        Ok(Bench { case, storages, start, want, leaves_rows, float_words })
    }

    /// Overwrites an integer of a port, for the run only: the reference has seen the old one.
    pub fn set(&mut self, port: &str, index: [u64; 4], value: i64) {
        let at = self.case.draft.contract.port(port).expect("a port of the contract");
        let layout = self.case.operands[at].expect("a bound port");
        let steps: u64 = index.iter().zip(layout.strides).map(|(i, stride)| i * stride).sum();
        let start = (layout.offset + steps) as usize;
        let bytes = value.to_le_bytes();
        let size = layout.dtype.block_bytes() as usize;
        self.storages[self.case.homes[at]][start..start + size].copy_from_slice(&bytes[..size]);
    }

    /// Whether the reference changed anything.
    pub fn changes(&self) -> bool {
        written(self.case.draft.contract).any(|at| self.want[at] != self.start[at])
    }

    /// The same case with another device's results in place of the reference's.
    pub fn expecting(mut self, after: &[Vec<u8>]) -> Self {
        for at in written(self.case.draft.contract) {
            if let Some(layout) = self.case.operands[at] {
                self.want[at] = gather(&after[self.case.homes[at]], &layout);
            }
        }
        self
    }

    /// Compares storages after a run: results row by row, every other byte exactly.
    ///
    /// # Errors
    /// What differs.
    pub fn compare(&self, after: &[Vec<u8>], tolerance: Tolerance) -> Result<(), String> {
        let contract = self.case.draft.contract;
        let mut touched: Vec<Vec<bool>> = after.iter().map(|bytes| vec![false; bytes.len()]).collect();
        for at in written(contract) {
            let Some(layout) = self.case.operands[at] else { continue };
            let (home, name) = (self.case.homes[at], contract.ports[at].name);
            let got = gather(&after[home], &layout);
            self.compare_port(at, &layout, &got, tolerance).map_err(|why| format!("port `{name}`: {why}"))?;
            let unit = layout.dtype.block_bytes() as usize;
            each_block(&layout, |address, _| touched[home][address..address + unit].fill(true));
        }
        for (at, touched) in touched.iter().enumerate() {
            let same = |i: &usize| touched[*i] || after[at][*i] == self.storages[at][*i];
            if let Some(byte) = (0..after[at].len()).find(|i| !same(i)) {
                return Err(format!(
                    "byte {byte} outside the results of port `{}` changed",
                    contract.ports[at].name
                ));
            }
        }
        Ok(())
    }

    /// One row of integers, exactly, but for those that hold the bits of an f32: near in absolute terms or relative ones.
    fn compare_words(&self, port: &str, got: &[u8], want: &[u8], tolerance: Tolerance) -> Result<(), String> {
        let words = got.as_chunks::<4>().0.iter().zip(want.as_chunks::<4>().0);
        for (index, (got, want)) in words.enumerate() {
            let is_float = self.float_words.contains(&(port, index as u64));
            let floats = (f32::from_le_bytes(*got), f32::from_le_bytes(*want));
            let off = f64::from(floats.0 - floats.1).abs();
            let near = off <= tolerance.max_abs * f64::from(floats.1.abs()).max(1.0);
            if got != want && !(is_float && near) {
                let ints = (i32::from_le_bytes(*got), i32::from_le_bytes(*want));
                return Err(format!(
                    "word {index}: got {} ({}), want {} ({})",
                    ints.0, floats.0, ints.1, floats.1
                ));
            }
        }
        Ok(())
    }

    fn compare_port(
        &self,
        at: usize,
        layout: &Layout,
        got: &[u8],
        tolerance: Tolerance,
    ) -> Result<(), String> {
        let width = layout.shape[0] as usize;
        let row = (layout.dtype.row_bytes(layout.shape[0]).expect("whole blocks") as usize).max(1);
        let access = self.case.draft.contract.ports[at].access;
        let rows = got.chunks(row).zip(self.want[at].chunks(row)).zip(self.start[at].chunks(row));
        for (number, ((got, want), start)) in rows.enumerate() {
            if want == start && (access == Access::Update || self.leaves_rows) {
                if got != start {
                    return Err(format!("row {number} changed, though the reference leaves it"));
                }
                continue;
            }
            if want == start && access == Access::Write {
                return Err(format!("row {number} is not written by the reference"));
            }
            let name = self.case.draft.contract.ports[at].name;
            if self.float_words.iter().any(|(port, _)| *port == name) {
                self.compare_words(name, got, want, tolerance)
                    .map_err(|why| format!("row {number}: {why}"))?;
                continue;
            }
            let snapped = snapped(layout.dtype, got, want, tolerance);
            let (got, want) = (decoded(layout.dtype, &snapped), decoded(layout.dtype, want));
            compare::rows(&got, &want, width, tolerance).map_err(|d| format!("row {number}: {d:?}"))?;
        }
        Ok(())
    }
}

/// Attempts at data that decide.
const DRAWS: usize = 100;

/// Storages filled with a subject's values, and the elements of each port, packed.
fn drawn(subject: &Subject, case: &Case, random: &mut Random) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let contract = case.draft.contract;
    let mut values = (subject.values)(case, random);
    let mut storages: Vec<Vec<u8>> =
        (0..contract.ports.len()).zip(sizes(case)).map(|home| gap(case, home)).collect();
    let mut start = vec![Vec::new(); contract.ports.len()];
    for (at, port) in contract.ports.iter().enumerate() {
        let (home, Some(layout)) = (case.homes[at], case.operands[at]) else { continue };
        // A port on the very bytes of another holds what that one does.
        if home == at || case.operands[home] != Some(layout) {
            let unwritten = port.access == Access::Write;
            let packed =
                if unwritten { poison(&layout) } else { encoded(&layout, values.get_mut(port.name), random) };
            scatter(&packed, &mut storages[home], &layout);
        }
        start[at] = gather(&storages[home], &layout);
    }
    (storages, start)
}

/// A value that lies between two of 16 bits may be rounded to either, unless the kernel is exact: neighbours are equal.
fn snapped(dtype: DType, got: &[u8], want: &[u8], tolerance: Tolerance) -> Vec<u8> {
    let mut got = got.to_vec();
    if tolerance != Tolerance::EXACT && matches!(dtype, DType::F16 | DType::BF16) {
        for (got, want) in got.as_chunks_mut::<2>().0.iter_mut().zip(want.as_chunks::<2>().0) {
            if u16::from_le_bytes(*got).abs_diff(u16::from_le_bytes(*want)) == 1 {
                *got = *want;
            }
        }
    }
    got
}

/// Bytes of each port's storage: up to the last element in it, and some more. Nothing where the port lies in another's.
pub fn sizes(case: &Case) -> Vec<u64> {
    let end = |layout: &Layout| layout.range().expect("a range").end + 72;
    let mut sizes = vec![0; case.operands.len()];
    for (layout, home) in case.operands.iter().zip(&case.homes) {
        let size: &mut u64 = &mut sizes[*home];
        *size = (*size).max(layout.as_ref().map_or(0, end));
    }
    sizes
}

/// Whether some elements share only a part of their bytes: no data fits both.
pub fn is_torn(layout: &Layout) -> bool {
    let mut starts = Vec::new();
    each_block(layout, |address, _| starts.push(address));
    starts.sort_unstable();
    starts.dedup();
    starts.windows(2).any(|pair| pair[1] - pair[0] < layout.dtype.block_bytes() as usize)
}

/// A storage of which nothing is data yet.
fn gap(case: &Case, (home, bytes): (usize, u64)) -> Vec<u8> {
    let index = case.operands[home].is_some_and(|l| matches!(l.dtype, DType::I32 | DType::I64));
    // NaN of any float type and any block; an index far outside.
    vec![if index { 0x7f } else { 0xff }; bytes as usize]
}

fn run_reference(subject: &Subject, case: &Case, packed: &mut [Vec<u8>]) -> Result<(), KernelError> {
    let kernel = subject.reference();
    let layouts: Vec<Option<Layout>> = case
        .operands
        .iter()
        .map(|l| l.map(|l| Layout::packed(l.dtype, l.shape).expect("a packed layout")))
        .collect();
    let cells: Vec<&[Cell<u8>]> =
        packed.iter_mut().map(|bytes| Cell::from_mut(bytes.as_mut_slice()).as_slice_of_cells()).collect();
    let places: Vec<Option<Place<'_>>> =
        layouts.iter().zip(cells).map(|(layout, cells)| layout.map(|layout| (layout, cells))).collect();
    (kernel.reference)(&Call::new(&kernel.contract, &places, &case.constants)?)
}

/// Calls `each` with the address of each block and its number in packed order.
fn each_block(layout: &Layout, mut each: impl FnMut(usize, usize)) {
    let [n0, n1, n2, n3] = layout.shape;
    let mut number = 0;
    for i3 in 0..n3 {
        for i2 in 0..n2 {
            for i1 in 0..n1 {
                for i0 in 0..n0 / layout.dtype.block_values() {
                    let steps: u64 = [i0, i1, i2, i3].iter().zip(layout.strides).map(|(i, s)| i * s).sum();
                    each((layout.offset + steps) as usize, number);
                    number += 1;
                }
            }
        }
    }
}

/// The elements of a storage in packed order.
pub fn gather(storage: &[u8], layout: &Layout) -> Vec<u8> {
    let unit = layout.dtype.block_bytes() as usize;
    let mut packed = vec![0; layout.bytes() as usize];
    each_block(layout, |address, number| {
        packed[number * unit..(number + 1) * unit].copy_from_slice(&storage[address..address + unit]);
    });
    packed
}

fn scatter(packed: &[u8], storage: &mut [u8], layout: &Layout) {
    let unit = layout.dtype.block_bytes() as usize;
    each_block(layout, |address, number| {
        storage[address..address + unit].copy_from_slice(&packed[number * unit..(number + 1) * unit]);
    });
}

/// What a backend that poisons outputs leaves in them.
fn poison(layout: &Layout) -> Vec<u8> {
    let pattern: &[u8] = match layout.dtype {
        DType::F32 => &[0x00, 0x00, 0xc0, 0x7f],
        DType::F16 => &[0x00, 0x7e],
        DType::BF16 => &[0xc0, 0x7f],
        _ => &[0xff, 0xff, 0xff, 0x7f],
    };
    pattern.iter().copied().cycle().take(layout.bytes() as usize).collect()
}

/// Elements in packed order.
fn encoded(layout: &Layout, mut values: Option<&mut Values>, random: &mut Random) -> Vec<u8> {
    let [n0, n1, n2, n3] = layout.shape;
    let integer = matches!(layout.dtype, DType::I32 | DType::I64);
    let mut all = Vec::with_capacity(layout.elements() as usize);
    for i3 in 0..n3 {
        for i2 in 0..n2 {
            for i1 in 0..n1 {
                for i0 in 0..n0 {
                    all.push(match &mut values {
                        Some(values) => values([i0, i1, i2, i3], random),
                        None if integer => random.below(2001) as f64 - 1000.0,
                        None => f64::from(random.unit()),
                    });
                }
            }
        }
    }
    match layout.dtype {
        DType::I32 => all.iter().flat_map(|v| (*v as i32).to_le_bytes()).collect(),
        DType::I64 => all.iter().flat_map(|v| (*v as i64).to_le_bytes()).collect(),
        dtype => {
            let floats: Vec<f32> = all.iter().map(|v| *v as f32).collect();
            let mut bytes = vec![0; layout.bytes() as usize];
            (quant::block_type(dtype).expect("a codec").encode)(&floats, &mut bytes);
            bytes
        }
    }
}

fn decoded(dtype: DType, bytes: &[u8]) -> Vec<f32> {
    match dtype {
        DType::I32 => bytes.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b) as f32).collect(),
        DType::I64 => bytes.as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b) as f32).collect(),
        dtype => {
            let count = bytes.len() as u64 / dtype.block_bytes() * dtype.block_values();
            let mut values = vec![0.0; count as usize];
            (quant::block_type(dtype).expect("a codec").decode)(bytes, &mut values);
            values
        }
    }
}
