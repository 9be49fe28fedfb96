//! One dispatch on a real backend: a plan made by hand, every operand in a buffer of its own.

use std::collections::HashMap;
use std::sync::Arc;
use weft_core::backend::{Backend, Buffer, CompileRequest, DeviceError, Offer};
use weft_core::contract::draw::Case;
use weft_core::graph::{Graph, Owner, Storage, StorageId, Tensor};
use weft_core::plan::{Binding, Cost, DevicePart, Dispatch, Place, Plan, Split};

/// Compiles and runs the variant on these bytes. Gives the storages after the run.
///
/// # Errors
/// The backend's.
pub fn run(
    backend: &dyn Backend,
    offer: &Offer,
    case: &Case,
    storages: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, DeviceError> {
    run_with_weights(backend, offer, case, storages, &[])
}

/// The same with some ports imported as weights, which a backend may keep in another form.
///
/// # Errors
/// The backend's.
pub fn run_with_weights(
    backend: &dyn Backend,
    offer: &Offer,
    case: &Case,
    storages: &[Vec<u8>],
    weights: &[usize],
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let plan = plan(backend.name(), offer, case, storages);
    let mut buffers = HashMap::new();
    for (at, bytes) in storages.iter().enumerate() {
        let name = offer.contract.ports[at].name;
        let buffer: Buffer = match case.operands[at].filter(|_| weights.contains(&at)) {
            Some(layout) => backend.import(name, Arc::new(bytes.clone()), &layout)?,
            None => {
                let buffer = backend.allocate(name, bytes.len() as u64)?;
                backend.write(&buffer, 0, bytes)?;
                buffer
            }
        };
        buffers.insert(StorageId(at as u32), buffer);
    }
    let mut program = backend.compile(&CompileRequest { plan: &plan, device: 0, buffers: &buffers })?;
    let ticket = program.begin(&[])?;
    program.submit(ticket, 0, None)?;
    while !program.poll(ticket)? {
        std::thread::yield_now();
    }
    let mut after = Vec::with_capacity(storages.len());
    for (at, bytes) in storages.iter().enumerate() {
        if weights.contains(&at) {
            after.push(bytes.clone());
            continue;
        }
        let mut into = vec![0; bytes.len()];
        backend.read(&buffers[&StorageId(at as u32)], 0, &mut into)?;
        after.push(into);
    }
    Ok(after)
}

fn plan(device: &str, offer: &Offer, case: &Case, storages: &[Vec<u8>]) -> Plan {
    let contract = offer.contract;
    let mut constants = case.constants.clone();
    contract.derive(&case.operands, &mut constants).expect("a legal case has its constants");
    let binding = |at: usize| {
        let (port, layout) = (&contract.ports[at], case.operands[at]?);
        let tensor = Tensor { storage: StorageId(case.homes[at] as u32), layout, version: 0 };
        Some(Binding { port: port.name, access: port.access, tensor })
    };
    let storage = |(at, bytes): (usize, &Vec<u8>)| Storage {
        name: contract.ports[at].name.to_owned(),
        owner: Owner::State,
        bytes: bytes.len() as u64,
    };
    Plan {
        graph: Arc::new(Graph {
            storages: storages.iter().enumerate().map(storage).collect(),
            ..Graph::default()
        }),
        devices: vec![DevicePart {
            name: device.to_owned(),
            arena_bytes: 0,
            input_bytes: 0,
            places: vec![Some(Place::Own); storages.len()],
        }],
        dispatches: vec![Dispatch {
            kernel: contract.kernel,
            variant: offer.variant,
            rule: "by hand",
            device: 0,
            nodes: Vec::new(),
            bindings: (0..contract.ports.len()).map(binding).collect(),
            constants,
            phase: 0,
            cost: Cost::default(),
        }],
        splits: vec![Split { device: 0, first: 0, end: 1, copies: Vec::new() }],
        last_copies: Vec::new(),
        output_devices: Vec::new(),
        placements: Vec::new(),
        trail: Vec::new(),
        revoked: Vec::new(),
        hash: 0,
    }
}
