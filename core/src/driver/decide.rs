//! Offers roots to rules and accepts or refuses their claims.

use super::judge::{Groups, apart, arranged, legal};
use super::{Attempt, Claim, Decline, Scene, Site, State, Why};
use crate::backend::Offer;
use crate::contract::Constants;
use crate::graph::{GraphError, Layout, NodeId, OpKind, Tensor};
use crate::kernels;
use crate::rules::{self, Rule};

/// A device as the driver sees it: a name and what it offers.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// The backend's name.
    pub name: &'a str,
    /// Its kernels, preferred first.
    pub offers: &'a [Offer],
}

/// A claim that may not be accepted again, since what it led to failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Forbidden {
    /// The rule.
    pub rule: &'static str,
    /// Covered nodes.
    pub nodes: Vec<NodeId>,
    /// The variant that failed.
    pub variant: &'static str,
    /// The backend on which it failed.
    pub device: String,
    /// Why.
    pub reason: String,
}

/// What planning may and may not do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Only variants that compute in f32 or better.
    pub exact: bool,
    /// Fused rules that are switched off; `*` is all of them.
    pub disabled: Vec<String>,
    /// Device of each node, by index, in place of the driver's choice. `None`, and nodes past the end, leave it to the driver.
    pub placement: Vec<Option<usize>>,
    /// Claims that failed before.
    pub forbidden: Vec<Forbidden>,
    /// Give each activation bytes of its own, so that all can be read after a run. Launches stay the same.
    pub keep_values: bool,
}

/// An accepted claim with its kernel and place.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The claim.
    pub claim: Claim,
    /// Index of the device.
    pub device: usize,
    /// What is run.
    pub offer: Offer,
    /// Tensors in the order of the contract's ports.
    pub operands: Vec<Option<Tensor>>,
    /// Constants from attributes and layouts.
    pub constants: Constants,
}

/// All accepted claims and the trail that led to them.
#[derive(Debug)]
pub struct Decisions {
    /// Accepted claims, in order of acceptance.
    pub accepted: Vec<Accepted>,
    /// Every attempt.
    pub trail: Vec<Attempt>,
}

struct Driver<'a, 'g> {
    scene: &'a Scene<'g>,
    devices: &'a [Offered<'a>],
    options: &'a Options,
    groups: Groups,
    accepted: Vec<Accepted>,
    trail: Vec<Attempt>,
}

/// Covers a graph: fused rules in their order, then each remaining node by the kernel of its operation.
///
/// # Errors
/// The graph has a cycle. Nodes that nothing takes are found by [`super::cover`], with their attempts in the trail.
pub fn decide(
    scene: &Scene<'_>,
    devices: &[Offered<'_>],
    options: &Options,
    fused: &[&'static Rule],
) -> Result<Decisions, GraphError> {
    let order = scene.dependencies.order()?;
    let groups = Groups::new(&order);
    let mut driver = Driver { scene, devices, options, groups, accepted: Vec::new(), trail: Vec::new() };
    for rule in fused.iter().copied() {
        for root in &order {
            let kind = scene.graph.node(*root).op.kind();
            if kind == rule.root && driver.groups.of[root.index()].is_none() {
                driver.offer(rule, *root);
            }
        }
    }
    for root in order {
        if scene.graph.node(root).op.kind() != OpKind::View && driver.groups.of[root.index()].is_none() {
            driver.offer(&rules::SINGLE, root);
        }
    }
    Ok(Decisions { accepted: driver.accepted, trail: driver.trail })
}

impl Driver<'_, '_> {
    fn offer(&mut self, rule: &'static Rule, root: NodeId) {
        let site = Site::new(self.scene, rule.name, root);
        let mut attempt = Attempt {
            rule: rule.name,
            root,
            visited: vec![root],
            covered: Vec::new(),
            operands: Vec::new(),
            declines: Vec::new(),
            state: State::Offered,
        };
        let single = rule.name == rules::SINGLE.name;
        let disabled = self.options.disabled.iter().any(|name| name == "*" || name == rule.name);
        match (rule.find)(&site) {
            Err(decline) => attempt.declines.push(decline),
            Ok(claim) => {
                attempt.state = State::Matched;
                attempt.covered.clone_from(&claim.nodes);
                attempt.operands.clone_from(&claim.operands);
                // A rule that is off still looks, so that its nodes' stories can say so.
                if disabled && !single {
                    let (rule, node) = (rule.name, root);
                    attempt.declines.push(Decline { rule, step: None, node, why: Why::Disabled });
                } else if let Some(dispatch) = self.accept(claim, single, &mut attempt.declines) {
                    attempt.state = State::Claimed { dispatch };
                } else if let Some(reason) = revocation(&attempt.declines) {
                    attempt.state = State::Revoked { reason };
                }
            }
        }
        attempt.visited = site.visited();
        self.trail.push(attempt);
    }

    /// Accepts the claim on the first device and variant that admit it; `declines` gets every refusal on the way.
    fn accept(&mut self, claim: Claim, single: bool, declines: &mut Vec<Decline>) -> Option<usize> {
        let by = |index: usize| self.accepted[index].claim.rule;
        if let Err(decline) = legal(self.scene, &self.groups, &claim, by) {
            declines.push(decline);
            return None;
        }
        let devices = match self.devices_for(&claim, single) {
            Ok(devices) => devices,
            Err(decline) => {
                declines.push(decline);
                return None;
            }
        };
        let accepted = devices.into_iter().find_map(|device| self.variant(&claim, device, declines))?;
        let index = self.groups.accept(&accepted.claim.nodes);
        self.accepted.push(accepted);
        Some(index)
    }

    /// A fused claim lives on the preferred device only, since a fallback of its parts elsewhere may still be better.
    fn devices_for(&self, claim: &Claim, single: bool) -> Result<Vec<usize>, Decline> {
        let last = self.devices.len() - 1;
        let at = |node: &NodeId| {
            let fixed = self.options.placement.get(node.index()).copied().flatten();
            fixed.map(|device| device.min(last))
        };
        let device = claim.nodes.first().and_then(at);
        if let Some(node) = claim.nodes.iter().find(|node| at(node) != device) {
            let devices = [device.unwrap_or(0), at(node).unwrap_or(0)];
            return Err(Decline { rule: claim.rule, step: None, node: *node, why: Why::Split { devices } });
        }
        Ok(match device {
            Some(device) => vec![device],
            None if single => (0..=last).collect(),
            None => vec![0],
        })
    }

    /// The first variant of the device that admits the claim. `declines` gets the refusals of those before it.
    fn variant(&self, claim: &Claim, device: usize, declines: &mut Vec<Decline>) -> Option<Accepted> {
        let node = claim.nodes.last().copied().unwrap_or(NodeId(0));
        let refuse = |why| Decline { rule: claim.rule, step: None, node, why };
        let offered = self.devices[device];
        let mut found = false;
        for offer in offered.offers.iter().filter(|offer| offer.contract.kernel == claim.kernel) {
            found = true;
            if self.options.exact && !offer.exact {
                declines.push(refuse(Why::NotExact { variant: offer.variant }));
                continue;
            }
            let failed = self.options.forbidden.iter().find(|f| {
                f.rule == claim.rule
                    && f.variant == offer.variant
                    && f.nodes == claim.nodes
                    && f.device == offered.name
            });
            if let Some(failed) = failed {
                declines.push(refuse(Why::Revoked { reason: failed.reason.clone() }));
                continue;
            }
            match admit(claim, offer) {
                Ok((operands, constants)) => {
                    return Some(Accepted {
                        claim: claim.clone(),
                        device,
                        offer: *offer,
                        operands,
                        constants,
                    });
                }
                Err(decline) => declines.push(decline),
            }
        }
        if !found {
            let kernel = claim.kernel;
            let absent = kernels::by_stem(kernel)
                .and_then(|k| k.contract.absent.iter().find(|a| a.backend == offered.name));
            let reason = absent.map_or("the backend does not offer it", |a| a.reason).to_owned();
            declines.push(refuse(Why::NotOffered { kernel, backend: offered.name.to_owned(), reason }));
        }
        None
    }
}

/// Why the claim was given back, if that is why it is not there.
fn revocation(declines: &[Decline]) -> Option<String> {
    declines.iter().rev().find_map(|decline| match &decline.why {
        Why::Revoked { reason } => Some(reason.clone()),
        _ => None,
    })
}

/// Operands in port order and all constants, if the variant's contract admits them.
fn admit(claim: &Claim, offer: &Offer) -> Result<(Vec<Option<Tensor>>, Constants), Decline> {
    let node = claim.nodes.last().copied().unwrap_or(NodeId(0));
    let refuse = |why| Decline { rule: claim.rule, step: None, node, why };
    let operands = arranged(offer.contract, claim)?;
    let layouts: Vec<Option<Layout>> = operands.iter().map(|t| t.map(|t| t.layout)).collect();
    offer.contract.check(&layouts, &claim.constants).map_err(refuse)?;
    apart(offer.contract, claim, &operands)?;
    let mut constants = claim.constants.clone();
    offer.contract.derive(&layouts, &mut constants).map_err(refuse)?;
    Ok((operands, constants))
}
