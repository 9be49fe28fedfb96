//! What a family says about an instruction: what runs it and what its operands are.

use crate::lanes::{Kind, Kinds};
use crate::op::Run;

/// How the operands in the text map to those of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Destination, sources.
    Plain,
    /// Destination, two sources; the destination is the third.
    Accumulate,
    /// The mask that is written (or VCC, or with `v_cmpx` the execution mask), sources.
    Compare,
    /// Destination, the mask of carries, sources.
    Carry,
    /// As `Plain`; the last source is a mask, VCC when it is not written.
    Select,
    /// No destination, sources.
    Sources,
    /// A label.
    Branch,
    /// A number that goes into the operation's offset.
    Immediate,
    /// Operands are not looked at.
    Ignored,
    /// Destination, address, scalar address or offset.
    Load,
    /// Address, value, scalar address.
    Store,
    /// Destination, address: LDS.
    LdsLoad,
    /// Address, values: LDS.
    LdsStore,
    /// Destination when something is given back, address, value, scalar address.
    Atomic,
    /// As `Atomic` without a scalar address.
    LdsAtomic,
    /// Destination, base, offset: scalar loads.
    ScalarLoad,
}

#[derive(Clone, Copy)]
pub struct Spec {
    pub run: Run,
    pub form: Form,
    pub kinds: Kinds,
    /// Modifiers with a meaning of the instruction's own.
    pub extra: Extra,
}

/// Modifiers that only some instructions have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// `neg_lo` says which sources are signed.
    pub signs: bool,
    /// `op_sel` has its own meaning.
    pub select: bool,
}

impl Spec {
    pub fn new(run: Run, form: Form) -> Spec {
        Spec::of(run, form, [Kind::Word; 4])
    }

    pub fn of(run: Run, form: Form, kinds: Kinds) -> Spec {
        Spec { run, form, kinds, extra: Extra::default() }
    }

    pub fn kinds(self, kinds: Kinds) -> Spec {
        Spec { kinds, ..self }
    }

    pub fn with_signs(self) -> Spec {
        Spec { extra: Extra { signs: true, ..self.extra }, ..self }
    }

    pub fn with_select(self) -> Spec {
        Spec { extra: Extra { select: true, ..self.extra }, ..self }
    }
}

/// `lane1!(|a: f32| ...)`: one source, lane by lane. The types of the closure say how bits are read.
macro_rules! lane1 {
    ($f:expr) => {
        crate::isa::Spec::of(
            crate::level::compiled!(crate::lanes::one, $f),
            crate::isa::Form::Plain,
            crate::lanes::kinds_of_one(&$f),
        )
    };
}

macro_rules! lane2 {
    ($f:expr) => {
        crate::isa::Spec::of(
            crate::level::compiled!(crate::lanes::two, $f),
            crate::isa::Form::Plain,
            crate::lanes::kinds_of_two(&$f),
        )
    };
}

macro_rules! lane3 {
    ($f:expr) => {
        crate::isa::Spec::of(
            crate::level::compiled!(crate::lanes::three, $f),
            crate::isa::Form::Plain,
            crate::lanes::kinds_of_three(&$f),
        )
    };
}

/// As `lane3!`, the destination being the third source.
macro_rules! accumulate {
    ($f:expr) => {
        crate::isa::Spec::of(
            crate::level::compiled!(crate::lanes::three, $f),
            crate::isa::Form::Accumulate,
            crate::lanes::kinds_of_three(&$f),
        )
    };
}

/// `run!(form, f, extra...)`: a function of the wave, the group, the operation and the extras.
macro_rules! run {
    ($form:ident, $f:expr $(, $extra:expr)*) => {
        crate::isa::Spec::new(crate::level::compiled!($f $(, $extra)*), crate::isa::Form::$form)
    };
}

/// As `run!` for what has no loop over lanes, and so needs no second version.
macro_rules! plain {
    ($form:ident, $f:expr $(, $extra:expr)*) => {{
        fn plain(wave: &mut crate::wave::Wave, group: &mut crate::group::Group<'_>, op: &crate::op::Op) {
            $f(wave, group, op $(, $extra)*)
        }
        crate::isa::Spec::new(plain as crate::op::Run, crate::isa::Form::$form)
    }};
}

pub(crate) use {accumulate, lane1, lane2, lane3, plain, run};
