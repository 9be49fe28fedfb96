//! Segments: which rows of a ubatch belong to which sequence.
//!
//! Operations that care about sequences read a table of segments at run time, so a plan depends on the number of tokens
//! and of segments, never on positions, slots or lengths.

/// Words of one segment in the table.
pub const SEGMENT_WORDS: usize = 8;

/// A run of tokens of one sequence inside a ubatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The sequence's place in the state pools and caches.
    pub slot: u32,
    /// Its first row in the ubatch.
    pub row: u32,
    /// How many rows; 0 for an unused entry.
    pub count: u32,
    /// Position of the first token in its sequence: also the number of cached tokens it sees besides its own.
    pub position: u32,
    /// Whether the sequence starts here: its stored state is not read but taken as zero.
    pub fresh: bool,
    /// Which snapshot of the stored state to start from (0 = the newest): how many tokens were taken back since it was stored.
    pub plane: u32,
}

impl Segment {
    /// The segment as words of the table.
    pub const fn words(&self) -> [i32; SEGMENT_WORDS] {
        [
            self.slot as i32,
            self.row as i32,
            self.count as i32,
            self.position as i32,
            self.fresh as i32,
            self.plane as i32,
            0,
            0,
        ]
    }

    /// A segment from words of the table.
    pub const fn from_words(words: [i32; SEGMENT_WORDS]) -> Self {
        Segment {
            slot: words[0] as u32,
            row: words[1] as u32,
            count: words[2] as u32,
            position: words[3] as u32,
            fresh: words[4] != 0,
            plane: words[5] as u32,
        }
    }
}
