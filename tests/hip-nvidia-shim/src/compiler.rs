//! The run-time compiler: nvrtc.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::driver::{SUCCESS, open};
use crate::{Handle, Status};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::sync::OnceLock;

/// `NVRTC_ERROR_INTERNAL_ERROR`, where there is no nvrtc.
const INTERNAL_ERROR: Status = 11;
/// The first version, major and minor, that was seen to compile every kernel rightly.
const KNOWN_GOOD: (c_int, c_int) = (13, 5);
/// `NVRTC_ERROR_INVALID_INPUT`.
const INVALID_INPUT: Status = 3;

struct Nvrtc {
    library: Library,
    /// Which nvrtc finds by name when it is there already.
    _builtins: Option<Library>,
}

fn nvrtc() -> Option<&'static Nvrtc> {
    static NVRTC: OnceLock<Option<Nvrtc>> = OnceLock::new();
    NVRTC
        .get_or_init(|| {
            let named = std::env::var("HIPSHIM_NVRTC").ok();
            let builtins = named.as_deref().and_then(builtins_beside);
            let usual = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
            let names = named.map_or_else(|| usual.map(str::to_owned).to_vec(), |name| vec![name]);
            let nvrtc = Nvrtc { library: open(&names).ok()?, _builtins: builtins };
            if let Some(version) = nvrtc.version().filter(|version| *version < KNOWN_GOOD) {
                let ((major, minor), (good, since)) = (version, KNOWN_GOOD);
                eprintln!(
                    "hip-nvidia-shim: nvrtc {major}.{minor} is older than {good}.{since}: 12.9 and 13.0 miscompile attention on matrix units; \
                     name a newer one by HIPSHIM_NVRTC"
                );
            }
            Some(nvrtc)
        })
        .as_ref()
}

impl Nvrtc {
    /// Its version, major and minor.
    fn version(&self) -> Option<(c_int, c_int)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the type is that of nvrtc's interface, and both places live through the call.
        let status = unsafe {
            let version = self
                .library
                .get::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status>(b"nvrtcVersion")
                .ok()?;
            version(&raw mut major, &raw mut minor)
        };
        (status == SUCCESS).then_some((major, minor))
    }
}

/// nvrtc opens its builtins by their name alone, which the loader need not find.
fn builtins_beside(nvrtc: &str) -> Option<Library> {
    let files = std::fs::read_dir(Path::new(nvrtc).parent()?).ok()?;
    let mut files = files.filter_map(|file| Some(file.ok()?.path()));
    let file = files.find(|file| {
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libnvrtc-builtins.so"))
    })?;
    open(&[file.display().to_string()]).ok()
}

/// Calls a function of nvrtc that is found by its name.
macro_rules! nvrtc {
    ($name:literal, ($($type:ty),*), $($argument:expr),*) => {{
        let found = nvrtc().and_then(|nvrtc| {
            // SAFETY: the types are those of nvrtc's interface.
            let symbol = unsafe { nvrtc.library.get::<unsafe extern "C" fn($($type),*) -> Status>($name.as_bytes()) };
            symbol.ok().map(|function| *function)
        });
        match found {
            // SAFETY: what the host gave is what hiprtc's interface wants, which is what nvrtc wants.
            Some(function) => unsafe { function($($argument),*) },
            None => INTERNAL_ERROR,
        }
    }};
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> Status {
    nvrtc!("nvrtcVersion", (*mut c_int, *mut c_int), major, minor)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(
    program: *mut Handle,
    source: *const c_char,
    name: *const c_char,
    headers: c_int,
    header_texts: *const *const c_char,
    header_names: *const *const c_char,
) -> Status {
    nvrtc!(
        "nvrtcCreateProgram",
        (*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char),
        program,
        source,
        name,
        headers,
        header_texts,
        header_names
    )
}

/// What nvrtc calls an option; those that mean nothing to it are left out.
fn translated(option: &str) -> Option<String> {
    if let Some(architecture) = option.strip_prefix("--offload-arch=") {
        return Some(format!("--gpu-architecture={architecture}"));
    }
    match option {
        "-ffast-math" => Some("--use_fast_math".to_owned()),
        _ if ["-O", "-W", "-f", "-mllvm"].iter().any(|other| option.starts_with(other)) => None,
        _ => Some(option.to_owned()),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCompileProgram(
    program: Handle,
    count: c_int,
    options: *const *const c_char,
) -> Status {
    let count = usize::try_from(count).unwrap_or(0);
    let texts = (0..count).map(|k| {
        // SAFETY: the host gives as many texts as it says, each of which ends in zero.
        unsafe { CStr::from_ptr(*options.add(k)) }.to_string_lossy().into_owned()
    });
    // Functions without a mark are the device's: there is no host here.
    let more = std::env::var("HIPSHIM_OPTIONS").unwrap_or_default();
    let texts = texts
        .filter_map(|text| translated(&text))
        .chain(["--device-as-default-execution-space".to_owned()])
        .chain(more.split_whitespace().map(str::to_owned));
    let Ok(texts) = texts.map(CString::new).collect::<Result<Vec<_>, _>>() else { return INVALID_INPUT };
    let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    let count = c_int::try_from(pointers.len()).unwrap_or(0);
    nvrtc!("nvrtcCompileProgram", (Handle, c_int, *const *const c_char), program, count, pointers.as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLogSize(program: Handle, bytes: *mut usize) -> Status {
    nvrtc!("nvrtcGetProgramLogSize", (Handle, *mut usize), program, bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLog(program: Handle, log: *mut c_char) -> Status {
    nvrtc!("nvrtcGetProgramLog", (Handle, *mut c_char), program, log)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCodeSize(program: Handle, bytes: *mut usize) -> Status {
    nvrtc!("nvrtcGetCUBINSize", (Handle, *mut usize), program, bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCode(program: Handle, code: *mut c_char) -> Status {
    nvrtc!("nvrtcGetCUBIN", (Handle, *mut c_char), program, code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcDestroyProgram(program: *mut Handle) -> Status {
    nvrtc!("nvrtcDestroyProgram", (*mut Handle), program)
}

/// Whether there is a compiler at all.
pub fn has_compiler() -> bool {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the pointers are valid for the call.
    unsafe { hiprtcVersion(&raw mut major, &raw mut minor) == SUCCESS }
}
