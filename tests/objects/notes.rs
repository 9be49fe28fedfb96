//! What the compiler says of each kernel: in the object's notes, and in remarks.

use std::collections::BTreeMap;

/// Numbers of one kernel by name.
pub type Kernel = BTreeMap<&'static str, u64>;

/// Key of the notes, name here.
const NOTES: &[(&str, &str)] = &[
    (".vgpr_count", "vgprs"),
    (".sgpr_count", "sgprs"),
    (".group_segment_fixed_size", "lds"),
    (".private_segment_fixed_size", "scratch"),
    (".vgpr_spill_count", "vgpr_spills"),
    (".sgpr_spill_count", "sgpr_spills"),
    (".max_flat_workgroup_size", "threads"),
    (".kernarg_segment_size", "arguments"),
];

/// Kernels in the text that `llvm-readelf --notes` prints, with waves a SIMD from the compiler's remarks.
pub fn kernels(notes: &str, remarks: &str) -> Result<BTreeMap<String, Kernel>, String> {
    let mut all = BTreeMap::new();
    // Each kernel is an item of the list; its arguments are nested deeper.
    for item in notes.split("\n  - .").skip(1) {
        let value = |key: &str| {
            let line = item.lines().find_map(|line| line.trim().strip_prefix(&format!("{key}:")));
            line.map(str::trim).ok_or_else(|| format!("the notes have no {key}"))
        };
        let name = value(".name")?;
        let mut kernel = Kernel::new();
        for (key, ours) in NOTES {
            kernel.insert(ours, value(key)?.parse().map_err(|e| format!("{name}: {key}: {e}"))?);
        }
        kernel
            .insert("waves", waves(remarks, name).ok_or_else(|| format!("{name}: no remark on its waves"))?);
        all.insert(name.to_owned(), kernel);
    }
    if all.is_empty() { Err("the notes name no kernel".to_owned()) } else { Ok(all) }
}

fn waves(remarks: &str, name: &str) -> Option<u64> {
    let named = |line: &&str| {
        line.split_once("Function Name: ").is_some_and(|(_, rest)| rest.starts_with(&format!("{name} ")))
    };
    let behind = remarks.lines().skip_while(|line| !named(line));
    let line = behind.skip(1).find_map(|line| line.split_once("Occupancy [waves/SIMD]: "))?;
    line.1.split(' ').next()?.parse().ok()
}
