//! The one structure that an entry point takes, from its stem's contract: its declaration, and its bytes for a launch.

use crate::kernels::{Launch, scalars};
use crate::memory::Region;
use std::fmt::Write;
use weft_core::contract::{Attribute, Constant};
use weft_core::graph::{DType, Layout, TYPES};
use weft_core::kernels;
use weft_core::plan::Dispatch;
use weft_core::quant::codebooks;

/// The header `args/types.h`: a number for each element type.
pub(crate) fn types() -> String {
    let names: Vec<String> = TYPES.iter().map(|row| format!("TYPE_{}", row.name.to_uppercase())).collect();
    format!("// Element types.\n#pragma once\nenum {{ {} }};\n", names.join(", "))
}

/// The header `args/codebooks.h`.
pub(crate) fn codebooks() -> String {
    let mut text = String::from("#pragma once\n#include \"include/pk.h\"\n");
    for (name, words) in codebooks::ALL {
        let words: Vec<String> = words.iter().map(u16::to_string).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "PK_TABLE pk_u16 CODEBOOK_{name}[{}] = {{{}}};", words.len(), words.join(","));
    }
    text
}

/// The header `args/<stem>.h`: ports in the contract's order, then attributes, then the integers that launches add.
pub(crate) fn header(stem: &str) -> Option<String> {
    let contract = &kernels::by_stem(stem)?.contract;
    let mut text =
        format!("#pragma once\n#include \"include/view.h\"\nstruct {stem}_args {{\n  Common common;\n");
    // Writing to a string cannot fail.
    for port in contract.ports {
        let _ = writeln!(text, "  View {};", port.name);
    }
    for attribute in contract.attributes {
        let kind = if matches!(attribute, Attribute::Float(_)) { "float" } else { "pk_u32" };
        let _ = writeln!(text, "  {kind} {};", attribute.name());
    }
    for name in scalars(stem) {
        let _ = writeln!(text, "  pk_u32 {name};");
    }
    text.push_str("};\n");
    Some(text)
}

/// Addresses that every launch of a program shares.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    pub fault: u64,
    pub scratch: u64,
}

/// The argument structure of a launch, in words of eight bytes.
pub(crate) fn block(
    dispatch: &Dispatch,
    index: usize,
    launch: &Launch,
    regions: &[Option<Region>],
    shared: Shared,
) -> Result<Vec<u64>, String> {
    let stem = launch.stem.unwrap_or(dispatch.kernel);
    let contract = &kernels::by_stem(stem).ok_or_else(|| format!("no kernel `{stem}`"))?.contract;
    let mut bytes = Vec::new();
    bytes.extend(shared.fault.to_le_bytes());
    bytes.extend(shared.scratch.to_le_bytes());
    bytes.extend(u32::try_from(index).map_err(|e| e.to_string())?.to_le_bytes());
    bytes.extend([0; 4]);
    for port in contract.ports {
        // The port of the dispatch that this one of the kernel stands for.
        let own = if launch.stem.is_some() {
            launch.names.iter().find(|(_, alias)| *alias == port.name).map(|(own, _)| *own)
        } else {
            Some(port.name)
        };
        let bound = own.and_then(|own| {
            let at = dispatch.bindings.iter().position(|b| b.is_some_and(|b| b.port == own))?;
            Some((dispatch.bindings[at]?.tensor.layout, regions.get(at)?.as_ref()?))
        });
        match bound {
            Some((layout, region)) => view(port.name, &layout, region, &mut bytes)?,
            None => bytes.extend([0; VIEW]),
        }
    }
    for attribute in contract.attributes {
        let value = dispatch.constants.get(attribute.name());
        // Another kernel's attributes that this dispatch does not have are for other forms of it.
        bytes.extend(match value.unwrap_or(Constant::Integer(0)) {
            Constant::Float(value) => value.to_le_bytes(),
            Constant::Integer(value) => value.to_le_bytes(),
        });
    }
    let known = scalars(stem);
    if let Some((stray, _)) = launch.scalars.iter().find(|(name, _)| !known.contains(name)) {
        return Err(format!("`{stem}` has no integer `{stray}`"));
    }
    for name in known {
        let value = launch.scalars.iter().find(|(n, _)| n == name).map_or(0, |(_, value)| *value);
        bytes.extend(value.to_le_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Bytes of a view.
const VIEW: usize = 72;

/// Appends a view: where the tensor's bytes are, repacked or as in the file.
fn view(name: &str, layout: &Layout, region: &Region, bytes: &mut Vec<u8>) -> Result<(), String> {
    let (layout, blocks, first) = match region.rows {
        None => (*layout, 0, 0),
        Some(rows) => {
            let (layout, first) = rows
                .translate(layout)
                .ok_or_else(|| format!("`{name}` does not address whole blocks of repacked rows"))?;
            (layout, rows.blocks, first)
        }
    };
    let narrow = |n: u64| u32::try_from(n).map_err(|_| format!("`{name}` has an extent beyond 32 bits"));
    bytes.extend(region.address(layout.offset).to_le_bytes());
    for extent in layout.shape {
        bytes.extend(narrow(extent)?.to_le_bytes());
    }
    for stride in layout.strides {
        bytes.extend(stride.to_le_bytes());
    }
    bytes.extend(number(layout.dtype).to_le_bytes());
    bytes.extend(narrow(blocks)?.to_le_bytes());
    bytes.extend(narrow(first)?.to_le_bytes());
    bytes.extend([0; 4]);
    Ok(())
}

/// The number of an element type, as `args/types.h` has it.
fn number(dtype: DType) -> u32 {
    TYPES.iter().position(|row| row.dtype == dtype).map_or(u32::MAX, |at| at as u32)
}
