//! `weft doctor --json`: its fields are those that `docs/doctor.md` lists, and they say what the text says.

use crate::{text, weft};
use serde_json::Value;
use std::collections::BTreeSet;
use weft_tests::fixtures::path;

/// Every field of an object, by its way there. Names that drivers choose are not fields.
fn fields(value: &Value, at: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) if !at.ends_with(".driver") => {
            for (name, value) in map {
                fields(value, &format!("{at}{}{name}", if at.is_empty() { "" } else { "." }), all);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            list.iter().for_each(|value| fields(value, &format!("{at}[]"), all));
        }
        _ => {
            all.insert(at.to_owned());
        }
    }
}

/// Fields in the first column of the page's table.
fn documented() -> BTreeSet<String> {
    let page = std::fs::read_to_string(path("../../docs/doctor.md")).expect("docs/doctor.md");
    let table = page.lines().skip_while(|line| *line != "| field | meaning |").skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

fn asked(args: &[&str]) -> Value {
    let output = weft(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_fields_are_those_of_the_page() {
    let all = asked(&["doctor", "--json", "--no-copy"]);
    assert_eq!((&all["format"], &all["version"]), (&Value::from("weft-doctor"), &Value::from(1)));
    let (mut found, documented) = (BTreeSet::new(), documented());
    fields(&all, "", &mut found);
    let unknown: Vec<_> = found.difference(&documented).collect();
    // A device that works has a report in place of `devices[].report`; one that lacks nothing has empty lists.
    let lists =
        ["devices[].report", "devices[].report.kernels[].missing", "devices[].report.kernels[].variants"];
    assert!(unknown.iter().all(|field| lists.contains(&field.as_str())), "not on the page: {unknown:?}");
    let missing: Vec<_> = documented.difference(&found).collect();
    // Only GPUs lack features.
    assert!(missing.iter().all(|field| field.contains(".missing[].")), "only on the page: {missing:?}");
}

#[test]
fn a_copy_is_measured_and_fallbacks_are_told() {
    let all = asked(&["doctor", "--json", "--backend", "cpu", "-t", "1"]);
    let [cpu] = all["devices"].as_array().expect("a list").as_slice() else { panic!("{all}") };
    assert_eq!((&cpu["works"], &cpu["self_test"]), (&Value::Bool(true), &Value::from("passed")));
    assert!(cpu["copy_bytes_per_second"].as_f64().is_some_and(|rate| rate > 1e6), "{cpu}");
    let kernels = cpu["report"]["kernels"].as_array().expect("a list");
    let joined = kernels.iter().find(|kernel| kernel["kernel"] == "mul_mats").expect("a kernel");
    assert_eq!(joined["absent"]["instead"], "parts");
    assert!(all["backend"]["takes"][0].as_str().is_some_and(|name| name.starts_with("cpu (")), "{all}");
    // What cannot be had is an error, and told all the same.
    let refused = weft(&["doctor", "--json", "--no-copy", "--backend", "cpu:4"]);
    assert_eq!(refused.status.code(), Some(1));
    let told: Value = serde_json::from_slice(&refused.stdout).expect("JSON");
    assert!(told["backend"]["error"].as_str().is_some_and(|why| why.contains("single device")), "{told}");
}
