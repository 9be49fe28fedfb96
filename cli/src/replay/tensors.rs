//! Tensors that go in and come out, as safetensors files.

use crate::plan::source;
use anyhow::{Context, bail};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::path::Path;
use weft_core::graph::{DType, Graph, Layout, Owner};
use weft_core::replay::{Data, Outcome, first_layout};

/// Bytes with a name, a type and a shape.
pub struct Named<'a> {
    /// The name.
    pub name: String,
    /// Type of the elements.
    pub dtype: DType,
    /// Extents, innermost last.
    pub shape: Vec<u64>,
    /// The elements, packed.
    pub bytes: &'a [u8],
}

impl<'a> Named<'a> {
    /// A storage's bytes under another name: as its first tensor if that fills it, else as plain bytes.
    pub fn storage(graph: &Graph, storage: &str, name: &str, bytes: &'a [u8]) -> Self {
        let first = graph.storage_named(storage).and_then(|id| first_layout(graph, id));
        let whole = |layout: &Layout| layout.is_packed() && layout.bytes() == bytes.len() as u64;
        let (dtype, shape) = match first.filter(whole) {
            Some(layout) => (layout.dtype, layout.shape.into_iter().rev().collect()),
            None => (DType::I8, vec![bytes.len() as u64]),
        };
        Named { name: name.to_owned(), dtype, shape, bytes }
    }

    /// As the file's form knows it. Types that it does not know are bytes.
    fn view(&self) -> Result<TensorView<'a>, safetensors::SafeTensorError> {
        let dtype = match self.dtype {
            DType::F32 => Dtype::F32,
            DType::F16 => Dtype::F16,
            DType::BF16 => Dtype::BF16,
            DType::F64 => Dtype::F64,
            DType::I16 => Dtype::I16,
            DType::I32 => Dtype::I32,
            DType::I64 => Dtype::I64,
            _ => return TensorView::new(Dtype::U8, vec![self.bytes.len()], self.bytes),
        };
        TensorView::new(dtype, self.shape.iter().map(|extent| *extent as usize).collect(), self.bytes)
    }
}

/// Outputs, and states as `state:NAME`.
pub fn results<'a>(graph: &'a Graph, run: &'a Outcome) -> impl Iterator<Item = Named<'a>> {
    let outputs = graph.outputs.iter().filter_map(|(name, tensor)| {
        let tensor = graph.tensor(*tensor);
        let (dtype, shape) = (tensor.dtype(), tensor.shape().into_iter().rev().collect());
        Some(Named { name: name.clone(), dtype, shape, bytes: run.outputs.get(name)? })
    });
    let states = run.states.iter();
    outputs.chain(states.map(|(name, bytes)| Named::storage(graph, name, &format!("state:{name}"), bytes)))
}

/// The tensors of a file, each of which the graph must take from outside.
pub fn given(graph: &Graph, path: &Path, most: u64) -> anyhow::Result<Data> {
    let name = path.display();
    // A header may be as long again as small tensors are.
    let bytes = source::limited(path, most.saturating_add(64 << 20))?;
    let file = SafeTensors::deserialize(&bytes).with_context(|| name.to_string())?;
    let mut data = Data::new();
    for (tensor, view) in file.iter() {
        let storage = graph.storages.iter().find(|s| s.owner != Owner::Activation && s.name == tensor);
        let Some(storage) = storage else {
            let known: Vec<&str> = graph
                .storages
                .iter()
                .filter(|s| s.owner != Owner::Activation)
                .map(|s| s.name.as_str())
                .take(20)
                .collect();
            bail!(
                "{name}: `{tensor}` is no weight, state or input of the graph, which has {}",
                known.join(", ")
            );
        };
        if view.data().len() as u64 != storage.bytes {
            let (got, want) = (view.data().len(), storage.bytes);
            bail!("{name}: `{tensor}` has {got} bytes, and the graph's has {want}");
        }
        data.insert(tensor.to_owned(), view.data().to_vec());
    }
    Ok(data)
}

/// Writes tensors.
pub fn write<'a>(path: &Path, tensors: impl Iterator<Item = Named<'a>>) -> anyhow::Result<()> {
    let views = tensors
        .map(|tensor| Ok((tensor.name.clone(), tensor.view()?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
    let name = path.display();
    safetensors::serialize_to_file(views, None, path).with_context(|| format!("writing {name}"))?;
    Ok(())
}
