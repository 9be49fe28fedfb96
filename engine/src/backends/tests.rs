//! Order and fall-back, with backends that are not there.

use super::*;

fn gpu(name: &str) -> Result<Arc<dyn Backend>, DeviceError> {
    let options = weft_cpu::Options { threads: 1, name: name.to_owned(), ..weft_cpu::Options::default() };
    Ok(Arc::new(weft_cpu::Cpu::open(&options)?))
}

fn refused() -> DeviceError {
    DeviceError::SelfTest { what: "mul_mat", expected: "1".to_owned(), got: "2".to_owned() }
}

const BROKEN: Kind = Kind { name: "hip", open: |_, _| Err(refused()), find: |_| Vec::new() };
/// A backend with one emulated device and one real one.
const GPU: Kind = Kind {
    name: "wgpu",
    open: |choice, _| match choice {
        Choice::Automatic | Choice::Best | Choice::Index(1) => gpu("real"),
        Choice::Index(0) => gpu("emulated"),
        Choice::Named(part) if "Emulated".to_lowercase().contains(&part.to_lowercase()) => gpu("emulated"),
        _ => Err(DeviceError::Unavailable { name: "wgpu".to_owned(), reason: "no such adapter".to_owned() }),
    },
    find: |_| Vec::new(),
};
const CPU: Kind = Kind { name: "cpu", open: |_, _| gpu("cpu"), find: |_| Vec::new() };

fn names(kinds: &[Kind], name: &str) -> Result<Vec<String>, Error> {
    let opened = open_of(kinds, name, &BackendOptions::default())?;
    Ok(opened.iter().map(|backend| backend.name().to_owned()).collect())
}

fn opened(kinds: &[Kind], name: &str) -> Vec<String> {
    names(kinds, name).unwrap_or_else(|error| vec![error.to_string()])
}

#[test]
fn auto_takes_the_first_that_works_and_the_cpu_follows() {
    assert_eq!(opened(&[BROKEN, GPU, CPU], "auto"), ["real", "cpu"]);
    assert_eq!(opened(&[BROKEN, CPU], "auto"), ["cpu"]);
    assert_eq!(opened(&[GPU], "auto"), ["real"]);
    assert!(matches!(names(&[BROKEN], "auto"), Err(error) if error.to_string().contains("mul_mat")));
    assert!(matches!(names(&[], "auto"), Err(Error::NoBackend { .. })));
}

#[test]
fn a_backend_and_a_device_can_be_named() {
    let kinds = [BROKEN, GPU, CPU];
    assert_eq!(opened(&kinds, "wgpu"), ["real", "cpu"]);
    assert_eq!(opened(&kinds, "wgpu:0"), ["emulated", "cpu"]);
    assert_eq!(opened(&kinds, "wgpu:emu"), ["emulated", "cpu"]);
    assert_eq!(opened(&kinds, "cpu"), ["cpu"]);
    assert!(matches!(names(&kinds, "wgpu:7"), Err(error) if error.to_string().contains("no such adapter")));
    // What was asked for is not replaced in silence.
    assert!(matches!(names(&kinds, "hip"), Err(error) if error.to_string().contains("mul_mat")));
    for wrong in ["cuda", "cuda:0", "wgpu:", "auto:0", ""] {
        let error = names(&kinds, wrong);
        assert!(matches!(&error, Err(Error::NoBackend { known, .. }) if known.contains("wgpu")), "{error:?}");
    }
}

#[cfg(feature = "cpu")]
#[test]
fn the_cpu_is_found_and_described() {
    let options = BackendOptions { threads: 1, ..BackendOptions::default() };
    let all = found(Some("cpu"), &options);
    assert_eq!(all.len(), 1);
    assert!(found(Some("abacus"), &options).is_empty());
    let cpu = &all[0];
    assert!(
        cpu.device.as_ref().is_some_and(|(index, name)| *index == 0 && name.contains("1 threads")),
        "{all:?}"
    );
    let report = cpu.status.as_ref().map(|(report, _)| report);
    let kernels = report.map_or(&[][..], |report| &report.kernels);
    assert_eq!(kernels.len(), weft_core::kernels::ALL.len(), "{all:?}");
    let kernel = |stem: &str| kernels.iter().find(|kernel| kernel.kernel == stem);
    let products = kernel("mul_mat").map_or(&[][..], |kernel| &kernel.variants);
    assert!(
        products.last().is_some_and(|variant| variant.variant == "reference" && variant.exact),
        "{all:?}"
    );
    // A kernel that only joins others is not here; its parts are.
    let joined = kernel("mul_mats").and_then(|kernel| kernel.absent.as_ref());
    assert!(joined.is_some_and(|absent| absent.instead == "parts" && !absent.reason.is_empty()), "{all:?}");
    assert!(matches!(open("cpu:1", &BackendOptions::default()), Err(Error::Run(_))));
    assert!(open("cpu:0", &BackendOptions::default()).is_ok_and(|all| all.len() == 1));
}
