//! Guesses of next tokens: by the model's own draft block, and by that of a file.

use crate::{default_model, on_cpu, refuses, scratch, text};
use weft::gguf::Gguf;
use weft_tests::drafter::block_of;

/// What is told, and the notes beside it.
fn told(more: &[&str]) -> (String, String) {
    let plain = ["run", "--temp", "0", "-n", "40", "Tell me a story about a shy dragon."];
    let output = on_cpu(&[&plain, more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// The note that says how many guesses were kept.
fn guesses(notes: &str) -> &str {
    notes.lines().find(|line| line.contains("guessed ")).expect("a line of guesses")
}

#[test]
fn a_draft_block_in_a_file_of_its_own_guesses_as_the_model_s_does() {
    let whole = Gguf::from_bytes("whole", default_model()).expect("a model");
    let block = scratch("block.gguf", &block_of(&whole));
    let (plain, notes) = told(&[]);
    assert!(!notes.contains("guessed "), "{notes}");
    let (own, own_notes) = told(&["--spec-type", "draft-mtp"]);
    assert_eq!(own, plain);
    for option in [&["-md", &block][..], &[&format!("-md={block}")], &["--spec-draft-model", &block]] {
        let (apart, notes) = told(option);
        assert_eq!(apart, plain, "{option:?}");
        assert_eq!(guesses(&notes), guesses(&own_notes), "{option:?}");
    }
    let (short, notes) = told(&["-md", &block, "--spec-draft-n-max", "1"]);
    assert_eq!(short, plain);
    assert!(guesses(&notes) != guesses(&own_notes), "{notes}");
    // Alone it is no model.
    refuses(&["run", "-m", &block, "x"], &["block.gguf"]);
}

#[test]
fn refuses_drafters_that_do_not_fit() {
    refuses(&["run", "-md", "no-such-file.gguf", "x"], &["no-such-file.gguf"]);
    let whole = scratch("drafter.gguf", &default_model());
    refuses(&["run", "--spec-type", "ngram", "-md", &whole, "x"], &["--spec-draft-model", "ngram"]);
    refuses(&["run", "-md", &scratch("no-drafter.gguf", b"no model"), "x"], &["no-drafter.gguf"]);
    refuses(&["run", "-md", &whole, "--spec-draft-n-max", "17", "x"], &["17", "16"]);
    let other = scratch("other.gguf", b"");
    let made = crate::weft(&["synth", "--arch", "qwen3", "--shape", "tiny", "-o", &other]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    refuses(&["run", "-md", &other, "x"], &["other.gguf"]);
}
