//! The run-time compiler, for chips without an embedded object, and its results on disk.

use crate::device::Device;
use crate::ffi::Compiler;
use std::ffi::{CString, c_char};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Compiles texts for one device.
pub(crate) struct RuntimeCompiler {
    device: Arc<Device>,
    /// Folder of what was compiled before.
    cache: Option<PathBuf>,
}

/// What every text is compiled with. NaN is kept: plain fast-math folds tests for it away.
const OPTIONS: [&str; 4] = ["-O3", "-ffast-math", "-fno-finite-math-only", "-std=c++17"];

impl RuntimeCompiler {
    pub(crate) fn new(device: &Arc<Device>, cache: Option<PathBuf>) -> Self {
        RuntimeCompiler { device: Arc::clone(device), cache }
    }

    /// The object of a text, from the cache or compiled now.
    pub(crate) fn compile(&self, name: &str, text: &str) -> Result<Vec<u8>, String> {
        let compiler = self.device.runtime.compiler.as_ref().map_err(|why| {
            let chip = &self.device.info.architecture;
            format!("there is no code for {chip}, and no run-time compiler to make some: {why}")
        })?;
        let file = self.cache.as_ref().map(|folder| folder.join(self.key(compiler, name, text)));
        if let Some(object) = file.as_ref().and_then(|file| std::fs::read(file).ok()) {
            return Ok(object);
        }
        let object = self.run(compiler, name, text)?;
        if let Some(file) = file {
            keep(&file, &object);
        }
        Ok(object)
    }

    /// A file name that changes with everything the object depends on.
    fn key(&self, compiler: &Compiler, name: &str, text: &str) -> String {
        let mut version = (0, 0);
        // SAFETY: both pointers are valid for the call.
        unsafe { (compiler.version)(&raw mut version.0, &raw mut version.1) };
        let chip = &self.device.info.architecture;
        let mut hash = DefaultHasher::new();
        (text, OPTIONS, chip, version, self.device.runtime.version).hash(&mut hash);
        format!("{name}-{chip}-{:016x}.co", hash.finish())
    }

    fn run(&self, compiler: &Compiler, name: &str, text: &str) -> Result<Vec<u8>, String> {
        let c_string = |text: &str| CString::new(text).map_err(|e| format!("{name}: {e}"));
        let (source, file) = (c_string(text)?, c_string(&format!("{name}.hip"))?);
        let chip = format!("--offload-arch={}", self.device.info.architecture);
        let options: Vec<CString> =
            OPTIONS.iter().copied().chain([chip.as_str()]).map(c_string).collect::<Result<_, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        // SAFETY: both texts end in zero and live through the call; there are no headers.
        let status = unsafe {
            let none = std::ptr::null();
            (compiler.create)(&raw mut program, source.as_ptr(), file.as_ptr(), 0, none, none)
        };
        if status != 0 {
            return Err(format!("hiprtcCreateProgram: {status}"));
        }
        // SAFETY: the program was made above, the options live through the call.
        let status = unsafe { (compiler.compile)(program, options.len() as i32, options.as_ptr()) };
        let outcome = if status == 0 {
            fetch(
                |size| {
                    // SAFETY: the program is alive; the buffer has the size that it said.
                    unsafe { (compiler.code_size)(program, size) }
                },
                |into| {
                    // SAFETY: as above.
                    unsafe { (compiler.code)(program, into) }
                },
            )
            .ok_or_else(|| format!("{name}: the run-time compiler gave no code"))
        } else {
            let log = fetch(
                |size| {
                    // SAFETY: as above.
                    unsafe { (compiler.log_size)(program, size) }
                },
                |into| {
                    // SAFETY: as above.
                    unsafe { (compiler.log)(program, into) }
                },
            );
            let log = String::from_utf8_lossy(&log.unwrap_or_default()).into_owned();
            let first: Vec<&str> = log.lines().filter(|line| line.contains("error")).take(3).collect();
            tracing::debug!(kernel = name, log, "the run-time compiler refused a text");
            Err(format!("{name}: the run-time compiler says {status}: {}", first.join("; ")))
        };
        // SAFETY: destroyed once.
        unsafe { (compiler.destroy)(&raw mut program) };
        outcome
    }
}

/// Bytes of which a library first tells the size.
fn fetch(size: impl Fn(*mut usize) -> i32, read: impl Fn(*mut c_char) -> i32) -> Option<Vec<u8>> {
    let mut bytes = 0;
    if size(&raw mut bytes) != 0 || bytes == 0 {
        return None;
    }
    let mut all = vec![0u8; bytes];
    (read(all.as_mut_ptr().cast()) == 0).then_some(all)
}

/// Writes an object for the next run, whole or not at all for whoever reads the file meanwhile. Failing to do so changes nothing
/// else.
fn keep(file: &std::path::Path, object: &[u8]) {
    // Several devices of a process may keep one object at a time.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let new = file.with_extension(format!("{}.{write}.new", std::process::id()));
    let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written =
        folder.and_then(|()| std::fs::write(&new, object)).and_then(|()| std::fs::rename(&new, file));
    if let Err(error) = written {
        tracing::warn!(%error, file = %file.display(), "a compiled kernel was not kept");
    }
}

#[cfg(test)]
mod tests {
    use super::keep;

    #[test]
    fn an_object_that_many_keep_is_whole_for_every_reader() {
        let folder = std::env::temp_dir().join(format!("weft-objects-{}", std::process::id()));
        let (file, object) = (folder.join("kernel.co"), vec![7; 4 << 20]);
        keep(&file, &object);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..8 {
                        keep(&file, &object);
                        assert!(std::fs::read(&file).unwrap() == object, "a part of an object");
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "what was written on the way is left");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
