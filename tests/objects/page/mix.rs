//! Instructions of an entry point by kind, as they stand in its code: those of a loop count once.

use gfx11_emulator::fault::LoadError;
use gfx11_emulator::object_file::CodeObject;
use std::collections::BTreeMap;

/// Columns of the table.
pub const KINDS: [&str; 10] =
    ["all", "VALU", "dot", "WMMA", "SALU", "scalar loads", "loads", "stores", "LDS ops", "waits"];

/// Numbers of instructions by kind, `barriers` besides those of the table.
pub type Mix = BTreeMap<&'static str, usize>;

/// The kinds to which an instruction belongs besides `all`; none for hints, branches and the like.
fn kinds(mnemonic: &str) -> &'static [&'static str] {
    let starts = |all: &[&str]| all.iter().any(|start| mnemonic.starts_with(start));
    let is_memory = starts(&["global_", "flat_", "buffer_", "scratch_"]);
    match mnemonic {
        _ if mnemonic.contains("wmma") => &["VALU", "WMMA"],
        _ if starts(&["v_dot", "v_dual_dot"]) => &["VALU", "dot"],
        _ if starts(&["v_"]) => &["VALU"],
        _ if starts(&["ds_"]) => &["LDS ops"],
        _ if is_memory && mnemonic.contains("_load") => &["loads"],
        _ if is_memory && (mnemonic.contains("_store") || mnemonic.contains("_atomic")) => &["stores"],
        "s_barrier" => &["barriers"],
        _ if starts(&["s_waitcnt"]) => &["waits"],
        _ if starts(&["s_load", "s_buffer_load"]) => &["scalar loads"],
        _ if starts(&["s_branch", "s_cbranch", "s_clause", "s_delay_alu", "s_nop", "s_endpgm"]) => &[],
        _ if starts(&["s_sendmsg", "s_set_inst", "s_code_end", "buffer_gl"]) => &[],
        _ if starts(&["s_"]) => &["SALU"],
        _ => panic!("of which kind is {mnemonic}?"),
    }
}

/// The mix of each entry point of an object.
pub fn of(object: &[u8]) -> Result<BTreeMap<String, Mix>, LoadError> {
    let object = CodeObject::load(object)?;
    let mix = |entry: u64, bytes: u64| {
        let mut mix = Mix::new();
        for line in object.program.lines.iter().filter(|l| (entry..entry + bytes).contains(&l.address)) {
            // Two halves of a pair are one instruction.
            let own = kinds(line.text.split(' ').next().unwrap_or_default());
            let dot = line.text.contains(":: v_dual_dot") && !own.contains(&"dot");
            for kind in own.iter().copied().chain(["all"]).chain(dot.then_some("dot")) {
                *mix.entry(kind).or_default() += 1;
            }
        }
        mix
    };
    let kernels = object.kernels.values();
    Ok(kernels.map(|k| (k.name.clone(), mix(k.descriptor.entry, k.descriptor.code_bytes))).collect())
}
