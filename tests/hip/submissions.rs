//! Submissions: each owns its inputs. Repacked weights and the file's own blocks give the same answers.

use crate::{all, ids, largest, model, opened, session};
use std::collections::HashMap;
use std::sync::Arc;
use weft_core::backend::{Backend, CompileRequest, DeviceError};
use weft_core::driver::{Offered, Options};
use weft_core::graph::{DType, GraphBuilder, StorageId, UnaryKind};
use weft_core::plan;
use weft_tests::run::{bytes, floats};

#[test]
fn inputs_belong_to_one_submission() {
    for gpu in all() {
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
    }
}

#[test]
fn no_node_of_a_model_leaves_the_device() {
    for gpu in all() {
        let plan = session(&model(vec![Arc::clone(&gpu) as Arc<dyn Backend>])).plan(1).unwrap();
        let census = plan.census();
        assert_eq!((census.off_device, census.splits), (0, 1), "{}", gpu.name());
    }
}

#[test]
fn repacking_changes_no_answer() {
    let ids = ids();
    for (packed, raw) in opened(|_| {}).into_iter().zip(opened(|options| options.repack = false)) {
        let (packed, raw) = (model(vec![packed]), model(vec![raw]));
        let logits = |model| session(model).evaluate(&ids[..12], false).unwrap().logits;
        let off = largest(&logits(&packed), &logits(&raw));
        assert!(off <= 2e-4, "{off}");
    }
}
