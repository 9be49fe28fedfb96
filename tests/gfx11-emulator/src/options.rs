//! What is checked, read once from the environment.
//!
//! | variable | meaning |
//! |---|---|
//! | `WEFT_EMULATOR_MEMORY` | bytes of device memory, also as `8GiB` or `512MiB`; 8 GiB |
//! | `WEFT_EMULATOR_ALLOW` | checks left out, by comma: `undefined`, `lds-races`, `global-races`, `masked-barriers` |
//! | `WEFT_EMULATOR_THREADS` | threads that run workgroups; all processors |
//! | `WEFT_EMULATOR_ORDER` | `forward`, or `reverse`: the last workgroups and waves first |
//! | `WEFT_EMULATOR_DEFER` | `1`: work runs as late as the rules of streams allow, not when it is submitted |
//! | `WEFT_EMULATOR_STEPS` | instructions after which a wave counts as endless; 2^32 |
//! | `WEFT_EMULATOR_STATISTICS` | `1`: a line for each launch: kernel, workgroups, wave-instructions, time of each |

use std::sync::LazyLock;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub memory_bytes: u64,
    /// Follow values that nobody wrote.
    pub undefined: bool,
    pub lds_races: bool,
    pub global_races: bool,
    /// A barrier is reached with all lanes of the wave.
    pub masked_barriers: bool,
    pub threads: usize,
    pub reverse: bool,
    pub defer: bool,
    pub steps: u64,
    pub statistics: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory_bytes: 8 << 30,
            undefined: true,
            lds_races: true,
            global_races: true,
            masked_barriers: true,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            reverse: false,
            defer: false,
            steps: 1 << 32,
            statistics: false,
        }
    }
}

impl Options {
    /// Those of the environment; what cannot be read keeps its default.
    pub fn get() -> &'static Options {
        static OPTIONS: LazyLock<Options> = LazyLock::new(|| Options::from(|name| std::env::var(name).ok()));
        &OPTIONS
    }

    fn from(variable: impl Fn(&str) -> Option<String>) -> Options {
        let default = Options::default();
        let allow = variable("WEFT_EMULATOR_ALLOW").unwrap_or_default();
        let checked = |name: &str| !allow.split(',').any(|allowed| allowed.trim() == name);
        let number = |name: &str| variable(name).and_then(|text| text.parse().ok());
        let is = |name: &str, value: &str| variable(name).is_some_and(|text| text == value);
        Options {
            memory_bytes: variable("WEFT_EMULATOR_MEMORY")
                .and_then(|text| bytes(&text))
                .unwrap_or(default.memory_bytes),
            undefined: checked("undefined"),
            lds_races: checked("lds-races"),
            global_races: checked("global-races"),
            masked_barriers: checked("masked-barriers"),
            threads: number("WEFT_EMULATOR_THREADS").map_or(default.threads, |n| (n as usize).max(1)),
            reverse: is("WEFT_EMULATOR_ORDER", "reverse"),
            defer: is("WEFT_EMULATOR_DEFER", "1"),
            steps: number("WEFT_EMULATOR_STEPS").unwrap_or(default.steps),
            statistics: is("WEFT_EMULATOR_STATISTICS", "1"),
        }
    }
}

/// `4096`, `64KiB`, `512MiB`, `8GiB`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = [("KiB", 10), ("MiB", 20), ("GiB", 30)]
        .into_iter()
        .find_map(|(unit, shift)| text.strip_suffix(unit).map(|digits| (digits, shift)))
        .unwrap_or((text, 0));
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_and_lists() {
        let options = Options::from(|name| match name {
            "WEFT_EMULATOR_MEMORY" => Some("3GiB".to_owned()),
            "WEFT_EMULATOR_ALLOW" => Some("undefined, lds-races".to_owned()),
            "WEFT_EMULATOR_THREADS" => Some("0".to_owned()),
            _ => None,
        });
        assert_eq!((options.memory_bytes, options.threads), (3 << 30, 1));
        assert!(!options.undefined && !options.lds_races && options.global_races);
        assert_eq!((bytes("17"), bytes("2 KiB"), bytes("x")), (Some(17), Some(2048), None));
    }
}
