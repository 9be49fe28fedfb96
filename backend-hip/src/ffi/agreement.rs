//! Our declarations agree with those of hip-sys, which were made from AMD's headers of HIP 5.4. Its functions are named here and
//! never called, so that nothing is linked. It declares neither `hipGetDevicePropertiesR0600` nor the run-time compiler, and we
//! declare no structure.

use super::api::runtime;
use super::{Handle, Ordinal, Status, number};
use hip_sys::hiprt;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// How a value is passed, and what lies behind a pointer. Signs make no difference, and neither does `const`.
#[derive(Debug, PartialEq)]
enum Class {
    Integer {
        bytes: usize,
    },
    Float {
        bytes: usize,
    },
    Pointer(Box<Class>),
    /// What only the runtime looks into.
    Opaque,
}

trait Classed {
    fn class() -> Class;
}

impl<T: Classed> Classed for *mut T {
    fn class() -> Class {
        Class::Pointer(Box::new(T::class()))
    }
}

impl<T: Classed> Classed for *const T {
    fn class() -> Class {
        Class::Pointer(Box::new(T::class()))
    }
}

impl Classed for f32 {
    fn class() -> Class {
        Class::Float { bytes: 4 }
    }
}

macro_rules! classed {
    (integers: $($integer:ty),*; opaque: $($opaque:ty),*) => {
        $( impl Classed for $integer {
            fn class() -> Class {
                Class::Integer { bytes: size_of::<$integer>() }
            }
        } )*
        $( impl Classed for $opaque {
            fn class() -> Class {
                Class::Opaque
            }
        } )*
    };
}

classed! {
    integers: c_char, c_int, c_uint, usize,
        hiprt::hipError_t, hiprt::hipMemcpyKind, hiprt::hipDeviceAttribute_t, hiprt::hipStreamCaptureMode;
    opaque: c_void, hiprt::ihipStream_t, hiprt::ihipEvent_t, hiprt::ihipModule_t, hiprt::ihipModuleSymbol_t,
        hiprt::ihipGraph, hiprt::hipGraphExec, hiprt::hipGraphNode
}

/// Classes of the result and of each argument.
trait Signature {
    fn classes() -> Vec<Class>;
}

macro_rules! signatures {
    ($($argument:ident)*) => {
        impl<Result: Classed, $($argument: Classed),*> Signature for unsafe extern "C" fn($($argument),*) -> Result {
            fn classes() -> Vec<Class> {
                vec![Result::class(), $($argument::class()),*]
            }
        }
    };
}

signatures!(A);
signatures!(A B);
signatures!(A B C);
signatures!(A B C D);
signatures!(A B C D E);
signatures!(A B C D E F G H I J K);

/// The signature of what a function would give, which is not run: so the function behind the pointer is not linked.
fn signature_of<F: Signature>(_: impl FnOnce() -> F) -> Vec<Class> {
    F::classes()
}

macro_rules! any {
    ($argument:ty) => {
        _
    };
}

/// By function our signature and that of hip-sys.
macro_rules! signatures_of_both {
    (
        $(#[$about:meta])* $table:ident:
        required { $( $field:ident = $symbol:ident ( $($argument:ty),* ) -> $result:ty; )* }
        optional { $( $maybe:ident = $maybe_symbol:ident ( $($maybe_argument:ty),* ) -> $maybe_result:ty; )* }
    ) => {
        fn signatures() -> Vec<(&'static str, Vec<Class>, Vec<Class>)> {
            vec![ $( (
                stringify!($symbol),
                <unsafe extern "C" fn($($argument),*) -> $result>::classes(),
                signature_of(|| hiprt::$symbol as unsafe extern "C" fn($(any!($argument)),*) -> _),
            ) ),* ]
        }
    };
}

runtime!(signatures_of_both);

#[test]
fn signatures_are_those_of_the_headers() {
    let all = signatures();
    assert!(all.len() > 30, "{}", all.len());
    for (symbol, ours, theirs) in all {
        assert_eq!(ours, theirs, "{symbol}");
    }
}

#[test]
fn numbers_are_those_of_the_headers() {
    use hiprt::{hipDeviceAttribute_t as attribute, hipError_t as error, hipMemcpyKind as copy};
    let capture = hiprt::hipStreamCaptureMode::hipStreamCaptureModeThreadLocal;
    let both = [
        (0, error::hipSuccess as c_int),
        (number::OUT_OF_MEMORY, error::hipErrorOutOfMemory as c_int),
        (number::NO_DEVICE, error::hipErrorNoDevice as c_int),
        (number::NO_BINARY_FOR_GPU, error::hipErrorNoBinaryForGpu as c_int),
        (number::NOT_READY, error::hipErrorNotReady as c_int),
        (number::ATTRIBUTE_MULTIPROCESSORS, attribute::hipDeviceAttributeMultiprocessorCount as c_int),
        (number::ATTRIBUTE_WARP_SIZE, attribute::hipDeviceAttributeWarpSize as c_int),
        (number::ATTRIBUTE_LDS_PER_BLOCK, attribute::hipDeviceAttributeMaxSharedMemoryPerBlock as c_int),
        (number::COPY_TO_DEVICE, copy::hipMemcpyHostToDevice as c_int),
        (number::COPY_TO_HOST, copy::hipMemcpyDeviceToHost as c_int),
        (number::CAPTURE_OF_THREAD, capture as c_int),
    ];
    for (ours, theirs) in both {
        assert_eq!(ours, theirs);
    }
    assert_eq!(number::STREAM_NON_BLOCKING, hiprt::hipStreamNonBlocking);
}

#[test]
fn the_types_link_no_runtime() {
    let mapped = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!mapped.contains("amdhip64"), "{mapped}");
}
