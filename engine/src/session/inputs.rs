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
    /// How the next token is drawn; only read where a graph does.
    pub sampling: [i32; sample::WORDS],
    /// Those that only some architectures have.
    pub host: HostInputs,
}

impl Inputs {
    /// One segment of `ids` from `position` on.
    pub fn fill(&mut self, ids: &[u32], position: u64, rows: Rows) {
        let count = ids.len();
        self.tokens.clear();
        self.tokens.extend(ids.iter().map(|id| *id as i32));
        let places = position as i32..position as i32 + count as i32;
        self.positions.clear();
        // Time, height and width advance together in text; the fourth axis is unused.
        (0..3).for_each(|_| self.positions.extend(places.clone()));
        self.positions.resize(4 * count, 0);
        self.cache_rows.clear();
        self.cache_rows.extend(position as i64..position as i64 + count as i64);
        let segment = Segment {
            slot: 0,
            row: 0,
            count: count as u32,
            position: position as u32,
            fresh: position == 0,
            plane: 0,
        };
        self.segments = segment.words();
        self.wanted.clear();
        if let Rows::Some(wanted) = rows {
            self.wanted.extend(count as i32 - wanted as i32..count as i32);
        }
    }

    /// Storages of a graph with their bytes. An input that the graph does not have is left out.
    pub fn given<'a>(&'a self, graph: &Graph) -> Vec<(StorageId, &'a [u8])> {
        let all: [(&str, &[u8]); 6] = [
            (names::TOKENS, bytemuck::cast_slice(&self.tokens)),
            (names::POSITIONS, bytemuck::cast_slice(&self.positions)),
            (names::SEGMENTS, bytemuck::cast_slice(&self.segments)),
            (names::CACHE_ROWS, bytemuck::cast_slice(&self.cache_rows)),
            (names::WANTED, bytemuck::cast_slice(&self.wanted)),
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
