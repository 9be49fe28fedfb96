//! A place in a file being read, which never moves past the end.

use std::fmt::Display;

use super::GgufError;

/// Reads little-endian fields one after another. Every method names what it reads, for the error.
pub(super) struct Cursor<'a> {
    pub(super) file: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        Self { file, bytes, at: 0 }
    }

    /// The offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// The bytes not yet read.
    pub(super) fn rest(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: u64, what: &dyn Display) -> Result<&'a [u8], GgufError> {
        if count > self.rest() {
            return Err(GgufError::Truncated {
                file: self.file.to_owned(),
                what: what.to_string(),
                offset: self.offset(),
                wanted: count,
                size: self.bytes.len() as u64,
            });
        }
        let start = self.at;
        self.at += count as usize;
        Ok(&self.bytes[start..self.at])
    }

    pub(super) fn array<const N: usize>(&mut self, what: &dyn Display) -> Result<[u8; N], GgufError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64, what)?);
        Ok(out)
    }

    pub(super) fn u32(&mut self, what: &dyn Display) -> Result<u32, GgufError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &dyn Display) -> Result<u64, GgufError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A count of things of at least `least` bytes each, of which there are `limit` at most.
    pub(super) fn count(&mut self, least: u64, limit: u64, what: &dyn Display) -> Result<u64, GgufError> {
        let count = self.u64(what)?;
        let most = (self.rest() / least).min(limit);
        if count > most {
            return Err(GgufError::Count { file: self.file.to_owned(), what: what.to_string(), count, most });
        }
        Ok(count)
    }

    /// The bytes of a string: a length, then as many bytes.
    pub(super) fn string(&mut self, what: &dyn Display) -> Result<&'a [u8], GgufError> {
        let length = self.u64(what)?;
        self.take(length, what)
    }

    /// A UTF-8 string of at most `limit` bytes.
    pub(super) fn text(&mut self, limit: u64, what: &dyn Display) -> Result<&'a str, GgufError> {
        let length = self.u64(what)?;
        if length > limit {
            return Err(GgufError::TooLong {
                file: self.file.to_owned(),
                what: what.to_string(),
                length,
                limit,
            });
        }
        let offset = self.offset();
        std::str::from_utf8(self.take(length, what)?).map_err(|_| GgufError::Utf8 {
            file: self.file.to_owned(),
            what: what.to_string(),
            offset,
        })
    }
}
