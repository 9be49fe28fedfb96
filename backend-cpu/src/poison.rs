//! Outputs filled with NaN before their kernel runs, so that an unwritten element cannot hide.

use crate::view::View;
use weft_core::contract::Access;
use weft_core::graph::DType;
use weft_core::plan::Dispatch;

/// Ports that are only written and lie on no byte that the dispatch reads.
pub(crate) fn outputs(dispatch: &Dispatch, views: &[Option<View>]) -> Vec<View> {
    let bound = || dispatch.bindings.iter().zip(views).filter_map(|(b, v)| b.zip(*v));
    bound()
        .filter(|(binding, view)| {
            let read_here = bound().any(|(other, at)| {
                other.port != binding.port
                    && other.access.reads()
                    && at.base == view.base
                    && at.layout.overlaps(&view.layout)
            });
            binding.access == Access::Write && !read_here
        })
        .map(|(_, view)| view)
        .collect()
}

/// NaN in every element; indices become the largest number.
pub(crate) fn fill(view: &View) {
    let pattern: &[u8] = match view.dtype() {
        DType::F32 => &[0x00, 0x00, 0xc0, 0x7f],
        DType::F16 => &[0x00, 0x7e],
        DType::BF16 => &[0xc0, 0x7f],
        _ => &[0xff, 0xff, 0xff, 0x7f],
    };
    view.layout.for_each_run(|run| {
        for (at, byte) in run.zip(pattern.iter().cycle()) {
            // SAFETY: runs of a view stay inside its storage; nothing else runs while outputs are poisoned.
            unsafe { view.base.add(at as usize).write(*byte) };
        }
    });
}
