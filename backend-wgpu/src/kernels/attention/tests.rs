use super::{Launch, matrix, number};
use crate::shader::{PortText, Request, assemble};
use weft_core::graph::DType;

fn port(number: u32, name: &'static str, dtype: DType) -> PortText {
    let writes = name == "out";
    let buffer = number as usize;
    PortText { name, number, dtype, writes, aligned: true, repacked: false, buffer, range: 0..4096 }
}

/// No adapter of the tests' machines has matrices: at least the compiler must take the text.
#[test]
fn forms_for_matrices_are_valid() {
    let mut ports: Vec<PortText> = [
        ("q", DType::F32),
        ("k", DType::F16),
        ("v", DType::F16),
        ("segments", DType::I32),
        ("out", DType::F32),
        ("gate", DType::F32),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, (name, dtype))| port(at as u32, name, dtype))
    .collect();
    let scalars: Vec<(String, &'static str)> = [("scale", "f32"), ("act", "u32")]
        .into_iter()
        .chain(["chunks", "batches", "tile_heads", "tile_tokens"].map(|name| (name, "u32")))
        .map(|(name, kind)| (name.to_owned(), kind))
        .collect();
    let caches = [DType::F16, DType::Q8_0, DType::Q4_0];
    for (width, cache) in caches.into_iter().flat_map(|cache| [64, 128, 256].map(|width| (width, cache))) {
        ports[1..3].iter_mut().for_each(|port| port.dtype = cache);
        for (direct, gated) in [(true, true), (true, false), (false, false)] {
            ports.truncate(5);
            if gated {
                ports.push(port(5, "gate", DType::F32));
            }
            let launch = matrix::definitions(width)
                .into_iter()
                .fold(Launch::flat(1), |launch, (name, text)| launch.define(name, text))
                .flag("matrix", true)
                .flag("direct", direct)
                .define("width", number(width))
                .define("k_type", cache.name())
                .define("v_type", cache.name())
                .define("segments_port", "5u");
            let request = Request {
                stem: "gated_attention",
                defines: &launch.defines,
                ports: &ports,
                scalars: &scalars,
                table: 0,
                limit: u64::MAX,
            };
            let text = assemble(&request).expect("a text").text;
            if let Some(folder) = std::env::var_os("WEFT_SHADER_DUMP") {
                let name = format!("matrix_{cache}_{width}_{direct}_{gated}.wgsl");
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
