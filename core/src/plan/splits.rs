//! Why a plan changes its device where it does.

use super::{Plan, Split};
use crate::driver::State;

impl Plan {
    /// Why a split begins where it does, a line each.
    pub fn why_split(&self, split: &Split) -> Vec<String> {
        let Some(dispatch) = self.dispatches.get(split.first) else { return Vec::new() };
        if split.device == 0 {
            return vec!["the first device takes over again".to_owned()];
        }
        let won = |state: &State| matches!(state, State::Claimed { dispatch } | State::Executable { dispatch } if *dispatch == split.first);
        let declines = self.trail.iter().filter(|attempt| won(&attempt.state)).flat_map(|a| &a.declines);
        let refused: Vec<String> = declines.map(ToString::to_string).collect();
        if refused.is_empty() {
            let placed = dispatch.nodes.iter().map(|node| self.graph.describe(*node)).collect::<Vec<_>>();
            return vec![format!("the caller placed {} there", placed.join(", "))];
        }
        refused
    }
}
