//! Builds kernels for gfx1151 and runs them on a device of their own.
#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what fails here is a failed test")]
#![allow(clippy::result_large_err, reason = "a fault ends a launch; it says all it can")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{env, fs};

use gfx11_emulator::device::{Device, Module};
use gfx11_emulator::fault::{Fault, FaultKind};
use gfx11_emulator::launch::{Launch, Ran};
use gfx11_emulator::options::Options;

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels");
/// The header of the kernels of this repository.
const PORTABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");

/// Whether the compiler and the disassembler are installed. Says so when they are not, and fails when they must be.
pub fn is_ready() -> bool {
    let runs =
        |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    let missing: Vec<_> =
        ["clang++-19", "ld.lld-19", "llvm-objdump-19"].into_iter().filter(|tool| !runs(tool)).collect();
    if missing.is_empty() {
        return true;
    }
    let required = env::var("WEFT_REQUIRE").is_ok_and(|wanted| wanted.split(',').any(|name| name == "hip"));
    assert!(!required, "{missing:?} not found: install clang-19, lld-19 and llvm-19");
    eprintln!("LEFT OUT: {missing:?} not found; clang-19, lld-19 and llvm-19 would let this test run");
    false
}

/// A path of its own in the folder for the output of tests.
pub fn fresh(extension: &str) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    let program = env::current_exe().unwrap();
    let stem = program.file_stem().unwrap().to_string_lossy().into_owned();
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{stem}-{}-{number}.{extension}", std::process::id()))
}

pub fn run_tool(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// A code object from the text of a kernel.
pub fn compile_text(text: &str, chip: &str, flags: &[&str]) -> Vec<u8> {
    let (source, object) = (fresh("hip"), fresh("co"));
    fs::write(&source, text).unwrap();
    run_tool(
        Command::new("clang++-19")
            .args([
                "-x",
                "hip",
                "--cuda-device-only",
                "--no-gpu-bundle-output",
                "-nogpuinc",
                "-nogpulib",
                "-nostdinc++",
            ])
            .args(["-DPK_BARE", "-O3", "-std=c++17", "-fuse-cuid=none", &format!("--offload-arch={chip}")])
            .args([&format!("-I{PORTABLE}"), &format!("-I{KERNELS}")])
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&object),
    );
    let bytes = fs::read(&object).unwrap();
    fs::remove_file(source).unwrap();
    fs::remove_file(object).unwrap();
    bytes
}

pub const FAST: [&str; 2] = ["-ffast-math", "-fno-finite-math-only"];

/// A code object from a file of the folder `kernels` beside the tests.
pub fn compile(name: &str, flags: &[&str]) -> Vec<u8> {
    let text = fs::read_to_string(Path::new(KERNELS).join(name)).unwrap();
    compile_text(&text, "gfx1151", flags)
}

/// A device with one module.
pub struct Bench {
    pub device: Device,
    pub module: Module,
}

/// Arguments as the compiler lays them out.
#[derive(Clone, Default)]
pub struct Arguments(pub Vec<u8>);

impl Arguments {
    pub fn pointer(mut self, address: u64) -> Arguments {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self.0.extend(address.to_le_bytes());
        self
    }

    pub fn integer(mut self, value: usize) -> Arguments {
        self.0.extend((value as i32).to_le_bytes());
        self
    }

    pub fn float(mut self, value: f32) -> Arguments {
        self.0.extend(value.to_le_bytes());
        self
    }
}

impl Bench {
    pub fn new(object: &[u8]) -> Bench {
        Bench::with(object, Options::default())
    }

    pub fn with(object: &[u8], options: Options) -> Bench {
        let device = Device::new(options);
        let module = device.load(object).unwrap();
        Bench { device, module }
    }

    pub fn put<T: Plain>(&self, data: &[T]) -> u64 {
        let at = self.device.allocate(size_of_val(data) as u64).unwrap();
        let bytes: Vec<u8> = data.iter().flat_map(|item| item.bytes()).collect();
        self.device.write(at, &bytes).unwrap();
        at
    }

    pub fn room(&self, bytes: usize) -> u64 {
        self.device.allocate(bytes as u64).unwrap()
    }

    pub fn get<T: Plain>(&self, at: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.device.read(at, &mut bytes).unwrap();
        bytes.chunks(size_of::<T>()).map(T::of).collect()
    }

    pub fn run(&self, kernel: &str, launch: Launch, arguments: Arguments) -> Result<Ran, Fault> {
        let kernel = self.module.kernel(kernel).unwrap();
        self.device.launch(&self.module, &kernel, &launch, &arguments.0)
    }

    /// What stops the kernel.
    pub fn fault(&self, kernel: &str, launch: Launch, arguments: Arguments) -> FaultKind {
        self.run(kernel, launch, arguments).expect_err("the launch should be stopped").kind
    }
}

pub fn one_wave() -> Launch {
    Launch::new([1, 1, 1], 32)
}

/// Numbers whose bytes can be put into device memory.
pub trait Plain: Copy {
    fn bytes(self) -> Vec<u8>;
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($of:ty),*) => {
        $(impl Plain for $of {
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn of(bytes: &[u8]) -> $of {
                <$of>::from_le_bytes(bytes.try_into().unwrap())
            }
        })*
    };
}

plain!(u8, i8, u16, u32, i32, u64, f32, f64);

pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// In -1..1.
    pub fn float(&mut self) -> f32 {
        (self.word() >> 8) as f32 / (1 << 23) as f32 - 1.0
    }

    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }

    pub fn halves(&mut self, count: usize) -> Vec<u16> {
        (0..count).map(|_| half::f16::from_f32(self.float()).to_bits()).collect()
    }

    pub fn bytes(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.word() as i8).collect()
    }
}

/// The largest difference; a NaN anywhere gives NaN, which no limit admits.
pub fn max_error(found: &[f32], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let differences = found.iter().zip(wanted).map(|(found, wanted)| (f64::from(*found) - wanted).abs());
    differences.fold(0.0, |most, error| if error <= most { most } else { error })
}
