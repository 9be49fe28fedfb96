//! The page that restates the laws names files that exist, and every law and fixture.

use std::path::Path;
use weft_tests::sources;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/laws.md");
    std::fs::read_to_string(path).expect("docs/laws.md")
}

#[test]
fn every_law_and_every_fixture_has_a_row() {
    let page = page();
    let ids =
        (1..=30).map(|law| format!("| S{law} |")).chain((1..=10).map(|fixture| format!("| F{fixture} |")));
    let missing: Vec<String> = ids.filter(|id| page.matches(id.as_str()).count() != 1).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_file_on_the_page_exists_and_every_law_with_a_file_is_on_it() {
    let page = page();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for path in page.split('`').filter(|part| part.starts_with("tests/")) {
        assert!(root.join(path).exists(), "{path}");
    }
    for file in sources::under("tests/laws").iter().filter(|file| file.name.starts_with("tests/laws/s")) {
        assert!(page.contains(&file.name), "{}", file.name);
    }
}

#[test]
fn every_law_is_held_by_a_file_or_comes_with_something_named() {
    for row in page().lines().filter(|line| line.starts_with("| S")) {
        let held = row.rsplit('|').nth(1).unwrap_or("").trim();
        assert!(held.contains("`tests/") || held.contains("comes with"), "{row}");
    }
}
