//! The outputs on `docs/fusion.md` are those of the commands above them, and the files that it names exist.

use weft_core::rules::FUSED;
use weft_tests::fixtures::path;

/// What a command of the page prints; graphs are those of the fixtures.
fn told(command: &str) -> String {
    let words = command.split_whitespace().skip(1).map(|word| match word.ends_with(".json") {
        true => path(&format!("graphs/{word}")).display().to_string(),
        false => word.to_owned(),
    });
    let words: Vec<String> = words.collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut told = Vec::new();
    weft_cli::plan_by(FUSED, &words, &mut told).expect(command);
    String::from_utf8(told).expect("text").trim_end().to_owned()
}

#[test]
fn the_page_shows_what_its_commands_print() {
    let page_path = path("../../docs/fusion.md");
    let page = std::fs::read_to_string(&page_path).expect("docs/fusion.md");
    let mut anew = String::new();
    let mut rest = page.as_str();
    let mut commands = 0;
    while let Some((before, after)) = rest.split_once("```text\n$ ") {
        let (block, behind) = after.split_once("```").expect("the end of a block");
        let command = block.lines().next().expect("a command");
        anew.push_str(&format!("{before}```text\n$ {command}\n{}\n```", told(command)));
        (rest, commands) = (behind, commands + 1);
    }
    anew.push_str(rest);
    assert!(commands >= 5, "{commands} commands");
    if std::env::var_os("WEFT_UPDATE_DOCS").is_some() {
        std::fs::write(&page_path, anew).expect("the page is written");
    } else {
        assert!(page == anew, "docs/fusion.md is out of date: WEFT_UPDATE_DOCS=1 writes its outputs anew");
    }
}

#[test]
fn the_files_that_the_page_names_exist() {
    let page = std::fs::read_to_string(path("../../docs/fusion.md")).expect("docs/fusion.md");
    let named =
        page.split('`').filter(|text| text.contains('/') && text.contains('.') && !text.contains(' '));
    let files: Vec<&str> = named.filter(|text| !text.contains("](") && !text.contains('\n')).collect();
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        assert!(path(&format!("../../{file}")).exists(), "{file}");
    }
}
