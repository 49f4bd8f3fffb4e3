use bosun_agent::EntryBody;
use bosun_model::{Message, text_of};
use bosun_protocol::{ItemId, SnippetPart};
use bosun_store::words_of;

use crate::projection::{head_and_tail, shown};

/// Characters of a snippet before and behind the first word that was found.
const BEFORE: usize = 40;
const BEHIND: usize = 140;
/// Arguments whose text is worth finding.
const OBJECTS: [&str; 5] = ["file_path", "path", "pattern", "command", "description"];

/// Tools whose results stand elsewhere too: in files, in what a subagent said, on the board.
const SAID_ELSEWHERE: [&str; 9] =
    ["ls", "glob", "grep", "read_file", "edit_file", "write_file", "delete", "task", "write_todos"];
/// Of what a tool says so many bytes can be searched, of its beginning and its end.
const OUTPUT: usize = 8 * 1024;

/// The text of an entry that can be searched, and the row that it stands in; that of a call is told by its proposal.
pub(crate) fn searchable(body: &EntryBody) -> Option<(Option<ItemId>, String)> {
    let (item, text) = match body {
        EntryBody::TurnStarted { message, .. } | EntryBody::Steered { message } => {
            (Some(ItemId::new(message.id.as_str())), text_of(&message.content))
        }
        EntryBody::Ai { message, .. } => {
            let objects = message.tool_calls.iter().flat_map(|call| {
                OBJECTS.iter().filter_map(|name| call.args.get(name).and_then(|value| value.as_str()))
            });
            let text = std::iter::once(message.text().as_str()).chain(objects).collect::<Vec<_>>().join("\n");
            (Some(ItemId::new(message.id.as_str())), text)
        }
        EntryBody::ToolResult { message, artifact, .. } => match &**message {
            Message::Tool(result) if !SAID_ELSEWHERE.contains(&result.name.as_str()) => {
                (None, head_and_tail(&shown(message, &artifact.framing), OUTPUT).0)
            }
            _ => return None,
        },
        EntryBody::Titled { title } => (None, title.clone()),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some((item, text))
}

/// The first place of one of the words in `text`, with what stands around it and every word marked.
pub(crate) fn snippet(text: &str, words: &str) -> Vec<SnippetPart> {
    let letters: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let lowered: Vec<char> = letters.iter().map(|letter| lower(*letter)).collect();
    let words: Vec<Vec<char>> = words_of(words).into_iter().map(|word| word.chars().map(lower).collect()).collect();
    let hit_at = |at: usize| {
        let here = lowered.get(at..).unwrap_or_default();
        words.iter().filter(|word| here.starts_with(word)).map(Vec::len).max()
    };
    let first = (0..lowered.len()).find(|at| hit_at(*at).is_some()).unwrap_or(0);
    let (start, end) = (first.saturating_sub(BEFORE), (first + BEHIND).min(letters.len()));
    let mut parts = Vec::new();
    let mut plain = String::from(if start > 0 { "…" } else { "" });
    let mut at = start;
    while at < end {
        match hit_at(at) {
            Some(length) => {
                push(&mut parts, std::mem::take(&mut plain), false);
                push(&mut parts, letters.iter().skip(at).take(length).collect(), true);
                at += length;
            }
            None => {
                plain.extend(letters.get(at));
                at += 1;
            }
        }
    }
    if at < letters.len() {
        plain.push('…');
    }
    push(&mut parts, plain, false);
    parts
}

fn push(parts: &mut Vec<SnippetPart>, text: String, hit: bool) {
    if !text.is_empty() {
        parts.push(SnippetPart { text, hit });
    }
}

fn lower(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn marked(text: &str, words: &str) -> String {
        let parts = snippet(text, words).into_iter();
        parts.map(|part| if part.hit { format!("[{}]", part.text) } else { part.text }).collect()
    }

    #[test]
    fn words_are_marked_with_what_stands_around_them() {
        assert_eq!(
            marked("The Token\n refreshes; tokens last.", "token ref"),
            "The [Token] [ref]reshes; [token]s last."
        );
        assert_eq!(marked("整理文本", "理文"), "整[理文]本");
        assert_eq!(marked("the one, the retry", "\"the retry\""), "the one, [the retry]");
        let long = format!("{} needle {}", "a".repeat(90), "b".repeat(300));
        let shown = marked(&long, "needle");
        assert!(shown.starts_with("…aaa") && shown.contains("[needle]") && shown.ends_with("b…"), "{shown}");
        assert_eq!(marked("nothing here", "else"), "nothing here");
    }
}
