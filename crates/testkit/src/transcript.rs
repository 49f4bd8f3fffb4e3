use std::fmt::Write;

use bosun_model::{AiMessage, ModelEvent};
use bosun_model::{ChatModel, ChatRequest, ContentBlock, Message, MessageBuilder, ModelError, ReplyCall, ToolStatus};
use futures_util::StreamExt;

/// A conversation as text, one line for each thing said, for snapshots.
///
/// ```text
/// human: list the files
/// ai: Looking. → ls {"path":"/"} [call_1]
/// tool ls [call_1] ok: /a.txt
/// ai: One file.
/// ```
pub fn transcript<M: AsRef<Message>>(messages: &[M]) -> String {
    let mut text = String::new();
    for message in messages {
        // Writing to a String cannot fail.
        write_message(&mut text, message.as_ref()).ok();
    }
    text
}

fn write_message(text: &mut String, message: &Message) -> std::fmt::Result {
    match message {
        Message::System(system) => writeln!(text, "system: {}", blocks(&system.content)),
        Message::Human(human) => writeln!(text, "human: {}", blocks(&human.content)),
        Message::Tool(tool) => {
            let status = match tool.status {
                ToolStatus::Success => "ok",
                ToolStatus::Error => "error",
            };
            writeln!(text, "tool {} [{}] {status}: {}", tool.name, tool.call_id, blocks(&tool.content))
        }
        Message::Ai(ai) => {
            write!(text, "ai: {}", blocks(&ai.content))?;
            for call in ai.calls() {
                match call {
                    ReplyCall::Valid { call, .. } => write!(text, " → {} {} [{}]", call.name, call.args, call.id)?,
                    ReplyCall::Invalid(call) => {
                        write!(text, " → {} (invalid: {}) {:?} [{}]", call.name, call.reason, call.args, call.id)?;
                    }
                }
            }
            writeln!(text)
        }
    }
}

fn blocks(content: &[ContentBlock]) -> String {
    let blocks: Vec<String> = content
        .iter()
        .map(|block| match block {
            ContentBlock::Text { text } => text.to_string(),
            ContentBlock::Reasoning(reasoning) => format!("({})", reasoning.text),
            ContentBlock::Media(media) => format!("<{}>", media.mime),
        })
        .collect();
    blocks.join(" ")
}

/// One call to `model`, as the events it gave and what ended it.
pub async fn events_of(model: &dyn ChatModel, request: ChatRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut events = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// One call to `model`, folded into a message.
pub async fn message_of(model: &dyn ChatModel, request: ChatRequest) -> Result<AiMessage, ModelError> {
    let (events, error) = events_of(model, request).await;
    if let Some(error) = error {
        return Err(error);
    }
    let mut builder = MessageBuilder::new();
    for event in &events {
        builder.push(event)?;
    }
    builder.finish("reply".into(), &model.info().provider)
}
