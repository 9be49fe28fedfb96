//! The page of a plan, opened in a browser without a window where there is one.

use super::{on_cpu, scratch, text};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use weft_tests::fixtures::path;
use weft_tests::graphs::models::{described, graph, ubatch};

/// The page of a graph file, with these further arguments of `weft plan`.
fn page(name: &str, args: &[&str]) -> String {
    let html = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let output = on_cpu(&[&["plan", "--html", &html], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    html
}

fn json(name: &str, args: &[&str]) -> String {
    let output = on_cpu(&[&["plan", "--json"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    scratch(name, &output.stdout)
}

/// What the browser made of the page: none if this machine has no browser. `WEFT_BROWSER` names one that must be there.
fn opened(page: &str, asked: &str) -> Option<String> {
    let named = std::env::var("WEFT_BROWSER").ok();
    let names =
        named.clone().map_or_else(|| ["chromium", "google-chrome"].map(str::to_owned).to_vec(), |n| vec![n]);
    let arguments =
        ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--dump-dom"];
    for name in names {
        let address = format!("file://{page}#{asked}");
        let Ok(output) = Command::new(&name).args(arguments).arg(address).output() else { continue };
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        return Some(text(&output.stdout));
    }
    assert!(named.is_none(), "WEFT_BROWSER names a browser that does not start");
    eprintln!("left out: there is no browser on this machine");
    None
}

/// The places of all boxes, by layer.
fn places(dom: &str) -> Vec<Vec<String>> {
    let of_box = |text: &str| {
        let style = text.split_once("style=\"")?.1.split_once('"')?.0;
        Some(style.split(';').take(2).collect::<Vec<_>>().join(";"))
    };
    let of_field = |field: &str| field.split("<button class=\"node").skip(1).filter_map(of_box).collect();
    dom.split("class=\"field\"").skip(1).map(of_field).collect()
}

#[test]
fn the_page_needs_nothing_else_and_no_text_of_a_plan_ends_its_data() {
    let whole = std::fs::read_to_string(path("graphs/competing_claims.json")).expect("a graph");
    let odd =
        scratch("odd.json", whole.replacen("\"name\":\"sum\"", "\"name\":\"</script><b>\"", 1).as_bytes());
    let html = std::fs::read_to_string(page("odd.html", &["--graph", &odd])).expect("the page");
    assert_eq!(html.matches("</script>").count(), 2, "the data's and the program's own");
    for outside in ["src=", "href=", "@import", "url(", "fetch(", "https:"] {
        assert!(!html.contains(outside), "{outside}");
    }
    let places = html.matches("http:").count() - html.matches("http://www.w3.org/2000/svg").count();
    assert_eq!(places, 0);
}

#[test]
fn a_model_of_64_layers_opens_is_searched_and_tells_the_story_of_a_node() {
    let model = graph(&described("qwen35", "27b"), &ubatch(1));
    let net = model.node_ids().filter(|id| model.node(*id).op.kind().signature().stem == "gated_delta_net");
    let net = net.last().expect("a delta net");
    let file = scratch("27b.json", model.to_json().as_bytes());
    let html = page("27b.html", &["--graph", &file]);
    let Some(dom) = opened(&html, &format!("find=gated_delta_net&node={}", net.0)) else { return };
    let computing = model.nodes.iter().filter(|n| n.op.kind().signature().stem != "view").count();
    assert_eq!(dom.matches("<button class=\"node").count(), computing);
    assert_eq!(dom.matches("class=\"layer\"").count(), 64 + 2, "each layer, and what is before and behind");
    assert!(dom.contains("1 of 48 found"), "the delta nets of 64 layers");
    let story = dom.split_once("<aside id=\"story\">").expect("an open story").1;
    for part in
        ["gated_delta_net", "by rule gdn_layer", "elements)", "read by", "gdn_layer at node", "claimed"]
    {
        assert!(story.contains(part), "`{part}` is not in: {}", &story[..2000.min(story.len())]);
    }
    for field in places(&dom) {
        let distinct: HashSet<&String> = field.iter().collect();
        assert_eq!(distinct.len(), field.len(), "two boxes at one place");
    }
}

#[test]
fn two_plans_stand_side_by_side_and_changes_are_marked() {
    let graph = path("graphs/mask_chain_f16.json").display().to_string();
    let fused = json("page-fused.json", &["--graph", &graph]);
    let plain = json(
        "page-plain.json",
        &["--graph", &graph, "--disable", "gdn_core_in_place", "--disable", "gdn_core"],
    );
    let html = page("pair.html", &["--compare", &fused, &plain]);
    let Some(dom) = opened(&html, "find=q_norm") else { return };
    assert_eq!(dom.matches("<section class=\"plan\">").count(), 2);
    let boxes = dom.split("<button class=\"node").skip(1).filter(|text| text.contains("<b>q_norm</b>"));
    let marked = boxes.filter(|text| text.split('"').next().is_some_and(|class| class.contains("changed")));
    assert_eq!(marked.count(), 2, "the norm is found, and runs otherwise, in both");
}
