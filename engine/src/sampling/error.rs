//! What can be wrong with parameters or logits.

/// Why a sampler could not be made, or could not choose a token.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// A parameter is outside its range.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A bias is for a token that cannot be sampled.
    #[error("logit_bias names token {id}, but only ids below {valid_ids} can be sampled")]
    BiasedToken {
        /// The token.
        id: u32,
        /// Number of ids that can be sampled.
        valid_ids: usize,
    },
    /// There are no logits.
    #[error("there are no logits to sample from")]
    Empty,
    /// A logit is not a number, or infinite.
    #[error(
        "logit {index} is {value}: the model's output is broken; check_finite (--check finite) names what made it"
    )]
    NotFinite {
        /// The first such index.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// No logit is a number: said of a row that a device sampled.
    #[error(
        "none of {count} logits is a number: the model's output is broken; check_finite (--check finite) names what made it"
    )]
    NoneFinite {
        /// Number of logits.
        count: usize,
    },
    /// Every logit is minus infinity.
    #[error("all {count} logits are minus infinity: no token is allowed, from index 0 on")]
    AllExcluded {
        /// Number of logits.
        count: usize,
    },
}
