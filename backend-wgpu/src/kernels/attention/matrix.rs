//! Text of the form for matrix units: a shader names each matrix, since an array of them need not stay in registers.

use std::fmt::Write;

/// Columns of a matrix, and the words of 8 bytes that hold them.
const SIDE: u32 = 16;
const WORDS: u32 = SIDE / 4;

/// Definitions for heads of this width, a multiple of 32.
pub(super) fn definitions(width: u32) -> [(&'static str, String); 6] {
    let (queries, results) = (width / SIDE, width / SIDE / 2);
    let mut declare = String::new();
    let mut load_queries = String::new();
    let mut multiply_keys = String::new();
    // Writing to a string cannot fail.
    for i in 0..queries {
        let (half, nth) = (i / (queries / 2), i % (queries / 2));
        if nth == 0 {
            let _ = writeln!(load_queries, "  stage_queries({half}u, lane, group);");
        }
        let at = nth * WORDS;
        let _ = writeln!(
            load_queries,
            "  let a{i} = q_row + {at}u;\n  let q{i} = coopLoadT<coop_mat16x16<f16, A>>(&stage[a{i}], q_pitch);"
        );
        let at = i * WORDS;
        let _ = writeln!(
            multiply_keys,
            "        let n{i} = key_row + {at}u;\n        let m{i} = coopLoad<coop_mat16x16<f16, B>>(&stage[n{i}], \
             pitch);\n        c = coopMultiplyAdd(q{i}, m{i}, c);"
        );
    }
    let mut rescale = String::new();
    let mut store = String::new();
    for i in 0..results {
        let _ = writeln!(declare, "  var o{i} = coop_mat16x16<f32, C>();");
        let _ = writeln!(
            rescale,
            "          workgroupBarrier();\n          coopStoreT(o{i}, &scores[square], square_pitch);\n          \
             workgroupBarrier();\n          scale_square(square, row0, inside);\n          workgroupBarrier();\n          \
             o{i} = coopLoadT<coop_mat16x16<f32, C>>(&scores[square], square_pitch);"
        );
        let column = i * SIDE;
        let _ = writeln!(
            store,
            "  workgroupBarrier();\n  coopStoreT(o{i}, &scores[square], square_pitch);\n  workgroupBarrier();\n  \
             keep_square(square, row0, side * (WIDTH / 2u) + {column}u, inside, group);"
        );
    }
    let mut multiply_values = String::new();
    for k in 0..2 {
        let (key, at) = (k * SIDE, k * WORDS);
        let _ = writeln!(
            multiply_values,
            "        let w{k} = weight_row + {at}u;\n        let p{k} = coopLoadT<coop_mat16x16<f16, A>>(&weights[w{k}], \
             weight_pitch);"
        );
        for i in 0..results {
            let at = i * WORDS;
            let _ = writeln!(
                multiply_values,
                "        let v{k}x{i} = {key}u * PITCH + column + {at}u;\n        let m{k}x{i} = \
                 coopLoadT<coop_mat16x16<f16, B>>(&stage[v{k}x{i}], pitch);\n        \
                 o{i} = coopMultiplyAdd(p{k}, m{k}x{i}, o{i});"
            );
        }
    }
    [
        ("declare", declare),
        ("load_queries", load_queries),
        ("multiply_keys", multiply_keys),
        ("rescale", rescale),
        ("multiply_values", multiply_values),
        ("store", store),
    ]
}
