//! The compiled kernels that the HIP backend embeds: whether they are what their texts compile to, and what they take of the
//! chip. `WEFT_UPDATE=objects cargo test -p weft-tests --test objects` writes what is not up to date, and with `WEFT_UPDATE_DOCS=1`
//! the page that says it.

mod budget;
mod compile;
mod manifest;
mod notes;
mod page;

use budget::Budgets;
use compile::Compiler;
use manifest::{Entry, Manifest};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Workgroup memory of a block on this chip.
const LDS: u64 = 64 << 10;

/// What is committed; brought up to date first if that is wanted.
fn committed() -> &'static Manifest {
    static COMMITTED: OnceLock<Manifest> = OnceLock::new();
    COMMITTED.get_or_init(|| {
        let present = Manifest::read();
        if std::env::var("WEFT_UPDATE").is_ok_and(|what| what == "objects") {
            update(present)
        } else {
            present
        }
    })
}

/// Calls `work` for each stem, on all cores.
fn for_each_stem(work: impl Fn(&'static str, &str) + Sync) {
    let stems: Vec<&'static str> = weft_hip::stems().collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(stem) = stems.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(stem, &weft_hip::source_text(stem).unwrap());
                }
            });
        }
    });
}

/// Compiles what has changed, writes it, and forgets what has no text any more.
fn update(old: Manifest) -> Manifest {
    let compiler = Compiler::find().expect("clang-19 and lld-19 are needed to update objects");
    let is_same_compiler = old.compiler == compiler.version;
    let new = Mutex::new(Manifest { compiler: compiler.version.clone(), ..Manifest::default() });
    let failed = Mutex::new(Vec::new());
    for_each_stem(|stem, text| {
        let known = old.entries.get(stem).filter(|entry| {
            is_same_compiler && entry.source == manifest::hash(text) && manifest::object(stem).is_some()
        });
        let entry = match known {
            Some(entry) => Ok(entry.clone()),
            None => compiler.compile(stem, text).map(|compiled| {
                manifest::write_object(stem, &compiled.object);
                eprintln!("{stem}: {} kernels in {:.1} s", compiled.kernels.len(), compiled.seconds);
                Entry { source: manifest::hash(text), kernels: compiled.kernels }
            }),
        };
        match entry {
            Ok(entry) => drop(new.lock().unwrap().entries.insert(stem.to_owned(), entry)),
            Err(error) => failed.lock().unwrap().push(format!("{stem} {error}")),
        }
    });
    let new = new.into_inner().unwrap();
    for stem in manifest::objects().difference(&new.entries.keys().cloned().collect()) {
        manifest::remove_object(stem);
    }
    new.write();
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    new
}

#[test]
fn every_text_has_its_object_and_nothing_else_has() {
    let stems: BTreeSet<String> = weft_hip::stems().map(str::to_owned).collect();
    let listed: BTreeSet<String> = committed().entries.keys().cloned().collect();
    assert_eq!(listed, stems, "manifest; WEFT_UPDATE=objects writes it");
    assert_eq!(manifest::objects(), stems, "objects; WEFT_UPDATE=objects writes them");
    let stale = |stem: &&String| {
        committed().entries[*stem].source != manifest::hash(&weft_hip::source_text(stem).unwrap())
    };
    let stale: Vec<&String> = stems.iter().filter(stale).collect();
    assert!(
        stale.is_empty(),
        "texts changed after they were compiled: {stale:?}; WEFT_UPDATE=objects compiles them"
    );
}

#[test]
fn objects_are_what_the_compiler_makes_of_the_texts() {
    let Some(compiler) = Compiler::find() else {
        let required = weft_tests::devices::required();
        assert!(!required.iter().any(|name| name.starts_with("hip")), "clang-19 is not here");
        eprintln!("LEFT OUT: clang-19 with lld-19 is not here, so objects are not compared");
        return;
    };
    let committed = committed();
    if committed.compiler != compiler.version {
        eprintln!("LEFT OUT: objects are of {}, and this is {}", committed.compiler, compiler.version);
        return;
    }
    let wrong = Mutex::new(Vec::new());
    for_each_stem(|stem, text| {
        let problem = match (compiler.compile(stem, text), committed.entries.get(stem)) {
            (Err(error), _) => error,
            (_, None) => "is not committed".to_owned(),
            (Ok(made), Some(entry)) if made.kernels != entry.kernels => "takes other resources".to_owned(),
            (Ok(made), _) if manifest::object(stem).as_ref() != Some(&made.object) => {
                "has other code".to_owned()
            }
            _ => return,
        };
        wrong.lock().unwrap().push(format!("{stem} {problem}"));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}\nWEFT_UPDATE=objects writes objects anew", wrong.join("\n"));
}

#[test]
fn kernels_keep_to_their_registers_and_never_spill() {
    let mut wrong = Vec::new();
    for (stem, entry) in &committed().entries {
        let budgets = Budgets::of(&weft_hip::source_text(stem).unwrap());
        for (name, kernel) in &entry.kernels {
            let most = |what: &str, most: u64| {
                let got = kernel[what];
                (got > most).then(|| format!("{name}: {what} {got}, at most {most}"))
            };
            let zero = ["scratch", "vgpr_spills", "sgpr_spills"].iter().filter_map(|what| most(what, 0));
            wrong.extend(zero.chain(most("lds", LDS)).chain(most("vgprs", budgets.vgprs(name))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
