//! Every instruction is compiled twice: for any x86-64, and for one with AVX2 and fused multiply-add.
//!
//! The decoder asks the host once and puts the pointer of one version into each operation. Without the second the loops over
//! 32 lanes would be narrow, and each `mul_add` a call into the C library.

use std::sync::LazyLock;

static IS_WIDE: LazyLock<bool> = LazyLock::new(|| {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
});

/// Whether the host runs the second version.
pub fn is_wide() -> bool {
    *IS_WIDE
}

/// `compiled!(f, extra...)` is a [`crate::op::Run`] that calls `f(wave, group, op, extra...)`.
///
/// A macro, because only a function's own body is compiled for more than the host's least, and because each closure in `extra`
/// must become part of it.
macro_rules! compiled {
    ($body:expr $(, $extra:expr)*) => {{
        fn plain(wave: &mut crate::wave::Wave, group: &mut crate::group::Group<'_>, op: &crate::op::Op) {
            $body(wave, group, op $(, $extra)*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
        fn wide(wave: &mut crate::wave::Wave, group: &mut crate::group::Group<'_>, op: &crate::op::Op) {
            $body(wave, group, op $(, $extra)*)
        }
        #[cfg(not(target_arch = "x86_64"))]
        use plain as wide;
        if crate::level::is_wide() { wide as crate::op::Run } else { plain as crate::op::Run }
    }};
}
pub(crate) use compiled;
