//! Several products of the same columns.

use super::Fixture;
use super::import::{Import, Value};
use crate::run::Data;
use weft_core::graph::{DType, Op};

const WIDTH: u64 = 32;

/// How columns and weights lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    Packed,
    /// As parts of wider rows, behind an offset.
    Apart,
    /// Transposed.
    Turned,
}

fn laid(g: &mut Import, name: &str, dtype: DType, rows: u64, lie: Lie, weight: bool) -> Value {
    let make = |g: &mut Import, shape: &[u64]| {
        if weight { g.weight(name, dtype, shape) } else { g.input(name, dtype, shape) }
    };
    match lie {
        Lie::Packed => make(g, &[WIDTH, rows]),
        Lie::Apart => {
            let whole = make(g, &[2 * WIDTH, rows]);
            g.slice(whole, 0, WIDTH, WIDTH)
        }
        Lie::Turned => {
            let whole = make(g, &[rows, WIDTH]);
            g.permute(whole, [1, 0, 2, 3])
        }
    }
}

/// Products of the same columns by weights of these types, each of another height.
pub fn products(types: &[DType], tokens: u64, lie: Lie) -> Fixture {
    let mut g = Import::default();
    let x = laid(&mut g, "x", DType::F32, tokens, lie, false);
    for (at, dtype) in types.iter().enumerate() {
        // A block of a slice would begin inside a block of the row.
        let lie = if dtype.is_quantised() { Lie::Packed } else { lie };
        let weight = laid(&mut g, &format!("weight.{at}"), *dtype, 5 + 3 * at as u64, lie, true);
        let out = g.op(Op::MulMat, &[weight, x]);
        g.label(&format!("product.{at}"));
        g.output(&format!("out.{at}"), out);
    }
    Fixture::new(format!("{} products of {tokens} columns, {lie:?}", types.len()), g, Data::new())
}

/// Two to six products in all layouts.
pub fn all() -> Vec<Fixture> {
    use DType::{F16, F32, Q4_0, Q8_0};
    vec![
        products(&[F32, F32], 1, Lie::Packed),
        products(&[F32, F16, F32], 3, Lie::Apart),
        products(&[F32, F32, F16, F32], 4, Lie::Turned),
        products(&[F32, F32, F32, F32], 4, Lie::Apart),
        products(&[Q8_0, F32, Q4_0, F16], 2, Lie::Packed),
        products(&[F32, F32, F32, F32, F32, F32], 2, Lie::Packed),
    ]
}
