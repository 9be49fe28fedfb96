//! Threads that help with launches live as long as the process, so the library's code must.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
