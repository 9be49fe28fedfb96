//! Stop strings in a stream of text.

/// Finds stop strings across the edges of pieces, and holds back what may turn out to be the beginning of one.
#[derive(Clone, Debug, Default)]
pub(super) struct StopFinder {
    stops: Vec<String>,
    held: String,
}

/// What a piece of text led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Text that may be shown.
    Text(String),
    /// Text before a stop string, and which one.
    Stop(String, usize),
}

impl StopFinder {
    /// Empty stop strings never match.
    pub fn new(stops: &[String]) -> Self {
        StopFinder { stops: stops.to_vec(), held: String::new() }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) -> Found {
        self.held.push_str(piece);
        let at = |(index, stop): (usize, &String)| self.held.find(stop.as_str()).map(|at| (at, index));
        let first = self.stops.iter().enumerate().filter(|(_, s)| !s.is_empty()).filter_map(at).min();
        if let Some((at, index)) = first {
            let text = self.held[..at].to_owned();
            self.held.clear();
            return Found::Stop(text, index);
        }
        let keep = self.stops.iter().map(|stop| common(&self.held, stop)).max().unwrap_or(0);
        let shown = self.held.len() - keep;
        let rest = self.held.split_off(shown);
        Found::Text(std::mem::replace(&mut self.held, rest))
    }

    /// The rest, when nothing follows.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// Bytes at the end of `text` that a proper beginning of `stop` equals.
fn common(text: &str, stop: &str) -> usize {
    let most = text.len().min(stop.len().saturating_sub(1));
    (1..=most).rev().find(|n| stop.is_char_boundary(*n) && text.ends_with(&stop[..*n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_stop_across_pieces_and_shows_nothing_of_it() {
        let mut finder = StopFinder::new(&["</end>".to_owned(), "STOP".to_owned()]);
        assert_eq!(finder.push("a </e"), Found::Text("a ".to_owned()));
        assert_eq!(finder.push("x ST"), Found::Text("</ex ".to_owned()));
        assert_eq!(finder.push("OP b"), Found::Stop(String::new(), 1));
    }

    #[test]
    fn gives_back_a_beginning_that_came_to_nothing() {
        let mut finder = StopFinder::new(&["über".to_owned()]);
        assert_eq!(finder.push("xü"), Found::Text("x".to_owned()));
        assert_eq!(finder.finish(), "ü");
    }
}
