//! The gate chain of a delta net, projection to reshape, with one link at fault.

use super::Fixture;
use super::delta::Layer;
use super::import::{Import, Value};
use super::small::SQUARE;
use weft_core::graph::{DType, UnaryKind};

/// Links in order.
pub const LINKS: [Link; 6] =
    [Link::Project, Link::Reshape, Link::Shift, Link::Soften, Link::Scale, Link::Place];

/// A link of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The projection of the hidden row.
    Project,
    /// Tokens and sequences apart.
    Reshape,
    /// Plus the time step's bias.
    Shift,
    /// Softplus.
    Soften,
    /// Times the decay's factor.
    Scale,
    /// A leading extent of one.
    Place,
}

/// What is wrong with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Missing,
    Doubled,
    /// A view that changes nothing stands behind it.
    Viewed,
    /// A packed copy stands behind it.
    Copied,
    /// Its value is read by a second node, too.
    Shared,
}

/// All faults.
pub const FAULTS: [Fault; 5] = [Fault::Missing, Fault::Doubled, Fault::Viewed, Fault::Copied, Fault::Shared];

struct Chain {
    layer: Layer,
    fault: Option<(Link, Fault)>,
}

impl Chain {
    fn is(&self, link: Link, fault: Fault) -> bool {
        self.fault == Some((link, fault))
    }

    fn link(&self, g: &mut Import, link: Link, x: Value, again: bool) -> Value {
        let Layer { value_heads: heads, tokens, seqs, .. } = self.layer;
        let late = self.is(Link::Place, Fault::Missing);
        let vector: &[u64] = if late { &[1, heads] } else { &[heads] };
        let named = |what: &str| if again { format!("{what}.again") } else { what.to_owned() };
        match link {
            Link::Project => {
                let weight = g.weight(&named("project"), DType::F32, &[x.shape()[0], heads]);
                let made = g.op(weft_core::graph::Op::MulMat, &[weight, x]);
                g.label("project");
                made
            }
            Link::Reshape if late => g.reshape(x, &[1, heads, tokens, seqs]),
            Link::Reshape => g.reshape(x, &[heads, tokens, seqs]),
            Link::Shift => {
                let dt = g.weight(&named("dt"), DType::F32, vector);
                let made = g.add(x, dt);
                g.label("shifted");
                made
            }
            Link::Soften => {
                let made = g.unary(UnaryKind::Softplus, x);
                g.label("soft");
                made
            }
            Link::Scale => {
                let a = g.weight(&named("a"), DType::F32, vector);
                let made = g.mul(x, a);
                g.label("decay");
                made
            }
            Link::Place => g.reshape(x, &[1, heads, tokens, seqs]),
        }
    }

    fn build(&self, g: &mut Import) -> Value {
        let Layer { value_heads: heads, tokens, seqs, .. } = self.layer;
        let width = if self.is(Link::Project, Fault::Missing) { heads } else { 2 * heads };
        let mut x = g.input("hidden", DType::F32, &[width, tokens * seqs]);
        for link in LINKS {
            if self.is(link, Fault::Missing) {
                continue;
            }
            x = self.link(g, link, x, false);
            let Some((_, fault)) = self.fault.filter(|(at, _)| *at == link) else { continue };
            match fault {
                Fault::Missing => {}
                Fault::Doubled => x = self.link(g, link, x, true),
                Fault::Viewed => x = g.alias(x, x.layout),
                Fault::Copied => x = g.packed_copy(x),
                Fault::Shared => {
                    let other = g.unary(UnaryKind::Neg, x);
                    g.output("other", other);
                }
            }
        }
        x
    }
}

/// A layer behind a chain with this fault.
pub fn fixture(fault: Option<(Link, Fault)>) -> Fixture {
    let layer = SQUARE;
    let mut g = Import::default();
    let mut data = layer.data("");
    if fault == Some((Link::Scale, Fault::Missing)) {
        // Without its factor the decay would grow: the projection makes it negative instead.
        data.remove("a");
    }
    let row = layer.row(&mut g, &mut data);
    let gate = Chain { layer, fault }.build(&mut g);
    let out = layer.build_with(&mut g, "", row, gate);
    g.output("out", out);
    let name =
        fault.map_or("gate chain".to_owned(), |(link, fault)| format!("gate chain, {link:?} {fault:?}"));
    Fixture::new(name, g, data)
}

/// The whole chain, then one fault each.
pub fn all() -> Vec<(Option<(Link, Fault)>, Fixture)> {
    let faults = LINKS.into_iter().flat_map(|link| FAULTS.map(|fault| Some((link, fault))));
    std::iter::once(None).chain(faults).map(|fault| (fault, fixture(fault))).collect()
}
