//! The tree itself: stems, file sizes, where unsafe code may stand, what rules may not do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use weft_core::{kernels, rules};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Every source file of the workspace with its path from the root.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" && name != "fuzz" {
                    open.push(path);
                }
            } else if name.ends_with(".rs") || name.ends_with(".wgsl") {
                let relative = path.strip_prefix(root()).expect("inside").display().to_string();
                found.push((relative, fs::read_to_string(&path).expect("text")));
            }
        }
    }
    found
}

fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    let files = fs::read_dir(root().join(folder)).expect("a folder");
    let names = files.map(|f| f.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter_map(|n| n.strip_suffix(extension).map(str::to_owned)).collect()
}

#[test]
fn each_kernel_is_one_file_and_one_line_of_the_list() {
    let listed: BTreeSet<String> = kernels::ALL.iter().map(|k| k.contract.kernel.to_owned()).collect();
    assert_eq!(listed.len(), kernels::ALL.len(), "a stem is listed twice");
    let mut files = stems("core/src/kernels", ".rs");
    ["mod", "call"].iter().for_each(|other| assert!(files.remove(*other)));
    assert_eq!(files, listed);
}

#[test]
fn each_kernel_has_a_shader_or_a_reason() {
    let wanted = kernels::ALL.iter().filter(|k| !k.contract.absent.iter().any(|a| a.backend == "wgpu"));
    let wanted: BTreeSet<String> = wanted.map(|k| k.contract.kernel.to_owned()).collect();
    assert_eq!(stems("shaders", ".wgsl"), wanted);
}

#[test]
fn each_rule_is_one_file_and_one_line_of_the_list() {
    let listed: BTreeSet<String> = rules::FUSED.iter().map(|r| r.name.to_owned()).collect();
    let mut files = stems("core/src/rules", ".rs");
    ["mod", "links", "single"].iter().for_each(|other| assert!(files.remove(*other)));
    assert_eq!(files, listed);
    for rule in rules::FUSED {
        assert!(kernels::by_stem(rule.kernel).is_some(), "{} proposes {}", rule.name, rule.kernel);
    }
}

#[test]
fn every_operation_has_a_kernel_with_its_ports() {
    use weft_core::graph::{OpKind, Use};
    let all = [
        OpKind::GetRows,
        OpKind::SetRows,
        OpKind::Copy,
        OpKind::Cast,
        OpKind::Fill,
        OpKind::Concat,
        OpKind::Repeat,
        OpKind::MulMat,
        OpKind::MulMatId,
        OpKind::RmsNorm,
        OpKind::L2Norm,
        OpKind::Binary,
        OpKind::Scale,
        OpKind::Unary,
        OpKind::Swiglu,
        OpKind::Rope,
        OpKind::Softmax,
        OpKind::FlashAttention,
        OpKind::BlockScores,
        OpKind::BlockAttention,
        OpKind::SsmConv,
        OpKind::ConvHistory,
        OpKind::GatedDeltaNet,
        OpKind::TopK,
        OpKind::Argsort,
        OpKind::SumRows,
        OpKind::CumSum,
        OpKind::Tri,
        OpKind::SolveTri,
        OpKind::Clamp,
        OpKind::Diag,
        OpKind::Sample,
    ];
    for kind in all {
        let signature = kind.signature();
        let kernel = kernels::by_stem(signature.stem).unwrap_or_else(|| panic!("{kind:?} has no kernel"));
        let read = signature.sources.iter().filter(|s| s.usage == Use::Read).map(|s| s.name);
        for port in read.chain(signature.results.iter().copied()) {
            assert!(kernel.contract.port(port).is_some(), "{} lacks the port {port}", signature.stem);
        }
    }
}

#[test]
fn the_page_about_contracts_is_written_from_them() {
    let head = "# What each kernel accepts\n\nWritten from the contracts in `core/src/kernels`; `WEFT_UPDATE_DOCS=1 cargo test -p \
        weft-tests --test layout` writes it anew.\nExtents and strides are innermost first; equal names are equal numbers.\n\n";
    let sections = kernels::ALL.map(|k| k.contract.describe());
    let want = format!("{head}{}", sections.join("\n"));
    let path = root().join("docs/contracts.md");
    if std::env::var_os("WEFT_UPDATE_DOCS").is_some() {
        fs::write(&path, &want).expect("the page is written");
    }
    assert_eq!(
        fs::read_to_string(&path).expect("docs/contracts.md"),
        want,
        "docs/contracts.md is out of date"
    );
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let long: Vec<_> = sources()
        .into_iter()
        .map(|(path, text)| (text.lines().count(), path))
        .filter(|(n, _)| *n > 500)
        .collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn no_file_is_called_after_nothing() {
    for (path, _) in sources() {
        let stem = Path::new(&path).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        assert!(!["utils", "util", "common", "misc", "ops", "helpers"].contains(&stem.as_str()), "{path}");
    }
}

#[test]
fn unsafe_code_stands_only_at_the_edges() {
    let allowed = [
        "backend-cpu/",
        "backend-hip/src/compile.rs",
        "backend-hip/src/device.rs",
        "backend-hip/src/ffi/",
        "backend-hip/src/graph.rs",
        "backend-hip/src/memory.rs",
        "backend-hip/src/module.rs",
        "backend-hip/src/stream.rs",
        "backend-wgpu/src/adapter.rs",
        "backend-wgpu/src/cache.rs",
        "backend-wgpu/src/pipelines.rs",
        "engine/src/gguf/host_bytes.rs",
    ];
    for (path, text) in sources() {
        let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
        let found = code
            .filter(|l| l.contains("unsafe {") || l.contains("unsafe fn") || l.contains("unsafe impl"))
            .count();
        let test = path.starts_with("tests/");
        assert!(found == 0 || test || allowed.iter().any(|a| path.starts_with(a)), "{path}");
    }
}

#[test]
fn rules_judge_no_layouts() {
    for (path, text) in sources().into_iter().filter(|(p, _)| p.starts_with("core/src/rules/")) {
        // Where slices lie is part of a pattern; whether a kernel takes their strides is the contract's.
        for banned in ["is_packed", "is_multiple_of", "dtype()", "block_bytes", ".alignment"] {
            assert!(!text.contains(banned), "{path} says {banned}");
        }
    }
}

#[test]
fn nothing_is_left_undone_or_switched_off() {
    for (path, text) in sources().into_iter().filter(|(p, _)| p != "tests/layout/main.rs") {
        for banned in ["TODO", "FIXME", "#[ignore", "todo!(", "unimplemented!("] {
            assert!(!text.contains(banned), "{path} says {banned}");
        }
    }
}
