//! Splits that run as graphs. A split is recorded when it is submitted for the second time, since a prompt's program often runs
//! once. That time its launches run one by one, and again as the graph on the same states and inputs: a graph that leaves other
//! bytes behind is not used. All that changes from one submission to the next lies in memory of the device, so a graph is
//! never changed.

use crate::device::Counts;
use crate::ffi::Status;
use crate::graph::Graph;
use crate::memory::Region;
use crate::ready::Ready;
use crate::stream::Stream;
use crate::transfer::Transfer;
use std::collections::BTreeSet;
use std::sync::Arc;
use thiserror::Error;
use weft_core::backend::DeviceError;
use weft_core::graph::StorageId;
use weft_core::plan::{Plan, Split};

/// Why a split goes on one launch at a time.
#[derive(Debug, Error)]
enum Refusal {
    #[error("the runtime records no graph: {0}")]
    Runtime(String),
    #[error("the graph leaves other bytes behind than its launches")]
    Differs,
}

enum State {
    New,
    SubmittedOnce,
    Recorded(Graph),
    Refused,
}

/// One split.
pub(crate) struct Replay {
    state: State,
    /// What its launches write.
    written: Vec<Region>,
}

impl Replay {
    /// For a split of a plan whose storages lie in these places. Fault words are written by every split.
    pub(crate) fn new(plan: &Plan, split: &Split, places: &[Option<Region>], fault: &Region) -> Self {
        let bindings =
            plan.dispatches[split.first..split.end].iter().flat_map(|d| d.bindings.iter().flatten());
        let storages: BTreeSet<StorageId> =
            bindings.filter(|b| b.access.writes()).map(|b| b.tensor.storage).collect();
        let place = |storage: StorageId| places.get(storage.index()).cloned().flatten();
        let written = storages.into_iter().filter_map(place).chain([fault.clone()]).collect();
        Replay { state: State::New, written }
    }

    /// Submits the split as a graph and tells so; or leaves its launches to be submitted one by one.
    pub(crate) fn submit(
        &mut self,
        stream: &Arc<Stream>,
        transfer: &Transfer,
        launches: &mut [Ready],
    ) -> Result<bool, DeviceError> {
        match &self.state {
            State::New => {
                self.state = State::SubmittedOnce;
                Ok(false)
            }
            State::SubmittedOnce => {
                let recorded = Graph::record(stream, |recorder| put_all(launches, recorder));
                let (state, refusal) = match recorded {
                    Err(reason) => {
                        submit_all(launches, stream)?;
                        (State::Refused, Some(Refusal::Runtime(reason)))
                    }
                    Ok(graph) if self.is_faithful(&graph, stream, transfer, launches)? => {
                        (State::Recorded(graph), None)
                    }
                    Ok(_) => (State::Refused, Some(Refusal::Differs)),
                };
                if let Some(refusal) = refusal {
                    tracing::warn!(%refusal, "kernels are launched one by one");
                    Counts::add(&stream.device().counts.refused_graphs);
                }
                self.state = state;
                Ok(true)
            }
            State::Recorded(graph) => graph.launch().map(|()| true),
            State::Refused => Ok(false),
        }
    }

    /// Runs the launches, then the graph from the same start, and compares what is written. What the launches wrote stays.
    fn is_faithful(
        &self,
        graph: &Graph,
        stream: &Stream,
        transfer: &Transfer,
        launches: &mut [Ready],
    ) -> Result<bool, DeviceError> {
        let before = self.read(transfer)?;
        submit_all(launches, stream)?;
        let wanted = self.read(transfer)?;
        self.write(transfer, &before)?;
        drop(before);
        graph.launch()?;
        let faithful = self.read(transfer)? == wanted;
        if !faithful {
            self.write(transfer, &wanted)?;
        }
        Ok(faithful)
    }

    fn read(&self, transfer: &Transfer) -> Result<Vec<Vec<u8>>, DeviceError> {
        let all = self.written.iter().map(|region| {
            let mut bytes = vec![0; region.bytes as usize];
            transfer.read(region, 0, &mut bytes).map(|()| bytes)
        });
        all.collect()
    }

    fn write(&self, transfer: &Transfer, content: &[Vec<u8>]) -> Result<(), DeviceError> {
        self.written.iter().zip(content).try_for_each(|(region, bytes)| transfer.write(region, 0, bytes))
    }
}

fn put_all(launches: &mut [Ready], recorder: &Stream) -> Status {
    launches.iter_mut().map(|ready| ready.put(recorder)).find(|status| *status != 0).unwrap_or(0)
}

fn submit_all(launches: &mut [Ready], stream: &Stream) -> Result<(), DeviceError> {
    launches.iter_mut().try_for_each(|ready| ready.launch(stream))
}
