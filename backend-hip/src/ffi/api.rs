//! The functions that weft calls, of the runtime and of its compiler.
//!
//! Signatures are the same from HIP 5.4 to 7.14, but for `const` on one argument and the one optional entry.

use super::{Handle, LoadError, Ordinal, Status};
use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! table {
    (
        $(#[$about:meta])* $table:ident:
        required { $( $field:ident = $symbol:ident ( $($argument:ty),* ) -> $result:ty; )* }
        optional { $( $maybe:ident = $maybe_symbol:ident ( $($maybe_argument:ty),* ) -> $maybe_result:ty; )* }
    ) => {
        $(#[$about])*
        pub(crate) struct $table {
            $( pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result, )*
            $( pub(crate) $maybe: Option<unsafe extern "C" fn($($maybe_argument),*) -> $maybe_result>, )*
            /// Keeps the code mapped; dropped last.
            _library: Library,
        }

        impl $table {
            /// Finds every function of the table in an opened library.
            pub(super) fn resolve(library: Library, path: &str) -> Result<$table, LoadError> {
                // SAFETY: each symbol has the signature written in the table.
                unsafe {
                    $( let $field = *library
                        .get::<unsafe extern "C" fn($($argument),*) -> $result>(concat!(stringify!($symbol), "\0").as_bytes())
                        .map_err(|_| LoadError::MissingSymbol { library: path.into(), symbol: stringify!($symbol) })?; )*
                    $( let $maybe = library
                        .get::<unsafe extern "C" fn($($maybe_argument),*) -> $maybe_result>(concat!(stringify!($maybe_symbol), "\0").as_bytes())
                        .ok()
                        .map(|found| *found); )*
                    Ok($table { $( $field, )* $( $maybe, )* _library: library })
                }
            }
        }
    };
}

/// Gives the runtime's functions to a macro.
macro_rules! runtime {
    ($take:ident) => {
        $take! {
            /// The HIP runtime.
            Api:
            required {
                init = hipInit(c_uint) -> Status;
                runtime_version = hipRuntimeGetVersion(*mut c_int) -> Status;
                device_count = hipGetDeviceCount(*mut c_int) -> Status;
                set_device = hipSetDevice(c_int) -> Status;
                device_name = hipDeviceGetName(*mut c_char, c_int, Ordinal) -> Status;
                device_total_memory = hipDeviceTotalMem(*mut usize, Ordinal) -> Status;
                memory_info = hipMemGetInfo(*mut usize, *mut usize) -> Status;
                device_attribute = hipDeviceGetAttribute(*mut c_int, c_int, c_int) -> Status;
                error_name = hipGetErrorName(Status) -> *const c_char;
                error_string = hipGetErrorString(Status) -> *const c_char;

                malloc = hipMalloc(*mut Handle, usize) -> Status;
                free = hipFree(Handle) -> Status;
                host_malloc = hipHostMalloc(*mut *mut c_void, usize, c_uint) -> Status;
                host_free = hipHostFree(*mut c_void) -> Status;
                copy_async = hipMemcpyAsync(*mut c_void, *const c_void, usize, c_int, Handle) -> Status;
                set_bytes_async = hipMemsetAsync(*mut c_void, c_int, usize, Handle) -> Status;

                stream_create = hipStreamCreateWithFlags(*mut Handle, c_uint) -> Status;
                stream_destroy = hipStreamDestroy(Handle) -> Status;
                stream_synchronize = hipStreamSynchronize(Handle) -> Status;
                event_create = hipEventCreateWithFlags(*mut Handle, c_uint) -> Status;
                event_destroy = hipEventDestroy(Handle) -> Status;
                event_record = hipEventRecord(Handle, Handle) -> Status;
                event_synchronize = hipEventSynchronize(Handle) -> Status;
                event_query = hipEventQuery(Handle) -> Status;
                event_elapsed = hipEventElapsedTime(*mut f32, Handle, Handle) -> Status;

                module_load = hipModuleLoadData(*mut Handle, *const c_void) -> Status;
                module_unload = hipModuleUnload(Handle) -> Status;
                module_function = hipModuleGetFunction(*mut Handle, Handle, *const c_char) -> Status;
                launch = hipModuleLaunchKernel(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void) -> Status;

                begin_capture = hipStreamBeginCapture(Handle, c_int) -> Status;
                end_capture = hipStreamEndCapture(Handle, *mut Handle) -> Status;
                graph_instantiate = hipGraphInstantiate(*mut Handle, Handle, *mut Handle, *mut c_char, usize) -> Status;
                graph_launch = hipGraphLaunch(Handle, Handle) -> Status;
                graph_exec_destroy = hipGraphExecDestroy(Handle) -> Status;
                graph_destroy = hipGraphDestroy(Handle) -> Status;
            }
            optional {
                // HIP 6 and later. Never the plain hipGetDeviceProperties: that symbol is the HIP 5 layout.
                device_properties_r0600 = hipGetDevicePropertiesR0600(*mut c_void, c_int) -> Status;
            }
        }
    };
}

runtime!(table);

#[cfg(all(test, feature = "hip-sys"))]
pub(super) use runtime;

table! {
    /// The run-time compiler.
    Compiler:
    required {
        version = hiprtcVersion(*mut c_int, *mut c_int) -> Status;
        create = hiprtcCreateProgram(*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> Status;
        compile = hiprtcCompileProgram(Handle, c_int, *const *const c_char) -> Status;
        log_size = hiprtcGetProgramLogSize(Handle, *mut usize) -> Status;
        log = hiprtcGetProgramLog(Handle, *mut c_char) -> Status;
        code_size = hiprtcGetCodeSize(Handle, *mut usize) -> Status;
        code = hiprtcGetCode(Handle, *mut c_char) -> Status;
        destroy = hiprtcDestroyProgram(*mut Handle) -> Status;
    }
    optional {}
}
