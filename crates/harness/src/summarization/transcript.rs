//! A conversation as text: for the model that sums it up, and for the file that keeps it.

use std::sync::Arc;

use bosun_model::{ContentBlock, Message};

use crate::tokens::{self, letters};

/// One message per line, as in the files of other Deep Agents.
pub(crate) fn history(messages: &[Arc<Message>], media: &dyn Fn(&bosun_model::Media) -> String) -> String {
    let mut text = String::new();
    for message in messages {
        let (kind, body) = spoken(message, media);
        text.push_str(&format!("<message type=\"{kind}\">{}</message>\n", escaped(&body)));
    }
    text
}

/// What a summary is made from.
pub(crate) struct Source {
    pub text: String,
    /// Characters of the middle that are in no part of it.
    pub left_out: usize,
}

/// The conversation as the model that sums it up reads it, in at most `limit` letters. Whole where it fits; else first
/// results are cut to head and tail, oldest first, then what was said, and only then the middle is left out: of what
/// remains a quarter is from the beginning and the rest from the end.
pub(crate) fn for_summary(
    messages: &[Arc<Message>],
    limit: usize,
    media: &dyn Fn(&bosun_model::Media) -> String,
) -> Source {
    let told = |message: &Arc<Message>| {
        let (kind, body) = spoken(message, media);
        format!("<message type=\"{kind}\">\n{body}\n</message>\n")
    };
    let mut parts: Vec<String> = messages.iter().map(told).collect();
    let mut total: usize = parts.iter().map(|part| letters(part)).sum();
    for (kind, most) in SHORTER {
        for (part, message) in parts.iter_mut().zip(messages) {
            if total <= limit {
                break;
            }
            if kind == Kind::of(message) {
                let before = letters(part);
                *part = shortened(part, most);
                total = total - before + letters(part);
            }
        }
    }
    let text = parts.concat();
    if total <= limit {
        return Source { text, left_out: 0 };
    }
    let head = tokens::head(&text, limit / 4);
    let tail = tokens::tail(text.get(head.len()..).unwrap_or_default(), limit - limit / 4);
    let left_out = text.get(head.len()..text.len() - tail.len()).unwrap_or_default().chars().count();
    Source { text: format!("{head}\n[… {left_out} characters of the middle left out …]\n{tail}"), left_out }
}

/// Letters of one message, in the order in which they are made shorter. What the user said is kept beside the summary.
const SHORTER: [(Kind, usize); 4] =
    [(Kind::Result, 4_000), (Kind::Result, 1_000), (Kind::Reply, 4_000), (Kind::Request, 40_000)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Reply,
    Result,
}

impl Kind {
    fn of(message: &Message) -> Self {
        match message {
            Message::Human(_) | Message::System(_) => Self::Request,
            Message::Ai(_) => Self::Reply,
            Message::Tool(_) => Self::Result,
        }
    }
}

fn spoken(message: &Message, media: &dyn Fn(&bosun_model::Media) -> String) -> (&'static str, String) {
    let mut body = String::new();
    for block in message.content() {
        match block {
            ContentBlock::Text { text } => line(&mut body, text),
            ContentBlock::Media(part) => line(&mut body, &media(part)),
            ContentBlock::Reasoning(_) => {}
        }
    }
    let kind = match message {
        Message::System(_) => "system",
        Message::Human(_) => "human",
        Message::Ai(reply) => {
            for call in &reply.tool_calls {
                line(&mut body, &format!("[calls {} {}]", call.name, call.args));
            }
            "ai"
        }
        Message::Tool(result) => {
            body = format!("[result of {}] {body}", result.name);
            "tool"
        }
    };
    (kind, body)
}

fn line(body: &mut String, text: &str) {
    if !body.is_empty() {
        body.push('\n');
    }
    body.push_str(text);
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `text`, or its head and its tail within `limit` letters and how much is left out between them.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    shortened_with(text, limit, "")
}

/// As [`shortened`], with more words about what is left out.
pub(super) fn shortened_with(text: &str, limit: usize, note: &str) -> String {
    if letters(text) <= limit {
        return text.to_owned();
    }
    let head = tokens::head(text, limit * 2 / 3);
    let tail = tokens::tail(text.get(head.len()..).unwrap_or_default(), limit / 3);
    let left_out = text.get(head.len()..text.len() - tail.len()).unwrap_or_default().chars().count();
    format!("{head}\n[… {left_out} characters left out{note} …]\n{tail}")
}

#[cfg(test)]
mod tests {
    use bosun_model::{AiMessage, StopReason, ToolMessage, ToolStatus};
    use pretty_assertions::assert_eq;

    use super::*;

    fn source(messages: &[Arc<Message>], limit: usize) -> Source {
        for_summary(messages, limit, &|media| format!("[{}]", media.mime))
    }

    fn reply(text: String) -> Arc<Message> {
        Arc::new(Message::Ai(AiMessage {
            id: "m".into(),
            content: vec![text.into()],
            tool_calls: vec![],
            invalid_tool_calls: vec![],
            call_places: Vec::new(),
            dropped: None,
            usage: None,
            stop: StopReason::EndTurn,
            model: None,
            asked: None,
        }))
    }

    fn result(text: String) -> Arc<Message> {
        let (call_id, name, status) = ("c".into(), "read_file".into(), ToolStatus::Success);
        Arc::new(Message::Tool(ToolMessage { call_id, name, status, content: vec![text.into()] }))
    }

    #[test]
    fn what_is_summed_up_is_bounded() {
        let messages: Vec<_> = (0..50).map(|_| Arc::new(Message::human("h", "漢a".repeat(3_000)))).collect();
        let Source { text, left_out } = source(&messages, 10_000);
        assert!(letters(&text) < 10_100);
        assert!(text.contains(&format!("[… {left_out} characters of the middle left out …]")), "{left_out}");
    }

    #[test]
    fn what_fits_is_read_whole_however_long_its_parts_are() {
        let messages = [reply("a".repeat(20_000)), result("b".repeat(20_000)), reply("c".repeat(20_000))];
        let Source { text, left_out } = source(&messages, 61_000);
        assert_eq!((text.contains(&"b".repeat(20_000)), left_out), (true, 0));
    }

    #[test]
    fn old_results_are_cut_first_and_then_what_was_said() {
        let messages = [reply("a".repeat(9_000)), result("b".repeat(9_000)), result("c".repeat(9_000))];
        let whole = |limit| {
            let Source { text, left_out } = source(&messages, limit);
            assert_eq!(left_out, 0, "{limit}");
            ["a", "b", "c"].map(|word| text.contains(&word.repeat(9_000)))
        };
        assert_eq!([whole(28_000), whole(23_000)], [[true, true, true], [true, false, true]]);
        assert_eq!([whole(12_000), whole(7_000)], [[true, false, false], [false, false, false]]);
    }
}
