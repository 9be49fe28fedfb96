//! Tuned kernels, and the reference kernels as jobs. Of one stem the tuned one stands first.

mod attention;
mod blocks;
mod convolution;
mod delta;
mod elementwise;
mod experts;
mod gdn_layer;
mod matmul;
mod mixture;
mod norms;
mod reference;
mod rope;
mod rows;
mod streams;
mod sums;

use crate::job::{Args, Job};
use weft_core::backend::Offer;
use weft_core::contract::{Contract, Port, Symbol, Tolerance};
use weft_core::graph::DType;
use weft_core::kernels::{self, KernelError};

/// A kernel of this backend.
pub(crate) struct Implementation {
    pub offer: Offer,
    pub build: Build,
}

/// Makes a job for a dispatch whose operands the contract has admitted.
pub(crate) type Build = fn(&mut Args<'_>) -> Result<Box<dyn Job>, KernelError>;

/// A tuned kernel before its contract is narrowed.
pub(crate) struct Tuned {
    pub stem: &'static str,
    pub variant: &'static str,
    pub exact: bool,
    /// Narrows a port of the stem's contract to what the kernel addresses.
    pub port: fn(Port) -> Port,
    /// Constraints on named extents besides the stem's own.
    pub symbols: &'static [Symbol],
    pub build: Build,
}

/// Everything that this backend offers: of the kernels that are absent here the references, if those are asked for.
pub(crate) fn implementations(references_only: bool, absent: bool) -> Vec<Implementation> {
    let tuned: [&[Tuned]; 14] = [
        matmul::TUNED,
        experts::TUNED,
        mixture::TUNED,
        rows::TUNED,
        norms::TUNED,
        elementwise::TUNED,
        rope::TUNED,
        streams::TUNED,
        sums::TUNED,
        attention::TUNED,
        blocks::TUNED,
        convolution::TUNED,
        delta::TUNED,
        gdn_layer::TUNED,
    ];
    let mut all = Vec::new();
    for tuned in tuned.iter().flat_map(|list| list.iter()).filter(|_| !references_only) {
        let Some(kernel) = kernels::by_stem(tuned.stem) else { continue };
        let tolerance = (!tuned.exact).then_some(Tolerance::EIGHT_BIT);
        let contract = kernel.contract.narrowed(tuned.port, tuned.symbols, tolerance);
        let offer = Offer { contract, variant: tuned.variant, exact: tuned.exact };
        all.push(Implementation { offer, build: tuned.build });
    }
    let here = |contract: &Contract| absent || contract.absent.iter().all(|a| a.backend != crate::NAME);
    for kernel in kernels::ALL.into_iter().filter(|kernel| here(&kernel.contract)) {
        let offer = Offer { contract: &kernel.contract, variant: "reference", exact: true };
        all.push(Implementation { offer, build: reference::build });
    }
    all
}

/// f32 with packed rows, any distance between rows.
pub(crate) fn float_rows(port: Port) -> Port {
    use weft_core::contract::{
        Access,
        Stride::{Any, AtLeastPacked, Packed},
    };
    if !port.dtypes.contains(&DType::F32) {
        return port;
    }
    let port = Port { dtypes: weft_core::contract::F32, ..port }.aligned(4);
    match port.access {
        Access::Read => port.strides([Packed, Any, Any, Any]),
        Access::Write | Access::Update => port.strides([Packed, AtLeastPacked, AtLeastPacked, AtLeastPacked]),
    }
}
