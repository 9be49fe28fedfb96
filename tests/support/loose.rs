//! Contracts that lack a constraint, for tests that must notice.

use weft_core::contract::{ANY_WEIGHT, Contract, Extent, Port, Stride};
use weft_core::graph::DType;

/// A contract with one constraint taken away.
pub struct Loose {
    /// What is gone.
    pub what: String,
    /// The contract without it.
    pub contract: Contract,
}

const EVERY_TYPE: &[DType] =
    &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64, DType::I8, DType::Q8_0];

fn with_port(contract: &Contract, at: usize, change: impl Fn(&mut Port)) -> Contract {
    let mut ports = contract.ports.to_vec();
    change(&mut ports[at]);
    Contract { ports: ports.leak(), ..*contract }
}

/// Every contract that lacks one of this one's constraints.
pub fn loosened(contract: &Contract) -> Vec<Loose> {
    let mut all = Vec::new();
    let mut push = |what: String, contract: Contract| all.push(Loose { what, contract });
    for (at, port) in contract.ports.iter().enumerate() {
        let name = port.name;
        if port.dtypes.len() < ANY_WEIGHT.len() {
            push(format!("type of {name}"), with_port(contract, at, |p| p.dtypes = EVERY_TYPE));
        }
        if port.alignment > 1 {
            push(format!("alignment of {name}"), with_port(contract, at, |p| p.alignment = 1));
        }
        if !port.optional {
            // A port that must be there may be asked for twice; both go.
            let needs: Vec<_> =
                contract.needs.iter().filter(|(_, second)| *second != name).copied().collect();
            let bare = Contract { needs: needs.leak(), ..*contract };
            push(format!("presence of {name}"), with_port(&bare, at, |p| p.optional = true));
        }
        for dim in 0..4 {
            if port.shape[dim] != Extent::Any {
                push(
                    format!("extent {dim} of {name}"),
                    with_port(contract, at, |p| p.shape[dim] = Extent::Any),
                );
            }
            if port.strides[dim] != Stride::Any {
                push(
                    format!("stride {dim} of {name}"),
                    with_port(contract, at, |p| p.strides[dim] = Stride::Any),
                );
            }
        }
    }
    for (at, (first, second)) in contract.needs.iter().enumerate() {
        let mut needs = contract.needs.to_vec();
        needs.remove(at);
        push(format!("{second} beside {first}"), Contract { needs: needs.leak(), ..*contract });
    }
    for (at, (extent, port)) in contract.ones.iter().enumerate() {
        let mut ones = contract.ones.to_vec();
        ones.remove(at);
        push(format!("{extent} of one beside {port}"), Contract { ones: ones.leak(), ..*contract });
    }
    for (at, symbol) in contract.symbols.iter().enumerate() {
        let mut symbols = contract.symbols.to_vec();
        symbols.remove(at);
        let ones: Vec<_> =
            contract.ones.iter().filter(|(extent, _)| *extent != symbol.name).copied().collect();
        let what = format!("range {at} of {}", symbol.name);
        push(what, Contract { symbols: symbols.leak(), ones: ones.leak(), ..*contract });
    }
    for at in 0..contract.attributes.len() {
        let mut attributes = contract.attributes.to_vec();
        let gone = attributes.remove(at);
        push(format!("constant {}", gone.name()), Contract { attributes: attributes.leak(), ..*contract });
    }
    all
}
