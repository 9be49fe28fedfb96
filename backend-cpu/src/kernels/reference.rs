//! A reference kernel as a job: the first worker runs it alone.

use crate::job::{Args, Job, Worker};
use crate::view::View;
use std::cell::Cell;
use weft_core::contract::Constants;
use weft_core::kernels::{self, Call, Kernel, KernelError, Place};

struct Reference {
    kernel: &'static Kernel,
    views: Vec<Option<View>>,
    constants: Constants,
}

pub(super) fn build(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let kernel = kernels::by_stem(args.dispatch.kernel).ok_or(KernelError::Unbound { port: "kernel" })?;
    Ok(Box::new(Reference { kernel, views: args.views.to_vec(), constants: args.constants().clone() }))
}

impl Job for Reference {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        if worker.index != 0 {
            return Ok(());
        }
        let operands: Vec<Option<Place<'_>>> = self
            .views
            .iter()
            .map(|view| {
                view.map(|view| {
                    // SAFETY: the storage holds `bytes` bytes and outlives the program; in this phase no other job
                    // writes what this one touches, and within it everything goes through cells on one thread.
                    let bytes =
                        unsafe { std::slice::from_raw_parts(view.base.cast::<Cell<u8>>(), view.bytes) };
                    (view.layout, bytes)
                })
            })
            .collect();
        (self.kernel.reference)(&Call::new(&self.kernel.contract, &operands, &self.constants)?)
    }
}
