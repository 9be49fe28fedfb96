//! Submissions of a GPU: each owns its inputs.

use crate::run::{bytes, floats};
use std::collections::HashMap;
use std::sync::Arc;
use weft_core::backend::{Backend, CompileRequest, DeviceError};
use weft_core::driver::{Offered, Options};
use weft_core::graph::{DType, GraphBuilder, StorageId, UnaryKind};
use weft_core::plan;

/// Three submissions in flight give three answers; a fourth takes the memory of the first, and waits for it.
pub fn own_their_inputs(gpu: &dyn Backend) {
    let mut g = GraphBuilder::new();
    let x = g.input("x", DType::F32, &[256]).unwrap();
    let mut y = x;
    for _ in 0..20 {
        y = g.unary(UnaryKind::Neg, y).unwrap();
    }
    let sum = g.add(y, x).unwrap();
    g.output("sum", sum).unwrap();
    let graph = Arc::new(g.finish().unwrap());
    let offered = [Offered { name: gpu.name(), offers: gpu.offers() }];
    let plan = plan::build(Arc::clone(&graph), &offered, &Options::default()).unwrap();
    let buffers = HashMap::new();
    let mut program = gpu.compile(&CompileRequest { plan: &plan, device: 0, buffers: &buffers }).unwrap();
    let input = graph.storages.iter().position(|s| s.name == "x").unwrap();
    let storage = graph.tensor(sum).storage;
    // Three submissions are begun before the first result is looked at.
    let mut tickets = Vec::new();
    for round in 0..3 {
        let values = bytes(&vec![round as f32; 256]);
        let ticket = program.begin(&[(StorageId(input as u32), &values)]).unwrap();
        program.submit(ticket, 0, None).unwrap();
        tickets.push(ticket);
    }
    for (round, ticket) in tickets.iter().enumerate() {
        let mut into = vec![0; 1024];
        program.read(*ticket, storage, 0, &mut into).unwrap();
        assert_eq!(floats(&into), vec![2.0 * round as f32; 256], "{}", gpu.name());
        assert!(program.poll(*ticket).unwrap());
    }
    // A fourth takes the memory of the first, which is over then.
    program.begin(&[(StorageId(input as u32), &bytes(&[9.0; 256]))]).unwrap();
    let error = program.poll(tickets[0]).unwrap_err();
    assert!(matches!(error, DeviceError::Lost { .. }), "{error}");
    // Nobody looks at the results of most of these, so each that takes memory again has to wait by itself.
    let last = (0..8).map(|round| {
        let values = bytes(&vec![round as f32; 256]);
        let ticket = program.begin(&[(StorageId(input as u32), &values)]).unwrap();
        program.submit(ticket, 0, None).unwrap();
        ticket
    });
    let last = last.last().unwrap();
    let mut into = vec![0; 1024];
    program.read(last, storage, 0, &mut into).unwrap();
    assert_eq!(floats(&into), vec![14.0; 256], "{}", gpu.name());
}
