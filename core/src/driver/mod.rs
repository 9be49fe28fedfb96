//! The driver: rules propose, this decides. Legality lives here and nowhere else.

mod claim;
mod decide;
mod decline;
mod judge;
mod site;
mod trail;
mod words;

pub use claim::Claim;
pub use decide::{Accepted, Decisions, Forbidden, Offered, Options, decide};
pub use decline::{Decline, Why};
pub use judge::cover;
pub use site::{Scene, Site, reshaped, squeezed};
pub use trail::{Attempt, State};
