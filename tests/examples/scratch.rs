use std::collections::HashMap;
use std::sync::Arc;
use weft::gguf::Gguf;
use weft::models::*;
use weft_core::driver::Options;
use weft_core::graph::*;
use weft_core::segment::Segment;
use weft_tests::run::*;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let name = std::env::args().nth(2).unwrap();
    let refs = std::env::args().nth(3).unwrap();
    let gguf = Arc::new(Gguf::open(format!("{dir}/{name}")).unwrap());
    let d = Description::new(gguf.clone()).unwrap();
    let raw = std::fs::read(format!("{dir}/{refs}")).unwrap();
    let st = safetensors::SafeTensors::deserialize(&raw).unwrap();
    let ids: Vec<i32> = st
        .tensor("ids")
        .unwrap()
        .data()
        .chunks(4)
        .map(|c| i32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    let want = floats(st.tensor("logits").unwrap().data());
    let n = ids.len() as u64;
    let t0 = std::time::Instant::now();
    let graph = Arc::new(
        d.graph(&Batch {
            tokens: n,
            segments: 1,
            rows: Rows::All,
            cells: 256,
            slots: 1,
            cache: DType::F32,
            hidden: false,
        })
        .unwrap(),
    );
    println!("graph {:?} nodes {}", t0.elapsed(), graph.nodes.len());
    let mut data: Data = HashMap::new().into_iter().collect();
    for s in &graph.storages {
        match s.owner {
            Owner::Weight => {
                data.insert(
                    s.name.clone(),
                    gguf.tensor_bytes(gguf.tensor(&s.name).unwrap()).unwrap().as_ref().to_vec(),
                );
            }
            Owner::State => {
                data.insert(s.name.clone(), vec![0xff; s.bytes as usize]);
            }
            _ => {}
        }
    }
    data.insert("tokens".into(), int_bytes(&ids));
    let p: Vec<i32> = (0..n as i32).collect();
    let mut p4 = [p.clone(), p.clone(), p.clone(), vec![0; n as usize]].concat();
    p4.truncate((graph.storage(graph.storage_named("positions").unwrap()).bytes / 4) as usize);
    data.insert("positions".into(), int_bytes(&p4));
    data.insert("cache_rows".into(), p.iter().flat_map(|v| (*v as i64).to_le_bytes()).collect());
    data.insert(
        "segments".into(),
        int_bytes(&Segment { count: n as u32, fresh: true, ..Default::default() }.words()),
    );
    for (what, backend, opts) in [
        (
            "tuned fused",
            weft_tests::devices::cpu(&Default::default()),
            Options { exact: true, ..Default::default() },
        ),
        (
            "tuned unfused",
            weft_tests::devices::cpu(&Default::default()),
            Options { exact: true, disabled: vec!["*".into()], ..Default::default() },
        ),
        (
            "poisoned",
            weft_tests::devices::poisoned(weft_cpu::simd::Level::Avx2, 2),
            Options { exact: true, ..Default::default() },
        ),
        ("fast", weft_tests::devices::cpu(&Default::default()), Options::default()),
        ("reference", weft_tests::devices::reference(), Options { exact: true, ..Default::default() }),
    ] {
        let t0 = std::time::Instant::now();
        let out = run(&graph, &[backend], &opts, &data).unwrap();
        let got = out.output("logits");
        let err = got
            .iter()
            .zip(&want)
            .map(|(a, b)| (a - b).abs())
            .fold(0f32, |m, v| if v.is_nan() { f32::NAN } else { m.max(v) });
        println!("{what}: max err {err:e} in {:?}; {:?}", t0.elapsed(), out.plan.census().rules);
        if what == "tuned fused" {
            println!("{:#?}", out.plan.census());
        }
    }
}
