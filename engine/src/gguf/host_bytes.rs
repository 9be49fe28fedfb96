//! Byte ranges of mapped files, cheap to clone and safe to keep.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

use super::GgufError;

/// A range of bytes on the host and a share in what keeps them: a mapped file, a vector, or the program itself.
#[derive(Clone)]
pub struct HostBytes {
    owner: Owner,
    range: Range<usize>,
}

#[derive(Clone)]
enum Owner {
    Mapped(Arc<Mmap>),
    Shared(Arc<[u8]>),
    Static(&'static [u8]),
}

impl HostBytes {
    /// Maps a whole file. Other programs must not shorten or change it while it is mapped: the pages are the file's.
    ///
    /// # Errors
    /// [`GgufError::Io`]
    pub fn map(path: &Path) -> Result<Self, GgufError> {
        let fault = |source| GgufError::Io { file: path.display().to_string(), source };
        let file = File::open(path).map_err(fault)?;
        let metadata = file.metadata().map_err(fault)?;
        if metadata.is_dir() {
            return Err(fault(std::io::ErrorKind::IsADirectory.into()));
        }
        if metadata.len() == 0 {
            return Ok(Self::from(&[][..]));
        }
        // SAFETY: the mapping is read-only and private to this process, which never writes to model files. Changes made
        // by other programs cannot be ruled out by any check; the contract above leaves them to the caller.
        let map = unsafe { Mmap::map(&file) }.map_err(fault)?;
        let range = 0..map.len();
        Ok(Self { owner: Owner::Mapped(Arc::new(map)), range })
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// A part of these bytes, or `None` if they do not hold it all.
    pub fn slice(&self, offset: u64, bytes: u64) -> Option<Self> {
        let end = offset.checked_add(bytes)?;
        if end > self.len() as u64 {
            return None;
        }
        let start = self.range.start + offset as usize;
        Some(Self { owner: self.owner.clone(), range: start..start + bytes as usize })
    }
}

impl AsRef<[u8]> for HostBytes {
    fn as_ref(&self) -> &[u8] {
        let all: &[u8] = match &self.owner {
            Owner::Mapped(map) => map,
            Owner::Shared(bytes) => bytes,
            Owner::Static(bytes) => bytes,
        };
        &all[self.range.clone()]
    }
}

impl From<&'static [u8]> for HostBytes {
    fn from(bytes: &'static [u8]) -> Self {
        Self { owner: Owner::Static(bytes), range: 0..bytes.len() }
    }
}

impl From<Arc<[u8]>> for HostBytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        let range = 0..bytes.len();
        Self { owner: Owner::Shared(bytes), range }
    }
}

impl From<Vec<u8>> for HostBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(Arc::from(bytes))
    }
}

impl std::fmt::Debug for HostBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostBytes({} bytes)", self.len())
    }
}
