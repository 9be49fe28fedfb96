//! The command as people meet it: what it prints, and exit codes.

#![expect(clippy::expect_used, reason = "these are tests")]

mod doctor;
mod drafts;
mod experts;
mod fusion;
mod graphs;
mod newcomer;
mod page;
mod profile;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program, built with this test.
fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_weft"));
    // Without this folder Mesa's drivers say so on standard error.
    program.env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR"));
    program
}

fn weft(args: &[&str]) -> Output {
    program().args(args).output().expect("weft runs")
}

/// On the CPU: where the device does not matter, looking for others is most of what a call takes.
fn on_cpu(args: &[&str]) -> Output {
    weft(&[&args[..1], &["--backend", "cpu"], &args[1..]].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn scratch(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("a scratch file");
    path.display().to_string()
}

fn default_model() -> Vec<u8> {
    std::fs::read(weft_tests::fixtures::path("../../models/weft-tales-12m.Q8_0.gguf"))
        .expect("the default model")
}

/// Exit code 2, one line on standard error that holds all of `parts`, and no panic.
fn refuses(args: &[&str], parts: &[&str]) {
    let chosen = args.contains(&"--backend") || ["info", "diff"].contains(&args[0]);
    let output = if chosen { weft(args) } else { on_cpu(args) };
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
    assert!(!error.contains("panicked"), "{error}");
    let lines: Vec<&str> = error.lines().filter(|l| l.starts_with("error:")).collect();
    assert_eq!(lines.len(), 1, "{error}");
    parts.iter().for_each(|part| assert!(lines[0].contains(part), "`{part}` is not in: {error}"));
}

#[test]
fn tells_a_story_from_the_model_inside() {
    let output = weft(&["run", "--temp", "0", "-n", "40", "Tell me a story about a shy dragon."]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("Once upon a time, there was a shy dragon"));
    let notes = text(&output.stderr);
    assert!(notes.contains("Weft Tales 12M on cpu") && notes.contains("tokens/s"), "{notes}");
}

#[test]
fn listening_changes_no_text() {
    let quiet = on_cpu(&["run", "--temp", "0", "-n", "20", "A bee."]);
    let heard = weft(&["-vv", "run", "--backend", "cpu", "--temp", "0", "-n", "20", "A bee."]);
    assert_eq!(quiet.stdout, heard.stdout);
    assert!(text(&heard.stderr).contains("dispatch"));
}

#[test]
fn a_device_that_samples_tells_the_same_greedy_story() {
    let ask = |more: &[&str]| {
        let output = on_cpu(&[&["run", "-n", "30", "Tell me a story about a shy dragon."], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let greedy = ask(&["--temp", "0", "--sample-on", "host"]);
    assert_eq!(ask(&["--temp", "0", "--sample-on", "device", "--no-repack"]).0, greedy.0);
    let plain = ["--sample-on", "device", "--seed", "3", "--top-p", "1", "--min-p", "0"];
    assert_eq!(ask(&plain).0, ask(&plain).0);
    assert!(!ask(&plain).1.contains("WARN"));
    // What a device cannot do is said, and done on the host.
    let both = [ask(&["--sample-on", "device", "--seed", "3"]), ask(&["--sample-on", "host", "--seed", "3"])];
    assert_eq!(both[0].0, both[1].0);
    assert!(both[0].1.contains("WARN the sampling parameters") && !both[1].1.contains("WARN"));
}

#[test]
fn the_doctor_tells_of_every_device() {
    for args in [
        &["doctor", "--no-copy"][..],
        &["doctor", "--backend", "cpu"],
        &["doctor", "--no-copy", "--backend", "cpu:0", "-t", "1"],
    ] {
        let output = weft(args);
        let told = text(&output.stdout);
        assert!(output.status.success(), "{}", text(&output.stderr));
        for part in [
            "cpu:0: CPU, ",
            "threads",
            ": works",
            "memory",
            "kernels",
            "else reference",
            "no mul_mats",
            "takes cpu",
        ] {
            assert!(told.contains(part), "`{part}` is not in: {told}");
        }
    }
    // A device that is not there is a failure of this machine, not of the arguments.
    let output = weft(&["doctor", "--backend", "cpu:4"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the CPU is a single device"));
}

#[test]
fn refuses_bad_files_with_one_line() {
    let model = default_model();
    refuses(&["info", "no-such-file.gguf"], &["no-such-file.gguf"]);
    refuses(&["run", "-m", &scratch("empty.gguf", b""), "x"], &["empty.gguf"]);
    refuses(
        &["run", "-m", &scratch("text.gguf", b"This is no model."), "x"],
        &["text.gguf", "not a GGUF file"],
    );
    let mut version = model.clone();
    version[4] = 9;
    refuses(&["run", "-m", &scratch("version.gguf", &version), "x"], &["version 9"]);
    let mut count = model.clone();
    count[8..16].fill(0xff);
    refuses(&["run", "-m", &scratch("count.gguf", &count), "x"], &["count.gguf"]);
    refuses(&["run", "-m", &scratch("short.gguf", &model[..model.len() / 2]), "x"], &["short.gguf"]);
    refuses(&["run", "-m", &scratch("head.gguf", &model[..500]), "x"], &["head.gguf"]);
    let unknown = replaced(&model, b"\x06\0\0\0\0\0\0\0qwen35", b"\x06\0\0\0\0\0\0\0qwen99");
    refuses(&["run", "-m", &scratch("arch.gguf", &unknown), "x"], &["arch.gguf", "`qwen99`", "qwen35"]);
    // The type of a tensor stands behind its name, its number of dimensions and two extents.
    let mut unreadable = model.clone();
    let name = b"blk.0.attn_gate.weight";
    let at = model.windows(name.len()).position(|w| w == name).expect("the tensor") + name.len() + 4 + 16;
    unreadable[at] = 24;
    refuses(&["run", "-m", &scratch("type.gguf", &unreadable), "x"], &["blk.0.attn_gate.weight", "I8"]);
    let missing = replaced(&model, b"blk.0.ssm_out.weight", b"blk.0.ssm_Out.weight");
    refuses(&["run", "-m", &scratch("missing.gguf", &missing), "x"], &["blk.0.ssm_out.weight"]);
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(at) = bytes.windows(from.len()).position(|w| w == from) {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

#[test]
fn refuses_bad_arguments_with_one_line() {
    refuses(&["run", ""], &["the prompt is empty"]);
    refuses(&["run", "--backend", "abacus", "x"], &["`abacus`", "cpu"]);
    refuses(&["run", "--backend", "abacus:0", "x"], &["`abacus:0`", "cpu"]);
    refuses(&["run", "--sample-on", "the moon", "x"], &["the moon"]);
    refuses(&["doctor", "--backend", "abacus"], &["`abacus`", "cpu"]);
    refuses(&["run", "--ctx", "4000000000", "x"], &["lower the context size"]);
    refuses(&["run", "--ctx", "4", "Tell me a story."], &["do not fit a context of 4"]);
    refuses(&["run", "--top-p", "7", "x"], &["top_p"]);
    refuses(&["run", "--cache-type", "q9", "x"], &["q9"]);
    refuses(&["run", "-ctk", "q4_k", "x"], &["--cache-type-k q4_k", "q8_0"]);
    refuses(&["run", "-ctv=q4_k", "x"], &["--cache-type-v q4_k", "q8_0"]);
    refuses(&["plan", "--explain", "no_such_node"], &["no_such_node"]);
    let ids = scratch("ids.json", b"[1, 99999]");
    let out = scratch("out.safetensors", b"");
    refuses(&["logits", "--tokens", &ids, "-o", &out], &["99999", "8192"]);
    let empty = scratch("none.json", b"[]");
    refuses(&["logits", "--tokens", &empty, "-o", &out], &["the prompt is empty"]);
    let broken = scratch("broken.json", b"{");
    refuses(&["logits", "--tokens", &broken, "-o", &out], &["broken.json"]);
}

#[test]
fn writes_logits_that_do_not_depend_on_how_they_are_cut() {
    let ids = scratch("cut.json", b"[1,410,201,521,405,261,381,351,261,1506,1090,16,2,201,1,412,201]");
    let read = |name: &str, more: &[&str]| {
        let out = scratch(name, b"");
        let output = on_cpu(&[&["logits", "--tokens", &ids, "--hidden", "-o", &out], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let references = weft_tests::refs::References::read(Path::new(&out));
        (references.floats("logits"), references.floats("hidden_7"))
    };
    let (whole, hidden) = read("whole.safetensors", &[]);
    assert_eq!((whole.len(), hidden.len()), (17 * 8192, 17 * 256));
    let (cut, _) = read("cut.safetensors", &["--ubatch", "5", "--decode-from", "11"]);
    let off = whole.iter().zip(&cut).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
    assert!(off < 1e-3, "{off}");
}

#[test]
fn makes_describes_and_plans_a_synthetic_model() {
    let file = scratch("synth.gguf", b"");
    let made = weft(&["synth", "--arch", "qwen35", "--shape", "tiny", "--type", "Q4_K_M", "-o", &file]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let info = text(&weft(&["info", &file]).stdout);
    assert!(info.contains("general.architecture") && info.contains("context"), "{info}");
    let plan = text(&on_cpu(&["plan", &file, "--tokens", "8", "--context", "512"]).stdout);
    assert!(plan.contains("by rule gdn_layer") && plan.contains("dispatches"), "{plan}");
    let story = text(&on_cpu(&["plan", "-m", &file, "--explain", "l2_norm"]).stdout);
    assert!(story.contains("gdn_layer at node"), "{story}");
    let json = on_cpu(&["plan", "-m", &file, "--json"]);
    let plan: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert!(plan["dispatches"].as_array().is_some_and(|d| !d.is_empty()) && plan["trail"].is_array());
    let run = on_cpu(&["run", "-m", &file, "-n", "5", "--temp", "0", "hello"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
}

#[test]
fn chats_over_several_turns() {
    use std::io::Write;
    let mut child = program()
        .args(["chat", "--backend", "cpu", "--temp", "0", "-n", "12"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("weft runs");
    let mut input = child.stdin.take().expect("a pipe");
    input
        .write_all(b"Tell me a story about a shy dragon.\nAnd then?\n/stats\n/reset\nA bee.\n/exit\n")
        .expect("written");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).lines().filter(|l| !l.is_empty()).count() >= 3);
    assert!(text(&output.stderr).contains("tokens/s"));
}

#[test]
fn quantises_a_file_that_it_can_run() {
    let place = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let (plain, small) = (place("plain.gguf"), place("small.gguf"));
    let made = weft(&["synth", "--arch", "qwen35", "--shape", "tiny", "--type", "BF16", "-o", &plain]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let made = weft(&["quantize", &plain, &small, "q4_k_m"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let size = |path: &str| std::fs::metadata(path).expect("a file").len();
    assert!(size(&small) < size(&plain), "{} of {}", size(&small), size(&plain));
    let told = weft(&["info", &small]);
    assert!(text(&told.stdout).contains("Q4_K"), "{}", text(&told.stdout));
    let again = place("again.gguf");
    let refused = weft(&["quantize", &small, &again, "Q8_0"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("already"), "{}", text(&refused.stderr));
    assert!(!Path::new(&again).exists());
    let refused = weft(&["quantize", &plain, &again, "Q9"]);
    assert!(text(&refused.stderr).contains("Q4_K_M"), "{}", text(&refused.stderr));
}

#[test]
fn compares_two_ways_of_running_a_model() {
    let same = weft(&["diff", "--b", "cpu,unfused", "--steps", "2"]);
    assert!(same.status.success(), "{}", text(&same.stderr));
    assert!(text(&same.stdout).contains("; 0 beyond 1e-6"), "{}", text(&same.stdout));
    let place = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let (found, chart) = (place("found"), place("errors.svg"));
    let options = ["--bound", "0", "--tokens", "1,2,3", "--save", &found, "--chart", &chart];
    let apart = weft(&[&["diff", "--a", "cpu", "--b", "cpu,fast"], &options[..]].concat());
    assert_eq!(apart.status.code(), Some(1), "{}", text(&apart.stderr));
    let told = text(&apart.stdout);
    assert!(told.contains("at fault: cpu,fast: mul_mat/q8"), "{told}");
    for file in ["graph.json", "tensors.safetensors"] {
        assert!(Path::new(&found).join(file).exists(), "{file}");
    }
    assert!(std::fs::read_to_string(&chart).expect("a chart").starts_with("<svg"));
    refuses(&["diff", "--b", "cpu,disable=nothing"], &["nothing", "gdn_layer"]);
}

#[test]
fn looks_for_bad_values_without_changing_a_word() {
    let plain = on_cpu(&["run", "--temp", "0", "-n", "20", "A bee."]);
    let checked = on_cpu(&["run", "--check", "finite=4", "--temp", "0", "-n", "20", "A bee."]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    assert_eq!(plain.stdout, checked.stdout);
    refuses(&["run", "--check", "finite=0", "A bee."], &["finite=N"]);
}
