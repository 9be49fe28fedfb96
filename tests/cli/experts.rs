//! Where a mixture's experts lie and are multiplied.

use crate::{refuses, scratch, text, weft};
use std::process::Output;
use weft_core::backend::Backend;
use weft_tests::devices;

/// A small mixture of four layers in a file of this name.
fn mixture(name: &str) -> String {
    let file = scratch(name, b"");
    let made = weft(&["synth", "--arch", "qwen35moe", "--shape", "tiny", "--layers", "4", "-o", &file]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    file
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn short_options_of_other_engines_say_the_same() {
    let file = mixture("experts.gguf");
    let info = |more: &[&str]| told(&weft(&[&["info", &file, "--ctx", "512"], more].concat()));
    let everywhere = info(&["--experts-on", "cpu"]);
    assert!(everywhere.contains("(--experts-on cpu)"), "{everywhere}");
    assert_eq!(info(&["-cmoe"]), everywhere);
    assert_eq!(info(&["--cpu-moe"]), everywhere);
    let first = info(&["--experts-on", "cpu:3"]);
    assert!(first.contains("(--experts-on cpu:3)"), "{first}");
    for option in [&["-ncmoe", "3"][..], &["-ncmoe=3"], &["--n-cpu-moe", "3"]] {
        assert_eq!(info(option), first, "{option:?}");
    }
    let nowhere = info(&[]);
    assert!(!nowhere.contains("on the host"), "{nowhere}");
    for option in [&["--experts-on", "gpu"][..], &["--experts-on", "gpu:4"], &["-ncmoe", "0"]] {
        assert_eq!(info(option), nowhere, "{option:?}");
    }
}

#[test]
fn refuses_places_that_contradict_each_other() {
    let file = mixture("contradicting.gguf");
    refuses(&["info", &file, "-cmoe", "--experts-on", "gpu"], &["--cpu-moe", "--experts-on"]);
    refuses(&["info", &file, "-cmoe", "-ncmoe", "2"], &["--cpu-moe", "--n-cpu-moe"]);
    refuses(&["info", &file, "-ncmoe", "2", "--experts-on", "cpu"], &["--n-cpu-moe", "--experts-on"]);
    for wrong in ["moon", "cpu:", "cpu:-1", "gpu:x"] {
        refuses(&["info", &file, &format!("--experts-on={wrong}")], &[wrong]);
    }
    refuses(&["info", &file, "-ncmoe", "x"], &["x", "--n-cpu-moe"]);
}

/// A software GPU takes long to answer: one token of two layers.
#[test]
fn the_plan_shows_the_split_and_the_answer_is_the_same() {
    let gpus: Vec<_> = devices::all_gpus().iter().filter(|gpu| devices::admits(gpu.name())).collect();
    let Some(gpu) = gpus.first() else {
        eprintln!("left out: no GPU beside the CPU");
        return;
    };
    let (backend, file) = (gpu.name().to_owned(), mixture("split.gguf"));
    let plan = |more: &[&str]| {
        told(&weft(&[&["plan", "--backend", &backend, "-m", &file, "--context", "256"], more].concat()))
    };
    let both = [("-cmoe", "", 4), ("-ncmoe", "3", 3)];
    for (option, value, layers) in both {
        let option: Vec<&str> = [option, value].into_iter().filter(|part| !part.is_empty()).collect();
        let told = plan(&option);
        let line = format!("experts of {layers} layers on the CPU: ");
        assert!(told.contains(&line), "{told}");
        assert!(told.contains(&format!("{} splits more (2 per such layer)", 2 * layers)), "{told}");
    }
    assert!(!plan(&[]).contains("layers on the CPU"));
    let run = |more: &[&str]| {
        let plain = [
            "run",
            "--backend",
            &backend,
            "-m",
            &file,
            "--ctx",
            "64",
            "--exact",
            "--temp",
            "0",
            "-n",
            "3",
            "hello",
        ];
        told(&weft(&[&plain, more].concat()))
    };
    assert_eq!(run(&["-ncmoe", "3"]), run(&[]));
}
