//! Layouts and constants one step away from good ones.

use weft_core::contract::{Attribute, Constant, Constants};
use weft_core::graph::{DType, Layout};

/// A layout's neighbours: one step away in one field.
pub fn layouts(layout: &Layout) -> Vec<(String, Layout)> {
    let mut all = Vec::new();
    let mut push = |what: String, change: &dyn Fn(&mut Layout)| {
        let mut layout = *layout;
        change(&mut layout);
        all.push((what, layout));
    };
    push("offset one byte later".to_owned(), &|l| l.offset += 1);
    push("offset one element later".to_owned(), &|l| l.offset += 4);
    for dtype in
        [DType::F16, DType::F32, DType::BF16, DType::F64, DType::I32, DType::I64, DType::I8, DType::Q8_0]
    {
        if dtype != layout.dtype {
            push(format!("{dtype}"), &|l| l.dtype = dtype);
        }
    }
    for dim in 0..4 {
        push(format!("extent {dim} larger"), &|l| l.shape[dim] += 1);
        push(format!("extent {dim} doubled"), &|l| l.shape[dim] *= 2);
        push(format!("extent {dim} doubled on the same bytes"), &|l| {
            l.shape[dim] *= 2;
            l.strides[dim] = 0;
        });
        push(format!("extent {dim} larger, packed"), &|l| {
            l.shape[dim] += 1;
            (0..4).for_each(|d| l.strides[d] = l.packed_stride(d));
        });
        push(format!("extent {dim} smaller"), &|l| l.shape[dim] = l.shape[dim].saturating_sub(1));
        if layout.shape[dim] > 1 {
            push(format!("stride {dim} one byte more"), &|l| l.strides[dim] += 1);
            push(format!("stride {dim} one element more"), &|l| l.strides[dim] += 4);
            push(format!("stride {dim} one element less"), &|l| {
                l.strides[dim] = l.strides[dim].saturating_sub(4)
            });
            push(format!("stride {dim} zero"), &|l| l.strides[dim] = 0);
        }
    }
    all
}

/// Constants with one value just outside its attribute's range, or missing.
pub fn constants(good: &Constants, attribute: &Attribute) -> Vec<Constants> {
    let with = |value: Option<Constant>| {
        let mut all = Constants::new();
        for (name, old) in good.iter() {
            let new = if name == attribute.name() { value } else { Some(old) };
            all = match new {
                Some(Constant::Float(v)) => all.float(name, v),
                Some(Constant::Integer(v)) => all.integer(name, v),
                None => all,
            };
        }
        all
    };
    let outside: Vec<u32> = match attribute {
        Attribute::Float(_) => Vec::new(),
        Attribute::Integer(_, low, high) => {
            [low.checked_sub(1), high.checked_add(1)].into_iter().flatten().collect()
        }
        Attribute::Choice(_, values) => values.iter().max().map(|most| most + 1).into_iter().collect(),
    };
    let mut all: Vec<Constants> = outside.into_iter().map(|v| with(Some(Constant::Integer(v)))).collect();
    all.push(with(None));
    all
}
