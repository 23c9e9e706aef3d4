//! JSON, as far as a policy needs it: every value remembers how it was written, so that an error can show it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::text::push;

/// Values nest no deeper than this; a policy needs four levels.
const MOST_LEVELS: usize = 16;

/// A value and its text, whose first byte says what it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Json<'a> {
    /// What an object calls it.
    pub name: String,
    /// As it was written.
    pub text: &'a str,
    /// What it spells, when it is text.
    string: String,
    /// What is in it, in the order it was written, when it is an array or an object.
    items: Vec<Json<'a>>,
}

impl<'a> Json<'a> {
    /// Reads one value and nothing else. The error is the byte at which it stops being JSON.
    pub fn read(text: &'a str) -> Result<Self, usize> {
        let mut reader = Reader { text, at: 0 };
        let mut value = Self::default();
        reader.value(&mut value, 0).ok_or(reader.at)?;
        reader.space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.at) }
    }

    /// The text, when it is text.
    pub fn as_text(&self) -> Option<&str> {
        self.text.starts_with('"').then_some(&self.string)
    }

    /// The items, when it is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        self.text.starts_with('[').then_some(&self.items)
    }

    /// The fields, when it is an object.
    pub fn as_object(&self) -> Option<&[Self]> {
        self.text.starts_with('{').then_some(&self.items)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    #[inline(never)]
    fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek()? != byte {
            return None;
        }
        self.skip();
        Some(())
    }

    #[inline(never)]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.skip();
        }
    }

    fn value(&mut self, value: &mut Json<'a>, level: usize) -> Option<()> {
        if level > MOST_LEVELS {
            return None;
        }
        self.space();
        let start = self.at;
        match self.peek()? {
            b'"' => self.string(&mut value.string)?,
            b'[' => self.list(&mut value.items, b']', level)?,
            b'{' => self.list(&mut value.items, b'}', level)?,
            _ => {
                let read = self.word();
                // Nor may a word go on.
                if read.is_none() || matches!(self.peek(), Some(b'a'..=b'z' | b'0'..=b'9' | b'+' | b'-' | b'.' | b'E'))
                {
                    self.at = start;
                    return None;
                }
            }
        }
        value.text = self.text.get(start..self.at)?;
        Some(())
    }

    /// `null`, `true`, `false` or a number.
    fn word(&mut self) -> Option<()> {
        for word in ["null", "true", "false"] {
            if self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes()) {
                self.at = self.at.saturating_add(word.len());
                return Some(());
            }
        }
        self.take(b'-');
        if self.take(b'0').is_none() {
            self.digits()?;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if self.take(b'e').or_else(|| self.take(b'E')).is_some() {
            let _ = self.take(b'+').or_else(|| self.take(b'-'));
            self.digits()?;
        }
        Some(())
    }

    /// One digit at least.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.skip();
        }
        (self.at > start).then_some(())
    }

    /// Items between commas, up to `end`; those of an object have names.
    fn list(&mut self, items: &mut Vec<Json<'a>>, end: u8, level: usize) -> Option<()> {
        self.skip();
        self.space();
        if self.take(end).is_some() {
            return Some(());
        }
        loop {
            self.space();
            let mut item = Json::default();
            if end == b'}' {
                self.string(&mut item.name)?;
                self.space();
                self.take(b':')?;
            }
            self.value(&mut item, level.saturating_add(1))?;
            items.push(item);
            self.space();
            if self.take(end).is_some() {
                return Some(());
            }
            self.take(b',')?;
        }
    }

    fn string(&mut self, string: &mut String) -> Option<()> {
        self.take(b'"')?;
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.skip();
            }
            push(string, self.text.get(start..self.at)?);
            if self.take(b'"').is_some() {
                return Some(());
            }
            self.take(b'\\')?;
            push(string, self.escape()?.encode_utf8(&mut [0; 4]));
        }
    }

    fn escape(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.skip();
        Some(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                // Half a character must be followed by its other half.
                if !(0xd800..0xdc00).contains(&unit) {
                    return char::from_u32(unit);
                }
                self.take(b'\\')?;
                self.take(b'u')?;
                let low = self.unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                let high = unit.saturating_sub(0xd800);
                return char::from_u32((high << 10 | low).saturating_add(0x1_0000));
            }
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let end = self.at.saturating_add(4);
        let digits = self.text.get(self.at..end)?;
        self.at = end;
        digits.bytes().try_fold(0, |unit: u32, digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
    }
}

/// What is written after a backslash: each character, and then its letter.
const ESCAPES: &str = "\"\"\\\\\u{8}b\u{c}f\nn\rr\tt";

/// Appends text as JSON.
pub(crate) fn push_quoted(json: &mut String, text: &str) {
    push(json, "\"");
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        push(json, text.get(from..at).unwrap_or_default());
        from = at.saturating_add(1);
        push(json, "\\");
        if let Some(place) = ESCAPES.bytes().step_by(2).position(|escaped| escaped == byte) {
            push_one(json, ESCAPES, place.wrapping_mul(2).wrapping_add(1));
        } else {
            push(json, "u00");
            push_one(json, "01", usize::from(byte >> 4));
            push_one(json, "0123456789abcdef", usize::from(byte & 15));
        }
    }
    push(json, text.get(from..).unwrap_or_default());
    push(json, "\"");
}

/// Appends the letter of `letters`, which are ASCII, that is at `place`.
#[inline(never)]
fn push_one(json: &mut String, letters: &str, place: usize) {
    push(json, letters.get(place..place.saturating_add(1)).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_json_is_read_as_another_reader_does() {
        for text in [
            "null",
            " true ",
            "0",
            "-0",
            "-1.5e+10",
            "1E3",
            r#""""#,
            r#""a\"\\\/\b\f\n\r\t\u00e9\ud83c\udf0aé🌊""#,
            "[]",
            "[1, [2], {}]",
            r#"{"a":1,"b":{"c":[null,false]}}"#,
            "{ }",
        ] {
            let read = Json::read(text).unwrap();
            assert_eq!(read.text, text.trim());
            let other: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(read.as_text(), other.as_str(), "{text}");
            assert_eq!(read.as_object().map(<[_]>::len), other.as_object().map(serde_json::Map::len), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused_at_its_place() {
        for (text, at) in [
            ("", 0),
            ("nul", 0),
            ("01", 0),
            ("1.", 0),
            (".5", 0),
            ("1e", 0),
            ("+1", 0),
            ("NaN", 0),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("{\"a\"}", 4),
            ("{a:1}", 1),
            ("{\"a\":1,}", 7),
            ("\"abc", 4),
            ("\"\n\"", 1),
            (r#""\x""#, 3),
            (r#""\ud800""#, 7),
            (r#""\ud800\u0041""#, 13),
            (r#""\udc00""#, 7),
            ("1 2", 2),
            ("'a'", 0),
        ] {
            assert_eq!(Json::read(text).map(|value| value.text), Err(at), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(Json::read(&deep).map(|value| value.text), Err(MOST_LEVELS + 1));
    }

    #[test]
    fn text_is_written_as_another_writer_does() {
        let all: String = (0..0x250).filter_map(char::from_u32).chain(['\u{2028}', '🌊']).collect();
        let mut json = String::new();
        push_quoted(&mut json, &all);
        assert_eq!(json, serde_json::to_string(&all).unwrap());
        assert_eq!(Json::read(&json).unwrap().as_text(), Some(all.as_str()));
    }
}
