//! S18: the trail is a product of planning. It says who was offered what, in which order, what each said, and what became of
//! every claim, in every build.

use std::collections::HashSet;
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::{Attempt, Options, Scene, Site, State, Why};
use weft_core::graph::{NodeId, OpKind};
use weft_core::plan::Plan;
use weft_core::rules::{FUSED, SINGLE};
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::misses::{self, Firing};
use weft_tests::graphs::models::tiny;
use weft_tests::graphs::{Fixture, without};

/// Whether planning was recorded whole: every root is offered again here, and each attempt compared.
fn recorded(plan: &Plan, devices: &[Arc<dyn Backend>]) -> Result<(), String> {
    let scene = Scene::new(&plan.graph);
    let order = scene.dependencies.order().map_err(|e| e.to_string())?;
    let mut taken: HashSet<NodeId> = HashSet::new();
    let mut trail = plan.trail.iter();
    for rule in FUSED.iter().copied().chain([&SINGLE]) {
        let single = rule.name == SINGLE.name;
        for root in &order {
            let kind = plan.graph.node(*root).op.kind();
            let fits = if single { kind != OpKind::View } else { kind == rule.root };
            if !fits || taken.contains(root) {
                continue;
            }
            let what = format!("{} at {}", rule.name, plan.graph.describe(*root));
            let attempt = trail.next().filter(|a| a.rule == rule.name && a.root == *root);
            let attempt = attempt.ok_or_else(|| format!("no record of {what}"))?;
            let site = Site::new(&scene, rule.name, *root);
            let said = (rule.find)(&site);
            if attempt.visited != site.visited() {
                return Err(format!("{what} looked at other nodes"));
            }
            match said {
                Err(decline)
                    if attempt.state == State::Offered
                        && attempt.declines == std::slice::from_ref(&decline) => {}
                Ok(claim) if attempt.covered == claim.nodes && attempt.operands == claim.operands => {
                    judged(plan, devices, attempt, claim.kernel, single)
                        .map_err(|e| format!("{what}: {e}"))?;
                    if matches!(attempt.state, State::Claimed { .. } | State::Executable { .. }) {
                        taken.extend(claim.nodes);
                    }
                }
                _ => return Err(format!("{what} said something else")),
            }
        }
    }
    trail.next().map_or(Ok(()), |more| Err(format!("{} was never asked", more.rule)))
}

/// Whether a claim's record has one refusal for each variant that did not take it, or the one by which it never came to them.
fn judged(
    plan: &Plan,
    devices: &[Arc<dyn Backend>],
    attempt: &Attempt,
    kernel: &str,
    single: bool,
) -> Result<(), String> {
    let offers = |device: usize| devices[device].offers().iter().filter(move |o| o.contract.kernel == kernel);
    // A device without the kernel refuses once.
    let all = |device: usize| offers(device).count().max(1);
    let whole: usize = if single { (0..devices.len()).map(all).sum() } else { all(0) };
    let got = attempt.declines.len();
    let revoked = |why: &Why| matches!(why, Why::Revoked { .. });
    match &attempt.state {
        State::Claimed { dispatch } | State::Executable { dispatch } => {
            let dispatch = plan.dispatches.get(*dispatch).ok_or("no such dispatch")?;
            let before = if single { (0..dispatch.device).map(all).sum() } else { 0 };
            let own = offers(dispatch.device)
                .position(|o| o.contract.kernel == kernel && o.variant == dispatch.variant);
            let passed = before + own.ok_or("no such variant")?;
            let same = dispatch.rule == attempt.rule && dispatch.nodes == attempt.covered;
            if same && got == passed {
                Ok(())
            } else {
                Err(format!("{got} refusals, {passed} variants before it"))
            }
        }
        State::Matched => {
            let never_asked = got == 1 && !is_a_variants(&attempt.declines[0].why);
            if never_asked || got == whole {
                Ok(())
            } else {
                Err(format!("{got} refusals of {whole} variants"))
            }
        }
        State::Revoked { reason } => {
            let last = attempt.declines.iter().rfind(|d| revoked(&d.why)).map(|d| &d.why);
            let known = plan.revoked.iter().any(|f| f.rule == attempt.rule && f.nodes == attempt.covered);
            if got == whole && known && last == Some(&Why::Revoked { reason: reason.clone() }) {
                Ok(())
            } else {
                Err(format!("{got} refusals of {whole} variants, given back for {reason}"))
            }
        }
        State::Offered => Err("it matched".to_owned()),
    }
}

/// Whether a refusal is a variant's, and not the driver's before any variant was looked at.
fn is_a_variants(why: &Why) -> bool {
    !matches!(
        why,
        Why::Taken { .. }
            | Why::Escapes { .. }
            | Why::IsOutput { .. }
            | Why::OwnResult { .. }
            | Why::InputUnbound { .. }
            | Why::WriteBetween { .. }
            | Why::Between { .. }
            | Why::Split { .. }
            | Why::Disabled
    )
}

/// A plan by its fixture's name, and the devices that it is for.
type Planned = (String, Plan, Vec<Arc<dyn Backend>>);

/// Plans with every kind of verdict.
fn plans() -> Vec<Planned> {
    let mut all = Vec::new();
    let mut plan = |fixture: &Fixture, devices: Vec<Arc<dyn Backend>>, options: &Options| {
        let run = fixture.run(&devices, options).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        all.push((fixture.name.clone(), Plan::clone(&run.plan), devices));
    };
    for Firing { rule, fixture, .. } in misses::all() {
        plan(&fixture, vec![devices::complete()], &Options::default());
        plan(&fixture, vec![devices::complete()], &without(&[rule.name]));
        let failing = Faulty::around(devices::complete());
        let failing =
            failing.failing(|d| (d.rule == rule.name).then(|| format!("no {}", d.variant))).shared();
        plan(&fixture, vec![failing], &Options::default());
        let lacking = Faulty::around(devices::complete()).named("lacking");
        let lacking =
            lacking.without(|o| ["rms_norm", "binary", "mul_mat"].contains(&o.contract.kernel)).shared();
        plan(&fixture, vec![lacking, devices::complete()], &Options { exact: true, ..Options::default() });
    }
    for arch in ["qwen35", "qwen35moe", "qwen4exp", "llama"] {
        plan(&tiny(arch), vec![devices::cpu(&Default::default())], &Options::default());
    }
    all
}

#[test]
fn every_offer_and_every_verdict_is_in_the_trail() {
    for (name, plan, devices) in plans() {
        recorded(&plan, &devices).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// What an attempt may lose, and how.
type Loss = (&'static str, fn(&mut Attempt));

const LOSSES: [Loss; 5] = [
    ("its first refusal", |attempt| drop(attempt.declines.splice(..attempt.declines.len().min(1), []))),
    ("its last refusal", |attempt| drop(attempt.declines.pop())),
    ("a node it looked at", |attempt| attempt.visited.truncate(attempt.visited.len() - 1)),
    ("a node it covers", |attempt| attempt.covered.truncate(attempt.covered.len().saturating_sub(1))),
    ("its rule", |attempt| attempt.rule = "nobody"),
];

#[test]
fn a_trail_that_loses_a_refusal_or_an_attempt_is_noticed() {
    let mut lost = 0;
    for (name, plan, devices) in plans().into_iter().filter(|(_, plan, _)| plan.graph.nodes.len() < 40) {
        for at in 0..plan.trail.len() {
            for (loss, change) in LOSSES {
                let mut other = plan.clone();
                change(&mut other.trail[at]);
                if other.trail[at] != plan.trail[at] {
                    assert!(recorded(&other, &devices).is_err(), "{name}: attempt {at} loses {loss}");
                    lost += 1;
                }
            }
            let mut other = plan.clone();
            other.trail.remove(at);
            assert!(recorded(&other, &devices).is_err(), "{name} without attempt {at}");
            lost += 1;
        }
    }
    assert!(lost > 1000, "{lost} records were lost");
}
