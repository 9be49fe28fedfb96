//! The texts of `shaders/`, compiled in.

/// (name, text) of every file: `stem` or `include/stem`.
static SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

/// A text by name. A debug build reads it from the folder that `WEFT_SHADERS` names, if it is set: shaders can then be
/// worked on without building anything.
pub(super) fn source(name: &str) -> Option<&'static str> {
    if cfg!(debug_assertions)
        && let Some(folder) = std::env::var_os("WEFT_SHADERS")
    {
        let file = std::path::Path::new(&folder).join(format!("{name}.wgsl"));
        return std::fs::read_to_string(file).ok().map(|text| &*text.leak());
    }
    SOURCES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
