use super::ports;
use crate::kernels::Launch;
use crate::shader::{PortText, Request, assemble};
use weft_core::contract::COMMON;
use weft_core::graph::DType;

fn port(number: u32, name: &'static str, dtype: DType, repacked: bool) -> PortText {
    let (writes, buffer) = (name == "out", number as usize);
    PortText { name, number, dtype, writes, aligned: true, repacked, buffer, range: 0..4096 }
}

/// No adapter of the tests' machines has matrices: at least the compiler must take the text.
#[test]
fn forms_for_matrices_are_valid() {
    for dtype in COMMON.iter().copied() {
        for chosen in [false, true] {
            let repacked = !weft_core::quant::planes::parts(dtype).is_empty();
            let mut ports = vec![port(0, "weight", dtype, repacked), port(1, "x", DType::F32, false)];
            if chosen {
                ports.push(port(2, "ids", DType::I32, false));
            }
            ports.push(port(3, "out", DType::F32, false));
            let launch = Launch::flat(1)
                .define("form", "coop")
                .flag("chosen", chosen)
                .define("weight_type", dtype.name())
                .define("weight_quads", ports::quads(dtype))
                .flag("weight_signed", dtype == DType::Q8_0)
                .flag("weight_wide", true)
                .flag("weight_repacked", repacked);
            let scalars: Vec<(String, &'static str)> =
                ["first", "experts", "list"].map(|name| (name.to_owned(), "u32")).to_vec();
            let request = Request {
                stem: if chosen { "mul_mat_id" } else { "mul_mat" },
                defines: &launch.defines,
                ports: &ports,
                scalars: &scalars,
                table: 0,
                limit: u64::MAX,
            };
            let text = assemble(&request).expect("a text").text;
            if let Some(folder) = std::env::var_os("WEFT_SHADER_DUMP") {
                let name = format!("coop_{}_{chosen}.wgsl", dtype.name());
                std::fs::write(std::path::Path::new(&folder).join(name), &text).expect("it is written");
            }
            let module =
                naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
            let mut validator = naga::valid::Validator::new(
                naga::valid::ValidationFlags::all(),
                naga::valid::Capabilities::all(),
            );
            validator
                .subgroup_stages(naga::valid::ShaderStages::all())
                .subgroup_operations(naga::valid::SubgroupOperationSet::all());
            validator.validate(&module).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        }
    }
}
