//! Files under `tests/fixtures`, and the larger ones that `WEFT_FIXTURES` points to.

use std::path::PathBuf;

/// A committed fixture.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A fixture that is not committed, if the folder in `WEFT_FIXTURES` has it.
pub fn outside(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("WEFT_FIXTURES")?).join(name);
    path.exists().then_some(path)
}
