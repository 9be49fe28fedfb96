//! The page of what can be claimed: of each kernel, by backend and variant, the cases inside its contract and one step outside
//! it, and the rules that propose it. Cases come from the guards alone. [`Subject::equals_its_reference`] builds every case inside
//! and [`Subject::declines_one_step_outside`] every refusal, so what stands on the page was run, and a guard that widens
//! changes the page.

use crate::coverage::{self, Item, Refusal};
use crate::subject::Subject;
use crate::{SUBJECTS, check, machines};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use weft_core::contract::Contract;
use weft_core::rules;
use weft_tests::loose;

/// Devices whose variants are on the page: one of each backend, that CI has.
const DEVICES: [&str; 3] = ["cpu", "wgpu:llvmpipe", "hip:emulator"];

const HEAD: &str = "# What can be claimed\n\nWritten from the contracts of every variant on each backend; `WEFT_UPDATE_DOCS=1 cargo test -p weft-tests \
    --test kernels claimable` writes it anew.\nA rule's claim is taken where a variant's contract admits its operands: these are \
    all layouts that can be claimed, whether or not a\nmodel has them. The test of each kernel builds every case *inside* and \
    compares it with the reference, and sees every refusal *outside*.\nVariants are those of one GPU in software through wgpu and of gfx1151; \
    numbers 0 to 3 are dimensions, innermost first.\n";

/// What a contract admits and refuses, as Markdown.
fn body(contract: &Contract, subject: &Subject) -> String {
    let described = contract.describe();
    let (_, guards) = described.split_once("\n\n").expect("a heading");
    let (inside, outside) = (coverage::required(contract, subject), coverage::refusals(contract, subject));
    let mut text = format!("{guards}\n{} cases inside:\n", inside.len());
    for port in contract.ports {
        // Every port that has a type begins at the first byte in some case.
        let told = |item: &&Item| port_of(item) == Some(port.name) && !matches!(item, Item::Offset(_, false));
        let items = inside.iter().filter(told);
        let _ = writeln!(text, "- {}: {}", port.name, items.map(shown).collect::<Vec<_>>().join(", "));
    }
    let others: Vec<String> = inside.iter().filter(|item| port_of(item).is_none()).map(shown).collect();
    if !others.is_empty() {
        let _ = writeln!(text, "- {}", others.join(", "));
    }
    let refused: Vec<String> = outside.iter().map(refused).collect();
    let _ = writeln!(text, "\n{} refusals outside: {}.", outside.len(), refused.join(", "));
    text
}

fn port_of(item: &Item) -> Option<&'static str> {
    match item {
        Item::Bound(port, _)
        | Item::Type(port, _)
        | Item::Class(port, ..)
        | Item::Offset(port, _)
        | Item::Swapped(port) => Some(port),
        Item::Tokens(_) | Item::Value(..) | Item::Alias(..) | Item::Unlike(..) => None,
    }
}

fn shown(item: &Item) -> String {
    match item {
        Item::Bound(_, bound) => if *bound { "bound" } else { "left out" }.to_owned(),
        Item::Type(_, dtype) => dtype.name().to_owned(),
        Item::Class(_, dim, class) => format!("{dim} {class:?}").to_lowercase(),
        Item::Offset(_, behind) => {
            if *behind { "behind the first byte" } else { "at the first byte" }.to_owned()
        }
        Item::Swapped(_) => "two outer strides exchanged".to_owned(),
        Item::Tokens(tokens) => format!("{tokens} tokens"),
        Item::Value(name, value) => format!("{name} = {value}"),
        Item::Alias(a, b) => format!("{b} on the bytes of {a}"),
        Item::Unlike(a, b) => format!("{b} in blocks beside {a} in plain numbers"),
    }
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Unbound(port) => format!("{port} left out"),
        Refusal::Type(port) => format!("type of {port}"),
        Refusal::Alignment(port) => format!("alignment of {port}"),
        Refusal::Stride(port, dim) => format!("stride {dim} of {port}"),
        Refusal::Extent(port, dim) => format!("extent {dim} of {port}"),
        Refusal::Symbol(name) => format!("extent {name}"),
        Refusal::Constant(name) | Refusal::Derived(name) => format!("constant {name}"),
    }
}

/// Of each variant on a device that is there: its name and what it admits.
fn variants(subject: &Subject) -> Vec<(String, String)> {
    let devices = machines::backends().filter(|machine| DEVICES.contains(&machine.backend.name()));
    let named = |machine: &machines::Machine, variant: &str| {
        let backend = machine.backend.name().split(':').next().unwrap_or_default();
        format!("{backend} {variant}")
    };
    devices
        .flat_map(|machine| {
            check::offers(subject, machine)
                .map(move |offer| (named(machine, offer.variant), body(offer.contract, subject)))
        })
        .collect()
}

fn section(subject: &Subject) -> String {
    let rules: Vec<&str> =
        rules::FUSED.iter().filter(|rule| rule.kernel == subject.kernel).map(|rule| rule.name).collect();
    let proposed = if rules.is_empty() {
        "Claims single nodes.".to_owned()
    } else {
        format!("Proposed by the rules: {}.", rules.join(", "))
    };
    let mut text = format!("\n## {}\n\n{proposed}\n", subject.kernel);
    // Variants that admit the same stand together, in the order of the first.
    let mut groups: Vec<(Vec<String>, String)> = Vec::new();
    for (name, body) in variants(subject) {
        match groups.iter_mut().find(|(_, other)| *other == body) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], body)),
        }
    }
    for (names, body) in groups {
        let _ = write!(text, "\n### {}\n\n{body}", names.join(", "));
    }
    text
}

#[test]
fn the_page_is_written_from_the_guards() {
    let there: BTreeSet<&str> = machines::backends().map(|machine| machine.backend.name()).collect();
    if let Some(missing) = DEVICES.iter().find(|name| !there.contains(*name)) {
        eprintln!("left out: the page of what can be claimed needs `{missing}`");
        return;
    }
    let want = SUBJECTS.iter().fold(HEAD.to_owned(), |text, subject| text + &section(subject));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/claimable.md");
    if std::env::var_os("WEFT_UPDATE_DOCS").is_some() {
        fs::write(&path, &want).expect("the page is written");
    }
    let is = fs::read_to_string(&path).expect("docs/claimable.md");
    let line = is.lines().zip(want.lines()).position(|(is, want)| is != want);
    assert!(is == want, "docs/claimable.md is out of date from line {line:?}: a guard has changed");
}

/// A test of the test: without any one of its guards a contract gives another page.
#[test]
fn a_guard_that_widens_changes_the_page() {
    let mut widened = BTreeSet::new();
    for subject in SUBJECTS {
        for offer in machines::backends().flat_map(|machine| check::offers(subject, machine)) {
            let before = body(offer.contract, subject);
            for loose in loose::loosened(offer.contract) {
                let place = format!("{} {}: {}", subject.kernel, offer.variant, loose.what);
                assert_ne!(body(&loose.contract, subject), before, "{place}");
                widened.insert(place);
            }
        }
    }
    assert!(widened.len() > 1000, "{} guards were taken away", widened.len());
}
