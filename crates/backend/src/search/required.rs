//! What an index of characters can be asked for on behalf of a pattern.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// The longest text found that stands in whatever a regular expression matches; `None` where there is none, or it is no
/// regular expression. With the options of the search itself, so that both take a pattern for the same.
pub(crate) fn required(pattern: &str) -> Option<String> {
    let parsed = ParserBuilder::new().utf8(false).multi_line(true).crlf(true).build().parse(pattern).ok()?;
    longest(&parsed)
}

fn longest(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(std::str::from_utf8(&literal.0).ok()?.to_owned()),
        HirKind::Capture(capture) => longest(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => longest(&repetition.sub),
        // Neighbours are one literal already where nothing is between them.
        HirKind::Concat(parts) => parts.iter().filter_map(longest).max_by_key(|text| text.chars().count()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::required;

    #[test]
    fn what_every_match_holds_is_found() {
        for (pattern, text) in [
            ("note 0\\d+ of", Some("note 0")),
            ("^fn (long_name)\\(", Some("long_name")),
            ("(?:halyard)+ q", Some("halyard")),
            ("中文.*笔记本", Some("笔记本")),
            ("(?:note|nota) of", Some(" of")),
            ("a|b", None),
            ("(?i)note", None),
            ("(?:note)?", None),
            ("(?:note)*x", Some("x")),
            ("[a-z]+", None),
            ("(?-u:\\xff)ab", None),
            ("(", None),
        ] {
            assert_eq!(required(pattern).as_deref(), text, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn what_matches_holds_it(pattern in "[abc.|?*+()]{1,12}", text in "[abc]{0,12}") {
            let Ok(matcher) = grep_regex::RegexMatcherBuilder::new().multi_line(true).crlf(true).build(&pattern) else {
                return Ok(());
            };
            use grep_matcher::Matcher;
            if let (Some(run), Ok(true)) = (required(&pattern), matcher.is_match(text.as_bytes())) {
                prop_assert!(text.contains(&run), "{pattern} needs {run}, and {text} has it not");
            }
        }
    }
}
