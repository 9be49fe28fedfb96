//! HIP devices under test: a runtime of this machine, if it has one, and the stand-ins for it that are built with the tests.

use crate::devices;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use weft_hip::{Hip, Options};

/// Libraries that stand in for the runtime: the name of the device, and the file.
const STAND_INS: &[(&str, &str)] =
    &[("hip:emulator", "libgfx11_emulator.so"), ("hip:fibers", "libhip_fibers.so")];

/// The first device of this machine's own runtime as `hip:ARCHITECTURE`, opened once; none where there is no runtime.
pub fn real() -> &'static [Arc<Hip>] {
    static REAL: OnceLock<Vec<Arc<Hip>>> = OnceLock::new();
    REAL.get_or_init(|| open(real_options(&options())))
}

/// The stand-ins, opened once.
pub fn stand_ins() -> &'static [Arc<Hip>] {
    static STAND_INS: OnceLock<Vec<Arc<Hip>>> = OnceLock::new();
    STAND_INS.get_or_init(|| open(stand_in_options(&options())))
}

/// Options of tests: memory filled with NaN, and compiled kernels kept for the next test program.
pub fn options() -> Options {
    let cache = Some(std::env::temp_dir().join("weft-hip-tests"));
    Options { poison: true, cache, ..Options::default() }
}

/// Options that open each device anew, the real one first; changed by `change`.
pub fn all_options(change: impl Fn(&mut Options)) -> Vec<Options> {
    let options = options();
    let mut all = real_options(&options);
    all.extend(stand_in_options(&options));
    all.iter_mut().for_each(change);
    all
}

/// Opens devices.
pub fn open(all: Vec<Options>) -> Vec<Arc<Hip>> {
    let opened = |options: Options| {
        Arc::new(Hip::open(&options).unwrap_or_else(|error| panic!("{}: {error}", options.name)))
    };
    all.into_iter().map(opened).collect()
}

fn real_options(options: &Options) -> Vec<Options> {
    let found = weft_hip::devices(options).unwrap_or_default();
    let named = found.iter().take(1).map(|found| format!("hip:{}", found.architecture));
    let of = |name| Options { name, ..options.clone() };
    named.filter(|name| devices::admits(name)).map(of).collect()
}

fn stand_in_options(options: &Options) -> Vec<Options> {
    let of = |(name, file): &(&str, &str)| {
        let library = Some(stand_in(file)?);
        devices::admits(name).then(|| Options { name: (*name).to_owned(), library, ..options.clone() })
    };
    STAND_INS.iter().filter_map(of).collect()
}

/// A stand-in's file: in the folder that `WEFT_STAND_INS` names, else beside the running program.
fn stand_in(file: &str) -> Option<PathBuf> {
    let named = std::env::var_os("WEFT_STAND_INS").map(PathBuf::from);
    let folder = match named {
        Some(folder) => folder,
        None => std::env::current_exe().ok()?.parent()?.to_owned(),
    };
    Some(folder.join(file)).filter(|file| file.exists())
}
