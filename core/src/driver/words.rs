//! Reasons in words: what was expected, what was found.

use super::Why;
use crate::graph::{NodeId, OpKind};
use std::fmt::{self, Display, Formatter};

fn stems(kinds: &[OpKind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.signature().stem).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn nodes(ids: &[NodeId]) -> String {
    ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(", ")
}

impl Display for Why {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Why::Op { want, got } => {
                write!(f, "wanted the operation {}, found {}", want.signature().stem, got.signature().stem)
            }
            Why::Missing { source } => {
                write!(f, "wanted source {source} made by a node, found none that makes it")
            }
            Why::Unexpected { source } => write!(f, "wanted no source {source}, found one"),
            Why::ManyWriters { source, writers } => {
                write!(f, "wanted source {source} from one node, found bytes of nodes {}", nodes(writers))
            }
            Why::NoOperand { want, found } => {
                write!(f, "wanted {} next to it, found {}", want.signature().stem, stems(found))
            }
            Why::Rearranged { source } => write!(
                f,
                "wanted source {source} to be the whole value in its order, found a part or another order"
            ),
            Why::NotSame { what } => write!(f, "wanted the same bytes twice, found different ones: {what}"),
            Why::Attr { what } => write!(f, "attribute {what} is not what the pattern wants"),
            Why::Escapes { readers } => {
                write!(f, "its result would not be stored, and nodes {} outside read it", nodes(readers))
            }
            Why::IsOutput { storage } => {
                write!(
                    f,
                    "its result would not be stored, and it is an output or part of the state `{storage}`"
                )
            }
            Why::Taken { by } => write!(f, "already taken by a claim of {by}"),
            Why::WriteBetween { writer, port } => {
                write!(
                    f,
                    "node {} writes the bytes of {port} between the accesses that would merge",
                    writer.0
                )
            }
            Why::Between { through, back } => write!(
                f,
                "node {} needs a result of the claim, and node {} of the claim needs it in turn",
                through.0, back.0
            ),
            Why::OwnResult { port } => write!(f, "{port} would read what the claim itself computes"),
            Why::InputUnbound { source } => write!(f, "source {source} comes from outside and is at no port"),
            Why::Split { devices: [a, b] } => write!(f, "its nodes are placed on devices {a} and {b}"),
            Why::Overlap { a, b } => write!(f, "{a} and {b} share bytes, and one is written"),
            Why::Unbound { port } => write!(f, "wanted a tensor at {port}, found none"),
            Why::NoSuchPort { port } => write!(f, "the contract has no port {port}"),
            Why::DType { port, want: [], got } => {
                write!(f, "{port}: wanted no tensor, found one of type {got}")
            }
            Why::DType { port, want, got } => {
                let want: Vec<&str> = want.iter().map(|dtype| dtype.name()).collect();
                write!(f, "{port}: wanted type {}, found {got}", want.join(" or "))
            }
            Why::Extent { port, dim, want, bound, got } => {
                write!(f, "{port}: wanted extent {want}")?;
                if want.to_string() != bound.to_string() {
                    write!(f, " ({bound})")?;
                }
                write!(f, " in dimension {dim}, found {got}")
            }
            Why::Stride { port, dim, want, got } => {
                write!(f, "{port}: wanted stride {want} bytes in dimension {dim}, found {got} bytes")
            }
            Why::Alignment { port, want, got } => {
                write!(f, "{port}: wanted an offset that is a multiple of {want} bytes, found {got} bytes")
            }
            Why::Symbol { name, want, got } => write!(f, "wanted extent {name} {want}, found {got}"),
            Why::Constant { want, got: Some(got) } => write!(f, "wanted constant {want}, found {got}"),
            Why::Constant { want, got: None } => write!(f, "wanted constant {want}, found none"),
            Why::Derived { name, port, got } => {
                write!(f, "{port}: {name} of {got} bytes is no whole number of elements that fits 32 bits")
            }
            Why::NotOffered { kernel, backend, reason } => write!(f, "{backend} has no {kernel}: {reason}"),
            Why::NotExact { variant } => write!(f, "variant {variant} rounds more than exact mode allows"),
            Why::Disabled => write!(f, "the rule is switched off"),
            Why::Revoked { reason } => write!(f, "given back after it failed to build: {reason}"),
        }
    }
}
