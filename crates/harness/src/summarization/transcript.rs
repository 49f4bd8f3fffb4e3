//! A conversation as text: for the model that sums it up, and for the file that keeps it.

use std::sync::Arc;

use bosun_agent::{ChangedFile, FileFate};
use bosun_model::{ContentBlock, Message};

use crate::tokens::letters;

/// One message per line, as in the files of other Deep Agents.
pub(crate) fn history(messages: &[Arc<Message>], media: &dyn Fn(&bosun_model::Media) -> String) -> String {
    let mut text = String::new();
    for message in messages {
        let (kind, body) = spoken(message, media);
        text.push_str(&format!("<message type=\"{kind}\">{}</message>\n", escaped(&body)));
    }
    text
}

/// The conversation as the model that sums it up reads it, in at most `limit` letters: of a result the head and
/// the tail, and of a conversation that is too long a quarter from its beginning and the rest from its end.
pub(crate) fn for_summary(messages: &[Arc<Message>], limit: usize) -> String {
    let mut text = String::new();
    for message in messages {
        let (kind, body) =
            spoken(message, &|media| format!("[{} {}]", media.mime, media.name.as_deref().unwrap_or("")));
        let most = if matches!(**message, Message::Human(_)) { LONGEST_REQUEST } else { LONGEST_PART };
        text.push_str(&format!("<message type=\"{kind}\">\n{}\n</message>\n", shortened(&body, most)));
    }
    let (count, cost) = (text.chars().count(), letters(&text));
    if cost <= limit {
        return text;
    }
    let limit = count * limit / cost;
    let head: String = text.chars().take(limit / 4).collect();
    let tail: String = text.chars().skip(count - (limit - limit / 4)).collect();
    format!("{head}\n[… {} characters of the middle left out …]\n{tail}", count - limit)
}

/// Letters of one message that the summary is made from.
const LONGEST_PART: usize = 8_000;
const LONGEST_REQUEST: usize = 40_000;

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
    let (count, cost) = (text.chars().count(), letters(text));
    if cost <= limit {
        return text.to_owned();
    }
    let limit = count * limit / cost;
    let head: String = text.chars().take(limit * 2 / 3).collect();
    let tail: String = text.chars().skip(count - limit / 3).collect();
    format!("{head}\n[… {} characters left out{note} …]\n{tail}", count - limit * 2 / 3 - limit / 3)
}

/// What a summary carries over without a model: what the user said (`requirements`), the files that were changed, and
/// the plan.
pub(crate) fn facts(requirements: &[String], files: &[ChangedFile], plan: &[(String, &'static str)]) -> String {
    let mut text =
        String::from("<user_messages>\nWord for word, oldest first. They hold until the user says otherwise.\n");
    for words in requirements {
        text.push_str(&format!("- {words}\n"));
    }
    text.push_str("</user_messages>\n");
    if !files.is_empty() {
        text.push_str(&format!("<changed_files>\n{}\n</changed_files>\n", rows(files).join("\n")));
    }
    if !plan.is_empty() {
        text.push_str("<plan>\n");
        for (content, status) in plan {
            text.push_str(&format!("- [{status}] {content}\n"));
        }
        text.push_str("</plan>\n");
    }
    text
}

const MOST_FILES: usize = 300;

fn rows(files: &[ChangedFile]) -> Vec<String> {
    let spare = files.len().saturating_sub(MOST_FILES);
    let left_out = (spare > 0).then(|| format!("({spare} more before these)"));
    let row = |file: &ChangedFile| {
        let verb = match file.how {
            FileFate::Written => "written",
            FileFate::Edited => "edited",
            FileFate::Deleted => "deleted",
        };
        format!("{} ({verb})", file.path)
    };
    left_out.into_iter().chain(files.iter().skip(spare).map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_summed_up_is_bounded() {
        let messages: Vec<_> = (0..50).map(|_| Arc::new(Message::human("h", "漢".repeat(3_000)))).collect();
        let text = for_summary(&messages, 10_000);
        assert!(letters(&text) < 10_100);
        assert!(text.contains("of the middle left out"));
    }
}
