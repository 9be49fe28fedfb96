//! From text to operations.

use crate::float::Half;
use crate::isa::{self, Form, Spec};
use crate::lanes::Kind;
use crate::op::{EXEC, Op, Permutation, Run, Source};
use crate::text::{Line, Modifiers, Operand, Parsed, Place, parse};
use crate::wave::LANES;

/// The operations of a code object.
#[derive(Debug, Default)]
pub struct Program {
    pub ops: Vec<Op>,
    /// Lines that operations name.
    pub lines: Vec<Line>,
    /// The operation that starts at each word from `first`; `u32::MAX` where none does.
    pub index: Vec<u32>,
    /// The lowest address.
    pub first: u64,
}

impl Program {
    /// Operation at an address.
    pub fn at(&self, address: u64) -> Option<usize> {
        let word = address.checked_sub(self.first)? / 4;
        self.index
            .get(usize::try_from(word).ok()?)
            .filter(|index| **index != u32::MAX)
            .map(|index| *index as usize)
    }

    /// The first line of a range of addresses that is not known.
    pub fn unknown_in(&self, start: u64, bytes: u64) -> Option<&Line> {
        let unknown = isa::unknown as Run as usize;
        let ops = self.ops.iter().filter(|op| op.run as usize == unknown);
        let mut lines = ops.map(|op| &self.lines[op.line as usize]);
        lines.find(|line| (start..start + bytes).contains(&line.address))
    }
}

pub fn program(disassembly: &str) -> Program {
    let lines: Vec<Line> = disassembly.lines().filter_map(Line::read).collect();
    let Some(first) = lines.iter().map(|line| line.address).min() else { return Program::default() };
    let last = lines.iter().map(|line| line.address).max().unwrap_or(first);
    let mut index = vec![u32::MAX; ((last - first) / 4) as usize + 1];
    let mut ops = Vec::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        index[((line.address - first) / 4) as usize] = ops.len() as u32;
        decode_line(line, number as u32, &mut ops);
    }
    let mut program = Program { ops, lines, index, first };
    for k in 0..program.ops.len() {
        let op = &program.ops[k];
        if op.target == u32::MAX {
            let target = program.at(op.offset as u32 as u64);
            let op = &mut program.ops[k];
            match target {
                Some(target) => op.target = target as u32,
                None => op.run = isa::unknown,
            }
        }
    }
    program
}

fn decode_line(line: &Line, number: u32, ops: &mut Vec<Op>) {
    let unknown = || Op::new(isa::unknown, number);
    match line.text.split_once(" :: ") {
        None => ops.push(operation(line, &line.text, number).unwrap_or_else(unknown)),
        Some((first, second)) => {
            let half = |text: &str| operation(line, &text.trim().replacen("v_dual_", "v_", 1), number);
            match (half(first), half(second)) {
                (Some(first), Some(second)) => ops.extend(pair(first, second, number)),
                _ => ops.push(unknown()),
            }
        }
    }
}

/// Both halves of a pair read before either writes. They run one after the other where that makes no difference.
fn pair(first: Op, second: Op, number: u32) -> Vec<Op> {
    let reads = |op: &Op, register: u8| op.from.contains(&Source::Vector(register));
    if !reads(&second, first.to) {
        vec![first, second]
    } else if !reads(&first, second.to) {
        vec![second, first]
    } else {
        let mut both = Op::new(isa::dual, number);
        both.pair = Some(Box::new([first, second]));
        vec![both]
    }
}

/// `None` when the instruction or any part of it is not known.
fn operation(line: &Line, text: &str, number: u32) -> Option<Op> {
    let mnemonic = text.split(' ').next()?;
    let name = mnemonic.trim_end_matches("_dpp8").trim_end_matches("_dpp");
    let name = name.trim_end_matches("_e32").trim_end_matches("_e64");
    let spec = isa::find(name)?;
    let mut op = Op::new(spec.run, number);
    let next = line.address + 4 * line.words.len() as u64;
    op.offset1 = next as i32;
    match spec.form {
        Form::Ignored => return Some(op),
        Form::Branch => {
            let words = i64::from(*line.words.first()? as u16 as i16);
            op.offset = (next as i64 + 4 * words) as i32;
            op.target = u32::MAX;
            return Some(op);
        }
        _ => {}
    }
    let parsed = parse(text)?;
    if parsed.modifiers.clamp && !spec.kinds[3].takes_clamp() {
        // A saturating form of an integer instruction has an entry of its own.
        op.run = isa::find(&format!("{name} clamp"))?.run;
    }
    let sources = assign(&mut op, &spec, name, &parsed)?;
    apply(&mut op, &spec, &parsed.modifiers, sources.len())?;
    for (k, operand) in sources.into_iter().enumerate() {
        let kind = spec.kinds[k.min(2)];
        op.from[k] = source(operand, kind, op.select_high >> k & 1 == 1)?;
        if (operand.negate || operand.absolute) && !kind.takes_signs() {
            return None;
        }
        op.negate |= u8::from(operand.negate) << k;
        op.absolute |= u8::from(operand.absolute) << k;
    }
    finish(&mut op, &spec, name, line, &parsed)?;
    Some(op)
}

/// Destinations go into the operation; what comes back are the sources in order.
fn assign(op: &mut Op, spec: &Spec, name: &str, parsed: &Parsed) -> Option<Vec<Operand>> {
    let operands = &parsed.operands;
    const NONE: Operand = Operand { place: Place::Nothing, negate: false, absolute: false };
    let at = |k: usize| operands.get(k).copied().unwrap_or(NONE);
    let register = |k: usize| match operands.get(k)?.place {
        Place::Vector(register) | Place::Scalar(register) => Some(register),
        _ => None,
    };
    let from = |k: usize| operands.get(k..).map(<[Operand]>::to_vec);
    let sources = match spec.form {
        Form::Plain | Form::Select | Form::Accumulate | Form::ScalarLoad => {
            op.to = register(0)?;
            from(1)?
        }
        Form::Compare if name.starts_with("v_cmpx") => {
            op.mask_to = EXEC;
            from(operands.len().checked_sub(2)?)?
        }
        Form::Compare => {
            op.mask_to = register(0)?;
            from(1)?
        }
        Form::Carry => {
            (op.to, op.mask_to) = (register(0)?, register(1)?);
            from(2)?
        }
        Form::Sources => from(0)?,
        Form::Immediate => {
            op.offset = match operands.first()?.place {
                Place::Integer(value) => value as i32,
                Place::Literal(value) => value as i32,
                _ => return None,
            };
            Vec::new()
        }
        Form::Load => {
            op.to = register(0)?;
            vec![at(1), at(2)]
        }
        Form::Store => vec![at(0), at(2), at(1)],
        Form::LdsLoad => {
            op.to = register(0)?;
            vec![at(1), NONE, at(2)]
        }
        Form::LdsStore => vec![at(0), NONE, at(1), at(2)],
        Form::Atomic | Form::LdsAtomic => {
            op.returns =
                if spec.form == Form::Atomic { parsed.modifiers.returns } else { name.contains("_rtn_") };
            let skip = usize::from(op.returns);
            if op.returns {
                op.to = register(0)?;
            }
            let last = at(skip + 2);
            if spec.form == Form::Atomic {
                vec![at(skip), last, at(skip + 1)]
            } else {
                vec![at(skip), NONE, at(skip + 1), last]
            }
        }
        Form::Ignored | Form::Branch => return None,
    };
    (sources.len() <= 4).then_some(sources)
}

fn bits(list: &[u8]) -> u8 {
    list.iter().take(8).enumerate().fold(0, |bits, (k, bit)| bits | (bit & 1) << k)
}

fn apply(op: &mut Op, spec: &Spec, modifiers: &Modifiers, sources: usize) -> Option<()> {
    let is_packed = spec.kinds[..3].iter().any(|kind| matches!(kind, Kind::Packed | Kind::PackedShort));
    op.select_high = if is_packed { 7 } else { 0 };
    if let Some(list) = &modifiers.select {
        op.select = bits(list);
        if !spec.extra.select {
            // The last of a list that is longer than the sources is the destination's.
            if !is_packed && spec.kinds[0] != Kind::Mixed && list.len() == sources + 1 {
                let to = list.last()? & 1;
                op.select = bits(&list[..sources]) | to << 3;
                (to == 0 || matches!(spec.kinds[3], Kind::Half | Kind::Short)).then_some(())?;
            }
            let allowed =
                (0..sources.min(3)).all(|k| op.select >> k & 1 == 0 || spec.kinds[k].takes_select());
            allowed.then_some(())?;
        }
    }
    if let Some(list) = &modifiers.select_high {
        (is_packed || spec.kinds[0] == Kind::Mixed).then_some(())?;
        op.select_high = bits(list);
    }
    if !modifiers.negate.is_empty() {
        (spec.extra.signs || spec.kinds[0] == Kind::Packed).then_some(())?;
        op.negate = bits(&modifiers.negate);
    }
    if !modifiers.negate_high.is_empty() {
        (spec.kinds[0] == Kind::Packed).then_some(())?;
        op.negate_high = bits(&modifiers.negate_high);
    }
    if modifiers.clamp {
        op.clamp = spec.kinds[3].takes_clamp();
    }
    if modifiers.scale != 0 {
        matches!(spec.kinds[3], Kind::Float | Kind::Half | Kind::Double).then_some(())?;
        op.scale = modifiers.scale;
    }
    Some(())
}

/// What depends on the operands already put in.
fn finish(op: &mut Op, spec: &Spec, name: &str, line: &Line, parsed: &Parsed) -> Option<()> {
    let modifiers = &parsed.modifiers;
    match spec.form {
        Form::Accumulate => {
            op.from[2] = match parsed.operands.first()?.place {
                Place::Vector(register) => Source::Vector(register),
                Place::Scalar(register) => Source::Scalar(register),
                _ => return None,
            };
        }
        Form::ScalarLoad => {
            op.offset = i32::try_from(modifiers.offset).ok()?;
            if let Source::Constant(bits) = op.from[1] {
                op.offset = op.offset.checked_add(bits as i32)?;
                op.from[1] = Source::Absent;
            }
        }
        Form::Load | Form::Store | Form::LdsLoad | Form::LdsStore | Form::Atomic | Form::LdsAtomic => {
            op.offset = i32::try_from(modifiers.offset).ok()?;
            op.offset1 = i32::try_from(modifiers.offset1).ok()?;
            if name == "ds_swizzle_b32" {
                op.offset = (*line.words.first()? & 0xffff) as i32;
                // Rotations and the pattern of a Fourier transform.
                (op.offset < 0xc000).then_some(())?;
            }
        }
        _ => {}
    }
    if let Some(pattern) = &modifiers.pattern {
        matches!(spec.form, Form::Plain | Form::Accumulate | Form::Compare | Form::Carry | Form::Select)
            .then_some(())?;
        let mut permutation = Permutation {
            from: [0; LANES],
            inside: 0,
            enabled: 0,
            zero: modifiers.bound_control,
            inactive: modifiers.fetch_inactive,
        };
        for (lane, from) in pattern.iter().enumerate() {
            let (row, bank) = (lane / 16, lane / 4 % 4);
            permutation.from[lane] = from.unwrap_or(0);
            permutation.inside |= u32::from(from.is_some()) << lane;
            let enabled = modifiers.row_mask >> row & modifiers.bank_mask >> bank & 1;
            permutation.enabled |= u32::from(enabled) << lane;
        }
        op.permutation = Some(Box::new(permutation));
    }
    Some(())
}

/// A constant's bits depend on the type that the instruction reads.
fn source(operand: Operand, kind: Kind, selects_half: bool) -> Option<Source> {
    Some(match operand.place {
        Place::Vector(register) => Source::Vector(register),
        Place::Scalar(register) => Source::Scalar(register),
        Place::Nothing => Source::Absent,
        Place::Integer(value) => Source::Constant(match kind {
            Kind::Double | Kind::Long => value as u64,
            Kind::Half | Kind::Short => u64::from(value as u16),
            _ => u64::from(value as u32),
        }),
        // 32 bits: the upper half of a double.
        Place::Literal(value) => Source::Constant(match kind {
            Kind::Double => u64::from(value) << 32,
            _ => u64::from(value),
        }),
        Place::Float(value) => Source::Constant(match kind {
            Kind::Double | Kind::Long => value.to_bits(),
            Kind::Half | Kind::Short | Kind::Packed => u64::from(Half::of(value as f32).0),
            Kind::Mixed if selects_half => u64::from(Half::of(value as f32).0),
            Kind::PackedShort => return None,
            _ => u64::from((value as f32).to_bits()),
        }),
    })
}
