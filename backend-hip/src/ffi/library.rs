//! Where the libraries are looked for.

use super::api::{Api, Compiler};
use libloading::Library;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the runtime cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum LoadError {
    #[error("no HIP runtime found: {} ({last}); install ROCm 7.2 or later, or set HIP_PATH to its folder", names.join(", "))]
    NoLibrary { names: Vec<String>, last: String },
    #[error("{library} has no function {symbol}: it is no HIP runtime of version 5.4 or later")]
    MissingSymbol { library: String, symbol: &'static str },
}

const RUNTIME: [&str; 4] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", "libamdhip64.so.5"];
const COMPILER: [&str; 3] = ["libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so"];

/// Every file to try: `HIP_PATH`, `ROCM_PATH`, the system's search path, then the usual folder; newest first.
fn candidates(names: &[&str]) -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(|root| PathBuf::from(root).join("lib"));
    let folders =
        [variable("HIP_PATH"), variable("ROCM_PATH"), Some(PathBuf::new()), Some("/opt/rocm/lib".into())];
    folders.into_iter().flatten().flat_map(|folder| names.iter().map(move |name| folder.join(name))).collect()
}

/// The first of these files that opens and has all functions.
fn open<T>(
    files: Vec<PathBuf>,
    names: &[&str],
    resolve: fn(Library, &str) -> Result<T, LoadError>,
) -> Result<(T, String), LoadError> {
    let names = || names.iter().map(|name| (*name).to_owned()).collect();
    let mut why = LoadError::NoLibrary { names: names(), last: "nothing to try".to_owned() };
    let mut opened = false;
    for file in files {
        let path = file.display().to_string();
        // SAFETY: loading a shared library runs its initialisers; these are the HIP runtime's own.
        match unsafe { Library::new(&file) } {
            Ok(library) => match resolve(library, &path) {
                Ok(table) => return Ok((table, path)),
                Err(error) => {
                    (why, opened) = (error, true);
                }
            },
            // That a library lacks a function says more than that another file is not there.
            Err(error) if !opened => why = LoadError::NoLibrary { names: names(), last: error.to_string() },
            Err(_) => {}
        }
    }
    Err(why)
}

/// The runtime: this file, or the first that is found.
pub(crate) fn open_runtime(file: Option<&Path>) -> Result<(Api, String), LoadError> {
    let files = file.map_or_else(|| candidates(&RUNTIME), |file| vec![file.to_owned()]);
    open(files, &RUNTIME, Api::resolve)
}

/// The run-time compiler, which is optional: a separate library since ROCm 6, inside the runtime before.
pub(crate) fn open_compiler(runtime: &str) -> Result<(Compiler, String), LoadError> {
    let mut files = vec![PathBuf::from(runtime)];
    files.extend(candidates(&COMPILER));
    open(files, &COMPILER, Compiler::resolve)
}
