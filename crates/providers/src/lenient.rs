//! Readers for fields that servers fill in different ways.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// More tokens than any model reads in one call; a larger figure is a fault of the server.
const MOST_TOKENS: u64 = 10_000_000_000;

/// A number of tokens, or `None` for whatever cannot be one (negative, absurd, not a number).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of tokens")
    }

    fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
        Ok(Count((count <= MOST_TOKENS).then_some(count)))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Count, E> {
        Ok(Count(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Count, E> {
        Ok(Count(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
        Ok(Count(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Count, E> {
        Ok(Count(None))
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Count, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Count(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Count, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Count(None))
    }
}

/// A part of a reply that nothing depends on: what is not of the shape that is looked for says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str::<Option<T>>(raw.get()).ok().flatten()))
    }
}

/// A sum of US dollars, or `None` for whatever cannot be one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Dollars(pub(crate) Option<f64>);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sum = Value::deserialize(deserializer)?.as_f64();
        Ok(Self(sum.filter(|sum| sum.is_finite() && (0.0..MOST_DOLLARS).contains(sum))))
    }
}

/// More than any call costs; a larger figure is a fault of the server.
const MOST_DOLLARS: f64 = 1e6;

/// Text given as a string, as `null`, or as a list of parts of which those of type `text` count. Borrows from the input
/// where the string has no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Content::deserialize(deserializer).map(|content| Self(content.text))
    }
}

/// [`Text`] in whose list parts of type `thinking` count, too: Mistral's, each a text or a list of parts again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content<'a> {
    pub(crate) thinking: Cow<'a, str>,
    pub(crate) text: Cow<'a, str>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

#[derive(Deserialize)]
struct ContentPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
}

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
        Ok(Content { text: Cow::Borrowed(text), ..Content::default() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
        Ok(Content { text: Cow::Owned(text.to_owned()), ..Content::default() })
    }

    fn visit_string<E>(self, text: String) -> Result<Content<'de>, E> {
        Ok(Content { text: Cow::Owned(text), ..Content::default() })
    }

    fn visit_unit<E>(self) -> Result<Content<'de>, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content<'de>, A::Error> {
        let mut content = Content::default();
        while let Some(part) = parts.next_element::<ContentPart<'de>>()? {
            match part.kind.as_deref() {
                None | Some("text") => content.text.to_mut().push_str(&part.text.unwrap_or_default()),
                Some("thinking") => content.thinking.to_mut().push_str(&part.thinking.0),
                Some(_) => {}
            }
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn absurd_counts_are_unknown() {
        let counts: Vec<Count> =
            serde_json::from_str(r#"[7, 0, -1, 1.5, 1000000000000000, "9", null, true, [1], {"a": 1}]"#).unwrap();
        let known: Vec<_> = counts.into_iter().map(|count| count.0).collect();
        assert_eq!(known, [Some(7), Some(0), None, None, None, None, None, None, None, None]);
    }

    #[test]
    fn text_comes_in_three_shapes_and_no_other() {
        let read = |json| serde_json::from_str::<Text<'_>>(json).map(|text| text.0.into_owned());
        assert_eq!(read(r#""a\nb""#).unwrap(), "a\nb");
        assert_eq!(read("null").unwrap(), "");
        assert_eq!(read(r#"[{"type":"text","text":"a"},{"type":"thinking","text":"x"},{"text":"b"}]"#).unwrap(), "ab");
        assert!(read("42").is_err());
    }

    #[test]
    fn thinking_in_parts_is_told_from_text() {
        let both = |json: &str| {
            let content: Content<'_> = serde_json::from_str(json).unwrap();
            (content.thinking.into_owned(), content.text.into_owned())
        };
        let thought = r#"{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"reference"},{"type":"text","text":"m"}]}"#;
        assert_eq!(both(&format!(r#"[{thought},{{"type":"text","text":"a"}}]"#)), ("hm".into(), "a".into()));
        assert_eq!(both(r#"[{"type":"thinking","thinking":"hm"}]"#), ("hm".into(), String::new()));
        assert_eq!(both(r#""a""#), (String::new(), "a".into()));
    }
}
