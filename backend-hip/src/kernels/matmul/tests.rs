//! How rows are shared.

use super::ports::{Form, Teams};
use super::product::Square;
use weft_core::graph::{DType, Layout};

fn weight(dtype: DType, inner: u64, rows: u64) -> Layout {
    Layout::packed(dtype, [inner, rows, 1, 1]).expect("whole blocks")
}

#[test]
fn few_long_rows_are_shared_by_waves() {
    let split = |dtype, inner, rows, form| Teams::new(&weight(dtype, inner, rows), rows, form).split;
    assert_eq!(split(DType::Q4_K, 4096, 16384, Form::Exact), 1);
    assert_eq!(split(DType::Q4_K, 4096, 1024, Form::Exact), 4);
    // A wave has at least one turn.
    assert_eq!(split(DType::Q4_K, 2048, 512, Form::Exact), 2);
    assert_eq!(split(DType::Q4_K, 2048, 512, Form::Rounded), 1);
    assert_eq!(split(DType::F16, 256, 64, Form::Exact), 1);
}

#[test]
fn tiles_grow_with_the_work() {
    let columns = |columns, blocks| Square::of(columns, blocks).columns;
    assert_eq!([columns(9, 1), columns(64, 200), columns(512, 40), columns(512, 128)], [32, 64, 64, 128]);
}
