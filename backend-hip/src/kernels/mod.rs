//! Kernels: what each variant accepts, and the launches that it makes of a dispatch.

mod attention;
mod delta;
mod elementwise;
mod experts;
mod indexed;
mod matmul;
mod rotary;
mod rows;
mod sampling;

use weft_core::backend::Offer;
use weft_core::contract::{Contract, Port, Symbol, Tolerance};
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
    /// Narrows a port of the stem's contract to what the kernel addresses.
    pub port: fn(Port) -> Port,
    /// Constraints on named extents besides the stem's own.
    pub symbols: &'static [Symbol],
    /// Distance allowed from the reference, where it is not the stem's own.
    pub tolerance: Option<Tolerance>,
    /// Makes launches of a dispatch that the contract has admitted.
    pub build: fn(&mut Build<'_>) -> Result<Vec<Launch>, String>,
}

impl Variant {
    /// A variant that takes what the stem's contract takes.
    pub(crate) const fn any(
        stem: &'static str,
        build: fn(&mut Build<'_>) -> Result<Vec<Launch>, String>,
    ) -> Self {
        let port = |port| port;
        Variant { stem, name: "any", exact: true, port, symbols: &[], tolerance: None, build }
    }
}

/// What a variant's launches are made from.
pub(crate) struct Build<'a> {
    pub dispatch: &'a Dispatch,
    pub contract: &'static Contract,
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

    /// Extents of a port as kernels see them.
    pub(crate) fn shape(&self, port: &str) -> Result<[u32; 4], String> {
        let shape = self.layout(port)?.shape;
        let mut narrow = [0; 4];
        for (to, from) in narrow.iter_mut().zip(shape) {
            *to = u32::try_from(from).map_err(|_| format!("`{port}` has an extent beyond 32 bits"))?;
        }
        Ok(narrow)
    }

    /// Elements of a port.
    pub(crate) fn elements(&self, port: &str) -> Result<u64, String> {
        Ok(self.layout(port)?.elements())
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

/// One launch of the GPU.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The entry point: its stem, an underscore, its form.
    pub function: String,
    /// Blocks.
    pub groups: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Integers that the stem's list in `SCALARS` names; those not given are 0.
    pub scalars: Vec<(&'static str, u32)>,
    /// The kernel whose arguments the entry point takes, where it is not the dispatch's own.
    pub stem: Option<&'static str>,
    /// Ports of the dispatch, each with the name by which that other kernel knows it.
    pub names: Vec<(&'static str, &'static str)>,
}

impl Launch {
    /// A launch of blocks in up to three dimensions.
    pub(crate) fn grid(function: impl Into<String>, groups: [u32; 3], threads: u32) -> Self {
        let (scalars, names) = (Vec::new(), Vec::new());
        Launch { function: function.into(), groups, threads, scalars, stem: None, names }
    }

    /// A launch of one thread an item, in blocks of 256; folded where one dimension cannot hold them. The kernel gets the
    /// blocks of the first dimension as `groups_x` (a scalar that its stem must list) and finds its number by
    /// `thread_number(256, p.groups_x)`.
    pub(crate) fn threads(function: impl Into<String>, items: u64) -> Result<Self, String> {
        let blocks = items.div_ceil(256);
        let y = blocks.div_ceil(MOST_BLOCKS).max(1);
        let narrow = |n: u64| u32::try_from(n).map_err(|_| "a launch of too many threads".to_owned());
        let x = narrow(blocks.div_ceil(y))?;
        Ok(Self::grid(function, [x, narrow(y)?, 1], 256).integer("groups_x", x))
    }

    /// With an integer among the kernel's arguments.
    pub(crate) fn integer(mut self, name: &'static str, value: u32) -> Self {
        self.scalars.push((name, value));
        self
    }

    /// With the arguments of another kernel, from these ports by the names that it gives them.
    pub(crate) fn of(mut self, stem: &'static str, names: Vec<(&'static str, &'static str)>) -> Self {
        self.stem = Some(stem);
        self.names = names;
        self
    }
}

/// Most blocks of one dimension. Threads of a dimension are counted in 32 bits.
const MOST_BLOCKS: u64 = 1 << 22;

/// Integers that launches add to the arguments of a stem, in their order in the structure.
pub(crate) type Scalars = &'static [(&'static str, &'static [&'static str])];

/// The integers of a stem's arguments besides the attributes of its contract.
pub(crate) fn scalars(stem: &str) -> &'static [&'static str] {
    let groups: [Scalars; 9] = [
        attention::SCALARS,
        delta::SCALARS,
        elementwise::SCALARS,
        experts::SCALARS,
        indexed::SCALARS,
        matmul::SCALARS,
        rotary::SCALARS,
        rows::SCALARS,
        sampling::SCALARS,
    ];
    groups.into_iter().flatten().find(|(of, _)| *of == stem).map_or(&[], |(_, names)| names)
}

/// A variant with the contract that it offers.
pub(crate) struct Implementation {
    pub offer: Offer,
    pub variant: &'static Variant,
}

/// Everything offered; of one stem the preferred first.
pub(crate) fn implementations() -> Vec<Implementation> {
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
    let mut all = Vec::new();
    for variant in groups.into_iter().flatten() {
        let Some(kernel) = kernels::by_stem(variant.stem) else { continue };
        let contract = kernel.contract.narrowed(variant.port, variant.symbols, variant.tolerance);
        let offer = Offer { contract, variant: variant.name, exact: variant.exact };
        all.push(Implementation { offer, variant });
    }
    all
}
