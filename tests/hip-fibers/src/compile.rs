//! The run-time compiler: the host's C++ compiler, and what it made before.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The host's compiler and how it is called.
#[derive(Hash)]
struct Compiler {
    program: String,
    /// What it says of itself.
    version: String,
    flags: Vec<&'static str>,
}

/// The shared object of a text.
pub(crate) fn compile(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let compiler = compiler()?;
    let folder = folder()?;
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let stem = format!("{name}-{:016x}", hash(&(text, compiler)));
    let object = folder.join(format!("{stem}.so"));
    if let Ok(known) = std::fs::read(&object) {
        return Ok(known);
    }
    let source = folder.join(format!("{stem}.cpp"));
    write(&source, text.as_bytes())?;
    let new = temporary(&object);
    // The compiler's own process must not run under the sanitizer of this one.
    let ran = Command::new(&compiler.program)
        .args(&compiler.flags)
        .arg("-o")
        .args([&new, &source])
        .env_remove("LD_PRELOAD")
        .output()
        .map_err(|e| format!("error: {}: {e}", compiler.program))?;
    if !ran.status.success() {
        return Err(String::from_utf8_lossy(&ran.stderr).into_owned());
    }
    rename(&new, &object)?;
    std::fs::read(&object).map_err(|e| format!("error: {}: {e}", object.display()))
}

/// A number that changes with the compiler and its flags.
pub(crate) fn version() -> i32 {
    compiler().map_or(0, |compiler| i32::try_from(hash(compiler) >> 33).unwrap_or(0))
}

/// Writes an object for the loader to where it stays.
pub(crate) fn keep(object: &[u8]) -> Result<PathBuf, String> {
    let file = folder()?.join(format!("{:016x}.so", hash(object)));
    if !file.exists() {
        write(&file, object)?;
    }
    Ok(file)
}

fn compiler() -> Result<&'static Compiler, String> {
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    COMPILER.get_or_init(find).as_ref().map_err(Clone::clone)
}

fn find() -> Result<Compiler, String> {
    let chosen = std::env::var("HIP_FIBERS_CXX").ok();
    let names = chosen.as_deref().map_or_else(|| vec!["clang++-19", "clang++", "g++"], |name| vec![name]);
    for program in names {
        let said = Command::new(program).arg("--version").env_remove("LD_PRELOAD").output();
        let Ok(said) = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()) else { continue };
        let flags = flags(said.contains("clang"))?;
        return Ok(Compiler { program: program.to_owned(), version: said, flags });
    }
    Err("error: no C++ compiler: clang++-19, clang++ or g++ 13, or one that HIP_FIBERS_CXX names".to_owned())
}

fn flags(is_clang: bool) -> Result<Vec<&'static str>, String> {
    let common = "-x c++ -std=c++17 -O1 -g1 -fPIC -shared -ffp-contract=off -w";
    let mut flags: Vec<&str> = common.split(' ').collect();
    // A frame larger than the page that guards its stack must not step over it.
    flags.push("-fstack-clash-protection");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("f16c") {
        // Half precision in one instruction.
        flags.push("-mf16c");
    }
    if std::env::var_os("HIP_FIBERS_SANITIZE").is_none_or(|value| value != "1") {
        return Ok(flags);
    }
    if !is_clang {
        return Err("error: HIP_FIBERS_SANITIZE=1 needs clang".to_owned());
    }
    // SAFETY: a look at the symbols of the process.
    if unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_init".as_ptr()) }.is_null() {
        let how = "LD_PRELOAD=$(clang++-19 -print-file-name=libclang_rt.asan-x86_64.so) ASAN_OPTIONS=detect_leaks=0";
        return Err(format!(
            "error: HIP_FIBERS_SANITIZE=1 needs the sanitizer's runtime in the process: {how}"
        ));
    }
    // A frame that is kept after its return would not lie on its fiber's stack. The runtime is in the process already.
    flags.extend([
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-fsanitize-address-use-after-return=never",
        "-shared-libasan",
    ]);
    Ok(flags)
}

fn folder() -> Result<PathBuf, String> {
    let named = std::env::var_os("HIP_FIBERS_CACHE").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| std::env::temp_dir().join("hip-fibers"));
    std::fs::create_dir_all(&folder).map_err(|e| format!("error: {}: {e}", folder.display()))?;
    Ok(folder)
}

/// A name that no other thread or process writes to.
fn temporary(file: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    file.with_extension(format!("{}-{count}.new", std::process::id()))
}

/// Puts a file where others look for it, whole or not at all.
fn write(file: &Path, content: &[u8]) -> Result<(), String> {
    let new = temporary(file);
    std::fs::write(&new, content).map_err(|e| format!("error: {}: {e}", new.display()))?;
    rename(&new, file)
}

fn rename(new: &Path, file: &Path) -> Result<(), String> {
    std::fs::rename(new, file).map_err(|e| format!("error: {}: {e}", file.display()))
}

fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
