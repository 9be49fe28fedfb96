use weft_core::driver::Options;
use weft_tests::graphs::*;
use weft_tests::faulty::Faulty;
use weft_tests::naive::interpret;
use weft_tests::devices;
#[test]
fn dbg() {
    let f = delta::Layer { states: delta::whole_pool(2), seqs: 2, tokens: 3, ..delta::SMALL }.fixture("pool");
    let inner = devices::reference();
    let home = Faulty::around(inner.clone()).named("cpu0").shared();
    let away = Faulty::around(inner.clone()).named("cpu1").forgetting(same::states(&f.graph)).shared();
    let n = f.graph.nodes.len();
    let o = Options { placement: Some((0..n).map(|i| usize::from(i >= 10)).collect()), ..without(&["*"]) };
    for id in f.graph.node_ids() { println!("{}", f.graph.describe(id)); }
    let got = f.run(&[home, away], &o).unwrap();
    for d in &got.plan.dispatches { println!("{} {:?} dev {} phase {}", d.kernel, d.nodes, d.device, d.phase); }
    for s in &got.plan.splits { println!("{:?}", s); }
    println!("last {:?}", got.plan.last_copies);
    for d in &got.plan.devices { println!("{} {:?}", d.name, d.places); }
    let want = interpret(&f.graph, &f.filled(1)).unwrap();
    println!("{:?}", same::check(&f.graph, &got, &want, same::tolerance(&got.plan)));
    let (g, w) = (got.output("out"), want.output("out"));
    let bad: Vec<usize> = (0..g.len()).filter(|i| (g[*i]-w[*i]).abs() > 1e-5).collect();
    println!("{} of {}: {:?}", bad.len(), g.len(), &bad[..20.min(bad.len())]);
}
