//! What each run of a plan does, in numbers: read from the plan, whether anybody listens or not.

use super::Plan;
use crate::driver::{State, Why};

/// Variants that take whatever the others of their kernel refuse.
const LAST_RESORTS: [&str; 2] = ["any", "reference"];

/// Counts of one run or, added up, of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Dispatches.
    pub dispatches: u64,
    /// Dispatches by fused rules: accepted claims.
    pub claims: u64,
    /// Dispatches that nobody wanted so: by a kernel's last variant after the others had refused, or on another device
    /// because the first one refused.
    pub fallbacks: u64,
    /// Claims that were given back after they failed to build.
    pub revocations: u64,
    /// Runs of launches on one device.
    pub splits: u64,
    /// Copies between devices.
    pub copies: u64,
    /// Bytes of these.
    pub copied_bytes: u64,
}

impl Tally {
    /// Counts of another run on top.
    pub fn add(&mut self, other: &Tally) {
        self.dispatches += other.dispatches;
        self.claims += other.claims;
        self.fallbacks += other.fallbacks;
        self.revocations += other.revocations;
        self.splits += other.splits;
        self.copies += other.copies;
        self.copied_bytes = self.copied_bytes.saturating_add(other.copied_bytes);
    }
}

impl Plan {
    /// Counts of one run.
    pub fn tally(&self) -> Tally {
        let copies = || self.splits.iter().flat_map(|split| &split.copies).chain(&self.last_copies);
        Tally {
            dispatches: self.dispatches.len() as u64,
            claims: self.dispatches.iter().filter(|dispatch| dispatch.rule != "single").count() as u64,
            fallbacks: self.fallbacks().count() as u64,
            revocations: self.revoked.len() as u64,
            splits: self.splits.len() as u64,
            copies: copies().count() as u64,
            copied_bytes: copies().fold(0, |sum, copy| sum.saturating_add(copy.layout.bytes())),
        }
    }

    /// Dispatches that count as fallbacks, see [`Tally::fallbacks`].
    pub fn fallbacks(&self) -> impl Iterator<Item = usize> + '_ {
        self.trail.iter().filter_map(|attempt| {
            let (State::Claimed { dispatch } | State::Executable { dispatch }) = attempt.state else {
                return None;
            };
            let taken = self.dispatches.get(dispatch)?;
            // That a kernel rounds is no reason to complain where exact ones were asked for.
            let refused = attempt.declines.iter().any(|d| !matches!(d.why, Why::NotExact { .. }));
            let last = LAST_RESORTS.contains(&taken.variant) || taken.device > 0;
            (refused && last).then_some(dispatch)
        })
    }
}
