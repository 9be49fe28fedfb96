//! Single instructions, written as assembly, against values worked out by hand from the ISA's description.

#![allow(clippy::unwrap_used, reason = "what fails here is a failed test")]

mod support;

use std::fmt::Write;

use support::*;

/// `%0` is the result, `%1` to `%3` are the words; the numbers behind are the words and the expected result.
type Case = (&'static str, [u32; 3], u32);

const ONE: u32 = 0x3f80_0000;
const INFINITY: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fc0_0000;

const CASES: &[Case] = &[
    // Modifiers of sources and results.
    ("v_add_f32_e64 %0, -%1, |%2|", [ONE, 0xc000_0000, 0], ONE),
    ("v_mul_f32_e64 %0, %1, %2 mul:4", [ONE, 0x4040_0000, 0], 0x4140_0000),
    ("v_mul_f32_e64 %0, %1, %2 div:2", [ONE, 0x4040_0000, 0], 0x3fc0_0000),
    ("v_add_f32_e64 %0, %1, %2 clamp", [ONE, ONE, 0], ONE),
    ("v_add_f32_e64 %0, %1, %2 clamp", [0xbf80_0000, 0, 0], 0),
    ("v_add_f32_e64 %0, %1, %2 clamp", [NAN, 0, 0], 0),
    ("v_fma_f16 %0, %1, %2, %3 op_sel:[1,0,0,0]", [0x4000_3c00, 0x4200, 0x3c00], 0x4700),
    ("v_fma_f16 %0, %1, %2, %3 op_sel:[0,0,0,1]", [0x4000_3c00, 0x4200, 0x3c00], 0x4400_0000),
    ("v_add_f16_e64 %0, -%1, |%2| clamp", [0x3c00, 0xbe00, 0], 0x3800),
    // Minimum and maximum: a number wins against NaN, -0 is below +0.
    ("v_max_f32_e32 %0, %1, %2", [NAN, ONE, 0], ONE),
    ("v_min_f32_e32 %0, %1, %2", [ONE, NAN, 0], ONE),
    ("v_max_f32_e32 %0, %1, %2", [0x8000_0000, 0, 0], 0),
    ("v_min_f32_e32 %0, %1, %2", [0, 0x8000_0000, 0], 0x8000_0000),
    ("v_med3_f32 %0, %1, %2, %3", [0x4040_0000, ONE, 0x4000_0000], 0x4000_0000),
    ("v_med3_f32 %0, %1, %2, %3", [NAN, ONE, 0x4000_0000], ONE),
    ("v_maxmin_f32 %0, %1, %2, %3", [ONE, 0x4040_0000, 0x4000_0000], 0x4000_0000),
    // Subnormals stay in sums, and vanish in the transcendental unit.
    ("v_add_f32_e32 %0, %1, %2", [1, 1, 0], 2),
    ("v_exp_f32_e32 %0, %1", [0x4040_0000, 0, 0], 0x4100_0000),
    ("v_exp_f32_e32 %0, %1", [0xc302_0000, 0, 0], 0),
    ("v_log_f32_e32 %0, %1", [0x4100_0000, 0, 0], 0x4040_0000),
    ("v_log_f32_e32 %0, %1", [1, 0, 0], 0xff80_0000),
    ("v_rcp_f32_e32 %0, %1", [0x4080_0000, 0, 0], 0x3e80_0000),
    ("v_rcp_f32_e32 %0, %1", [0x8000_0001, 0, 0], 0xff80_0000),
    ("v_rsq_f32_e32 %0, %1", [0x4080_0000, 0, 0], 0x3f00_0000),
    ("v_sqrt_f32_e32 %0, %1", [0x4110_0000, 0, 0], 0x4040_0000),
    ("v_sin_f32_e32 %0, %1", [0x3e80_0000, 0, 0], ONE),
    ("v_cos_f32_e32 %0, %1", [0x3f00_0000, 0, 0], 0xbf80_0000),
    ("v_fract_f32_e32 %0, %1", [0xb300_0000, 0, 0], 0x3f7f_ffff),
    ("v_frexp_mant_f32_e32 %0, %1", [0x4140_0000, 0, 0], 0x3f40_0000),
    ("v_frexp_exp_i32_f32_e32 %0, %1", [0x4140_0000, 0, 0], 4),
    ("v_ldexp_f32 %0, %1, %2", [ONE, 0xffff_ff6b, 0], 1),
    // Conversions: saturation, rounding, halves.
    ("v_cvt_u32_f32_e32 %0, %1", [0xbf80_0000, 0, 0], 0),
    ("v_cvt_i32_f32_e32 %0, %1", [0x5000_0000, 0, 0], 0x7fff_ffff),
    ("v_cvt_i32_f32_e32 %0, %1", [NAN, 0, 0], 0),
    ("v_cvt_f16_f32_e32 %0, %1", [0x477f_f000, 0, 0], 0x7c00),
    ("v_cvt_pk_rtz_f16_f32_e32 %0, %1, %2", [0x477f_f000, 0xbf80_0fff, 0], 0xbc00_7bff),
    ("v_cvt_f32_ubyte2_e32 %0, %1", [0x00ff_0000, 0, 0], 0x437f_0000),
    ("v_cvt_pk_i16_i32 %0, %1, %2", [0x1_0000, 0xffff_0000, 0], 0x8000_7fff),
    ("v_cvt_pk_u16_u32 %0, %1, %2", [0x1_0000, 5, 0], 0x0005_ffff),
    ("v_cvt_pk_u8_f32 %0, %1, %2, %3", [0x437f_0000, 2, 0x1111_1111], 0x11ff_1111),
    ("v_pack_b32_f16 %0, %1, -%2", [0x1234, 0x3c00, 0], 0xbc00_1234),
    ("v_cvt_pk_norm_i16_f32 %0, %1, %2", [ONE, 0xbf80_0000, 0], 0x8001_7fff),
    // Integers and bits.
    ("v_mul_hi_i32 %0, %1, %2", [0x8000_0000, 2, 0], 0xffff_ffff),
    ("v_mul_i32_i24_e32 %0, %1, %2", [0xff_ffff, 5, 0], 0xffff_fffb),
    ("v_mul_hi_u32_u24_e32 %0, %1, %2", [0xff_ffff, 0xff_ffff, 0], 0xffff),
    ("v_add_nc_u32_e64 %0, %1, %2 clamp", [0xffff_fff0, 0x20, 0], 0xffff_ffff),
    ("v_sub_nc_i32 %0, %1, %2 clamp", [0x8000_0000, 1, 0], 0x8000_0000),
    ("v_mad_u32_u24 %0, %1, %2, %3", [0x0100_0003, 4, 5], 17),
    ("v_mad_i32_i16 %0, %1, %2, %3", [0xffff, 3, 10], 7),
    ("v_sad_u8 %0, %1, %2, %3", [0x0102_0304, 0x0403_0201, 1], 9),
    ("v_bfe_i32 %0, %1, %2, %3", [0x0000_0f00, 8, 4], 0xffff_ffff),
    ("v_bfe_u32 %0, %1, %2, %3", [0xffff_ffff, 4, 0], 0),
    ("v_bfi_b32 %0, %1, %2, %3", [0xff00, 0x1234_5678, 0x9abc_def0], 0x9abc_56f0),
    ("v_bfm_b32 %0, %1, %2", [4, 8, 0], 0xf00),
    ("v_perm_b32 %0, %1, %2, %3", [0x8070_6050, 0x4030_2010, 0x0c0d_0704], 0x00ff_8050),
    ("v_perm_b32 %0, %1, %2, %3", [0x8000_0000, 0x0000_8000, 0x080a_0b09], 0xff00_ff00),
    ("v_alignbit_b32 %0, %1, %2, %3", [0x1, 0x8000_0000, 31], 3),
    ("v_alignbyte_b32 %0, %1, %2, %3", [0x4433_2211, 0x8877_6655, 1], 0x1188_7766),
    ("v_clz_i32_u32_e32 %0, %1", [0, 0, 0], 0xffff_ffff),
    ("v_cls_i32_e32 %0, %1", [0xffff_0000, 0, 0], 16),
    ("v_ctz_i32_b32_e32 %0, %1", [0x50, 0, 0], 4),
    ("v_mul_dx9_zero_f32_e32 %0, %1, %2", [0, INFINITY, 0], 0),
    // Halves and pairs.
    ("v_fma_f16 %0, %1, %2, %3", [0x3c01, 0x3c01, 0xbc02], 0x0010),
    ("v_pk_fma_f16 %0, %1, %2, %3", [0x4000_3c00, 0x4200_4000, 0x3c00_3c00], 0x4700_4200),
    ("v_pk_mul_f16 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1]", [0x4000_3c00, 0x4200_4000, 0], 0x4200_4400),
    ("v_pk_add_f16 %0, %1, %2 neg_lo:[0,1] neg_hi:[1,0]", [0x4000_3c00, 0x3c00_3c00, 0], 0xbc00_0000),
    ("v_pk_add_f16 %0, %1, 1.0 op_sel_hi:[1,0]", [0x4000_3c00, 0, 0], 0x4200_4000),
    ("v_pk_lshlrev_b16 %0, %1, %2", [0x0004_0001, 0x0101_8001, 0], 0x1010_0002),
    ("v_pk_min_i16 %0, %1, %2", [0xffff_0001, 0x0001_0002, 0], 0xffff_0001),
    ("v_pk_mad_u16 %0, %1, %2, %3", [0x0003_0002, 0x0005_0004, 0x0001_0001], 0x0010_0009),
    ("v_fma_mix_f32 %0, %1, %2, %3 op_sel_hi:[1,0,0]", [0x3c00_4000, 0x4040_0000, ONE], 0x40e0_0000),
    (
        "v_fma_mix_f32 %0, -%1, |%2|, %3 op_sel:[1,0,0] op_sel_hi:[1,0,1]",
        [0x3c00_4000, 0xc040_0000, 0x3c00],
        0xc000_0000,
    ),
    ("v_fma_mix_f32 %0, %1, 1.0, %3 op_sel_hi:[1,1,0]", [0x4000, 0, ONE], 0x4040_0000),
    // Dot products.
    ("v_dot2_f32_f16 %0, %1, %2, %3", [0x4000_3c00, 0x4200_4400, ONE], 0x4130_0000),
    ("v_dot4_i32_iu8 %0, %1, %2, %3 neg_lo:[1,1,0]", [0x01ff_fe03, 0x0203_0405, 10], 16),
    ("v_dot4_i32_iu8 %0, %1, %2, %3 neg_lo:[1,0,0]", [0xff, 0xff, 0], 0xffff_ff01),
    (
        "v_dot4_i32_iu8 %0, %1, %2, %3 neg_lo:[1,1,0] clamp",
        [0x7f7f_7f7f, 0x7f7f_7f7f, 0x7fff_ffff],
        0x7fff_ffff,
    ),
    ("v_dot4_u32_u8 %0, %1, %2, %3", [0xffff_ffff, 0x0101_0101, 1], 1021),
    ("v_dot8_i32_iu4 %0, %1, %2, %3 neg_lo:[1,0,0]", [0x0000_00f1, 0x0000_00f2, 1], 0xffff_fff4),
    ("v_dot2_f32_bf16 %0, %1, %2, %3", [0x4000_3f80, 0x4040_4000, 0], 0x4100_0000),
    // Kinds of numbers, through a mask.
    ("v_cmp_class_f32_e64 s6, %1, 3\nv_cndmask_b32_e64 %0, 0, 1, s6", [NAN, 0, 0], 1),
    ("v_cmp_class_f32_e64 s6, %1, 0x204\nv_cndmask_b32_e64 %0, 0, 1, s6", [0xff80_0000, 0, 0], 1),
    ("v_cmp_nlt_f32_e32 vcc_lo, %1, %2\nv_cndmask_b32_e32 %0, %2, %1, vcc_lo", [NAN, ONE, 0], NAN),
    ("v_cmp_lt_i16_e64 s6, %1, %2\nv_cndmask_b32_e64 %0, 5, 6, s6", [0xffff, 1, 0], 6),
    ("s_mov_b32 s6, -1\nv_cndmask_b32_e64 %0, %1, -%2, s6", [7, ONE, 0], 0xbf80_0000),
    // Carries, and pairs of instructions that read before they write.
    (
        "v_add_co_u32 %0, vcc_lo, %1, %2\nv_add_co_ci_u32_e32 %0, vcc_lo, 0, %3, vcc_lo",
        [0xffff_ffff, 1, 7],
        8,
    ),
    ("v_sub_co_u32 %0, s6, %1, %2\nv_subrev_co_ci_u32_e64 %0, null, 2, %3, s6", [0, 1, 7], 4),
    (
        "v_mov_b32 v40, %1\nv_mov_b32 v41, %2\nv_dual_mov_b32 v40, v41 :: v_dual_mov_b32 v41, v40\nv_sub_nc_u32_e32 %0, v40, v41",
        [3, 10, 0],
        7,
    ),
    (
        "v_mov_b32 v40, %1\nv_mov_b32 v42, %1\nv_dual_add_f32 v40, v42, v40 :: v_dual_mov_b32 v41, v40\nv_mov_b32 %0, v41",
        [ONE, 0, 0],
        ONE,
    ),
    ("v_swap_b32 %0, %1\nv_mov_b32 %0, %0", [9, 0, 0], 9),
    // Scalars.
    (
        "s_mov_b32 s6, 0x80000000\ns_add_i32 s6, s6, -1\ns_cselect_b32 s6, 1, 2\nv_mov_b32 %0, s6",
        [0, 0, 0],
        1,
    ),
    ("s_mov_b32 s6, -1\ns_add_u32 s6, s6, 2\ns_addc_u32 s6, 5, 0\nv_mov_b32 %0, s6", [0, 0, 0], 6),
    ("s_movk_i32 s6, 0x8000\ns_mulk_i32 s6, 2\nv_mov_b32 %0, s6", [0, 0, 0], 0xffff_0000),
    ("s_mov_b32 s6, 0x12345678\ns_bfe_i32 s6, s6, 0x80004\nv_mov_b32 %0, s6", [0, 0, 0], 0x67),
    ("s_mov_b64 s[6:7], -1\ns_lshr_b64 s[6:7], s[6:7], 36\nv_mov_b32 %0, s6", [0, 0, 0], 0x0fff_ffff),
    (
        "s_mov_b32 s6, 7\ns_pack_ll_b32_b16 s6, s6, 9\ns_bitset1_b32 s6, 31\nv_mov_b32 %0, s6",
        [0, 0, 0],
        0x8009_0007,
    ),
    ("s_mov_b32 s6, 0x40400000\ns_mul_f32 s6, s6, 2.0\ns_cvt_u32_f32 s6, s6\nv_mov_b32 %0, s6", [0, 0, 0], 6),
    ("v_readlane_b32 s6, %1, 3\nv_writelane_b32 %1, s6, 0\nv_mov_b32 %0, %1", [77, 0, 0], 77),
    ("v_mbcnt_lo_u32_b32 %0, -1, %1", [100, 0, 0], 100),
    // Where the code lies: the difference of two places in it.
    ("s_getpc_b64 s[6:7]\ns_getpc_b64 s[8:9]\ns_sub_u32 s6, s8, s6\nv_mov_b32 %0, s6", [0, 0, 0], 4),
];

/// One kernel for each case. Only lane 0 counts: some results depend on the lane.
fn source() -> String {
    let mut text = String::new();
    for (k, (assembly, ..)) in CASES.iter().enumerate() {
        let lines: Vec<String> = assembly.lines().map(|line| format!("\"{line}\\n\"")).collect();
        write!(
            text,
            "extern \"C\" __attribute__((global)) void case{k}(unsigned *w, unsigned *o) {{\n\
             int t = __builtin_amdgcn_workitem_id_x();\n\
             unsigned a = w[t], b = w[32 + t], c = w[64 + t], r = 0;\n\
             asm volatile({} : \"+&v\"(r), \"+v\"(a), \"+v\"(b), \"+v\"(c) : : \"vcc_lo\", \"s6\", \"s7\", \"s8\", \"s9\", \"v40\", \"v41\", \"v42\");\n\
             o[t] = r;\n}}\n",
            lines.join(" ")
        )
        .unwrap();
    }
    text
}

#[test]
fn instructions_do_what_the_isa_says() {
    if !is_ready() {
        return;
    }
    let bench = Bench::new(&compile_text(&source(), "gfx1151", &[]));
    let mut wrong = Vec::new();
    for (k, (assembly, words, wanted)) in CASES.iter().enumerate() {
        let input: Vec<u32> = words.iter().flat_map(|word| [*word; 32]).collect();
        let o = bench.room(128);
        let arguments = Arguments::default().pointer(bench.put(&input)).pointer(o);
        match bench.module.kernel(&format!("case{k}")) {
            Err(error) => wrong.push(error.to_string()),
            Ok(kernel) => {
                let ran = bench.device.launch(&bench.module, &kernel, &one_wave(), &arguments.0);
                let found = bench.get::<u32>(o, 1)[0];
                if let Err(fault) = ran {
                    wrong.push(format!("{assembly}: {fault}"));
                } else if found != *wanted {
                    wrong.push(format!("{assembly} of {words:#x?} = {found:#x}, not {wanted:#x}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

#[test]
fn subnormals_vanish_where_the_kernel_says_so() {
    if !is_ready() {
        return;
    }
    let text = "extern \"C\" __attribute__((global)) void halve(const float *x, float *o) {\n\
                int t = __builtin_amdgcn_workitem_id_x(); o[t] = x[t] * 0.5f; }";
    for (flags, wanted) in [(&[][..], 0x0020_0000), (&["-fgpu-flush-denormals-to-zero"][..], 0)] {
        let bench = Bench::new(&compile_text(text, "gfx1151", flags));
        let (x, o) = (bench.put(&[0x0040_0000u32; 32]), bench.room(128));
        bench.run("halve", one_wave(), Arguments::default().pointer(x).pointer(o)).unwrap();
        assert_eq!(bench.get::<u32>(o, 32), [wanted; 32], "{flags:?}");
    }
}
