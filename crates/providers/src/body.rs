//! Request bodies, made at the cost of what is new in them.
//!
//! A step of an agent sends the whole conversation again with a little more at its end. Serialising all of it each time would
//! make every step dearer than the one before. The messages are shared and never change, so what was written for a run of
//! them before stands: the body that was sent last is written on, once nobody reads it any more, and copied until then.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bosun_model::{
    CacheLifetime, CacheMarks, ChatRequest, Effort, Message, ModelInfo, OutputSchema, SystemBlock, ToolChoice, ToolSpec,
};
use bytes::{Bytes, BytesMut};

use crate::adapter::Adapter;
use crate::media::is_silent;

/// Conversations remembered at once; subagents take turns with the agent that sent them. More cost more than they save:
/// what is kept is memory that the next body would else be written in.
const SLOTS: usize = 4;
/// A longer conversation is not remembered, so that memory stays bounded.
const LARGEST: usize = 4 << 20;
/// Room for the turns of a step, beyond what is known to be written.
const SPARE: usize = 4 << 10;

/// A run of messages that becomes a whole number of turns: replies of the model, or all that lies between two of them.
pub(crate) struct Group<'a> {
    pub(crate) messages: &'a [Arc<Message>],
    /// Whether [`Adapter::variant`] holds of the request, or a message decides it.
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
    /// How many were kept so far.
    kept: AtomicU64,
    tail: Mutex<Option<Tail>>,
}

/// What was written behind the turns last: the tools, mostly, which are the same from step to step.
struct Tail {
    tools: Arc<[ToolSpec]>,
    rest: Rest,
    bytes: Vec<u8>,
}

/// All of a request that a head may depend on beside the tools.
struct Beginning {
    system: Vec<SystemBlock>,
    conversation: Option<Arc<str>>,
    tools: Arc<[ToolSpec]>,
    rest: Rest,
}

/// All of a request that a tail may depend on beside the tools.
#[derive(Clone, PartialEq)]
struct Rest {
    choice: ToolChoice,
    max_output: Option<u32>,
    cache: CacheMarks,
    is_cached: bool,
    effort: Option<Effort>,
    output: Option<OutputSchema>,
}

impl Rest {
    fn of(request: &ChatRequest, is_cached: bool) -> Self {
        Self {
            choice: request.tool_choice.clone(),
            max_output: request.max_output,
            cache: request.cache,
            is_cached,
            effort: request.effort,
            output: request.output.clone(),
        }
    }
}

impl Beginning {
    fn is_of(&self, request: &ChatRequest, rest: &Rest) -> bool {
        self.system == request.system
            && self.conversation == request.conversation
            && Arc::ptr_eq(&self.tools, &request.tools)
            && self.rest == *rest
    }
}

/// Where in a run of messages those are that matter to all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Places {
    /// The first that [`Adapter::decides`] the variant.
    deciding: Option<usize>,
    /// The last that a person said.
    said: Option<usize>,
}

/// The groups of one conversation but its last, which may still grow.
#[derive(Default)]
struct Slot {
    /// Which one it is of all that were kept.
    number: u64,
    variant: bool,
    messages: Vec<Weak<Message>>,
    places: Places,
    /// What the body was begun with that was sent last, that body, and where in it the first group begins.
    beginning: Option<Beginning>,
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
        let is_reply = replies(adapter);
        let standing = adapter.variant(request, info);
        let (places, mut slot) = self.take(adapter, &request.messages, standing, is_reply);
        let variant = slot.variant;
        let is_cached = request.cache.conversation || request.system.iter().any(|block| block.cache);
        let asked = Rest::of(request, is_cached);
        let mut piece = Vec::new();
        // Before turns that wrote nothing the head itself has lost its comma.
        let has_turns = slot.ends.last().is_some_and(|(_, length)| *length > 0);
        let known = slot.beginning.take().filter(|beginning| has_turns && beginning.is_of(request, &asked));
        let mut body = match &known {
            Some(_) => slot.reopened(None, self.length_of_tail()),
            None => {
                adapter.head(request, info, &mut piece)?;
                slot.reopened(Some(&piece), self.length_of_tail())
            }
        };
        let head = slot.head;
        let mut rest = request.messages.get(slot.messages.len()..).unwrap_or_default();
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
        self.tail(adapter, request, info, &asked, &mut body)?;
        let body = body.freeze();
        let beginning = known.unwrap_or_else(|| Beginning {
            system: request.system.clone(),
            conversation: request.conversation.clone(),
            tools: Arc::clone(&request.tools),
            rest: asked,
        });
        let places = places.in_the_first(request.messages.get(..slot.messages.len()).unwrap_or_default());
        self.keep(Slot { places, beginning: Some(beginning), sent: body.clone(), ..slot });
        Ok(body)
    }

    fn tail(
        &self,
        adapter: &dyn Adapter,
        request: &ChatRequest,
        info: &ModelInfo,
        rest: &Rest,
        body: &mut BytesMut,
    ) -> serde_json::Result<()> {
        let mut known = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(tail) if Arc::ptr_eq(&tail.tools, &request.tools) && tail.rest == *rest => {
                body.extend_from_slice(&tail.bytes);
            }
            _ => {
                let mut bytes = Vec::new();
                adapter.tail(request, info, &mut bytes)?;
                body.extend_from_slice(&bytes);
                *known = Some(Tail { tools: Arc::clone(&request.tools), rest: rest.clone(), bytes });
            }
        }
        Ok(())
    }

    fn length_of_tail(&self) -> usize {
        let known = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map_or(0, |tail| tail.bytes.len())
    }

    /// The place of the last of `messages` that a person said; only what no earlier request had is looked at.
    pub(crate) fn said(&self, adapter: &dyn Adapter, messages: &[Arc<Message>]) -> Option<usize> {
        places(&self.slots.lock().unwrap_or_else(PoisonError::into_inner), adapter, messages).said
    }

    /// The remembered beginning of `messages`, or an empty one, for the variant that is `standing` or that a message decides;
    /// with the places in all of `messages`.
    fn take(
        &self,
        adapter: &dyn Adapter,
        messages: &[Arc<Message>],
        standing: bool,
        is_reply: fn(&Message) -> bool,
    ) -> (Places, Slot) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let places = places(&slots, adapter, messages);
        let variant = standing || places.deciding.is_some();
        let slot = match longest(&slots, messages, |slot| slot.variant == variant) {
            Some((at, shared)) => slots.remove(at).cut(messages, shared, is_reply),
            None => Slot { variant, ..Slot::default() },
        };
        (places, slot)
    }

    fn keep(&self, slot: Slot) {
        if slot.ends.is_empty() || slot.sent.len() > LARGEST {
            return;
        }
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= SLOTS {
            slots.remove(0);
        }
        slots.push(Slot { number: self.kept.fetch_add(1, Ordering::Relaxed), ..slot });
    }

    /// Which of what is kept `messages` would be written on from.
    pub(crate) fn number(&self, messages: &[Arc<Message>]) -> Option<u64> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, _) = longest(&slots, messages, |_| true)?;
        slots.get(at).map(|slot| slot.number)
    }

    /// Lets go of what was kept: it is not written on soon.
    pub(crate) fn forget(&self, number: u64) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).retain(|slot| slot.number != number);
    }
}

/// Which of `slots` that fit shares most of its beginning with `messages`, and how many.
fn longest(slots: &[Slot], messages: &[Arc<Message>], fits: impl Fn(&Slot) -> bool) -> Option<(usize, usize)> {
    let shared = slots.iter().map(|slot| if fits(slot) { slot.shared(messages) } else { 0 });
    shared.enumerate().max_by_key(|(_, shared)| *shared).filter(|(_, shared)| *shared > 0)
}

/// The places in `messages`, of which only what no earlier request had is looked at.
fn places(slots: &[Slot], adapter: &dyn Adapter, messages: &[Arc<Message>]) -> Places {
    let longest = longest(slots, messages, |_| true).and_then(|(at, shared)| Some((slots.get(at)?.places, shared)));
    let (known, shared) = longest.unwrap_or_default();
    let (same, fresh) = messages.split_at_checked(shared).unwrap_or_default();
    known.in_the_first(same).with(adapter, fresh, shared)
}

impl Places {
    /// Those of `messages`, with which the run begins that has these.
    fn in_the_first(self, messages: &[Arc<Message>]) -> Self {
        let said = match self.said {
            Some(place) if place >= messages.len() => messages.iter().rposition(|message| is_said(message)),
            known => known,
        };
        Self { deciding: self.deciding.filter(|place| *place < messages.len()), said }
    }

    /// The same with what comes behind, from the place `from` on.
    fn with(self, adapter: &dyn Adapter, fresh: &[Arc<Message>], from: usize) -> Self {
        let decides = || fresh.iter().position(|message| adapter.decides(message));
        let said = fresh.iter().rposition(|message| is_said(message));
        Self {
            deciding: self.deciding.or_else(|| Some(from + decides()?)),
            said: said.map(|place| from + place).or(self.said),
        }
    }
}

fn is_said(message: &Message) -> bool {
    matches!(message, Message::Human(_))
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

    /// A body that begins with `head`, or as the last one where that is `None`, and the groups, with room for a tail.
    fn reopened(&mut self, head: Option<&[u8]>, tail: usize) -> BytesMut {
        let sent = std::mem::take(&mut self.sent);
        let groups = self.head..self.head + self.ends.last().map_or(0, |(_, length)| *length);
        let is_begun = head.is_none_or(|head| groups.start == head.len() && sent.starts_with(head));
        self.head = head.map_or(groups.start, <[u8]>::len);
        let mut body = match if is_begun { sent.try_into_mut() } else { Err(sent) } {
            Ok(mut body) => {
                body.truncate(groups.end);
                body
            }
            Err(sent) => {
                let head = head.or_else(|| sent.get(..groups.start)).unwrap_or_default();
                let groups = sent.get(groups.clone()).unwrap_or_default();
                let mut body = BytesMut::with_capacity(head.len() + groups.len() + tail + SPARE);
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
