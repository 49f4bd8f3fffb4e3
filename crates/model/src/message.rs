use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, ContentBlock, Dropped, MessageId, ModelInfo, StopReason, Usage, text_of};

/// What the model reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "a history holds each of its messages behind an `Arc`")]
pub enum Message {
    System(SystemMessage),
    Human(HumanMessage),
    Ai(AiMessage),
    Tool(ToolMessage),
}

/// An instruction in the middle of a conversation; the standing prompt is [`crate::ChatRequest::system`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemMessage {
    pub content: Vec<ContentBlock>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HumanMessage {
    pub id: MessageId,
    pub content: Vec<ContentBlock>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AiMessage {
    pub id: MessageId,
    pub content: Vec<ContentBlock>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Calls whose arguments never became a JSON object; they are answered with an error and never run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid_tool_calls: Vec<InvalidToolCall>,
    /// For each of [`Self::calls`], how many blocks of `content` stand before it; empty where all of them do. Providers that
    /// sign or seal what a model thinks take it back only in the order in which it came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call_places: Vec<usize>,
    /// Of the call that came to this reply: how full the model's window was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Of the calls before it in the same step, whose replies were dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Dropped>,
    pub stop: StopReason,
    /// The model's own name as the provider reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who was asked for it; not known of what was recorded before this was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// A model as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub provider: String,
    pub model: String,
}

impl AiMessage {
    /// All that was used to come to this reply, as far as it was told.
    pub fn spent(&self) -> Option<Usage> {
        Usage::sum(self.dropped.map(|dropped| dropped.usage), self.usage)
    }

    /// US dollars for all of that, this reply being of `model`; `None` where the cost of one of the calls is not known.
    pub fn cost(&self, model: &ModelInfo) -> Option<f64> {
        let own = model.cost(self.usage.as_ref()?)?;
        match self.dropped {
            None => Some(own),
            Some(dropped) => dropped.cost.map(|cost| cost + own),
        }
    }

    /// All that it says: what a call alone came between goes on where it was, and a thought between begins a line.
    pub fn text(&self) -> String {
        spoken(&self.content, |at| self.call_places.contains(&at))
    }

    /// As [`Self::text`]; shared with the block where it has one alone.
    pub fn shared_text(&self) -> Arc<String> {
        let mut texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text),
            ContentBlock::Reasoning(_) | ContentBlock::Media(_) => None,
        });
        match (texts.next(), texts.next()) {
            (Some(text), None) => Arc::clone(text),
            _ => Arc::new(self.text()),
        }
    }

    /// All blocks and calls, in the order in which they came.
    pub fn parts(&self) -> impl Iterator<Item = ReplyPart<'_>> {
        let mut blocks = self.content.iter().enumerate().peekable();
        let places = self.call_places.iter().copied().chain(std::iter::repeat(usize::MAX));
        let mut calls = self.calls().zip(places).peekable();
        std::iter::from_fn(move || {
            let next = blocks.peek().map_or(usize::MAX, |(at, _)| *at);
            match calls.next_if(|(_, place)| *place <= next) {
                Some((call, _)) => Some(ReplyPart::Call(call)),
                None => blocks.next().map(|(_, block)| ReplyPart::Block(block)),
            }
        })
    }

    /// All calls, in the order in which the model made them.
    pub fn calls(&self) -> impl Iterator<Item = ReplyCall<'_>> {
        let mut valid = self.tool_calls.iter().enumerate();
        let mut invalid = self.invalid_tool_calls.iter().peekable();
        let mut place = 0;
        std::iter::from_fn(move || {
            let next = invalid.next_if(|call| call.place <= place).map(ReplyCall::Invalid);
            place += 1;
            next.or_else(|| valid.next().map(|(index, call)| ReplyCall::Valid { index, call }))
                .or_else(|| invalid.next().map(ReplyCall::Invalid))
        })
    }
}

/// The texts of a reply; `is_call_before` says whether a call stands in front of the block at that place.
pub(crate) fn spoken(content: &[ContentBlock], is_call_before: impl Fn(usize) -> bool) -> String {
    let mut text = String::new();
    let mut goes_on = false;
    for (at, block) in content.iter().enumerate() {
        let Some(part) = block.as_text() else {
            goes_on = false;
            continue;
        };
        if !(text.is_empty() || goes_on && is_call_before(at)) {
            text.push('\n');
        }
        text.push_str(part);
        goes_on = true;
    }
    text
}

/// What a reply says and does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplyPart<'a> {
    Block(&'a ContentBlock),
    Call(ReplyCall<'a>),
}

/// A call of a reply, whole or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplyCall<'a> {
    /// `index` counts the whole calls alone.
    Valid {
        index: usize,
        call: &'a ToolCall,
    },
    Invalid(&'a InvalidToolCall),
}

impl<'a> ReplyCall<'a> {
    pub fn id(self) -> &'a CallId {
        match self {
            Self::Valid { call, .. } => &call.id,
            Self::Invalid(call) => &call.id,
        }
    }

    pub fn name(self) -> &'a str {
        match self {
            Self::Valid { call, .. } => &call.name,
            Self::Invalid(call) => &call.name,
        }
    }

    /// `None` where they never became a JSON object.
    pub fn args(self) -> Option<&'a Value> {
        match self {
            Self::Valid { call, .. } => Some(&call.args),
            Self::Invalid(_) => None,
        }
    }
}

/// A request by the model to run a tool. `args` is always a JSON object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub args: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InvalidToolCall {
    pub id: CallId,
    pub name: String,
    /// The argument text as far as it arrived.
    pub args: String,
    pub reason: String,
    /// Place among all calls of its reply, from 0. Those of older journals stand behind the whole ones.
    #[serde(default = "last")]
    pub place: usize,
}

fn last() -> usize {
    usize::MAX
}

/// What came back from a tool, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolMessage {
    pub call_id: CallId,
    pub name: String,
    pub status: ToolStatus,
    pub content: Vec<ContentBlock>,
}

impl ToolMessage {
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Success,
    Error,
}

impl Message {
    pub fn human(id: impl Into<MessageId>, text: impl Into<String>) -> Self {
        Self::Human(HumanMessage { id: id.into(), content: vec![ContentBlock::text(text)] })
    }

    pub fn content(&self) -> &[ContentBlock] {
        match self {
            Self::System(message) => &message.content,
            Self::Human(message) => &message.content,
            Self::Ai(message) => &message.content,
            Self::Tool(message) => &message.content,
        }
    }
}
