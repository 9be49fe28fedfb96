//! Rows of one tensor, decoded and encoded batch by batch.

use std::num::NonZero;
use std::thread;

use weft_core::graph::DType;
use weft_core::quant::{QuantError, decode_row, encode_row, encode_row_weighted};

use super::QuantizeError;
use crate::gguf::{Gguf, GgufError, TensorEntry};

/// Values of one thread's share of a batch, or one row if that is longer.
const SHARE: u64 = 1 << 18;

/// Hands the bytes of a tensor over in another type, or as they are where it has that type.
pub(super) fn each_batch(
    model: &Gguf,
    entry: &TensorEntry,
    dtype: DType,
    importance: Option<&[f32]>,
    threads: usize,
    put: &mut dyn FnMut(&[u8]) -> Result<(), GgufError>,
) -> Result<(), QuantizeError> {
    let bytes = model.tensor_bytes(entry)?;
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    let row = Row {
        from: entry.dtype,
        to: dtype,
        values: entry.shape[0] as usize,
        bytes: entry.row_bytes() as usize,
        written: dtype.row_bytes(entry.shape[0]).unwrap_or(0) as usize,
        rows: entry.shape[1] as usize,
    };
    let share = (SHARE / entry.shape[0]).max(1) as usize;
    if dtype == entry.dtype {
        return bytes.as_ref().chunks(share * row.bytes).try_for_each(|batch| Ok(put(batch)?));
    }
    let mut first = 0;
    for batch in bytes.as_ref().chunks(share * threads * row.bytes) {
        let count = batch.len() / row.bytes;
        let mut out = vec![0; count * row.written];
        thread::scope(|scope| {
            let shares = batch.chunks(share * row.bytes).zip(out.chunks_mut(share * row.written));
            let started: Vec<_> = shares
                .enumerate()
                .map(|(at, (source, target))| {
                    scope.spawn(move || row.convert(source, target, importance, first + at * share))
                })
                .collect();
            started.into_iter().try_for_each(|thread| match thread.join() {
                Ok(converted) => converted,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        put(&out)?;
        first += count;
    }
    Ok(())
}

/// How one row is converted.
#[derive(Clone, Copy)]
struct Row {
    from: DType,
    to: DType,
    values: usize,
    bytes: usize,
    written: usize,
    /// Rows of one matrix of a tensor that holds several.
    rows: usize,
}

impl Row {
    /// Converts rows of which the first is row `first` of the tensor.
    fn convert(
        self,
        source: &[u8],
        target: &mut [u8],
        importance: Option<&[f32]>,
        first: usize,
    ) -> Result<(), QuantError> {
        let mut values = vec![0.0; self.values];
        let rows = source.chunks_exact(self.bytes).zip(target.chunks_exact_mut(self.written));
        for (at, (source, target)) in (first..).zip(rows) {
            decode_row(self.from, source, &mut values)?;
            match importance {
                Some(all) => {
                    let columns = &all[at / self.rows * self.values..][..self.values];
                    encode_row_weighted(self.to, &values, columns, target)?;
                }
                None => encode_row(self.to, &values, target)?,
            }
        }
        Ok(())
    }
}
