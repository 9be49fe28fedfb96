//! Runs the disassembler, once for each code object of a process.
//!
//! The text of `llvm-objdump` is known right for every encoding and every modifier; tables of our own would have to be proved.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::{env, fs, process};

use crate::decode::{Program, program};
use crate::fault::LoadError;

/// Another disassembler of the same version can be named by `WEFT_EMULATOR_OBJDUMP`.
fn tool() -> String {
    env::var("WEFT_EMULATOR_OBJDUMP").unwrap_or_else(|_| "llvm-objdump-19".to_owned())
}

/// By length and hash of the object.
type Known = HashMap<(usize, u64), Arc<Program>>;

/// The operations of a code object.
///
/// # Errors
/// [`LoadError::Disassembler`].
pub fn decoded(image: &[u8]) -> Result<Arc<Program>, LoadError> {
    static DONE: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let mut hasher = DefaultHasher::new();
    image.hash(&mut hasher);
    let key = (image.len(), hasher.finish());
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = done.get(&key) {
        return Ok(known.clone());
    }
    let found = Arc::new(program(&disassemble(image, key.1)?));
    done.insert(key, found.clone());
    Ok(found)
}

fn disassemble(image: &[u8], hash: u64) -> Result<String, LoadError> {
    let tool = tool();
    let failed = |reason: String| LoadError::Disassembler { tool: tool.clone(), reason };
    let path = Scratch(env::temp_dir().join(format!("gfx11-emulator-{}-{hash:016x}.co", process::id())));
    fs::write(&path.0, image).map_err(|error| failed(error.to_string()))?;
    let output = Command::new(&tool)
        .args(["-d", "--mcpu=gfx1151"])
        .arg(&path.0)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A file that goes when it is no longer needed. That it cannot be removed is no fault of the object.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
