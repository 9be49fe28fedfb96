//! Launches recorded once and submitted as one.

use crate::device::{Counts, Device};
use crate::ffi::{Handle, Status, number};
use crate::stream::Stream;
use std::sync::Arc;
use weft_core::backend::DeviceError;

/// Recorded launches, ready to run any number of times.
pub(crate) struct Graph {
    handle: Handle,
    stream: Arc<Stream>,
}

// SAFETY: the runtime's calls on a graph may come from any thread.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Records what `put` puts into a stream, for runs on `stream`. The recording has a stream of its own, since the work
    /// of other threads goes through the device's.
    ///
    /// # Errors
    /// What the runtime would not do, in its words. The device is not lost by that.
    pub(crate) fn record(stream: &Arc<Stream>, put: impl FnOnce(&Stream) -> Status) -> Result<Self, String> {
        let device = stream.device();
        let api = device.api();
        let recorder = Stream::new(device).map_err(|e| e.to_string())?;
        // SAFETY: the stream is alive.
        let begun = unsafe { (api.begin_capture)(recorder.handle(), number::CAPTURE_OF_THREAD) };
        refused(device, "hipStreamBeginCapture", begun)?;
        let status = put(&recorder);
        let mut recorded = std::ptr::null_mut();
        // SAFETY: the stream is recording; the pointer is valid for the call.
        let ended = unsafe { (api.end_capture)(recorder.handle(), &raw mut recorded) };
        let outcome = refused(device, "hipModuleLaunchKernel", status)
            .and_then(|()| refused(device, "hipStreamEndCapture", ended))
            .and_then(|()| {
                let (mut handle, none) = (std::ptr::null_mut(), std::ptr::null_mut());
                // SAFETY: the graph was recorded; the pointer is valid for the call, the others may be null.
                let status = unsafe {
                    (api.graph_instantiate)(&raw mut handle, recorded, none, std::ptr::null_mut(), 0)
                };
                refused(device, "hipGraphInstantiate", status)?;
                Ok(Graph { handle, stream: Arc::clone(stream) })
            });
        if !recorded.is_null() {
            // SAFETY: it is destroyed once; what was made from it is a copy.
            unsafe { (api.graph_destroy)(recorded) };
        }
        outcome
    }

    /// Starts everything recorded.
    pub(crate) fn launch(&self) -> Result<(), DeviceError> {
        let device = self.stream.device();
        Counts::add(&device.counts.graphs);
        // SAFETY: graph and stream are alive; addresses in the graph are of memory that the program keeps.
        let status = unsafe { (device.api().graph_launch)(self.handle, self.stream.handle()) };
        device.check("hipGraphLaunch", status)
    }
}

fn refused(device: &Device, call: &str, status: Status) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(device.runtime.describe(call, status)) }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // It may still run.
        let _ = self.stream.synchronize();
        // SAFETY: the graph is destroyed once.
        unsafe { (self.stream.device().api().graph_exec_destroy)(self.handle) };
    }
}
