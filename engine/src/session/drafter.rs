//! Who guesses: the model's own draft block, or the text so far.

use super::{Feed, Session, Speculation, inputs};
use crate::Error;
use crate::models::{Batch, Rows, names};
use weft_core::kernels::sample::Draw;

/// Kinds of drafters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftBy {
    /// The model's own draft block (multi-token prediction).
    Mtp,
    /// What followed the last tokens where they stood before.
    Ngram,
}

impl DraftBy {
    /// All of them with the names that other engines know.
    pub const NAMES: [(&str, Self); 2] = [("draft-mtp", DraftBy::Mtp), ("ngram", DraftBy::Ngram)];
}

pub(super) enum Drafter {
    Mtp(Mtp),
    Ngram { most: u64 },
}

impl Drafter {
    /// # Errors
    /// The model has no draft block, or the options are out of range.
    pub fn new(session: &Session, speculation: &Speculation) -> Result<Self, Error> {
        speculation.validate()?;
        Ok(match speculation.by {
            DraftBy::Ngram => Drafter::Ngram { most: speculation.most },
            DraftBy::Mtp => {
                session.model().drafter().check_drafter(session.options().cache)?;
                Drafter::Mtp(Mtp { speculation: *speculation, cells: 0 })
            }
        })
    }

    /// Takes from the session what a ubatch of so many tokens would overwrite.
    pub fn make_room(&mut self, session: &mut Session, tokens: u64) -> Result<(), Error> {
        let Drafter::Mtp(mtp) = self else { return Ok(()) };
        // What the ubatch is to be sampled by is set already.
        let sampling = std::mem::take(&mut session.inputs.sampling);
        let made = mtp.make_room(session, tokens);
        session.inputs.sampling = sampling;
        made
    }

    /// Guesses what follows `id`, which is not processed yet: at most `room` tokens.
    pub fn guess(&mut self, session: &mut Session, id: u32, room: u64) -> Result<Vec<u32>, Error> {
        match self {
            Drafter::Mtp(mtp) => mtp.guess(session, id, room),
            Drafter::Ngram { most } => Ok(seen_before(session.tokens(), id, room.min(*most) as usize)),
        }
    }
}

/// The draft block: a layer of attention with a cache of its own, one cell behind the trunk's.
///
/// Its cell t reads the trunk's residual of token t and the embedding of token t + 1. Cells of tokens that were only guessed
/// hold what it made of its own residuals; they are written anew when the trunk has processed those tokens.
pub(super) struct Mtp {
    speculation: Speculation,
    /// Cells that hold what the trunk's residuals gave.
    cells: u64,
}

/// More tokens than this are caught up with in a ubatch of their own.
const FEW: u64 = 17;

impl Mtp {
    /// The sequence was cut to so many tokens.
    pub fn cut(&mut self, tokens: u64) {
        self.cells = self.cells.min(tokens.saturating_sub(1));
    }

    /// Catches up with the trunk, as far as the next token of each is known, if its residuals would be overwritten by
    /// `tokens` more.
    fn make_room(&mut self, session: &mut Session, tokens: u64) -> Result<(), Error> {
        let known = session.tokens.len() as u64;
        if known + tokens - self.cells < session.kept() {
            Ok(())
        } else {
            self.catch_up(session, known.saturating_sub(1))
        }
    }

    fn catch_up(&mut self, session: &mut Session, to: u64) -> Result<(), Error> {
        while self.cells < to {
            let count = (to - self.cells).min(session.options.ubatch);
            let from = self.cells as usize + 1;
            let ids = session.tokens[from..from + count as usize].to_vec();
            session.draft(&ids, self.cells, Rows::None, None)?;
            self.cells += count;
        }
        Ok(())
    }

    fn guess(&mut self, session: &mut Session, id: u32, room: u64) -> Result<Vec<u32>, Error> {
        let most = room.min(self.speculation.most) as usize;
        let known = session.tokens.len() as u64;
        if most == 0 || known == 0 {
            return Ok(Vec::new());
        }
        // The last cell was about a token that a cancelled round did not process.
        self.cut(known);
        if known - self.cells > FEW {
            self.catch_up(session, known - 1)?;
        }
        let mut ids = session.tokens[self.cells as usize + 1..].to_vec();
        ids.push(id);
        let rows = if ids.len() == 1 { Rows::All } else { Rows::Some(1) };
        let mut next = session.draft(&ids, self.cells, rows, None)?;
        self.cells = known;
        let mut guesses = Vec::with_capacity(most);
        while let Some((id, probability)) = next.take() {
            if probability < self.speculation.least_probability {
                break;
            }
            guesses.push(id);
            if guesses.len() == most {
                break;
            }
            let cell = known + guesses.len() as u64 - 1;
            next = session.draft(&[id], cell, Rows::All, Some(session.kept() - 1))?;
        }
        Ok(guesses)
    }
}

impl Session {
    /// Lets the drafter work on the session that it belongs to; nothing is made without one.
    pub(super) fn with_drafter<T: Default>(
        &mut self,
        work: impl FnOnce(&mut Drafter, &mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Some(mut drafter) = self.drafter.take() else { return Ok(T::default()) };
        let made = work(&mut drafter, self);
        // A failure may have emptied the session behind its back.
        if let (Err(_), Drafter::Mtp(mtp)) = (&made, &mut drafter) {
            mtp.cut(self.tokens.len() as u64);
        }
        self.drafter = Some(drafter);
        made
    }

    /// Runs the draft block on tokens whose cells begin at `cell`; `before` names the residual that a single token follows,
    /// if it is not the trunk's. Gives the likeliest next token and its probability.
    fn draft(
        &mut self,
        ids: &[u32],
        cell: u64,
        rows: Rows,
        before: Option<u64>,
    ) -> Result<Option<(u32, f32)>, Error> {
        let sample = rows != Rows::None;
        let batch = Batch { draft: true, sample, snapshots: 1, ..self.batch(ids.len() as u64, rows) };
        let limit = self.model.tokenizer().valid_ids();
        self.inputs.sampling = inputs::words(&[Draw { limit, ..Draw::default() }]);
        let ring = self.kept() - 1;
        let feed = Feed { ids, cell, ahead: 1, plane: 0, rows, kept: (cell % ring, ring) };
        let tickets = self.launch(batch, &feed, before)?;
        if !sample {
            return Ok(None);
        }
        let mut words = [0i32; 2];
        self.output(&tickets, names::SAMPLED, bytemuck::cast_slice_mut(&mut words))?;
        // Without a finite logit there is no guess; the trunk will say what is wrong.
        let id = u32::try_from(words[0]).ok();
        Ok(id.map(|id| (id, f32::from_bits(words[1].cast_unsigned()).exp())))
    }

    /// Logits that the draft block gives, from the trunk's residuals, for every token of `ids` but the first of a
    /// sequence: row t is about the token after `ids[t + 1]`. The session must draft by [`DraftBy::Mtp`].
    ///
    /// # Errors
    /// As [`Session::prefill`], or the session does not draft.
    pub fn evaluate_drafts(&mut self, ids: &[u32]) -> Result<Vec<f32>, Error> {
        self.check(ids)?;
        let width = self.logits.len();
        let mut all = Vec::new();
        for piece in ids.chunks(self.options.ubatch as usize) {
            self.run(piece, Rows::None)?;
            let Some(Drafter::Mtp(mtp)) = &mut self.drafter else {
                return Err(Error::Option {
                    name: "speculation",
                    value: "none or ngram".to_owned(),
                    why: "only a draft block has logits",
                });
            };
            let (cell, known) = (mtp.cells, self.tokens.len() as u64);
            mtp.cells = known - 1;
            let rows = self.tokens[cell as usize + 1..].to_vec();
            if rows.is_empty() {
                continue;
            }
            let batch = Batch { draft: true, snapshots: 1, ..self.batch(rows.len() as u64, Rows::All) };
            let ring = self.kept() - 1;
            let feed =
                Feed { ids: &rows, cell, ahead: 1, plane: 0, rows: Rows::All, kept: (cell % ring, ring) };
            let tickets = self.launch(batch, &feed, None)?;
            let start = all.len();
            all.resize(start + rows.len() * width, 0.0);
            self.output(&tickets, names::LOGITS, bytemuck::cast_slice_mut(&mut all[start..]))?;
        }
        Ok(all)
    }
}

/// Longest run of last tokens that is looked for.
const LONGEST: usize = 4;

/// What followed the last tokens, `id` among them, where they stood last before: the longest run of them that did.
fn seen_before(tokens: &[u32], id: u32, most: usize) -> Vec<u32> {
    let mut all = tokens.to_vec();
    all.push(id);
    let end = all.len();
    for length in (2..=LONGEST.min(end.saturating_sub(1))).rev() {
        let last = &all[end - length..];
        let found = all[..end - 1].windows(length).rposition(|run| run == last);
        if let Some(at) = found {
            let next = at + length;
            return all[next..end.min(next + most)].to_vec();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::seen_before;

    #[test]
    fn what_followed_before_is_guessed() {
        assert_eq!(seen_before(&[1, 2, 3, 4, 5, 1], 2, 3), [3, 4, 5]);
        assert_eq!(seen_before(&[1, 2, 3, 1], 2, 8), [3, 1, 2]);
        // The longest run counts, and of equally long ones the last.
        assert_eq!(seen_before(&[7, 1, 2, 8, 1, 2, 9, 7, 1], 2, 1), [8]);
        assert_eq!(seen_before(&[1, 2, 8, 1, 2, 9, 1], 2, 1), [9]);
        assert!(seen_before(&[1, 2, 3], 4, 3).is_empty());
        assert!(seen_before(&[], 4, 3).is_empty());
    }
}
