//! The printable alphabet in which byte-level vocabularies write bytes.
//!
//! Bytes 33..=126, 161..=172 and 174..=255 stand for themselves as code points; the other 68 bytes, in order, are the
//! code points from 256 on (the table of GPT-2's published encoder).

/// The character that stands for `byte`.
pub(super) fn char_of(byte: u8) -> char {
    let code = match byte {
        0..=32 => 256 + u32::from(byte),
        127..=160 => 256 + 33 + u32::from(byte - 127),
        173 => 256 + 67,
        _ => u32::from(byte),
    };
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte that `character` stands for; `None` if it is not in the alphabet.
pub(super) fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    let byte = match code {
        33..=126 | 161..=172 | 174..=255 => code,
        256..=288 => code - 256,
        289..=322 => code - 289 + 127,
        323 => 173,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_character() {
        let mut seen = std::collections::BTreeSet::new();
        for byte in 0..=255 {
            assert_eq!(byte_of(char_of(byte)), Some(byte));
            assert!(seen.insert(char_of(byte)));
        }
        assert_eq!(char_of(b' '), 'Ġ');
        assert_eq!(char_of(b'\n'), 'Ċ');
        assert_eq!(byte_of(' '), None);
        assert_eq!(byte_of('漢'), None);
    }
}
