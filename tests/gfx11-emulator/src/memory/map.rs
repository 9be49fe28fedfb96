//! Which addresses are device memory.
//!
//! Addresses are numbers of the emulator's own, far from any of the process: a host pointer is never inside. They are not used
//! again after a free, so that a late access is seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fault::{FaultKind, Space};
use crate::memory::allocation::Allocation;

const FIRST: u64 = 0x2000_0000_0000;
const ALIGNMENT: u64 = 256;
/// Between two allocations, so that a small overrun hits nothing.
const GAP: u64 = 1 << 16;

#[derive(Default)]
pub struct Map {
    /// Sorted by start.
    live: Vec<Arc<Allocation>>,
    freed: BTreeMap<u64, u64>,
    /// Page-locked host memory, which is the usual reason for a wild address.
    host: BTreeMap<u64, u64>,
    next: u64,
    used: u64,
}

impl Map {
    pub fn used(&self) -> u64 {
        self.used
    }

    pub fn allocate(&mut self, bytes: u64) -> u64 {
        let start = FIRST + self.next;
        // Odd multiples of the alignment: nobody may count on more.
        self.next = (self.next + bytes + GAP).next_multiple_of(2 * ALIGNMENT) + ALIGNMENT;
        self.used += bytes;
        self.live.push(Arc::new(Allocation::new(start, bytes)));
        start
    }

    /// Memory of a code object: it does not count as used.
    pub fn allocate_filled(&mut self, image: &[u8], is_read_only: bool) -> u64 {
        let start = self.allocate(image.len() as u64);
        self.used -= image.len() as u64;
        if let Some(last) = self.live.last_mut().and_then(Arc::get_mut) {
            last.write(0, image);
            last.is_read_only = is_read_only;
        }
        start
    }

    /// The size of what was freed.
    pub fn free(&mut self, start: u64) -> Option<u64> {
        let at = self.live.binary_search_by_key(&start, |live| live.start).ok()?;
        let gone = self.live.remove(at);
        self.freed.insert(start, gone.bytes);
        self.used = self.used.saturating_sub(gone.bytes);
        Some(gone.bytes)
    }

    /// Frees what [`Self::allocate_filled`] made, which does not count as used.
    pub fn free_filled(&mut self, start: u64) {
        let used = self.used;
        self.free(start);
        self.used = used;
    }

    pub fn add_host(&mut self, start: u64, bytes: u64) {
        self.host.insert(start, bytes);
    }

    pub fn remove_host(&mut self, start: u64) -> Option<u64> {
        self.host.remove(&start)
    }

    #[inline(always)]
    pub fn live(&self, index: usize) -> Option<&Allocation> {
        self.live.get(index).map(Arc::as_ref)
    }

    pub fn index_of(&self, address: u64) -> Option<usize> {
        self.live.partition_point(|live| live.start <= address).checked_sub(1)
    }

    /// The allocation that holds all of these bytes.
    pub fn find(&self, address: u64, bytes: u64) -> Option<&Arc<Allocation>> {
        let found = &self.live[self.index_of(address)?];
        found.contains(address, bytes).then_some(found)
    }

    /// What is wrong with an access that [`Self::find`] did not find.
    pub fn explain(&self, lane: usize, address: u64, bytes: usize) -> FaultKind {
        let inside = |range: (&u64, &u64)| address < range.0.saturating_add(*range.1);
        if self.host.range(..=address).next_back().is_some_and(inside) {
            return FaultKind::HostMemory { lane, address };
        }
        if let Some((start, size)) = self.freed.range(..=address).next_back().filter(|range| inside(*range)) {
            return FaultKind::UseAfterFree { lane, address, bytes, start: *start, size: *size };
        }
        let nearest = match self.index_of(address).and_then(|index| self.live(index)) {
            None => "below every allocation".to_owned(),
            Some(live) => format!(
                "{} bytes past the start of an allocation of {} bytes at {:#x}",
                address - live.start,
                live.bytes,
                live.start
            ),
        };
        FaultKind::OutOfBounds { space: Space::Device, lane, address, bytes, nearest }
    }
}
