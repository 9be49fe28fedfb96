//! A backend around another: it offers other kernels, fails to build chosen dispatches, or forgets states.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use weft_core::backend::{
    Backend, Buffer, Capabilities, CompileRequest, DeviceError, HostBytes, Offer, Program,
};
use weft_core::contract::Contract;
use weft_core::graph::Layout;
use weft_core::plan::Dispatch;

type Fails = Box<dyn Fn(&Dispatch) -> Option<String> + Send + Sync>;

/// The backend.
pub struct Faulty {
    inner: Arc<dyn Backend>,
    name: String,
    offers: Vec<Offer>,
    fails: Fails,
    loses: fn(&Dispatch) -> bool,
    /// Buffers of these names hold NaN until a program writes them.
    forgotten: HashSet<String>,
    handles: Mutex<HashSet<usize>>,
}

impl Faulty {
    /// As the inner backend.
    pub fn around(inner: Arc<dyn Backend>) -> Self {
        let offers = inner.offers().to_vec();
        let name = inner.name().to_owned();
        let (fails, forgotten, handles) = (Box::new(|_: &Dispatch| None), HashSet::new(), Mutex::default());
        Faulty { inner, name, offers, fails, loses: |_| false, forgotten, handles }
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

    /// Is lost while it builds one of these dispatches.
    pub fn losing(mut self, loses: fn(&Dispatch) -> bool) -> Self {
        self.loses = loses;
        self
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
        self.inner.capabilities()
    }

    fn offers(&self) -> &[Offer] {
        &self.offers
    }

    fn allocate(&self, name: &str, bytes: u64) -> Result<Buffer, DeviceError> {
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
        self.inner.import(name, bytes, layout)
    }

    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        if self.handles.lock().expect("no panic while held").contains(&Self::address(to)) {
            return Ok(());
        }
        self.inner.write(to, offset, bytes)
    }

    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.inner.read(from, offset, into)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Box<dyn Program>, DeviceError> {
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
        self.inner.compile(request)
    }

    fn self_test(&self) -> Result<(), DeviceError> {
        self.inner.self_test()
    }
}
