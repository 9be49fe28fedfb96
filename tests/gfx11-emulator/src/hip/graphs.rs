//! Recorded work.

use std::ffi::c_char;
use std::sync::LazyLock;

use super::queue::Work;
use super::streams::put;
use super::{Error, Handle, Handles, give, status};

pub(super) struct Graph(pub(super) Vec<Work>);

pub(super) static GRAPHS: LazyLock<Handles<Graph>> = LazyLock::new(Handles::new);
static EXECUTABLES: LazyLock<Handles<Graph>> = LazyLock::new(Handles::new);

/// # Safety
/// `executable` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiate(
    executable: *mut Handle,
    graph: Handle,
    _node: *mut Handle,
    _log: *mut c_char,
    _bytes: usize,
) -> Error {
    status(GRAPHS.get(graph).and_then(|graph| {
        // SAFETY: the caller's promise.
        unsafe { give(executable, EXECUTABLES.add(Graph(graph.0.clone()))) }
    }))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphLaunch(executable: Handle, stream: Handle) -> Error {
    status(
        EXECUTABLES
            .get(executable)
            .and_then(|graph| graph.0.iter().try_for_each(|work| put(stream, work.clone()))),
    )
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecDestroy(executable: Handle) -> Error {
    status(EXECUTABLES.remove(executable).map(|_| ()))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphDestroy(graph: Handle) -> Error {
    status(GRAPHS.remove(graph).map(|_| ()))
}
