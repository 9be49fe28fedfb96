//! The offline compiler: no file of ROCm is needed.

use crate::notes::{self, Kernel};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

const COMPILER: &str = "clang++-19";
/// `-fuse-cuid=none`: the bytes do not depend on the folder. Without `-fno-finite-math-only` tests for NaN would be folded away.
const FLAGS: &str = "-x hip --offload-arch=gfx1151 --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -nostdinc++ \
    -DPK_BARE -O3 -ffast-math -fno-finite-math-only -std=c++17 -fuse-cuid=none -fno-caret-diagnostics -Rpass-analysis=kernel-resource-usage";

/// The compiler of this machine.
pub struct Compiler {
    pub version: String,
    folder: PathBuf,
}

/// An object, and what its kernels take.
pub struct Compiled {
    pub object: Vec<u8>,
    pub kernels: BTreeMap<String, Kernel>,
    pub seconds: f64,
}

impl Compiler {
    pub fn find() -> Option<Compiler> {
        let version = Command::new(COMPILER).arg("--version").output().ok()?;
        Command::new("ld.lld-19").arg("--version").output().ok()?;
        Command::new("llvm-readelf-19").arg("--version").output().ok()?;
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("weft-objects-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let version = String::from_utf8_lossy(&version.stdout).lines().next()?.to_owned();
        Some(Compiler { version, folder })
    }

    pub fn compile(&self, stem: &str, text: &str) -> Result<Compiled, String> {
        let start = Instant::now();
        let (source, target) =
            (self.folder.join(format!("{stem}.hip")), self.folder.join(format!("{stem}.co")));
        std::fs::write(&source, text).map_err(|e| e.to_string())?;
        let mut compiler = Command::new(COMPILER);
        // Names in messages and in the object are without folders.
        compiler.current_dir(&self.folder).args(FLAGS.split_whitespace());
        let compiled = ran(compiler.args([&format!("{stem}.hip"), "-o", &format!("{stem}.co")]))?;
        let seconds = start.elapsed().as_secs_f64();
        let notes = ran(Command::new("llvm-readelf-19").arg("--notes").arg(&target))?;
        let (notes, remarks) =
            (String::from_utf8_lossy(&notes.stdout), String::from_utf8_lossy(&compiled.stderr));
        let kernels = notes::kernels(&notes, &remarks)?;
        let object = std::fs::read(&target).map_err(|e| e.to_string())?;
        Ok(Compiled { object, kernels, seconds })
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn ran(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = said.lines().filter(|line| line.contains("error")).take(5).collect();
    Err(format!("does not compile:\n{}", errors.join("\n")))
}
