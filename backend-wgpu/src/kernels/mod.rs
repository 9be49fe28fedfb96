//! Kernels: what each variant accepts, and the launches that it makes of a dispatch.

mod attention;
mod delta;
mod elementwise;
mod experts;
mod indexed;
mod matmul;
mod missing;
mod rotary;
mod rows;
mod sampling;

pub(crate) use missing::missing;

use crate::adapter::Caps;
use std::collections::BTreeMap;
use weft_core::backend::Offer;
use weft_core::contract::{Constant, Contract, Port, Symbol, Tolerance};
use weft_core::graph::Layout;
use weft_core::kernels;
use weft_core::plan::Dispatch;
use weft_core::quant::planes::Rows;

/// One way to compute a kernel here.
pub(crate) struct Variant {
    pub stem: &'static str,
    pub name: &'static str,
    /// Whether it computes in f32 throughout.
    pub exact: bool,
    /// Narrows a port of the stem's contract to what the shader addresses.
    pub port: fn(Port) -> Port,
    /// Constraints on named extents besides the stem's own.
    pub symbols: &'static [Symbol],
    /// Distance allowed from the reference, where it is not the stem's own.
    pub tolerance: Option<Tolerance>,
    /// Whether a device can run it.
    pub runs_on: fn(&Caps) -> bool,
    /// Makes launches of a dispatch that the contract has admitted.
    pub build: fn(&mut Build<'_>) -> Result<Vec<Launch>, String>,
}

impl Variant {
    /// A variant that takes what the stem's contract takes, on any device.
    pub(crate) const fn any(
        stem: &'static str,
        build: fn(&mut Build<'_>) -> Result<Vec<Launch>, String>,
    ) -> Self {
        Variant {
            stem,
            name: "any",
            exact: true,
            port: |port| port,
            symbols: &[],
            tolerance: None,
            runs_on: |_| true,
            build,
        }
    }
}

/// What a variant's launches are made from.
pub(crate) struct Build<'a> {
    pub dispatch: &'a Dispatch,
    pub contract: &'static Contract,
    pub caps: &'a Caps,
    /// How each port's bytes are repacked, in the order of the ports.
    pub repacked: &'a [Option<Rows>],
    /// Bytes of scratch memory that the launches share.
    pub scratch: u64,
}

impl Build<'_> {
    /// The layout of a bound port.
    pub(crate) fn maybe(&self, port: &str) -> Option<Layout> {
        self.dispatch.bindings.iter().flatten().find(|b| b.port == port).map(|b| b.tensor.layout)
    }

    /// The layout of a port that the contract requires.
    pub(crate) fn layout(&self, port: &str) -> Result<Layout, String> {
        self.maybe(port).ok_or_else(|| format!("port `{port}` is not bound"))
    }

    /// Extents of a port as the shader sees them.
    pub(crate) fn shape(&self, port: &str) -> Result<[u32; 4], String> {
        let shape = self.layout(port)?.shape;
        let mut narrow = [0; 4];
        for (to, from) in narrow.iter_mut().zip(shape) {
            *to = u32::try_from(from).map_err(|_| format!("`{port}` has an extent beyond 32 bits"))?;
        }
        Ok(narrow)
    }

    /// Elements of a port.
    pub(crate) fn elements(&self, port: &str) -> Result<u32, String> {
        let all = self.layout(port)?.elements();
        u32::try_from(all).map_err(|_| format!("`{port}` has more than 2^32 elements"))
    }

    /// Rows of a port.
    pub(crate) fn rows(&self, port: &str) -> Result<u32, String> {
        let all = self.layout(port)?.rows();
        u32::try_from(all).map_err(|_| format!("`{port}` has more than 2^32 rows"))
    }

    /// An integer constant.
    pub(crate) fn integer(&self, name: &'static str) -> Result<u32, String> {
        self.dispatch.constants.u32(name).map_err(|e| e.to_string())
    }

    /// How a port is repacked.
    pub(crate) fn packing(&self, port: &str) -> Option<Rows> {
        self.contract.port(port).and_then(|at| self.repacked.get(at).copied().flatten())
    }
}

/// One dispatch of the GPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launch {
    /// Definitions for the assembler.
    pub defines: BTreeMap<String, String>,
    /// Scalars of the parameter block besides the dispatch's constants.
    pub scalars: Vec<(&'static str, Constant)>,
    /// Vectors of four words at the end of the parameter block, as `p.table`.
    pub table: Vec<u32>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// The shader, where it is not the dispatch's kernel.
    pub stem: Option<&'static str>,
    /// Ports that take part, each with the name by which the shader knows it; none where all do, by their own.
    pub names: Vec<(&'static str, &'static str)>,
    /// Layouts that stand for those of the dispatch: windows of large tensors.
    pub layouts: Vec<(&'static str, Layout)>,
}

impl Launch {
    /// A launch of this many workgroups, folded where one dimension cannot hold them. Shaders find their number by `flat`.
    pub(crate) fn flat(groups: u32) -> Self {
        Launch { groups: fold(groups), ..Launch::default() }
    }

    /// A launch of workgroups in three dimensions.
    pub(crate) fn grid(groups: [u32; 3]) -> Self {
        Launch { groups, ..Launch::default() }
    }

    /// With a definition.
    pub(crate) fn define(mut self, name: &str, value: impl ToString) -> Self {
        self.defines.insert(name.to_owned(), value.to_string());
        self
    }

    /// With a flag, if it holds.
    pub(crate) fn flag(self, name: &str, holds: bool) -> Self {
        if holds { self.define(name, 1) } else { self }
    }

    /// With one more integer in the parameter block.
    pub(crate) fn integer(mut self, name: &'static str, value: u32) -> Self {
        self.scalars.push((name, Constant::Integer(value)));
        self
    }

    /// With a table in the parameter block; its length is a multiple of four words.
    pub(crate) fn table(mut self, words: Vec<u32>) -> Self {
        self.table = words;
        self
    }

    /// With the shader of another kernel, for these ports by the names that it gives them.
    pub(crate) fn shader(mut self, stem: &'static str, names: Vec<(&'static str, &'static str)>) -> Self {
        self.stem = Some(stem);
        self.names = names;
        self
    }

    /// With another layout for a port.
    pub(crate) fn layout(mut self, port: &'static str, layout: Layout) -> Self {
        self.layouts.push((port, layout));
        self
    }
}

/// Most workgroups of one dimension.
const MOST_GROUPS: u32 = 65_535;

/// Workgroups in two dimensions, as few more than asked for as possible.
fn fold(groups: u32) -> [u32; 3] {
    if groups <= MOST_GROUPS {
        return [groups, 1, 1];
    }
    let y = groups.div_ceil(MOST_GROUPS);
    [groups.div_ceil(y), y, 1]
}

/// Every variant of every kernel; of one stem the preferred first.
fn variants() -> impl Iterator<Item = &'static Variant> {
    let groups: [&'static [Variant]; 9] = [
        attention::VARIANTS,
        delta::VARIANTS,
        elementwise::VARIANTS,
        experts::VARIANTS,
        indexed::VARIANTS,
        matmul::VARIANTS,
        rotary::VARIANTS,
        rows::VARIANTS,
        sampling::VARIANTS,
    ];
    groups.into_iter().flatten()
}

/// A variant with the contract that it offers.
pub(crate) struct Implementation {
    pub offer: Offer,
    pub variant: &'static Variant,
}

/// Everything that a device offers; of one stem the preferred first.
pub(crate) fn implementations(caps: &Caps) -> Vec<Implementation> {
    let mut all = Vec::new();
    for variant in variants().filter(|variant| (variant.runs_on)(caps)) {
        let Some(kernel) = kernels::by_stem(variant.stem) else { continue };
        let contract = kernel.contract.narrowed(variant.port, variant.symbols, variant.tolerance);
        let offer = Offer { contract, variant: variant.name, exact: variant.exact };
        all.push(Implementation { offer, variant });
    }
    all
}
