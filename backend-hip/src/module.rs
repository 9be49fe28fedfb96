//! Code on the device.

use crate::device::Device;
use crate::ffi::Handle;
use std::ffi::CString;
use std::sync::Arc;

/// A code object, loaded.
pub(crate) struct Module {
    handle: Handle,
    device: Arc<Device>,
}

// SAFETY: the runtime's calls on a module may come from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a code object for the device's chip. A refusal is no loss of the device: other code may do.
    pub(crate) fn load(device: &Arc<Device>, object: &[u8]) -> Result<Arc<Self>, String> {
        device.enter().map_err(|e| e.to_string())?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the runtime reads the object's own headers for its size; it was compiled by us or by the runtime.
        match unsafe { (device.api().module_load)(&raw mut handle, object.as_ptr().cast()) } {
            0 => Ok(Arc::new(Module { handle, device: Arc::clone(device) })),
            status => Err(device.runtime.describe("hipModuleLoadData", status)),
        }
    }

    /// An entry point by name.
    pub(crate) fn function(self: &Arc<Self>, name: &str) -> Result<Function, String> {
        let text = CString::new(name).map_err(|e| e.to_string())?;
        let api = self.device.api();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the module is alive, the name ends in a zero.
        match unsafe { (api.module_function)(&raw mut handle, self.handle, text.as_ptr()) } {
            0 => Ok(Function { handle, _module: Arc::clone(self) }),
            status => Err(self.device.runtime.describe(&format!("hipModuleGetFunction({name})"), status)),
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is unloaded once; functions keep it alive.
        unsafe { (self.device.api().module_unload)(self.handle) };
    }
}

/// An entry point.
pub(crate) struct Function {
    handle: Handle,
    /// Where its code lies.
    _module: Arc<Module>,
}

// SAFETY: a handle that the runtime takes from any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }
}
