//! Random programs over a few shared buffers: views of every kind, writes in place, scatters, copies between ranges that
//! meet, casts into themselves, and the chains that rules look for.

use super::Fixture;
use super::import::{Import, Value};
use crate::Random;
use crate::run::{Data, int_bytes};
use weft_core::graph::{BinaryKind, DType, L2Form, Op, Owner, UnaryKind};

/// Extents of everything: small, so that ranges meet often.
const WIDTH: u64 = 16;
const ROWS: u64 = 6;

struct Program {
    g: Import,
    random: Random,
    /// f32 values `[WIDTH, n]`.
    values: Vec<Value>,
    /// f16 values.
    halves: Vec<Value>,
    weights: Vec<Value>,
    indices: Value,
}

const MILD: [UnaryKind; 5] =
    [UnaryKind::Silu, UnaryKind::Sigmoid, UnaryKind::Tanh, UnaryKind::Abs, UnaryKind::Relu];

impl Program {
    fn pick(&mut self) -> Value {
        self.random.pick(&self.values)
    }

    /// A value that may be written.
    fn target(&mut self) -> Option<Value> {
        for _ in 0..8 {
            let value = self.pick();
            let owner = self.g.graph().storage(value.storage).owner;
            if matches!(owner, Owner::Activation | Owner::State) && apart(&value) {
                return Some(value);
            }
        }
        None
    }

    /// Another value of the same shape.
    fn like(&mut self, value: Value) -> Value {
        let same: Vec<Value> = self.values.iter().copied().filter(|v| v.shape() == value.shape()).collect();
        self.random.pick(&same)
    }

    fn norm(&mut self, x: Value) -> Value {
        let weight = self.random.pick(&self.weights);
        let normed = self.g.op(Op::RmsNorm { eps: 1e-3 }, &[x]);
        self.g.mul(normed, weight)
    }

    fn step(&mut self) {
        let x = self.pick();
        let made = match self.random.below(20) {
            0 | 1 => Some(self.window(x)),
            2 => Some(self.turned(x)),
            3 => {
                let kind = self.random.pick(&MILD);
                Some(self.g.unary(kind, x))
            }
            4 => {
                let other = self.like(x);
                let sum = self.g.add(x, other);
                Some(self.g.scale(sum, 0.5, 0.0))
            }
            5 => {
                let other = self.like(x);
                let sum = self.g.add(x, other);
                let normed = self.norm(sum);
                self.values.push(sum);
                Some(normed)
            }
            6 => Some(self.norm(x)),
            7 => {
                let normed = self.norm(x);
                let gate = self.like(normed);
                let opened = self.g.unary(UnaryKind::Silu, gate);
                Some(self.g.mul(normed, opened))
            }
            8 | 9 => {
                let other = self.like(x);
                let kind = self.random.pick(&[UnaryKind::Silu, UnaryKind::Sigmoid]);
                let opened = self.g.unary(kind, x);
                // Now and then somebody else writes in between.
                if self.random.below(3) == 0 {
                    self.write();
                }
                Some(self.g.mul(opened, other))
            }
            10 => Some(self.g.op(Op::L2Norm { eps: 1e-3, form: L2Form::SumEps }, &[x])),
            11 => {
                let half = self.g.cast_into_self(x, DType::F16);
                self.halves.push(half);
                None
            }
            12 if !self.halves.is_empty() => {
                let half = self.random.pick(&self.halves);
                Some(self.g.cast_into_self(half, DType::F32))
            }
            13 => {
                let like = self.pick();
                Some(self.g.op(Op::Fill { value: 0.25 }, &[like]))
            }
            14 => Some(self.g.packed_copy(x)),
            _ => {
                self.write();
                None
            }
        };
        self.values.extend(made);
    }

    /// One write onto existing bytes.
    fn write(&mut self) {
        let Some(target) = self.target() else { return };
        match self.random.below(5) {
            0 => {
                self.g.in_place(Op::Scale { scale: 0.5, bias: 0.125 }, &[target]);
            }
            1 => {
                let kind = self.random.pick(&MILD);
                self.g.in_place(Op::Unary { kind }, &[target]);
            }
            2 => {
                let other = self.like(target);
                if !other.overlaps(&target) {
                    self.g.in_place(Op::Binary { kind: BinaryKind::Sub }, &[target, other]);
                    self.g.in_place(Op::Scale { scale: 0.5, bias: 0.0 }, &[target]);
                }
            }
            3 => {
                let other = self.like(target);
                if !other.overlaps(&target) {
                    self.g.op(Op::Copy, &[other, target]);
                }
            }
            _ => self.scatter(target),
        }
    }

    fn scatter(&mut self, target: Value) {
        let [width, rows, planes, _] = target.shape();
        let source = self.pick();
        let fits = width == WIDTH && planes == 1 && rows >= 2 && source.shape()[2] == 1;
        if !fits || source.shape()[0] != WIDTH || source.shape()[1] < 2 || source.overlaps(&target) {
            return;
        }
        let two = self.g.slice(source, 1, 0, 2);
        self.g.op(Op::SetRows, &[target, two, self.indices]);
    }

    /// Some of the rows, from anywhere, forwards or with a gap.
    fn window(&mut self, x: Value) -> Value {
        let rows = x.shape()[1];
        let count = 1 + self.random.below(rows);
        let start = self.random.below(rows - count + 1);
        if self.random.below(3) == 0 && rows >= 4 && x.shape()[2] == 1 {
            let [s0, s1, ..] = x.layout.strides;
            let every = rows / 2;
            return self.g.view(
                x,
                [x.shape()[0], every, 1, 1],
                [s0, 2 * s1, 2 * s1 * every, 2 * s1 * every],
                0,
            );
        }
        self.g.slice(x, 1, start, count)
    }

    /// The first rows with both extents exchanged, as far as they are a square.
    fn turned(&mut self, x: Value) -> Value {
        let side = x.shape()[0].min(x.shape()[1]);
        if x.shape()[2] > 1 || side < 2 {
            return x;
        }
        let rows = self.g.slice(x, 1, 0, side);
        let square = self.g.slice(rows, 0, 0, side);
        let turned = self.g.permute(square, [1, 0, 2, 3]);
        // Rows of the full width are what the other steps want.
        if side == WIDTH { turned } else { x }
    }
}

impl Value {
    /// Whether both share bytes.
    pub fn overlaps(&self, other: &Value) -> bool {
        self.storage == other.storage && self.layout.overlaps(&other.layout)
    }
}

/// Whether the value's rows lie apart, so that it can be written.
fn apart(value: &Value) -> bool {
    let mut bytes = 0;
    value.layout.for_each_run(|run| bytes += run.end - run.start);
    let [n0, n1, ..] = value.shape();
    let [s0, s1, ..] = value.layout.strides;
    bytes == value.layout.bytes() && (n1 == 1 || s1 >= s0 * n0 || s0 >= s1 * n1)
}

/// A random program of this many steps.
pub fn program(seed: u64, steps: usize) -> Fixture {
    let mut g = Import::default();
    let state = g.state("state", DType::F32, &[WIDTH, ROWS]);
    let wide = g.state("wide", DType::F32, &[2 * WIDTH, ROWS]);
    let x = g.input("x", DType::F32, &[WIDTH, ROWS]);
    let square = g.input("square", DType::F32, &[WIDTH, WIDTH]);
    let indices = g.input("indices", DType::I32, &[2]);
    let weights = vec![g.weight("first", DType::F32, &[WIDTH]), g.weight("second", DType::F32, &[WIDTH])];
    let shared = g.op(Op::Fill { value: 0.5 }, &[wide]);
    let halves = [wide, shared].map(|whole| [g.slice(whole, 0, 0, WIDTH), g.slice(whole, 0, WIDTH, WIDTH)]);
    let mut values = vec![state, x, square];
    values.extend(halves.into_iter().flatten());
    let mut random = Random::named("program", seed);
    let first = random.below(2) as i32;
    let rows = [first, 1 - first];
    let mut program = Program { g, random, values, halves: Vec::new(), weights, indices };
    for _ in 0..steps {
        program.step();
    }
    let Program { mut g, mut random, values, .. } = program;
    for index in 0..4 {
        let value = random.pick(&values);
        let end = g.scale(value, 1.0, 0.0);
        g.output(&format!("end{index}"), end);
    }
    let mut data = Data::new();
    data.insert("indices".to_owned(), int_bytes(&rows));
    Fixture::new(format!("program {seed}"), g, data)
}
