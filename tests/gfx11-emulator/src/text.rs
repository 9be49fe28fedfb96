//! One line of `llvm-objdump -d`, taken apart.

use crate::wave::LANES;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Vector(u8),
    Scalar(u8),
    /// As written in decimal.
    Integer(i64),
    /// As written in hexadecimal: 32 bits behind the instruction.
    Literal(u32),
    Float(f64),
    /// `off` or `null` as an address.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    pub place: Place,
    pub negate: bool,
    pub absolute: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modifiers {
    pub offset: i64,
    pub offset1: i64,
    pub select: Option<Vec<u8>>,
    pub select_high: Option<Vec<u8>>,
    pub negate: Vec<u8>,
    pub negate_high: Vec<u8>,
    pub clamp: bool,
    /// A power of two.
    pub scale: i8,
    pub returns: bool,
    pub pattern: Option<Pattern>,
    pub row_mask: u8,
    pub bank_mask: u8,
    pub bound_control: bool,
    pub fetch_inactive: bool,
}

/// Where a lane's first source comes from: for each lane, or `None` outside the row.
pub type Pattern = Vec<Option<u8>>;

#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub mnemonic: String,
    pub operands: Vec<Operand>,
    pub modifiers: Modifiers,
}

/// A line with its place in the code.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub address: u64,
    pub words: Vec<u32>,
    pub text: String,
}

impl Line {
    /// `\ttext // 000000001234: words`.
    pub fn read(line: &str) -> Option<Line> {
        let (text, comment) = line.strip_prefix('\t')?.rsplit_once("//")?;
        let mut fields = comment.split([':', ' ']).filter(|field| !field.is_empty());
        let address = u64::from_str_radix(fields.next()?, 16).ok()?;
        let words =
            fields.map_while(|field| (field.len() == 8).then(|| u32::from_str_radix(field, 16).ok())?);
        Some(Line { address, words: words.collect(), text: text.trim().to_owned() })
    }
}

/// `None` when a part is not understood.
pub fn parse(text: &str) -> Option<Parsed> {
    let (mnemonic, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut parsed = Parsed {
        mnemonic: mnemonic.to_owned(),
        operands: Vec::new(),
        modifiers: Modifiers { row_mask: 15, bank_mask: 15, ..Modifiers::default() },
    };
    let parts = split(rest.trim(), ',');
    let last = parts.len().saturating_sub(1);
    for (k, part) in parts.into_iter().enumerate() {
        let mut pieces = split(part.trim(), ' ').into_iter();
        let first = pieces.next().unwrap_or_default();
        // Without operands the first piece is a modifier already.
        if let Some(operand) = operand(first) {
            parsed.operands.push(operand);
        } else if !first.is_empty() {
            parsed.modifiers.add(first)?;
        }
        for piece in pieces {
            (k == last).then_some(())?;
            parsed.modifiers.add(piece)?;
        }
    }
    Some(parsed)
}

/// Splits outside of brackets and parentheses.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (place, character) in text.char_indices() {
        match character {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ if character == at && depth == 0 => {
                if place > start {
                    parts.push(&text[start..place]);
                }
                start = place + 1;
            }
            _ => {}
        }
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

fn operand(text: &str) -> Option<Operand> {
    let mut text = text;
    let mut operand = Operand { place: Place::Nothing, negate: false, absolute: false };
    if let Some(inner) = text.strip_prefix("neg(").and_then(|rest| rest.strip_suffix(')')) {
        (operand.negate, text) = (true, inner);
    } else if let Some(rest) =
        text.strip_prefix('-').filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        (operand.negate, text) = (true, rest);
    }
    if let Some(inner) = text.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
        (operand.absolute, text) = (true, inner);
    }
    operand.place = place(text)?;
    Some(operand)
}

fn place(text: &str) -> Option<Place> {
    Some(match text {
        "off" => Place::Nothing,
        "vcc" | "vcc_lo" => Place::Scalar(106),
        "vcc_hi" => Place::Scalar(107),
        "null" => Place::Scalar(124),
        "m0" => Place::Scalar(125),
        "exec" | "exec_lo" => Place::Scalar(126),
        "exec_hi" => Place::Scalar(127),
        _ => {
            if let Some(number) = text.strip_prefix("ttmp").and_then(register) {
                Place::Scalar(number.checked_add(108)?)
            } else if let Some(number) = text.strip_prefix('v').and_then(register) {
                Place::Vector(number)
            } else if let Some(number) = text.strip_prefix('s').and_then(register) {
                Place::Scalar(number)
            } else {
                constant(text)?
            }
        }
    })
}

/// `7` or the first of `[4:7]`.
fn register(text: &str) -> Option<u8> {
    match text.strip_prefix('[') {
        Some(range) => range.strip_suffix(']')?.split(':').next()?.parse().ok(),
        None => text.parse().ok(),
    }
}

fn constant(text: &str) -> Option<Place> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok().map(Place::Literal);
    }
    if let Some(digits) = text.strip_prefix("-0x") {
        return i64::from_str_radix(digits, 16).ok().map(|value| Place::Integer(-value));
    }
    if text.contains('.') {
        return text.parse().ok().map(Place::Float);
    }
    text.parse().ok().map(Place::Integer)
}

fn number(text: &str) -> Option<i64> {
    match constant(text)? {
        Place::Literal(value) => Some(i64::from(value)),
        Place::Integer(value) => Some(value),
        _ => None,
    }
}

fn list(text: &str) -> Option<Vec<u8>> {
    text.strip_prefix('[')?.strip_suffix(']')?.split(',').map(|item| item.trim().parse().ok()).collect()
}

impl Modifiers {
    fn add(&mut self, text: &str) -> Option<()> {
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        match name {
            // A swizzle's pattern is read from the instruction's bits.
            "offset" if value.starts_with("swizzle(") => {}
            "offset" | "offset0" => self.offset = number(value)?,
            "offset1" => self.offset1 = number(value)?,
            "op_sel" => self.select = Some(list(value)?),
            "op_sel_hi" => self.select_high = Some(list(value)?),
            "neg_lo" => self.negate = list(value)?,
            "neg_hi" => self.negate_high = list(value)?,
            "clamp" => self.clamp = true,
            "mul" => self.scale = number(value)?.trailing_zeros() as i8,
            "div" => self.scale = -(number(value)?.trailing_zeros() as i8),
            "glc" => self.returns = true,
            "slc" | "dlc" => {}
            "row_mask" => self.row_mask = number(value)? as u8,
            "bank_mask" => self.bank_mask = number(value)? as u8,
            "bound_ctrl" => self.bound_control = true,
            "fi" => self.fetch_inactive = number(value)? == 1,
            _ => self.pattern = Some(pattern(name, value)?),
        }
        Some(())
    }
}

fn pattern(name: &str, value: &str) -> Option<Pattern> {
    let by = || number(value).and_then(|by| usize::try_from(by).ok()).filter(|by| *by < 16);
    let in_row = |f: &dyn Fn(usize) -> Option<usize>| -> Pattern {
        (0..LANES).map(|lane| f(lane & 15).map(|at| ((lane & 16) + at) as u8)).collect()
    };
    Some(match name {
        "row_xmask" => by().map(|by| in_row(&|at| Some(at ^ by)))?,
        "row_share" => by().map(|by| in_row(&|_| Some(by)))?,
        "row_shl" => by().map(|by| in_row(&|at| Some(at + by).filter(|at| *at < 16)))?,
        "row_shr" => by().map(|by| in_row(&|at| at.checked_sub(by)))?,
        "row_ror" => by().map(|by| in_row(&|at| Some((at + 16 - by) & 15)))?,
        "row_mirror" => in_row(&|at| Some(15 - at)),
        "row_half_mirror" => in_row(&|at| Some((at & 8) | (7 - (at & 7)))),
        "quad_perm" => {
            let select = list(value).filter(|select| select.len() == 4)?;
            in_row(&|at| Some(at & !3 | usize::from(select[at & 3] & 3)))
        }
        "dpp8" => {
            let select = list(value).filter(|select| select.len() == 8)?;
            in_row(&|at| Some(at & !7 | usize::from(select[at & 7] & 7)))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_and_operands() {
        let line = "\ts_delay_alu instid0(VALU_DEP_1) | instskip(NEXT)// 000000002064: BF870111";
        let line = Line::read(line).unwrap();
        assert_eq!((line.address, line.words), (0x2064, vec![0xbf87_0111]));
        let parsed = parse("v_add_f32_e64 v255, -|v1|, s[2:3] clamp mul:4").unwrap();
        assert_eq!(parsed.operands[0].place, Place::Vector(255));
        assert_eq!(parsed.operands[1], Operand { place: Place::Vector(1), negate: true, absolute: true });
        assert_eq!(parsed.operands[2].place, Place::Scalar(2));
        assert!(parsed.modifiers.clamp && parsed.modifiers.scale == 2);
        assert_eq!(parse("v_mul_f32_e32 v0, -4.0, v1").unwrap().operands[1].place, Place::Float(-4.0));
        assert_eq!(parse("s_load_b32 s0, s[2:3], -0x10").unwrap().operands[2].place, Place::Integer(-16));
        assert_eq!(parse("v_nop foo:1"), None);
    }

    #[test]
    fn reads_patterns_of_lanes() {
        let from =
            |text: &str| parse(&format!("v_mov_b32_dpp v0, v1 {text}")).unwrap().modifiers.pattern.unwrap();
        assert_eq!(from("row_shr:1")[16..18], [None, Some(16)]);
        assert_eq!(from("row_ror:4 row_mask:0x3")[0], Some(12));
        assert_eq!(from("dpp8:[7,6,5,4,3,2,1,0]")[8..10], [Some(15), Some(14)]);
        assert_eq!(from("quad_perm:[1,1,3,3]")[4..8], [Some(5), Some(5), Some(7), Some(7)]);
        let swizzle = parse("ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,0,1,2,3) gds");
        assert_eq!(swizzle, None);
    }
}
