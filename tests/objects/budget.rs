//! Registers that a text grants its kernels: `VGPRs: at most N` in a comment on the line above `PK_KERNEL`, or above the
//! macro that declares several.

/// Of kernels for which a text says nothing.
const USUAL: u64 = 128;

/// A kernel's name, in which macros leave gaps, and its registers.
struct Row {
    /// What stands before, between and behind the gaps.
    pieces: Vec<String>,
    vgprs: u64,
}

/// Registers by kernel.
pub struct Budgets(Vec<Row>);

impl Budgets {
    pub fn of(text: &str) -> Budgets {
        let (mut rows, mut parameters, mut of_macro) = (Vec::new(), Vec::new(), None);
        let mut above = "";
        for line in text.lines() {
            if let Some(declared) = line.strip_prefix("#define ") {
                parameters = parameters_of(declared);
                of_macro = granted(above);
            }
            if let Some(name) = name_of(line) {
                let inside = if name.contains("##") { of_macro } else { None };
                let vgprs = granted(above).or(inside).unwrap_or(USUAL);
                rows.push(Row { pieces: pieces_of(name, &parameters), vgprs });
            }
            above = line;
        }
        Budgets(rows)
    }

    /// Registers of a kernel: those of the row that says most of its name.
    pub fn vgprs(&self, name: &str) -> u64 {
        let known = self.0.iter().filter(|row| row.matches(name));
        known
            .max_by_key(|row| row.pieces.iter().map(String::len).sum::<usize>())
            .map_or(USUAL, |row| row.vgprs)
    }
}

impl Row {
    fn matches(&self, name: &str) -> bool {
        let [first, rest @ ..] = self.pieces.as_slice() else { return false };
        let Some(mut left) = name.strip_prefix(first.as_str()) else { return false };
        let [between @ .., last] = rest else { return left.is_empty() };
        for piece in between {
            let Some(at) = left.find(piece.as_str()) else { return false };
            left = &left[at + piece.len()..];
        }
        left.ends_with(last.as_str())
    }
}

/// The name that a line declares a kernel by.
fn name_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let behind = ["PK_KERNEL(", "PK_KERNEL_WAVES(", "PK_KERNEL_BLOCKS("]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    behind.split(',').next().map(str::trim)
}

fn parameters_of(declared: &str) -> Vec<String> {
    let inside = declared.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    inside.map_or(Vec::new(), |(list, _)| list.split(',').map(|name| name.trim().to_owned()).collect())
}

/// The parts of a name around the parameters in it.
fn pieces_of(name: &str, parameters: &[String]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for part in name.split("##") {
        if parameters.iter().any(|parameter| parameter == part) {
            pieces.push(String::new());
        } else if let Some(last) = pieces.last_mut() {
            last.push_str(part);
        }
    }
    pieces
}

fn granted(line: &str) -> Option<u64> {
    let (_, number) = line.split_once("VGPRs: at most ")?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn names_in_macros_are_found() {
    let text = "// VGPRs: at most 10\nPK_KERNEL(a, 64, x) {\nPK_KERNEL(b, 64, x) {\n// VGPRs: at most 20\n#define M(form, type) \\\n\
                PK_KERNEL(c_##form##_##type##_1, 64, x) {} \\\n  PK_KERNEL_WAVES(c_w_##type##_1, 64, 8, x) {}\n";
    let budgets = Budgets::of(text);
    let got = ["a", "b", "c_x_y_1", "c_w_y_1", "d"].map(|name| budgets.vgprs(name));
    assert_eq!(got, [10, USUAL, 20, 20, USUAL]);
}
