use super::*;
use crate::contract::{Allowed, Derived, Extent, FLOATS, I32, Quantity, Symbol};
use crate::driver::Why;
use std::collections::BTreeSet;

/// Every demand that a contract can make, whether or not a kernel makes it.
static EVERYTHING: Contract = Contract {
    symbols: &[
        Symbol { name: "D", allowed: Allowed::MultipleOf(4, 64) },
        Symbol { name: "H", allowed: Allowed::Between(2, 6) },
        Symbol { name: "G", allowed: Allowed::DivisorOf("H") },
        Symbol { name: "S", allowed: Allowed::OneOf(&[1, 3]) },
    ],
    ones: &[("S", "ids")],
    needs: &[("ids", "hints"), ("hints", "ids")],
    attributes: &[
        Attribute::Float("scale"),
        Attribute::Integer("count", 1, 9),
        Attribute::Choice("kind", &[0, 2]),
    ],
    derived: &[
        Derived { name: "row", port: "x", quantity: Quantity::Stride(2) },
        Derived { name: "start", port: "x", quantity: Quantity::Offset },
    ],
    may_alias: &[("x", "out")],
    edges: &[1, 8],
    ..Contract::new(
        "everything",
        &[
            Port::read("x", FLOATS).shape([
                Extent::Named("D"),
                Extent::Named("G"),
                Extent::Named("T"),
                Extent::Named("S"),
            ]),
            Port::read("y", FLOATS)
                .shape([Extent::Product("G", "H"), Extent::AtLeast("T"), Extent::Repeats("H"), Extent::Is(2)])
                .strides([Stride::Packed, Stride::MultipleOf(32), Stride::Any, Stride::Between(0, 1 << 20)])
                .aligned(4),
            Port::read("ids", I32)
                .shape([Extent::Named("T"), Extent::Any, Extent::Is(1), Extent::Is(1)])
                .optional(),
            Port::read("hints", I32).optional(),
            Port::write("out", FLOATS).shape([
                Extent::Named("D"),
                Extent::Named("G"),
                Extent::Named("T"),
                Extent::Named("S"),
            ]),
            Port::update("state", FLOATS)
                .shape([Extent::Named("D"), Extent::Named("H"), Extent::Any, Extent::Any])
                .packed(),
        ],
    )
};

fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |limit| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    }
}

fn cases(wish: &Wish, count: u64) -> Vec<Case> {
    (0..count)
        .filter_map(|seed| {
            let mut numbers = numbers(seed);
            legal(&EVERYTHING, wish, 1 << 20, &mut |_, _| {}, &mut Source(&mut numbers))
        })
        .collect()
}

#[test]
fn drawn_cases_are_legal() {
    let cases = cases(&Wish::default(), 2000);
    assert!(cases.len() > 1000, "{}", cases.len());
    for case in cases {
        let mut constants = case.constants.clone();
        assert_eq!(EVERYTHING.check(&case.operands, &constants).err(), None, "{case:?}");
        assert_eq!(EVERYTHING.derive(&case.operands, &mut constants), Ok(()), "{case:?}");
    }
}

#[test]
fn neighbours_are_refused_for_their_reason() {
    let mut kinds = BTreeSet::new();
    for case in cases(&Wish::default(), 500) {
        for neighbour in neighbours(&case) {
            let mut constants = neighbour.constants.clone();
            let checked = EVERYTHING.check(&neighbour.operands, &constants).map(|_| ());
            let got = checked.and_then(|()| EVERYTHING.derive(&neighbour.operands, &mut constants));
            assert_eq!(got, Err(neighbour.why.clone()), "{neighbour:?}");
            let kind = match neighbour.why {
                Why::Stride { want, .. } => format!("Stride {want:?}"),
                Why::Extent { want, .. } => format!("Extent {want:?}"),
                Why::Symbol { name, .. } => format!("Symbol {name}"),
                Why::Constant { want, .. } => format!("Constant {want:?}"),
                Why::Derived { name, .. } => format!("Derived {name}"),
                other => format!("{other:?}").chars().take_while(char::is_ascii_alphanumeric).collect(),
            };
            kinds.insert(kind);
        }
    }
    // Alignment, DType, Unbound; strides: packed, apart, multiple, between, aligned; extents: two fixed, product, at
    // least, repeats, D, G, T, S; four symbols; three attributes; two derived constants.
    assert_eq!(kinds.len(), 3 + 5 + 9 + 4 + 3 + 2, "{kinds:#?}");
}

#[test]
fn every_class_can_be_wished_for() {
    for (at, port) in EVERYTHING.ports.iter().enumerate() {
        for dim in 0..4 {
            for class in classes(&EVERYTHING, at, dim) {
                let wish = Wish { classes: vec![(port.name, dim, class)], ..Wish::default() };
                let shown = |case: &Case| {
                    case.layout(port.name).and_then(|layout| class_of(&layout, dim)) == Some(class)
                };
                assert!(cases(&wish, 200).iter().any(shown), "{} {dim} {class:?}", port.name);
            }
        }
    }
}

#[test]
fn wishes_for_tokens_types_ports_and_aliases_come_true() {
    let wish = Wish {
        bound: vec![("ids", true)],
        dtypes: vec![("x", DType::F16)],
        tokens: Some(9),
        constants: vec![("kind", Constant::Integer(2))],
        alias: Some(("x", "out")),
        ..Wish::default()
    };
    let cases = cases(&wish, 50);
    assert!(!cases.is_empty());
    for case in cases {
        assert_eq!(case.layout("ids").map(|l| l.shape[0]), Some(9));
        assert_eq!(case.layout("x"), case.layout("out"));
        assert_eq!(case.layout("x").map(|l| l.dtype), Some(DType::F16));
        assert_eq!(case.homes[4], 0);
        assert_eq!(case.constants.get("kind"), Some(Constant::Integer(2)));
    }
}
