//! From a dispatch of a plan to texts, parameter blocks and bindings.

use crate::kernels::{Build, Implementation, Launch};
use crate::memory::{ALIGNMENT, Region};
use crate::shader::{Assembled, CODEBOOKS, PortText, Request, assemble, is_coded, locate};
use std::ops::Range;
use weft_core::contract::{Constant, FEW_BITS};
use weft_core::graph::{DType, Layout};
use weft_core::plan::Dispatch;
use weft_core::quant::planes::Rows;

/// A launch before its pipeline exists.
pub(crate) struct Prepared {
    pub assembled: Assembled,
    /// The parameter block.
    pub block: Vec<u32>,
    /// Per binding the buffer and the bytes bound; others than ports have no buffer yet.
    pub bound: Vec<Bound>,
    pub groups: [u32; 3],
}

/// What a binding binds.
pub(crate) enum Bound {
    Bytes(wgpu::Buffer, Range<u64>),
    Codebooks,
    Scratch,
    Fault,
}

/// A port's place.
struct Port {
    text: PortText,
    layout: Layout,
    /// First block of a row, and blocks of a row, where it is repacked.
    blocks: (u64, u64),
    buffer: wgpu::Buffer,
}

/// Prepares the launches of one dispatch. Gives them and the scratch memory that they share.
pub(crate) fn prepare(
    dispatch: &Dispatch,
    index: usize,
    implementation: &Implementation,
    regions: &[Option<Region>],
    caps: &crate::adapter::Caps,
) -> Result<(Vec<Prepared>, u64), String> {
    let repacked: Vec<Option<Rows>> =
        regions.iter().map(|region| region.as_ref().and_then(|region| region.rows)).collect();
    let mut build =
        Build { dispatch, contract: implementation.offer.contract, caps, repacked: &repacked, scratch: 0 };
    let launches = (implementation.variant.build)(&mut build)?;
    let scratch = build.scratch;
    let prepared = launches
        .iter()
        .filter(|launch| launch.groups.iter().all(|n| *n > 0))
        .map(|launch| one(dispatch, index, launch, regions, caps.binding))
        .collect::<Result<_, _>>()?;
    Ok((prepared, scratch))
}

fn one(
    dispatch: &Dispatch,
    index: usize,
    launch: &Launch,
    regions: &[Option<Region>],
    limit: u64,
) -> Result<Prepared, String> {
    let ports = ports(dispatch, launch, regions)?;
    let mut defines = launch.defines.clone();
    for port in &ports {
        defines.insert(format!("{}_type", port.text.name), port.text.dtype.name().to_owned());
        defines.insert(format!("{}_port", port.text.name), format!("{}u", port.text.number));
        if FEW_BITS.contains(&port.text.dtype) {
            defines.extend(few_bits(&port.text));
        }
        if is_signed(port.text.dtype) {
            defines.insert(format!("{}_signed", port.text.name), "1".to_owned());
        }
        if port.text.repacked {
            defines.insert(format!("{}_repacked", port.text.name), "1".to_owned());
        }
    }
    let constants: Vec<(String, Constant)> = dispatch
        .constants
        .iter()
        .map(|(name, value)| (name.to_owned(), value))
        .chain(launch.scalars.iter().map(|(name, value)| ((*name).to_owned(), *value)))
        .collect();
    let scalars: Vec<(String, &'static str)> = constants
        .iter()
        .map(|(name, value)| (name.clone(), if matches!(value, Constant::Float(_)) { "f32" } else { "u32" }))
        .collect();
    let texts: Vec<PortText> = ports.iter().map(|port| port.text.clone()).collect();
    let table = launch.table.len() / 4;
    let request = Request {
        stem: launch.stem.unwrap_or(dispatch.kernel),
        defines: &defines,
        ports: &texts,
        scalars: &scalars,
        table,
        limit,
    };
    let assembled = assemble(&request)?;
    // Where each binding begins, to which offsets of ports are relative.
    let mut starts = vec![0; ports.len()];
    let mut bound = Vec::with_capacity(assembled.bindings.len());
    for binding in &assembled.bindings {
        let members =
            || (0..ports.len()).filter(|at| binding.ports.iter().any(|p| p == ports[*at].text.name));
        let Some(first) = members().next() else {
            bound.push(match binding.ports.first().map(String::as_str) {
                Some("fault") => Bound::Fault,
                Some(CODEBOOKS) => Bound::Codebooks,
                _ => Bound::Scratch,
            });
            continue;
        };
        let buffer = ports[first].buffer.clone();
        let start = members().map(|at| ports[at].text.range.start).min().unwrap_or(0) & !(ALIGNMENT - 1);
        let end = members().map(|at| ports[at].text.range.end).max().unwrap_or(0);
        let end = end.max(start + 4).next_multiple_of(ALIGNMENT).min(buffer.size());
        if end - start > limit {
            let names = binding.ports.join(", ");
            return Err(format!("`{names}` spans {} bytes, one binding holds {limit}", end - start));
        }
        members().for_each(|at| starts[at] = start);
        bound.push(Bound::Bytes(buffer, start..end));
    }
    let mut block = Vec::new();
    for (port, start) in ports.iter().zip(&starts) {
        tensor(port, *start, &mut block)?;
    }
    block.extend(constants.iter().map(|(_, value)| match value {
        Constant::Float(value) => value.to_bits(),
        Constant::Integer(value) => *value,
    }));
    block.push(u32::try_from(index).map_err(|e| e.to_string())?);
    if !launch.table.is_empty() {
        // Its vectors begin at a multiple of their size.
        block.resize(block.len().next_multiple_of(4), 0);
        block.extend_from_slice(&launch.table);
    }
    Ok(Prepared { assembled, block, bound, groups: launch.groups })
}

/// Whether levels of a type are signed bytes in a shader.
fn is_signed(dtype: DType) -> bool {
    dtype == DType::Q8_0 || (FEW_BITS.contains(&dtype) && dtype != DType::Q2_K)
}

/// Definitions of `weight_few_bits.wgsl` for a port.
fn few_bits(port: &PortText) -> Vec<(String, String)> {
    let named = |what: &str, value: String| (format!("{}_{what}", port.name), value);
    let flag = |what: &str, holds: bool| holds.then(|| named(what, "1".to_owned()));
    let mut defines = vec![
        named("values", format!("{}u", port.dtype.block_values())),
        named("bytes", format!("{}u", port.dtype.block_bytes())),
        named("locate", locate(port.dtype).replace('@', port.name)),
    ];
    defines.extend(flag("few_bits", true));
    defines.extend(flag("coded", is_coded(port.dtype)));
    defines
}

fn ports(dispatch: &Dispatch, launch: &Launch, regions: &[Option<Region>]) -> Result<Vec<Port>, String> {
    let mut ports: Vec<Port> = Vec::new();
    for (number, (binding, region)) in dispatch.bindings.iter().zip(regions).enumerate() {
        let (Some(binding), Some(region)) = (binding, region) else { continue };
        let alias = launch.names.iter().find(|(port, _)| *port == binding.port).map(|(_, alias)| *alias);
        if alias.is_none() && !launch.names.is_empty() {
            continue;
        }
        let other = launch.layouts.iter().find(|(port, _)| *port == binding.port).map(|(_, layout)| *layout);
        let mut layout = other.unwrap_or(binding.tensor.layout);
        let mut blocks = (0, 0);
        if let Some(rows) = region.rows {
            let (translated, first) = rows.translate(&layout).ok_or_else(|| {
                format!("`{}` does not address whole blocks of a repacked weight", binding.port)
            })?;
            layout = translated;
            blocks = (first, rows.blocks);
        }
        let bytes = match region.rows {
            // A row is bound whole: its parts lie all over it.
            Some(rows) => row_range(&layout, rows.pitch()),
            None => layout.range(),
        };
        let bytes = bytes.ok_or_else(|| format!("`{}` has no end", binding.port))?;
        let known = ports.iter().find(|port| port.buffer == region.buffer).map(|port| port.text.buffer);
        let aligned = layout.offset.is_multiple_of(4)
            && (0..4).all(|dim| layout.shape[dim] <= 1 || layout.strides[dim].is_multiple_of(4));
        ports.push(Port {
            text: PortText {
                name: alias.unwrap_or(binding.port),
                number: number as u32,
                dtype: layout.dtype,
                writes: binding.access.writes(),
                aligned,
                repacked: region.rows.is_some(),
                buffer: known.unwrap_or(ports.len()),
                range: region.offset + bytes.start..region.offset + bytes.end,
            },
            layout,
            blocks,
            buffer: region.buffer.clone(),
        });
    }
    Ok(ports)
}

/// Bytes of whole rows.
fn row_range(layout: &Layout, pitch: u64) -> Option<Range<u64>> {
    let rows =
        Layout { dtype: DType::I8, shape: layout.shape, strides: layout.strides, offset: layout.offset };
    let one = Layout { shape: [1, rows.shape[1], rows.shape[2], rows.shape[3]], ..rows };
    one.range().map(|range| range.start..range.end - 1 + pitch)
}

/// The words of a tensor in a parameter block.
fn tensor(port: &Port, start: u64, block: &mut Vec<u32>) -> Result<(), String> {
    let name = port.text.name;
    let narrow = |value: u64| u32::try_from(value).map_err(|_| format!("`{name}` does not fit 32 bits"));
    let layout = &port.layout;
    for extent in layout.shape {
        block.push(narrow(extent)?);
    }
    for (dim, stride) in layout.strides.iter().enumerate() {
        let blocks = if dim == 0 { layout.shape[0] / layout.dtype.block_values() } else { layout.shape[dim] };
        // The stride of a single index is never used.
        block.push(if blocks <= 1 { 0 } else { narrow(*stride)? });
    }
    block.push(narrow(port.text.range.start - start)?);
    block.extend([narrow(port.blocks.0)?, narrow(port.blocks.1)?, 0]);
    Ok(())
}
