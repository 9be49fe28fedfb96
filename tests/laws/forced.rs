//! Claims carried out whether the driver accepts them or not.

use weft_core::driver::Claim;
use weft_core::rules::{FUSED, Rule};
use weft_tests::devices;
use weft_tests::graphs::misses::offer;
use weft_tests::graphs::{Fixture, same, without};
use weft_tests::naive::{interpret, merged};

/// A fused rule by name.
pub fn rule(name: &str) -> &'static Rule {
    FUSED.iter().find(|rule| rule.name == name).unwrap_or_else(|| panic!("no rule {name}"))
}

/// Whether the graph still gives the right result if a claim is carried out although the driver would refuse it.
pub fn survives(fixture: &Fixture, claim: &Claim) -> bool {
    let data = fixture.filled(1);
    let want = interpret(&fixture.graph, &data).unwrap();
    let plan = fixture.plan(&[devices::reference()], &without(&["*"])).unwrap();
    let got = merged(&fixture.graph, claim, &data).unwrap();
    same::check(&fixture.graph, &got, &want, same::tolerance(&plan)).is_ok()
}

/// The claim of a rule at a labelled root, whatever the driver says to it.
pub fn forced(fixture: &Fixture, name: &str, root: &str) -> Claim {
    let said = offer(rule(name), &fixture.graph, fixture.node(root));
    said.verdict.unwrap_or_else(|e| panic!("{}: {e}", fixture.name))
}
