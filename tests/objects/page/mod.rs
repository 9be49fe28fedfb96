//! `docs/gfx1151.md`: what the kernels take of the chip, and how fast models could be there. `WEFT_UPDATE_DOCS=1` writes it.

mod mix;
mod models;
mod tables;
mod work;

use crate::manifest::{self, Manifest};
use gfx11_emulator::fault::LoadError;
use mix::Mix;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use tables::Steps;

/// What stands above this line is written by hand.
const BORDER: &str =
    "<!-- The rest is written by `WEFT_UPDATE_DOCS=1 cargo test -p weft-tests --test objects`. -->\n";

/// The mixes of all entry points; none where there is no disassembler.
fn mixes(all: &Manifest) -> Option<BTreeMap<String, Mix>> {
    let found = Mutex::new(BTreeMap::new());
    let failed = Mutex::new(None);
    crate::for_each_stem(|stem, _| match mix::of(&manifest::object(stem).expect("an object")) {
        Ok(mixes) => found.lock().unwrap().extend(mixes),
        Err(error) => *failed.lock().unwrap() = Some(error),
    });
    match failed.into_inner().unwrap() {
        None => {}
        Some(error @ LoadError::Disassembler { .. }) => {
            let required = weft_tests::devices::required();
            assert!(!required.iter().any(|name| name.starts_with("hip")), "{error}");
            eprintln!("LEFT OUT: {error}, so the page about gfx1151 is not compared");
            return None;
        }
        Some(error) => panic!("{error}"),
    }
    let found = found.into_inner().unwrap();
    let listed: BTreeSet<&String> = all.entries.values().flat_map(|entry| entry.kernels.keys()).collect();
    assert_eq!(listed, found.keys().collect(), "the objects' kernels are those of the manifest");
    Some(found)
}

/// Kernels that are written for a purpose: all but the general ones.
fn is_tuned(name: &str) -> bool {
    !name.ends_with("_any")
}

fn written(all: &Manifest, mixes: &BTreeMap<String, Mix>) -> String {
    let steps: Vec<Steps> = models::MODELS.into_iter().map(Steps::of).collect();
    let kernels: Vec<_> =
        all.entries.values().flat_map(|entry| &entry.kernels).filter(|(name, _)| is_tuned(name)).collect();
    let parts: Vec<String> = steps.iter().map(tables::parts).collect();
    format!(
        "\n## Roofs of models (computed)\n\n{}\n## Where a step's bytes go (computed)\n\n{}\n## Entry points (counted)\n\n\
         Compiled by {}.\n\n{}",
        tables::summary(&steps),
        parts.join("\n"),
        all.compiler,
        tables::kernels(&kernels, mixes)
    )
}

#[test]
fn the_page_about_the_chip_is_written_from_objects_and_plans() {
    let all = crate::committed();
    let Some(mixes) = mixes(all) else { return };
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/gfx1151.md");
    let page = std::fs::read_to_string(&path).expect("docs/gfx1151.md");
    let (by_hand, present) = page.split_once(BORDER).expect("the line above what is written");
    let want = written(all, &mixes);
    if std::env::var_os("WEFT_UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{by_hand}{BORDER}{want}")).expect("the page is written");
    } else {
        assert!(present == want, "docs/gfx1151.md is out of date; WEFT_UPDATE_DOCS=1 writes it");
    }
}
