//! Messages as they are sent, where parts of them are left out. The state keeps them whole.

use std::sync::Arc;

use bosun_model::{AiMessage, ContentBlock, Message, ToolMessage};
use bosun_tools::{ReadFile, Tool as _};
use serde_json::Value;

use super::transcript::shortened;
use crate::eviction::KeptResult;
use crate::tokens::letters;

/// Arguments over this many characters are cut.
const LONG_ARGUMENT: usize = 2_000;
const SHOWN_ARGUMENT: usize = 20;
/// Results over this many letters are cut, where even a summary does not make enough room.
pub(crate) const LONG_RESULT: usize = 4_000;

/// A reply whose file changes hold long texts, with those cut; `None` where there are none.
pub(crate) fn arguments(message: &Message) -> Option<Message> {
    let Message::Ai(reply) = message else { return None };
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.chars().count() > LONG_ARGUMENT);
    let changes = |name: &str| matches!(name, "write_file" | "edit_file");
    let long = |args: &Value| args.as_object().is_some_and(|args| args.values().any(is_long));
    if !reply.tool_calls.iter().any(|call| changes(&call.name) && long(&call.args)) {
        return None;
    }
    let mut reply: AiMessage = reply.clone();
    for call in reply.tool_calls.iter_mut().filter(|call| changes(&call.name)) {
        let Some(args) = call.args.as_object_mut() else { continue };
        for value in args.values_mut().filter(|value| is_long(value)) {
            let head: String = value.as_str().unwrap_or_default().chars().take(SHOWN_ARGUMENT).collect();
            *value = Value::String(format!("{head}...(argument truncated)"));
        }
    }
    Some(Message::Ai(reply))
}

/// A result with its long texts cut to head and tail; `None` where they are short. `kept` is where it is
/// that can be read.
pub(crate) fn result(message: &Message, kept: Option<&KeptResult>) -> Option<Message> {
    let Message::Tool(result) = message else { return None };
    let is_long = |block: &ContentBlock| block.as_text().is_some_and(|text| letters(text) > LONG_RESULT);
    if !result.content.iter().any(is_long) {
        return None;
    }
    let mut result: ToolMessage = result.clone();
    for block in &mut result.content {
        if let ContentBlock::Text { text } = block
            && letters(text) > LONG_RESULT
        {
            let place = kept.map(|kept| format!(" {}", kept.told())).unwrap_or_default();
            let short = format!("{}\n[This result was shortened to make room.{place}]", shortened(text, LONG_RESULT));
            *text = Arc::new(short);
        }
    }
    Some(Message::Tool(result))
}

/// The file that `result` was read from, in the words of the call among `messages`.
pub(crate) fn source_of<'a>(messages: &'a [Arc<Message>], result: &ToolMessage) -> Option<&'a str> {
    if result.name != ReadFile::NAME {
        return None;
    }
    let mut replies = messages.iter().rev().filter_map(|message| match &**message {
        Message::Ai(reply) => Some(reply),
        Message::System(_) | Message::Human(_) | Message::Tool(_) => None,
    });
    let call = replies.find_map(|reply| reply.tool_calls.iter().find(|call| call.id == result.call_id))?;
    call.args.get("file_path")?.as_str()
}

#[cfg(test)]
mod tests {
    use bosun_model::{StopReason, ToolCall, ToolStatus};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::eviction::KeptPart;

    fn reply(name: &str, args: Value) -> Message {
        Message::Ai(AiMessage {
            id: "m".into(),
            content: vec![],
            tool_calls: vec![ToolCall { id: "c".into(), name: name.into(), args }],
            invalid_tool_calls: vec![],
            call_places: Vec::new(),
            dropped: None,
            usage: None,
            stop: StopReason::ToolUse,
            model: None,
            asked: None,
        })
    }

    #[test]
    fn only_long_texts_of_file_changes_are_cut() {
        let long = "x".repeat(2_001);
        let cut = arguments(&reply("write_file", json!({"file_path": "/a", "content": long}))).unwrap();
        let Message::Ai(cut) = cut else { panic!() };
        let args = &cut.tool_calls[0].args;
        assert_eq!(args["content"], format!("{}...(argument truncated)", "x".repeat(20)));
        assert_eq!(args["file_path"], "/a");
        assert_eq!(arguments(&reply("execute", json!({"command": "x".repeat(3_000)}))), None);
        assert_eq!(arguments(&reply("write_file", json!({"content": "x".repeat(2_000)}))), None);
    }

    #[test]
    fn a_cut_result_says_where_the_whole_is() {
        let message = Message::Tool(ToolMessage {
            call_id: "c".into(),
            name: "ls".into(),
            status: ToolStatus::Success,
            content: vec!["y".repeat(5_000).into()],
        });
        let path = bosun_backend::VirtualPath::parse("/large_tool_results/c").unwrap();
        let parts = [
            (KeptPart::Whole, "The whole is in"),
            (KeptPart::Ends, "The beginning and the end of it are in"),
            (KeptPart::Source, "It can be read again in"),
        ];
        for (part, told) in parts {
            let kept = KeptResult { path: path.clone(), part };
            let Some(Message::Tool(cut)) = result(&message, Some(&kept)) else { panic!() };
            let told = format!("to make room. {told} /large_tool_results/c.]");
            assert!(cut.text().ends_with(&told) && cut.text().len() < 4_200, "{}", cut.text());
        }
    }
}
