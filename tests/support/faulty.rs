//! A backend around another: it offers other kernels, fails to build chosen dispatches or builds others, forgets states, or is
//! lost; and it counts submissions and what programs read back.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use weft_core::backend::{
    Backend, Buffer, Capabilities, CompileRequest, DeviceError, HostBytes, Offer, Program, Ticket,
};
use weft_core::contract::Contract;
use weft_core::graph::{Graph, Layout, StorageId};
use weft_core::plan::{Dispatch, Plan};

type Alters = Box<dyn Fn(&mut Plan) + Send + Sync>;
type Fails = Box<dyn Fn(&Dispatch) -> Option<String> + Send + Sync>;

/// The backend.
pub struct Faulty {
    inner: Arc<dyn Backend>,
    name: String,
    capabilities: Capabilities,
    life: Arc<Life>,
    offers: Vec<Offer>,
    fails: Fails,
    alters: Option<Alters>,
    loses: fn(&Dispatch) -> bool,
    /// Buffers of these names hold NaN until a program writes them.
    forgotten: HashSet<String>,
    handles: Mutex<HashSet<usize>>,
}

/// What a device and its programs know of each other.
struct Life {
    /// Submissions until it is lost.
    left: AtomicU64,
    /// Bytes that programs have read back.
    read: AtomicU64,
    /// Splits that were submitted.
    submitted: AtomicU64,
}

impl Life {
    fn check(&self) -> Result<(), DeviceError> {
        match self.left.load(Ordering::Relaxed) {
            0 => Err(DeviceError::Lost { reason: "pulled".to_owned() }),
            _ => Ok(()),
        }
    }
}

impl Faulty {
    /// As the inner backend.
    pub fn around(inner: Arc<dyn Backend>) -> Self {
        let life = Arc::new(Life {
            left: AtomicU64::new(u64::MAX),
            read: AtomicU64::new(0),
            submitted: AtomicU64::new(0),
        });
        let capabilities = inner.capabilities().clone();
        let offers = inner.offers().to_vec();
        let name = inner.name().to_owned();
        let (fails, forgotten, handles) = (Box::new(|_: &Dispatch| None), HashSet::new(), Mutex::default());
        let (alters, loses) = (None, (|_| false) as fn(&Dispatch) -> bool);
        Faulty { inner, name, capabilities, life, offers, fails, alters, loses, forgotten, handles }
    }

    /// Under another name.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Without the offers for which this holds.
    pub fn without(mut self, gone: impl Fn(&Offer) -> bool) -> Self {
        self.offers.retain(|offer| !gone(offer));
        self
    }

    /// With each contract changed by this. The changed contracts live as long as the process.
    pub fn contracts(mut self, change: impl Fn(&Contract) -> Option<Contract>) -> Self {
        for offer in &mut self.offers {
            if let Some(contract) = change(offer.contract) {
                offer.contract = Box::leak(Box::new(contract));
            }
        }
        self
    }

    /// Fails to build the dispatches for which this gives a reason.
    pub fn failing(mut self, fails: impl Fn(&Dispatch) -> Option<String> + Send + Sync + 'static) -> Self {
        self.fails = Box::new(fails);
        self
    }

    /// Builds another dispatch than the plan has: a kernel that computes something else.
    pub fn altering(self, alters: impl Fn(&Graph, &mut Dispatch) + Send + Sync + 'static) -> Self {
        self.building(move |plan| {
            let graph = Arc::clone(&plan.graph);
            plan.dispatches.iter_mut().for_each(|dispatch| alters(&graph, dispatch));
        })
    }

    /// Builds another plan than it is given.
    pub fn building(mut self, alters: impl Fn(&mut Plan) + Send + Sync + 'static) -> Self {
        self.alters = Some(Box::new(alters));
        self
    }

    /// Runs the launches of a phase in the opposite order: nothing may depend on it.
    pub fn backwards(inner: Arc<dyn Backend>) -> Arc<dyn Backend> {
        Self::around(inner).building(backwards).shared()
    }

    /// Is lost while it builds one of these dispatches.
    pub fn losing(mut self, loses: fn(&Dispatch) -> bool) -> Self {
        self.loses = loses;
        self
    }

    /// Is lost when a program has been submitted this many times; then nothing on it works any more.
    pub fn lost_after(self, submissions: u64) -> Self {
        self.life.left.store(submissions, Ordering::Relaxed);
        self
    }

    /// Would rather sample itself, or not.
    pub fn preferring_device_sampling(mut self, prefers: bool) -> Self {
        self.capabilities.prefers_device_sampling = prefers;
        self
    }

    /// How many bytes its programs have read back, asked later.
    pub fn read_back(&self) -> impl Fn() -> u64 + use<> {
        let life = Arc::clone(&self.life);
        move || life.read.load(Ordering::Relaxed)
    }

    /// How many splits were submitted to its programs, asked later.
    pub fn submitted(&self) -> impl Fn() -> u64 + use<> {
        let life = Arc::clone(&self.life);
        move || life.submitted.load(Ordering::Relaxed)
    }

    /// Buffers of these names are not filled from the host.
    pub fn forgetting(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.forgotten = names.into_iter().collect();
        self
    }

    /// The backend as others take it.
    pub fn shared(self) -> Arc<dyn Backend> {
        Arc::new(self)
    }

    fn address(buffer: &Buffer) -> usize {
        Arc::as_ptr(&buffer.handle).cast::<u8>().addr()
    }
}

impl Backend for Faulty {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn offers(&self) -> &[Offer] {
        &self.offers
    }

    fn allocate(&self, name: &str, bytes: u64) -> Result<Buffer, DeviceError> {
        self.life.check()?;
        let buffer = self.inner.allocate(name, bytes)?;
        let mut handles = self.handles.lock().expect("no panic while held");
        // An address may be that of a buffer that was dropped.
        handles.remove(&Self::address(&buffer));
        if self.forgotten.contains(name) {
            self.inner.write(&buffer, 0, &vec![0xff; bytes as usize])?;
            handles.insert(Self::address(&buffer));
        }
        Ok(buffer)
    }

    fn import(&self, name: &str, bytes: HostBytes, layout: &Layout) -> Result<Buffer, DeviceError> {
        self.life.check()?;
        self.inner.import(name, bytes, layout)
    }

    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.life.check()?;
        if self.handles.lock().expect("no panic while held").contains(&Self::address(to)) {
            return Ok(());
        }
        self.inner.write(to, offset, bytes)
    }

    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.life.check()?;
        self.inner.read(from, offset, into)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Box<dyn Program>, DeviceError> {
        self.life.check()?;
        if request.plan.dispatches.iter().any(self.loses) {
            return Err(DeviceError::Lost { reason: "pulled".to_owned() });
        }
        for (index, dispatch) in request.plan.dispatches.iter().enumerate() {
            if dispatch.device == request.device
                && let Some(reason) = (self.fails)(dispatch)
            {
                return Err(DeviceError::Dispatch { index, kernel: dispatch.kernel, reason });
            }
        }
        let mut plan = None;
        if let Some(alters) = &self.alters {
            alters(plan.insert(request.plan.clone()));
        }
        let plan = plan.as_ref().unwrap_or(request.plan);
        let inner = self.inner.compile(&CompileRequest { plan, ..*request })?;
        Ok(Box::new(Mortal { inner, life: Arc::clone(&self.life) }))
    }

    fn self_test(&self) -> Result<(), DeviceError> {
        self.inner.self_test()
    }
}

/// Turns the order of the launches of each phase.
pub fn backwards(plan: &mut Plan) {
    for split in &plan.splits {
        let launches = &mut plan.dispatches[split.first..split.end];
        launches.chunk_by_mut(|a, b| a.phase == b.phase).for_each(<[Dispatch]>::reverse);
    }
}

/// A program that dies with its device.
struct Mortal {
    inner: Box<dyn Program>,
    life: Arc<Life>,
}

impl Program for Mortal {
    fn begin(&mut self, inputs: &[(StorageId, &[u8])]) -> Result<Ticket, DeviceError> {
        self.life.check()?;
        self.inner.begin(inputs)
    }

    fn submit(
        &mut self,
        ticket: Ticket,
        split: usize,
        cancel: Option<&AtomicBool>,
    ) -> Result<(), DeviceError> {
        self.life.check()?;
        self.inner.submit(ticket, split, cancel)?;
        self.life.submitted.fetch_add(1, Ordering::Relaxed);
        if self.life.left.load(Ordering::Relaxed) != u64::MAX {
            self.life.left.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn poll(&mut self, ticket: Ticket) -> Result<bool, DeviceError> {
        self.life.check()?;
        self.inner.poll(ticket)
    }

    fn read(
        &mut self,
        ticket: Ticket,
        storage: StorageId,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.life.check()?;
        self.life.read.fetch_add(into.len() as u64, Ordering::Relaxed);
        self.inner.read(ticket, storage, offset, into)
    }

    fn write(
        &mut self,
        ticket: Ticket,
        storage: StorageId,
        range: Range<u64>,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.life.check()?;
        self.inner.write(ticket, storage, range, bytes)
    }
}
