//! A newcomer's session: rules that wrongly drop their match, one question, and the page that tells of it.

use weft_core::driver::{Claim, Decline, Site};
use weft_core::graph::{BinaryKind, NodeId, Op, OpKind};
use weft_core::rules::{FUSED, Rule};
use weft_tests::fixtures::path;

fn real(name: &str) -> &'static Rule {
    FUSED.iter().find(|rule| rule.name == name).expect("a rule of this name")
}

/// The fault: the match is right, and is dropped unless a view follows the decay.
fn dropping(at: &Site<'_, '_>, name: &str) -> Result<Claim, Decline> {
    let claim = (real(name).find)(at)?;
    let decays = |node: &&NodeId| at.op(**node) == Op::Binary { kind: BinaryKind::Mul };
    let decay = claim.nodes.iter().find(decays).copied().expect("a decay");
    at.reader(decay, OpKind::View)?;
    Ok(claim)
}

static IN_PLACE: Rule = Rule {
    name: "gdn_core_in_place",
    root: OpKind::GatedDeltaNet,
    kernel: "gdn_core",
    find: |at| dropping(at, "gdn_core_in_place"),
};

static CORE: Rule = Rule {
    name: "gdn_core",
    root: OpKind::GatedDeltaNet,
    kernel: "gdn_core",
    find: |at| dropping(at, "gdn_core"),
};

fn broken() -> Vec<&'static Rule> {
    let swapped = |rule: &&'static Rule| match rule.name {
        "gdn_core_in_place" => &IN_PLACE,
        "gdn_core" => &CORE,
        _ => *rule,
    };
    FUSED.iter().map(swapped).collect()
}

fn asked(rules: &[&'static Rule]) -> String {
    let graph = path("graphs/elided_alias.json").display().to_string();
    let mut told = Vec::new();
    let arguments = ["plan", "--backend", "cpu", "--graph", &graph, "--explain", "q_norm"];
    weft_cli::plan_by(rules, &arguments, &mut told).expect("a plan");
    String::from_utf8(told).expect("text")
}

#[test]
fn one_question_names_the_rule_the_step_and_what_stood_there() {
    let told = asked(&broken());
    assert!(told.lines().count() <= 10, "{told}");
    for rule in ["gdn_core_in_place", "gdn_core"] {
        let line = told.lines().find(|line| line.trim_start().starts_with(&format!("{rule} at node")));
        let line = line.unwrap_or_else(|| panic!("{rule}: {told}"));
        assert!(line.contains(": declined; node ") && line.contains(" step "), "{line}");
        assert!(line.contains("wanted view next to it, found gated_delta_net"), "{line}");
    }
    assert!(told.contains("runs in dispatch") && told.contains("by rule single"), "{told}");
}

#[test]
fn with_the_rules_as_they_are_the_norm_is_fused() {
    assert!(asked(FUSED).contains("by rule gdn_core_in_place"));
}

#[test]
fn the_page_shows_the_session_as_it_is() {
    let page_path = path("../../docs/plans.md");
    let page = std::fs::read_to_string(&page_path).expect("docs/plans.md");
    let command = "$ weft plan --backend cpu --graph elided_alias.json --explain q_norm\n";
    let (before, rest) = page.split_once(command).expect("the session");
    let (shown, after) = rest.split_once("```").expect("its end");
    let told = asked(&broken());
    if std::env::var_os("WEFT_UPDATE_DOCS").is_some() {
        let anew = format!("{before}{command}{}\n```{after}", told.trim_end());
        std::fs::write(&page_path, anew).expect("the page is written");
    } else {
        assert_eq!(shown.trim_end(), told.trim_end(), "WEFT_UPDATE_DOCS=1 writes the session anew");
    }
}
