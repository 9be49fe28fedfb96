//! Branches, jumps, barriers, the end; what has no effect here; and pairs.

use crate::fault::FaultKind;
use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::plain;
use crate::op::{EXEC, Op, VCC};
use crate::wave::{State, Wave};

pub fn find(name: &str) -> Option<Spec> {
    branches(name).or_else(|| jumps(name)).or_else(|| silent(name))
}

fn branches(name: &str) -> Option<Spec> {
    Some(match name {
        "s_branch" => plain!(Branch, branch, |_| (true, false)),
        "s_cbranch_scc0" => plain!(Branch, branch, |w: &Wave| (!w.condition, w.condition_doubt)),
        "s_cbranch_scc1" => plain!(Branch, branch, |w: &Wave| (w.condition, w.condition_doubt)),
        "s_cbranch_vccz" => plain!(Branch, branch, |w: &Wave| (w.vcc() == 0, is_zero_in_doubt(w, VCC))),
        "s_cbranch_vccnz" => plain!(Branch, branch, |w: &Wave| (w.vcc() != 0, is_zero_in_doubt(w, VCC))),
        "s_cbranch_execz" => plain!(Branch, branch, |w: &Wave| (w.exec() == 0, is_zero_in_doubt(w, EXEC))),
        "s_cbranch_execnz" => plain!(Branch, branch, |w: &Wave| (w.exec() != 0, is_zero_in_doubt(w, EXEC))),
        _ => return None,
    })
}

fn is_zero_in_doubt(wave: &Wave, register: u8) -> bool {
    let (value, doubt) = (wave.scalar[usize::from(register)], wave.scalar_doubt[usize::from(register)]);
    doubt != 0 && value & !doubt == 0
}

/// Whether it is taken, and whether that is in doubt.
fn branch(wave: &mut Wave, group: &mut Group<'_>, op: &Op, test: impl Fn(&Wave) -> (bool, bool)) {
    let (taken, in_doubt) = test(wave);
    if in_doubt && group.options.undefined {
        return group.stop(wave, op, FaultKind::Undefined { used: "a branch" });
    }
    if taken {
        wave.counter = op.target as usize;
    }
}

fn jumps(name: &str) -> Option<Spec> {
    Some(match name {
        "s_getpc_b64" => plain!(Plain, next_address),
        "s_setpc_b64" => plain!(Sources, jump),
        "s_swappc_b64" => plain!(Plain, call),
        "s_barrier" => plain!(Ignored, barrier),
        "s_endpgm" => plain!(Ignored, end),
        "s_denorm_mode" => plain!(Immediate, set_subnormals),
        _ => return None,
    })
}

/// `offset1` is the address of the next instruction inside the code object.
fn next_address(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let address = group.code_start.wrapping_add(op.offset1 as u64);
    wave.put_scalar_pair(group, op, op.to, address, 0);
}

fn jump(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (address, doubt) = wave.scalar_pair_of(op.from[0]);
    if doubt != 0 && group.options.undefined {
        return group.stop(wave, op, FaultKind::Undefined { used: "a jump" });
    }
    let word = address.wrapping_sub(group.code_start).wrapping_sub(group.code_first) / 4;
    match group.code_index.get(word as usize) {
        Some(index) if *index != u32::MAX && address.is_multiple_of(4) => wave.counter = *index as usize,
        _ => group.stop(wave, op, FaultKind::BadJump { address }),
    }
}

fn call(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    jump(wave, group, op);
    next_address(wave, group, op);
}

fn barrier(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let exec = wave.exec();
    if exec != wave.all_lanes && group.options.masked_barriers {
        return group.stop(wave, op, FaultKind::BarrierMasked { exec });
    }
    wave.state = State::AtBarrier;
}

fn end(wave: &mut Wave, _: &mut Group<'_>, _: &Op) {
    wave.state = State::Ended;
}

/// Bits 0 and 1 allow subnormal f32 operands and results.
fn set_subnormals(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    wave.flushes = op.offset & 3 != 3;
}

/// No cache, no clock and no outstanding operation is modelled.
fn silent(name: &str) -> Option<Spec> {
    const NAMES: [&str; 26] = [
        "s_nop",
        "s_delay_alu",
        "s_waitcnt",
        "s_waitcnt_vscnt",
        "s_waitcnt_vmcnt",
        "s_waitcnt_lgkmcnt",
        "s_waitcnt_expcnt",
        "s_waitcnt_depctr",
        "s_wait_idle",
        "s_wait_event",
        "s_clause",
        "s_code_end",
        "s_sendmsg",
        "s_set_inst_prefetch_distance",
        "s_inst_prefetch",
        "s_sleep",
        "s_setprio",
        "s_icache_inv",
        "s_dcache_inv",
        "s_version",
        "s_decperflevel",
        "s_incperflevel",
        "buffer_gl0_inv",
        "buffer_gl1_inv",
        "v_nop",
        "ds_nop",
    ];
    NAMES.contains(&name).then(|| plain!(Ignored, |_: &mut Wave, _: &mut Group<'_>, _: &Op| {}))
}

/// An instruction that the decoder did not know: reached, it stops the wave.
pub fn unknown(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    group.stop(wave, op, FaultKind::Unknown);
}

/// Two halves of which each writes what the other reads: both read first.
pub fn dual(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let Some(pair) = &op.pair else { return };
    let [first, second] = &**pair;
    let to = usize::from(first.to);
    let (old, old_doubt) = (wave.vector[to], wave.vector_doubt[to]);
    // SAFETY: the decoder chose both for this host.
    unsafe { (first.run)(wave, group, first) };
    let (new, new_doubt) = (wave.vector[to], wave.vector_doubt[to]);
    (wave.vector[to], wave.vector_doubt[to]) = (old, old_doubt);
    // SAFETY: as above.
    unsafe { (second.run)(wave, group, second) };
    (wave.vector[to], wave.vector_doubt[to]) = (new, new_doubt);
}
