//! Thinking that stands in the text itself, between `<think>` and `</think>` at its beginning: what vLLM, TabbyAPI, Groq
//! and many gateways send of a model that thinks where nobody told them how to read it.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Blanks in front of the tag that are waited through, in bytes.
const BLANKS: usize = 64;

/// A part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Thought(String),
    Spoken(String),
}

/// The text of one reply as it comes.
#[derive(Debug)]
pub(super) enum ThinkTags {
    /// Nothing was said yet; what is held may become the tag.
    Before(String),
    /// The thinking goes on; what is held may become the end of it.
    Within(String),
    /// The answer is about to begin, without the blanks in front of it.
    Behind,
    /// The answer goes on.
    Past,
}

impl Default for ThinkTags {
    fn default() -> Self {
        Self::Before(String::new())
    }
}

impl ThinkTags {
    pub(super) fn take(&mut self, text: &str) -> Vec<Piece> {
        match self {
            Self::Past => vec![Piece::Spoken(text.to_owned())],
            Self::Behind => self.answer(text).into_iter().collect(),
            Self::Before(held) => {
                held.push_str(text);
                let told = held.trim_start();
                if let Some(rest) = told.strip_prefix(OPEN) {
                    let rest = rest.to_owned();
                    *self = Self::Within(String::new());
                    return self.take(&rest);
                }
                if held.len() < BLANKS && OPEN.starts_with(told) {
                    return Vec::new();
                }
                self.end()
            }
            Self::Within(held) => {
                held.push_str(text);
                if let Some((thought, answer)) = held.split_once(CLOSE) {
                    let (thought, answer) = (thought.to_owned(), answer.to_owned());
                    *self = Self::Behind;
                    return of_thought(thought).into_iter().chain(self.answer(&answer)).collect();
                }
                let may_go_on =
                    (1..CLOSE.len()).rev().find(|length| held.ends_with(CLOSE.get(..*length).unwrap_or(CLOSE)));
                let rest = held.split_off(held.len() - may_go_on.unwrap_or(0));
                of_thought(std::mem::replace(held, rest)).into_iter().collect()
            }
        }
    }

    /// What is held, where no more of the text comes: from here on all of it is the answer.
    pub(super) fn end(&mut self) -> Vec<Piece> {
        match std::mem::replace(self, Self::Past) {
            Self::Before(held) if !held.is_empty() => vec![Piece::Spoken(held)],
            Self::Within(held) => of_thought(held).into_iter().collect(),
            Self::Before(_) | Self::Behind | Self::Past => Vec::new(),
        }
    }

    fn answer(&mut self, text: &str) -> Option<Piece> {
        let text = text.trim_start();
        if text.is_empty() {
            return None;
        }
        *self = Self::Past;
        Some(Piece::Spoken(text.to_owned()))
    }
}

fn of_thought(text: String) -> Option<Piece> {
    (!text.is_empty()).then_some(Piece::Thought(text))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// What is thought and what is said of a text that comes in these pieces.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut tags = ThinkTags::default();
        let mut read: Vec<Piece> = pieces.into_iter().flat_map(|piece| tags.take(piece)).collect();
        read.extend(tags.end());
        let (mut thought, mut spoken) = (String::new(), String::new());
        for piece in read {
            match piece {
                Piece::Thought(text) => {
                    assert_eq!(spoken, "", "nothing is thought behind the answer");
                    thought.push_str(&text);
                }
                Piece::Spoken(text) => spoken.push_str(&text),
            }
        }
        (thought, spoken)
    }

    #[test]
    fn a_text_is_read_alike_however_it_is_cut() {
        for (text, thought, spoken) in [
            ("\n<think>\nHm, 2 < 3.\n</think>\n\nYes, <think> is a tag.", "\nHm, 2 < 3.\n", "Yes, <think> is a tag."),
            ("<think></think>Yes.", "", "Yes."),
            ("<think>only that </thin", "only that </thin", ""),
            ("<thing> is XML.", "", "<thing> is XML."),
            ("  A list:\n", "", "  A list:\n"),
            ("<", "", "<"),
            ("", "", ""),
        ] {
            let expected = (thought.to_owned(), spoken.to_owned());
            assert_eq!(read([text]), expected, "{text:?}");
            let letters: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(read(letters.iter().map(String::as_str)), expected, "{text:?} letter by letter");
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let (one, other) = text.split_at(at);
                assert_eq!(read([one, other]), expected, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn blanks_are_not_waited_for_without_an_end() {
        let mut tags = ThinkTags::default();
        let blanks = " ".repeat(BLANKS);
        assert_eq!(tags.take(&blanks), [Piece::Spoken(blanks.clone())]);
    }
}
