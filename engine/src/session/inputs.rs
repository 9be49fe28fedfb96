//! The inputs of a ubatch, written anew for each run.

use crate::models::{HostInputs, Rows, names};
use weft_core::graph::{Graph, StorageId};
use weft_core::kernels::sample;
use weft_core::segment::{SEGMENT_WORDS, Segment};

/// Bytes of all inputs. Vectors keep their memory between runs.
#[derive(Default)]
pub(super) struct Inputs {
    tokens: Vec<i32>,
    positions: Vec<i32>,
    segments: [i32; SEGMENT_WORDS],
    cache_rows: Vec<i64>,
    wanted: Vec<i32>,
    kept_rows: Vec<i64>,
    before_rows: Vec<i32>,
    /// How the next tokens are drawn, a row each; only read where a graph does.
    pub sampling: Vec<i32>,
    /// Those that only some architectures have.
    pub host: HostInputs,
}

/// One segment: where its tokens come from and where they go.
pub(super) struct Feed<'a> {
    /// Its tokens.
    pub ids: &'a [u32],
    /// Cache cell of the first.
    pub cell: u64,
    /// How far positions are ahead of cells.
    pub ahead: u64,
    /// The snapshot to start from.
    pub plane: u64,
    /// Rows that get logits.
    pub rows: Rows,
    /// Where the residual of the first token's cell is kept, and how many there are room for; the next one follows, in a
    /// ring. Of none where nobody drafts.
    pub kept: (u64, u64),
}

impl Inputs {
    /// Writes the inputs of one segment.
    pub fn fill(&mut self, feed: &Feed<'_>) {
        let count = feed.ids.len();
        self.tokens.clear();
        self.tokens.extend(feed.ids.iter().map(|id| *id as i32));
        let first = (feed.cell + feed.ahead) as i32;
        let places = first..first + count as i32;
        self.positions.clear();
        // Time, height and width advance together in text; the fourth axis is unused.
        (0..3).for_each(|_| self.positions.extend(places.clone()));
        self.positions.resize(4 * count, 0);
        self.cache_rows.clear();
        self.cache_rows.extend(feed.cell as i64..feed.cell as i64 + count as i64);
        let segment = Segment {
            slot: 0,
            row: 0,
            count: count as u32,
            position: feed.cell as u32,
            fresh: feed.cell == 0,
            plane: feed.plane as u32,
        };
        self.segments = segment.words();
        self.wanted.clear();
        if let Rows::Some(wanted) = feed.rows {
            self.wanted.extend(count as i32 - wanted as i32..count as i32);
        }
        let (start, ring) = feed.kept;
        let kept = |i: u64| (start + i) % ring.max(1);
        self.kept_rows.clear();
        self.kept_rows.extend((0..count as u64).map(|i| kept(i) as i64));
        self.before_rows.clear();
        self.before_rows.extend((0..count as u64).map(|i| kept(i) as i32));
    }

    /// Lets a drafter's only token follow the residual in this row.
    pub fn follow(&mut self, row: u64) {
        self.before_rows.clear();
        self.before_rows.push(row as i32);
    }

    /// Storages of a graph with their bytes. An input that the graph does not have is left out.
    pub fn given<'a>(&'a self, graph: &Graph) -> Vec<(StorageId, &'a [u8])> {
        let all: [(&str, &[u8]); 8] = [
            (names::TOKENS, bytemuck::cast_slice(&self.tokens)),
            (names::POSITIONS, bytemuck::cast_slice(&self.positions)),
            (names::SEGMENTS, bytemuck::cast_slice(&self.segments)),
            (names::CACHE_ROWS, bytemuck::cast_slice(&self.cache_rows)),
            (names::WANTED, bytemuck::cast_slice(&self.wanted)),
            (names::KEPT_ROWS, bytemuck::cast_slice(&self.kept_rows)),
            (names::BEFORE_ROWS, bytemuck::cast_slice(&self.before_rows)),
            (names::SAMPLING, bytemuck::cast_slice(&self.sampling)),
        ];
        let find = |(name, bytes): (&str, &'a [u8])| {
            let id = graph.storage_named(name)?;
            // A graph with one position per token takes the first axis.
            let length = (graph.storage(id).bytes as usize).min(bytes.len());
            Some((id, &bytes[..length]))
        };
        all.into_iter().chain(self.host.iter()).filter_map(find).collect()
    }
}

/// Words of draws, a row each.
pub(super) fn words(draws: &[sample::Draw]) -> Vec<i32> {
    draws.iter().flat_map(sample::Draw::words).collect()
}
