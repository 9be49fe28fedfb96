//! Forms of cases: what the text of a GPU's shader depends on. Each new text costs a compilation, which a software adapter
//! spends a hundred times as long on as on the run. So there a case that shows nothing new keeps to a form that was built
//! before; layouts, extents and values are drawn as freely as ever. `WEFT_EVERY_FORM` lifts this.

use weft_core::contract::draw::{Case, Wish};
use weft_core::graph::DType;
use weft_tests::Random;

/// Per port its type and whether each element begins at a word; nothing where the port is left out.
type Form = Vec<(&'static str, Option<(DType, bool)>)>;

fn form(case: &Case) -> Form {
    let whole = |steps: u64| steps.is_multiple_of(4);
    let ports = case.draft.contract.ports.iter().zip(&case.operands);
    ports
        .map(|(port, layout)| {
            let form = layout.map(|layout| {
                let strides = (0..4).all(|dim| layout.shape[dim] <= 1 || whole(layout.strides[dim]));
                (layout.dtype, whole(layout.offset) && strides)
            });
            (port.name, form)
        })
        .collect()
}

/// Forms built so far.
pub struct Forms {
    known: Vec<Form>,
    /// Whether forms cost nothing.
    free: bool,
}

impl Forms {
    /// None yet; only shaders are compiled for a form.
    pub fn of(backend: &str) -> Self {
        let free = !backend.starts_with("wgpu") || std::env::var_os("WEFT_EVERY_FORM").is_some();
        Forms { known: Vec::new(), free }
    }

    /// Lets a wish ask for a known form where it asks for nothing itself.
    pub fn lean(&self, wish: &mut Wish, random: &mut Random) {
        if self.free || self.known.is_empty() {
            return;
        }
        let form = &self.known[random.below(self.known.len() as u64) as usize];
        // Of several wishes for a port the first counts.
        wish.bound.extend(form.iter().map(|(port, form)| (*port, form.is_some())));
        wish.dtypes.extend(form.iter().filter_map(|(port, form)| form.map(|(dtype, _)| (*port, dtype))));
    }

    /// Whether a case needs no new shader.
    pub fn knows(&self, case: &Case) -> bool {
        self.free || self.known.contains(&form(case))
    }

    /// Remembers a case's form.
    pub fn add(&mut self, case: &Case) {
        if !self.knows(case) {
            self.known.push(form(case));
        }
    }
}
