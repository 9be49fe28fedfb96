//! Compiled pipelines kept on disk between runs, where the driver supports it.

use std::path::{Path, PathBuf};
use wgpu::{AdapterInfo, Device, Features, PipelineCache};

/// A file of a driver's compiled pipelines.
pub(crate) struct Cache {
    pub cache: PipelineCache,
    file: PathBuf,
}

impl Cache {
    /// The cache of this adapter in a folder. `None` where the driver has none, or the folder cannot be made.
    pub(crate) fn open(device: &Device, info: &AdapterInfo, folder: &Path) -> Option<Self> {
        if !device.features().contains(Features::PIPELINE_CACHE) {
            return None;
        }
        let file = folder.join(wgpu::util::pipeline_cache_key(info)?);
        if let Err(error) = std::fs::create_dir_all(folder) {
            tracing::warn!(%error, folder = %folder.display(), "compiled shaders cannot be kept");
            return None;
        }
        let data = std::fs::read(&file).ok();
        let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: data.as_deref(), fallback: true };
        // SAFETY: the file was written by `save` from the same call's data; its header, which names driver and device, is
        // checked by wgpu and the driver, and what does not fit is dropped.
        let cache = unsafe { device.create_pipeline_cache(&descriptor) };
        Some(Cache { cache, file })
    }

    /// Writes what was compiled. Failing to do so changes nothing else.
    pub(crate) fn save(&self) {
        let Some(data) = self.cache.get_data() else { return };
        let new = self.file.with_extension(format!("{}.new", std::process::id()));
        let written = std::fs::write(&new, data).and_then(|()| std::fs::rename(&new, &self.file));
        if let Err(error) = written {
            tracing::warn!(%error, file = %self.file.display(), "compiled shaders were not kept");
        }
    }
}
