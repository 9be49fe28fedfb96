//! Which workgroup of a launch read and wrote each word of device memory.
//!
//! Two workgroups may not touch one byte of which one writes it, unless an atomic stands between: the order of workgroups is
//! nobody's to choose. A record holds a tag (the launch's first tag plus the index of the workgroup) and which of the four bytes
//! were meant. Where several workgroups share a word with different bytes the record only says "shared", and the word is not
//! judged further: a race may be missed there, none is invented. Atomics are not recorded; they connect workgroups: who comes
//! to a word by an atomic knows all that earlier comers did before (see [`Contact`]).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::memory::allocation::zeroed_words;

/// A tag, and a mask of the bytes of a word in the low four bits. Records of later launches are greater.
type Record = AtomicU32;
const MASK_BITS: u32 = 4;
const ALL_BYTES: u32 = 15;

pub struct Races {
    words: usize,
    writers: OnceLock<Box<[Record]>>,
    readers: OnceLock<Box<[Record]>>,
}

/// The tags of one launch: `first..first + groups` for its workgroups, and two more.
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    first: u32,
    groups: u32,
}

static NEXT: AtomicU32 = AtomicU32::new(1);

impl Tags {
    /// `None` when the numbers are used up, after some hundred million workgroups in one process.
    pub fn take(groups: u32) -> Option<Tags> {
        let after = |next: u32| {
            next.checked_add(groups)?.checked_add(2).filter(|after| *after < 1 << (32 - MASK_BITS))
        };
        let first = NEXT.fetch_update(Relaxed, Relaxed, after).ok()?;
        Some(Tags { first, groups })
    }

    /// All workgroups that read with the same bytes.
    fn many(self) -> u32 {
        self.first + self.groups
    }

    fn shared(self) -> u32 {
        self.first + self.groups + 1
    }

    fn is_current(self, tag: u32) -> bool {
        tag >= self.first
    }
}

/// One workgroup's view.
pub struct Watch<'a> {
    pub tags: Tags,
    pub group: u32,
    /// Workgroups whose work is known to come before, through atomics.
    pub known: HashSet<u32>,
    pub contact: &'a Contact,
}

/// Which workgroups did an atomic on which address.
#[derive(Default)]
pub struct Contact(Mutex<HashMap<u64, Vec<u32>>>);

impl Watch<'_> {
    /// An atomic by this workgroup.
    pub fn meet(&mut self, address: u64) {
        let mut contact = self.contact.0.lock().unwrap_or_else(PoisonError::into_inner);
        let comers = contact.entry(address).or_default();
        self.known.extend(comers.iter().copied());
        if comers.last() != Some(&self.group) && !comers.contains(&self.group) {
            comers.push(self.group);
        }
        // What this workgroup learned elsewhere, later comers learn here.
        for known in &self.known {
            if !comers.contains(known) {
                comers.push(*known);
            }
        }
    }

    fn tag(&self) -> u32 {
        self.tags.first + self.group
    }

    /// Whether a record belongs to another workgroup that may run at the same time.
    fn is_foreign(&self, tag: u32) -> bool {
        let tags = self.tags;
        if !tags.is_current(tag) || tag == self.tag() || tag == tags.shared() {
            return false;
        }
        // Of many readers nobody knows which; an atomic may have ordered all of them.
        if tag == tags.many() { self.known.is_empty() } else { !self.known.contains(&(tag - tags.first)) }
    }
}

fn record(tag: u32, mask: u32) -> u32 {
    tag << MASK_BITS | mask
}

fn parts(record: u32) -> (u32, u32) {
    (record >> MASK_BITS, record & ALL_BYTES)
}

impl Races {
    pub fn new(bytes: u64) -> Races {
        Races { words: bytes.div_ceil(4) as usize + 1, writers: OnceLock::new(), readers: OnceLock::new() }
    }

    /// The records of all words: of writers, and of readers.
    #[inline(always)]
    pub fn records(&self) -> Records<'_> {
        Records {
            writers: self.writers.get_or_init(|| zeroed_words(self.words)),
            readers: self.readers.get_or_init(|| zeroed_words(self.words)),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Records<'a> {
    writers: &'a [Record],
    readers: &'a [Record],
}

impl Records<'_> {
    /// `bytes` bytes from `at`, touched by a workgroup. The byte and the other workgroup, when there is a race.
    #[inline(always)]
    pub fn touch(self, watch: &Watch<'_>, at: usize, bytes: usize, writes: bool) -> Option<(usize, u32)> {
        let end = at + bytes;
        if at.is_multiple_of(4) && bytes.is_multiple_of(4) {
            let words = at / 4..end / 4;
            let (writers, readers) = (&self.writers[words.clone()], &self.readers[words]);
            let (oldest, mine) = (record(watch.tags.first, 0), record(watch.tag(), ALL_BYTES));
            // Nobody but this workgroup in this launch: the usual case.
            let free = |found: &Record| {
                let found = found.load(Relaxed);
                found == mine || found < oldest
            };
            let usual = writers.iter().zip(readers).take_while(|(writer, reader)| {
                let is_free = free(writer) && free(reader);
                if is_free {
                    (if writes { writer } else { reader }).store(mine, Relaxed);
                }
                is_free
            });
            let done = usual.count();
            return self.look_closer(watch, at + 4 * done, end, writes);
        }
        self.look_closer(watch, at, end, writes)
    }

    fn look_closer(self, watch: &Watch<'_>, at: usize, end: usize, writes: bool) -> Option<(usize, u32)> {
        for word in at / 4..end.div_ceil(4) {
            let (from, to) = (at.max(4 * word) - 4 * word, end.min(4 * word + 4) - 4 * word);
            let mask = (1u32 << to) - (1 << from);
            let (writer, reader) = (&self.writers[word], &self.readers[word]);
            let (found_writer, found_reader) = (writer.load(Relaxed), reader.load(Relaxed));
            let other = collision(watch, found_writer, mask);
            let other = other.or_else(|| if writes { collision(watch, found_reader, mask) } else { None });
            if let Some(other) = other {
                return Some((4 * word + from, other));
            }
            let (own, old) = if writes { (writer, found_writer) } else { (reader, found_reader) };
            own.store(joined(watch, old, mask, writes), Relaxed);
        }
        None
    }
}

fn collision(watch: &Watch<'_>, found: u32, mask: u32) -> Option<u32> {
    let (tag, bytes) = parts(found);
    (bytes & mask != 0 && watch.is_foreign(tag)).then(|| tag - watch.tags.first)
}

/// The record after this workgroup came to it.
fn joined(watch: &Watch<'_>, old: u32, mask: u32, writes: bool) -> u32 {
    let (tag, bytes) = parts(old);
    if !watch.tags.is_current(tag) {
        record(watch.tag(), mask)
    } else if tag == watch.tag() {
        record(tag, bytes | mask)
    } else if tag != watch.tags.shared() && bytes == mask && !writes {
        record(watch.tags.many(), mask)
    } else if watch.known.contains(&(tag - watch.tags.first)) {
        record(watch.tag(), mask)
    } else {
        record(watch.tags.shared(), bytes | mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(tags: Tags, group: u32, contact: &Contact) -> Watch<'_> {
        Watch { tags, group, known: HashSet::new(), contact }
    }

    #[test]
    fn sees_readers_and_writers_of_one_byte() {
        let (races, contact) = (Races::new(64), Contact::default());
        let tags = Tags::take(3).unwrap();
        let (first, second) = (watch(tags, 0, &contact), watch(tags, 1, &contact));
        assert_eq!(races.records().touch(&first, 0, 16, true), None);
        assert_eq!(races.records().touch(&first, 0, 16, false), None);
        assert_eq!(races.records().touch(&second, 14, 2, false), Some((14, 0)));
        assert_eq!(races.records().touch(&second, 16, 4, false), None);
        assert_eq!(races.records().touch(&first, 18, 1, true), Some((18, 1)));
        // A later launch starts afresh.
        let tags = Tags::take(1).unwrap();
        assert_eq!(races.records().touch(&watch(tags, 0, &contact), 0, 20, true), None);
    }

    #[test]
    fn halves_of_a_word_are_not_one_byte() {
        let (races, contact) = (Races::new(64), Contact::default());
        let tags = Tags::take(2).unwrap();
        let (first, second) = (watch(tags, 0, &contact), watch(tags, 1, &contact));
        for (who, at) in [(&first, 0), (&second, 2)] {
            assert_eq!(races.records().touch(who, at, 2, false), None);
            assert_eq!(races.records().touch(who, at, 2, true), None);
        }
    }

    #[test]
    fn an_atomic_orders_workgroups() {
        let (races, contact) = (Races::new(64), Contact::default());
        let tags = Tags::take(2).unwrap();
        let (mut first, mut second) = (watch(tags, 0, &contact), watch(tags, 1, &contact));
        assert_eq!(races.records().touch(&first, 0, 4, true), None);
        first.meet(99);
        second.meet(99);
        assert_eq!(races.records().touch(&second, 0, 4, false), None);
    }
}
