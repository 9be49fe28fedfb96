//! Compiled shaders, one for each text.

use crate::gpu::Gpu;
use crate::shader::Assembled;
use rayon::prelude::*;
use std::collections::HashMap;
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
#[derive(Default)]
pub(crate) struct Pipelines {
    known: Mutex<HashMap<String, Outcome>>,
}

impl Pipelines {
    /// The pipelines of texts, in order; those not known yet are compiled in parallel.
    pub(crate) fn compile(&self, gpu: &Gpu, checked: bool, texts: &[&Assembled]) -> Vec<Outcome> {
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
        let made: Vec<(String, Outcome)> =
            new.par_iter().map(|assembled| (assembled.text.clone(), compile(gpu, checked, assembled))).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(made);
        let missing = || Err("the shader was not compiled".to_owned());
        texts.iter().map(|assembled| known.get(&assembled.text).cloned().unwrap_or_else(missing)).collect()
    }
}

fn compile(gpu: &Gpu, checked: bool, assembled: &Assembled) -> Outcome {
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
    let entries: Vec<wgpu::BindGroupLayoutEntry> = std::iter::once(entry(0, wgpu::BufferBindingType::Uniform))
        .chain(assembled.bindings.iter().enumerate().map(|(i, b)| entry(i + 1, storage(b.writes))))
        .collect();
    let descriptor =
        wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(assembled.text.as_str().into()) };
    let made = gpu.captured(|| {
        let module = if checked {
            gpu.device.create_shader_module(descriptor)
        } else {
            // SAFETY: the contract of each kernel bounds what it addresses, its loops end, and tests run the same texts
            // with checks on.
            unsafe {
                gpu.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
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
            cache: None,
        });
        Compiled { pipeline, layout }
    });
    made.map(Arc::new).map_err(|error| error.to_string())
}
