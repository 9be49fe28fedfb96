//! Tables of segments: several sequences of unequal length, fresh and not, between unused entries.

use crate::subject::{Values, is_distinct};
use weft_core::contract::draw::Case;
use weft_core::segment::Segment;
use weft_tests::Random;

/// A table for a case's `segments` port: `rows` of the ubatch over `slots`, each slot at most once. Now and then the last
/// rows belong to nobody.
pub fn table(case: &Case, rows: u64, slots: u64, snapshots: u64, random: &mut Random) -> Vec<Segment> {
    let Some(layout) = case.layout("segments") else { return Vec::new() };
    let entries = layout.shape[1];
    let mut all = vec![Segment::default(); entries as usize];
    // Entries that share bytes would be one sequence twice: all stay unused.
    if !is_distinct(case, "segments") {
        return all;
    }
    // What an unused entry holds besides its count means nothing.
    all.iter_mut().for_each(|s| (s.slot, s.row, s.position) = (9999, 9999, 9999));
    let mut order: Vec<u32> = (0..slots as u32).collect();
    shuffle(&mut order, random);
    let mut places: Vec<usize> = (0..entries as usize).collect();
    shuffle(&mut places, random);
    let active = 1 + random.below(entries.min(slots).max(1));
    let end = if random.below(3) == 0 { rows - random.below(rows.min(3) + 1) } else { rows };
    let mut cuts: Vec<u64> = (1..active).map(|_| random.below(end + 1)).collect();
    cuts.extend([0, end]);
    cuts.sort_unstable();
    for ((cut, slot), place) in cuts.windows(2).zip(order).zip(places) {
        all[place] = Segment {
            slot,
            row: cut[0] as u32,
            count: (cut[1] - cut[0]) as u32,
            position: random.below(24) as u32,
            fresh: random.below(3) == 0,
            // Beyond the last plane the oldest one is meant.
            plane: random.below(snapshots + 1) as u32,
        };
    }
    all
}

/// The table as values.
pub fn words(table: &[Segment]) -> Values {
    let words: Vec<[i32; 8]> = table.iter().map(Segment::words).collect();
    Box::new(move |[word, entry, ..], _| f64::from(words[entry as usize][word as usize]))
}

/// The segment that uses a slot, if one does.
pub fn of_slot(table: &[Segment], slot: u64) -> Option<Segment> {
    table.iter().find(|s| s.count > 0 && u64::from(s.slot) == slot).copied()
}

/// Values of a state pool: those given in the planes that segments start from, NaN in all others.
pub fn states(table: &[Segment], snapshots: u64, distinct: bool, mut given: Values) -> Values {
    let table = table.to_vec();
    Box::new(move |index, random| {
        let (slot, plane) = (index[3] / snapshots, index[3] % snapshots);
        let starts = |s: Segment| !s.fresh && plane == u64::from(s.plane).min(snapshots - 1);
        let used = !distinct || of_slot(&table, slot).is_some_and(starts);
        if used { given(index, random) } else { f64::NAN }
    })
}

/// The values of a state pool that nobody may read.
pub fn no_states(snapshots: u64) -> Values {
    states(&[], snapshots, true, Box::new(|_, _| f64::NAN))
}

/// Values of a convolution's history: numbers where a sequence goes on, NaN in all other slots.
pub fn history(table: &[Segment], distinct: bool) -> Values {
    let table = table.to_vec();
    Box::new(move |[_, _, slot, _], random| {
        let used = !distinct || of_slot(&table, slot).is_some_and(|s| !s.fresh);
        if used { f64::from(random.unit()) / 4.0 + 0.75 } else { f64::NAN }
    })
}

fn shuffle<T>(all: &mut [T], random: &mut Random) {
    for at in (1..all.len()).rev() {
        all.swap(at, random.below(at as u64 + 1) as usize);
    }
}
