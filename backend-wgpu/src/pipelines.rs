//! Compiled shaders, one for each text.

use crate::adapter::Options;
use crate::cache::Cache;
use crate::gpu::Gpu;
use crate::shader::Assembled;
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::{BindGroupLayout, ComputePipeline};

/// A pipeline and the layout of its bindings.
pub(crate) struct Compiled {
    pub pipeline: ComputePipeline,
    pub layout: BindGroupLayout,
}

/// What compiling a text gave: the reason why it failed stays known.
type Outcome = Result<Arc<Compiled>, String>;

/// All pipelines of a device.
pub(crate) struct Pipelines {
    known: Mutex<HashMap<String, Outcome>>,
    /// Keep the compiler's bounds checks.
    checked: bool,
    /// Where texts are written to.
    dump: Option<PathBuf>,
    cache: Option<Cache>,
    progress: Option<Progress>,
}

/// Is told how many of how many shaders are compiled.
pub type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

impl Pipelines {
    pub(crate) fn new(options: &Options, device: &wgpu::Device, info: &wgpu::AdapterInfo) -> Self {
        let folder = options.cache.as_ref();
        Pipelines {
            known: Mutex::default(),
            checked: options.checked,
            dump: options.dump.clone(),
            cache: folder.and_then(|folder| Cache::open(device, info, folder)),
            progress: options.progress.clone(),
        }
    }

    /// The pipelines of texts, in order; those not known yet are compiled in parallel.
    pub(crate) fn compile(&self, gpu: &Gpu, texts: &[&Assembled]) -> Vec<Outcome> {
        let mut new: Vec<&Assembled> = Vec::new();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for assembled in texts {
                if !known.contains_key(&assembled.text) && !new.iter().any(|n| n.text == assembled.text) {
                    new.push(assembled);
                }
            }
        }
        if !new.is_empty() {
            tracing::debug!(count = new.len(), "compiling shaders");
        }
        let done = AtomicUsize::new(0);
        let made: Vec<(String, Outcome)> = new
            .par_iter()
            .map(|assembled| {
                self.write(assembled);
                let outcome = self.make(gpu, assembled);
                if let Some(progress) = &self.progress {
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, new.len());
                }
                (assembled.text.clone(), outcome)
            })
            .collect();
        if let Some(cache) = self.cache.as_ref().filter(|_| !new.is_empty()) {
            cache.save();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(made);
        let missing = || Err("the shader was not compiled".to_owned());
        texts.iter().map(|assembled| known.get(&assembled.text).cloned().unwrap_or_else(missing)).collect()
    }

    /// Writes a text to the folder for other validators. Failing to do so changes nothing else.
    fn write(&self, assembled: &Assembled) {
        let Some(folder) = &self.dump else { return };
        let mut hash = DefaultHasher::new();
        assembled.text.hash(&mut hash);
        let file = folder.join(format!("{}-{:016x}.wgsl", assembled.stem, hash.finish()));
        if let Err(error) = std::fs::write(&file, &assembled.text) {
            tracing::warn!(%error, file = %file.display(), "the shader was not written");
        }
    }

    fn make(&self, gpu: &Gpu, assembled: &Assembled) -> Outcome {
        if assembled.bindings.len() > gpu.caps.buffers as usize {
            return Err(format!(
                "it binds {} storage buffers, this device allows {}",
                assembled.bindings.len(),
                gpu.caps.buffers
            ));
        }
        let entry = |binding: usize, kind: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty: kind, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let storage = |writes: bool| wgpu::BufferBindingType::Storage { read_only: !writes };
        let entries: Vec<wgpu::BindGroupLayoutEntry> =
            std::iter::once(entry(0, wgpu::BufferBindingType::Uniform))
                .chain(assembled.bindings.iter().enumerate().map(|(i, b)| entry(i + 1, storage(b.writes))))
                .collect();
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(assembled.text.as_str().into()),
        };
        let made = gpu.captured(|| {
            let module = if self.checked {
                gpu.device.create_shader_module(descriptor)
            } else {
                // SAFETY: the contract of each kernel bounds what it addresses, its loops end, and tests run the same texts
                // with checks on.
                unsafe {
                    gpu.device
                        .create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
                }
            };
            let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries: &entries,
            });
            let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                cache: self.cache.as_ref().map(|cache| &cache.cache),
            });
            Compiled { pipeline, layout }
        });
        made.map(Arc::new).map_err(|error| error.to_string())
    }
}
