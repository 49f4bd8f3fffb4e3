//! Request bodies, made at the cost of what is new in them.
//!
//! A step of an agent sends the whole conversation again with a little more at its end. Serialising all of it each time would
//! make every step dearer than the one before. The messages are shared and never change, so what was written for a run of
//! them before stands: the body that was sent last is written on, once nobody reads it any more, and copied until then.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use bosun_model::{
    CacheLifetime, CacheMarks, ChatRequest, Effort, Message, ModelInfo, OutputSchema, ToolChoice, ToolSpec,
};
use bytes::{Bytes, BytesMut};

use crate::adapter::Adapter;
use crate::media::is_silent;

/// Conversations remembered at once; subagents take turns with the agent that sent them.
const SLOTS: usize = 4;
/// A longer conversation is not remembered, so that memory stays bounded.
const LARGEST: usize = 4 << 20;

/// A run of messages that becomes a whole number of turns: replies of the model, or all that lies between two of them.
pub(crate) struct Group<'a> {
    pub(crate) messages: &'a [Arc<Message>],
    /// What [`Adapter::variant`] said of the request.
    pub(crate) variant: bool,
    /// For the last group of a conversation that is to be cached by the provider.
    pub(crate) mark: Option<Mark>,
}

/// Where in a group a provider is to set the breakpoint of a conversation, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) lifetime: CacheLifetime,
    /// As [`CacheMarks::passing`].
    pub(crate) passing: usize,
}

/// What was written for earlier requests.
#[derive(Default)]
pub(crate) struct Memo {
    /// The newest last.
    slots: Mutex<Vec<Slot>>,
    tail: Mutex<Option<Tail>>,
}

/// What was written behind the turns last: the tools, mostly, which are the same from step to step.
struct Tail {
    tools: Arc<[ToolSpec]>,
    rest: Rest,
    bytes: Vec<u8>,
}

/// All of a request that a tail may depend on beside the tools.
#[derive(PartialEq)]
struct Rest {
    choice: ToolChoice,
    max_output: Option<u32>,
    cache: CacheMarks,
    is_cached: bool,
    effort: Option<Effort>,
    output: Option<OutputSchema>,
}

/// The groups of one conversation but its last, which may still grow.
#[derive(Default)]
struct Slot {
    variant: bool,
    messages: Vec<Weak<Message>>,
    /// The body that was sent last, and where in it the first group begins.
    sent: Bytes,
    head: usize,
    /// How many messages and bytes there are after each group.
    ends: Vec<(usize, usize)>,
}

impl Memo {
    /// The whole body of `request`.
    pub(crate) fn body(
        &self,
        adapter: &dyn Adapter,
        request: &ChatRequest,
        info: &ModelInfo,
    ) -> serde_json::Result<Bytes> {
        let variant = adapter.variant(request, info);
        let is_reply = replies(adapter);
        let mut slot = self.take(&request.messages, variant, is_reply);
        let is_cached = request.cache.conversation || request.system.iter().any(|block| block.cache);
        let mut rest = request.messages.get(slot.messages.len()..).unwrap_or_default();
        let mut piece = Vec::new();
        adapter.head(request, info, &mut piece)?;
        let head = piece.len();
        let mut body = slot.reopened(&piece);
        while let Some(group) = rest.chunk_by(|a, b| is_reply(a) == is_reply(b)).next() {
            rest = rest.get(group.len()..).unwrap_or_default();
            let is_last = rest.is_empty();
            let CacheMarks { lifetime, passing, .. } = request.cache;
            let mark = (is_cached && is_last).then_some(Mark { lifetime, passing });
            piece.clear();
            adapter.turns(&Group { messages: group, variant, mark }, &mut piece)?;
            body.extend_from_slice(&piece);
            if !is_last {
                slot.messages.extend(group.iter().map(Arc::downgrade));
                slot.ends.push((slot.messages.len(), body.len() - head));
            }
        }
        // Every turn is written with a comma behind it.
        if let Some((b',', turns)) = body.split_last() {
            body.truncate(turns.len());
        }
        self.tail(adapter, request, info, is_cached, &mut body)?;
        let body = body.freeze();
        self.keep(Slot { sent: body.clone(), head, ..slot });
        Ok(body)
    }

    fn tail(
        &self,
        adapter: &dyn Adapter,
        request: &ChatRequest,
        info: &ModelInfo,
        is_cached: bool,
        body: &mut BytesMut,
    ) -> serde_json::Result<()> {
        let rest = Rest {
            choice: request.tool_choice.clone(),
            max_output: request.max_output,
            cache: request.cache,
            is_cached,
            effort: request.effort,
            output: request.output.clone(),
        };
        let mut known = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(tail) if Arc::ptr_eq(&tail.tools, &request.tools) && tail.rest == rest => {
                body.extend_from_slice(&tail.bytes);
            }
            _ => {
                let mut bytes = Vec::new();
                adapter.tail(request, info, &mut bytes)?;
                body.extend_from_slice(&bytes);
                *known = Some(Tail { tools: Arc::clone(&request.tools), rest, bytes });
            }
        }
        Ok(())
    }

    /// The remembered beginning of `messages`, or an empty one.
    fn take(&self, messages: &[Arc<Message>], variant: bool, is_reply: fn(&Message) -> bool) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = slots.iter().map(|slot| if slot.variant == variant { slot.shared(messages) } else { 0 });
        let best = fits.enumerate().max_by_key(|(_, shared)| *shared).filter(|(_, shared)| *shared > 0);
        match best {
            Some((at, shared)) => slots.remove(at).cut(messages, shared, is_reply),
            None => Slot { variant, ..Slot::default() },
        }
    }

    fn keep(&self, slot: Slot) {
        if slot.ends.is_empty() || slot.sent.len() > LARGEST {
            return;
        }
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= SLOTS {
            slots.remove(0);
        }
        slots.push(slot);
    }
}

impl Slot {
    /// How many messages at the beginning are the very same.
    fn shared(&self, messages: &[Arc<Message>]) -> usize {
        let same =
            |(known, message): &(&Weak<Message>, &Arc<Message>)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(message));
        self.messages.iter().zip(messages).take_while(same).count()
    }

    /// Forgets all but the groups that are whole in `messages` too: the next message there must begin another.
    fn cut(mut self, messages: &[Arc<Message>], shared: usize, is_reply: fn(&Message) -> bool) -> Self {
        let is_end = |at: usize| match (at.checked_sub(1).and_then(|before| messages.get(before)), messages.get(at)) {
            (Some(before), Some(after)) => is_reply(before) != is_reply(after),
            _ => false,
        };
        let whole = self.ends.iter().rposition(|(count, _)| *count <= shared && is_end(*count));
        self.ends.truncate(whole.map_or(0, |at| at + 1));
        self.messages.truncate(self.ends.last().map_or(0, |(count, _)| *count));
        self
    }

    /// A body that begins with `head` and the groups.
    fn reopened(&mut self, head: &[u8]) -> BytesMut {
        let sent = std::mem::take(&mut self.sent);
        let groups = self.head..self.head + self.ends.last().map_or(0, |(_, length)| *length);
        let is_begun = groups.start == head.len() && sent.starts_with(head);
        let mut body = match if is_begun { sent.try_into_mut() } else { Err(sent) } {
            Ok(mut body) => {
                body.truncate(groups.end);
                body
            }
            Err(sent) => {
                let groups = sent.get(groups.clone()).unwrap_or_default();
                let mut body = BytesMut::with_capacity(head.len() + groups.len() + (16 << 10));
                body.extend_from_slice(head);
                body.extend_from_slice(groups);
                body
            }
        };
        // It lost its comma where what came behind it was no turn.
        if let Some(comma) = body.last_mut().filter(|_| !groups.is_empty()) {
            *comma = b',';
        }
        body
    }
}

/// What tells the messages that become turns of the model.
fn replies(adapter: &dyn Adapter) -> fn(&Message) -> bool {
    if adapter.drops_silent() {
        |message| matches!(message, Message::Ai(reply) if !is_silent(reply))
    } else {
        |message| matches!(message, Message::Ai(_))
    }
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
