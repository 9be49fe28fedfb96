//! A device: its memory and the code in it.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::fault::{Fault, FaultKind, KernelError, LoadError};
use crate::launch::{self, Launch, Ran};
use crate::memory::map::Map;
use crate::object_file::{CodeObject, Global, Kernel};
use crate::options::Options;

/// Memory of which there is not enough, or an address that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    #[error("{asked} bytes asked for, {granted} free")]
    OutOfMemory { asked: u64, granted: u64 },
    #[error("{bytes} bytes at {address:#x} are not device memory")]
    NotDevice { address: u64, bytes: u64 },
}

pub struct Device {
    options: Options,
    map: RwLock<Map>,
}

/// A code object in device memory.
pub struct Module {
    object: CodeObject,
    start: u64,
}

impl Module {
    /// # Errors
    /// [`KernelError`]: no such kernel, or one with an instruction that the emulator does not know.
    pub fn kernel(&self, name: &str) -> Result<Arc<Kernel>, KernelError> {
        let absent = || KernelError::Absent { name: name.to_owned() };
        let kernel = self.object.kernels.get(name).ok_or_else(absent)?;
        let descriptor = &kernel.descriptor;
        match self.object.program.unknown_in(descriptor.entry, descriptor.code_bytes) {
            None => Ok(kernel.clone()),
            Some(line) => {
                let (kernel, text) = (name.to_owned(), line.text.clone());
                Err(KernelError::Unknown { kernel, address: line.address, text })
            }
        }
    }

    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.object.kernels.keys().map(String::as_str)
    }

    /// Address and size of a variable.
    pub fn global(&self, name: &str) -> Option<Global> {
        let found = self.object.globals.get(name)?;
        Some(Global { address: self.start + found.address, bytes: found.bytes })
    }
}

impl Device {
    pub fn new(options: Options) -> Device {
        Device { options, map: RwLock::default() }
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    pub fn read_map(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write_map(&self) -> RwLockWriteGuard<'_, Map> {
        self.map.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// [`MemoryError::OutOfMemory`].
    pub fn allocate(&self, bytes: u64) -> Result<u64, MemoryError> {
        let mut map = self.write_map();
        let granted = self.options.memory_bytes.saturating_sub(map.used());
        if bytes > granted {
            return Err(MemoryError::OutOfMemory { asked: bytes, granted });
        }
        Ok(map.allocate(bytes))
    }

    /// # Errors
    /// [`MemoryError::NotDevice`]: not the start of an allocation.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.write_map().free(address).map(|_| ()).ok_or(MemoryError::NotDevice { address, bytes: 0 })
    }

    /// # Errors
    /// [`MemoryError::NotDevice`].
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let map = self.read_map();
        let bytes = data.len() as u64;
        let found = map.find(address, bytes).ok_or(MemoryError::NotDevice { address, bytes })?;
        found.write(address - found.start, data);
        Ok(())
    }

    /// # Errors
    /// [`MemoryError::NotDevice`].
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        let map = self.read_map();
        let bytes = data.len() as u64;
        let found = map.find(address, bytes).ok_or(MemoryError::NotDevice { address, bytes })?;
        found.read(address - found.start, data);
        Ok(())
    }

    /// Copies inside the device; what nobody wrote stays undefined at its new place.
    ///
    /// # Errors
    /// [`MemoryError::NotDevice`].
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        let map = self.read_map();
        let find = |address| map.find(address, bytes).ok_or(MemoryError::NotDevice { address, bytes });
        let (target, source) = (find(to)?, find(from)?);
        let mut data = vec![0; bytes as usize];
        source.read(from - source.start, &mut data);
        target.write(to - target.start, &data);
        if bytes > 0 && !source.is_written((from - source.start) as usize, bytes as usize) {
            for byte in 0..bytes {
                if source.written_bits((from - source.start + byte) as usize, 1) == 0 {
                    target.mark((to - target.start + byte) as usize, 1, false);
                }
            }
        }
        Ok(())
    }

    /// # Errors
    /// [`LoadError`].
    pub fn load(&self, image: &[u8]) -> Result<Module, LoadError> {
        let mut object = CodeObject::load(image)?;
        let mut map = self.write_map();
        let start = map.allocate_filled(&object.image, object.is_read_only);
        if let Some(placed) = map.find(start, 1) {
            for (at, addend) in &object.relocations {
                placed.write(*at as u64, &(start + addend).to_le_bytes());
            }
        }
        object.image = Vec::new();
        Ok(Module { object, start })
    }

    pub fn unload(&self, module: &Module) {
        self.write_map().free_filled(module.start);
    }

    /// # Errors
    /// [`Fault`].
    pub fn launch(
        &self,
        module: &Module,
        kernel: &Kernel,
        launch: &Launch,
        arguments: &[u8],
    ) -> Result<Ran, Fault> {
        if arguments.len() > kernel.about.argument_bytes {
            let (asked, granted) = (arguments.len(), kernel.about.argument_bytes);
            let kind = FaultKind::Limit { what: "bytes of arguments", asked, granted };
            return Err(Fault { kernel: kernel.name.clone(), kind, at: None, workgroup: [0; 3], wave: 0 });
        }
        let map = self.read_map();
        launch::run(kernel, (&module.object.program, module.start), launch, arguments, &map, &self.options)
    }
}
