use std::borrow::Cow;

/// Longest text quoted whole, in characters.
const WHOLE: usize = 400;
/// Of a longer one, what is quoted of its beginning and of its end.
const HEAD: usize = 300;
const TAIL: usize = 80;

/// `text` as a sentence quotes it: whole, or both ends of what is over 400 characters, with `…` between them. What a model
/// wrote comes back to it in an error, and is not to fill the conversation again.
pub fn quoted(text: &str) -> Cow<'_, str> {
    let Some((head, _)) = text.char_indices().nth(WHOLE).and_then(|_| text.char_indices().nth(HEAD)) else {
        return text.into();
    };
    let tail = text.char_indices().nth_back(TAIL - 1).map_or(text.len(), |(at, _)| at);
    format!("{}…{}", text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::quoted;

    #[test]
    fn what_is_short_stands_whole_and_of_what_is_long_both_ends() {
        for text in ["", "zz\n", &"é".repeat(400)] {
            assert_eq!(quoted(text), text);
        }
        let long = format!("{}{}{}", "é".repeat(300), "x".repeat(100_000), "漢".repeat(80));
        assert_eq!(quoted(&long), format!("{}…{}", "é".repeat(300), "漢".repeat(80)));
    }
}
