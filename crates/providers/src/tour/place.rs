//! Where in the story a conversation is.

use std::borrow::Cow;
use std::sync::Arc;

use bosun_model::{ChatRequest, Message, ToolMessage, ToolStatus};
use serde_json::Value;

use super::story::{Branch, Call, Fate, Step, Story, from};

/// What to say and do now.
#[derive(Debug, PartialEq)]
pub(super) struct Cue<'a> {
    pub(super) think: &'a str,
    pub(super) say: String,
    /// Ids, names and arguments.
    pub(super) calls: Vec<(String, &'a Call)>,
}

impl<'a> Cue<'a> {
    fn words(say: impl Into<String>) -> Self {
        Self { think: "", say: say.into(), calls: Vec::new() }
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        (&self.tool, &self.args) == (&other.tool, &other.args)
    }
}

/// Chooses the reply to `request`.
pub(super) fn cue<'a>(story: &'a Story, request: &ChatRequest) -> Cue<'a> {
    let messages = &request.messages;
    let errand = first_words(messages).is_some_and(|words| is_errand(story, &words));
    let steps = if errand { &story.errand } else { &story.steps };
    let place = Place::of(steps, messages);
    let turn = messages.iter().filter(|message| is_human(message)).count();
    let next = match &place.last {
        // Without tools this is no turn of the agent but a question about it (a title, a summary).
        _ if request.tools.is_empty() => None,
        _ if place.over => None,
        None => from_first_offered(steps, request),
        Some(last) => last.next(steps, place.new_message).and_then(|rest| from_first_offered(rest, request)),
    };
    let Some(step) = next else { return Cue::words(story.over.clone()) };
    let mut say = lead(story, &place, errand, messages);
    say.push_str(&with_words(&step.say, place.last.as_ref(), &story.quote));
    let prefix = if errand { "tour_errand" } else { "tour" };
    let offered = step.calls.iter().filter(|call| offers(request, call));
    let calls = offered.enumerate().map(|(n, call)| (format!("{prefix}_{turn}_{}_{n}", step.id), call)).collect();
    Cue { think: &step.think, say, calls }
}

/// How far the story went.
struct Place<'a> {
    /// The newest step with calls, with what became of it.
    last: Option<Last<'a>>,
    /// Its end was told.
    over: bool,
    /// The person wrote after the newest step.
    new_message: bool,
}

struct Last<'a> {
    step: &'a Step,
    fate: Fate,
    /// The result of the last call.
    text: String,
}

impl<'a> Place<'a> {
    fn of(steps: &'a [Step], messages: &[Arc<Message>]) -> Self {
        let mut place = Self { last: None, over: false, new_message: false };
        let mut results = messages.iter();
        while let Some(message) = results.next() {
            match &**message {
                Message::Human(_) => place.new_message = true,
                Message::Ai(reply) => {
                    place.new_message = false;
                    let Some(id) = reply.tool_calls.last().map(|call| call.id.as_str()) else {
                        // A reply without calls is the end, whichever it was.
                        place.over = true;
                        continue;
                    };
                    let step = steps.iter().find(|step| step_of(id) == Some(step.id.as_str()));
                    let result = results.clone().find_map(|message| match &**message {
                        Message::Tool(result) if result.call_id.as_str() == id => Some(result),
                        _ => None,
                    });
                    place.last = step.map(|step| Last::of(step, result)).or(place.last);
                }
                Message::Tool(_) | Message::System(_) => {}
            }
        }
        place
    }
}

impl<'a> Last<'a> {
    fn of(step: &'a Step, result: Option<&ToolMessage>) -> Self {
        let text = result.map(ToolMessage::text).unwrap_or_default();
        let own = step.calls.last().and_then(|call| call.own.as_deref());
        let fate = match result {
            None => Fate::Failed,
            Some(result) if result.status == ToolStatus::Error => {
                let refused = text.starts_with(REJECTED) || text.contains(REFUSED);
                if refused { Fate::Rejected } else { Fate::Failed }
            }
            Some(_) if text.starts_with(EDITED) => Fate::Edited,
            Some(_) if own.is_some_and(|own| !text.contains(own)) => Fate::Answered,
            Some(_) => Fate::Done,
        };
        Self { step, fate, text }
    }

    /// The steps from the next one on. A call that came to nothing (stopped, perhaps) is made again when the person writes.
    fn next(&self, steps: &'a [Step], new_message: bool) -> Option<&'a [Step]> {
        if new_message && self.fate == Fate::Failed {
            return from(steps, &self.step.id);
        }
        let Some(branch) = self.step.then.iter().find(|branch| self.fits(branch)) else {
            return from(steps, &self.step.id).and_then(|rest| rest.get(1..));
        };
        from(steps, &branch.goto)
    }

    fn fits(&self, branch: &Branch) -> bool {
        branch.when.is_none_or(|fate| fate == self.fate)
            && branch.contains.as_ref().is_none_or(|words| self.text.contains(words.as_str()))
    }

    /// What the person wrote, where the result is their word.
    fn words(&self) -> Option<&str> {
        let words = match self.fate {
            Fate::Answered => Some(self.text.as_str()),
            Fate::Rejected => self.text.split_once(REASON).map(|(_, reason)| reason),
            Fate::Done | Fate::Edited | Fate::Failed => None,
        };
        words.map(str::trim).filter(|words| !words.is_empty())
    }
}

/// How the human-in-the-loop middleware words its results.
const REJECTED: &str = "The user rejected";
/// A standing rule said no in the person's place.
const REFUSED: &str = "refused by the rule";
const EDITED: &str = "The user changed this call";
const REASON: &str = "Their reason:";

/// `delegate` in `tour_1_delegate_0` and in `tour_errand_1_delegate_0`.
fn step_of(id: &str) -> Option<&str> {
    let rest = id.strip_prefix("tour_errand_").or_else(|| id.strip_prefix("tour_"))?;
    let (_, rest) = rest.split_once('_')?;
    rest.rsplit_once('_').map(|(step, _)| step)
}

/// The first step that can be made: one that ends, or one whose last call's tool is on offer.
fn from_first_offered<'a>(steps: &'a [Step], request: &ChatRequest) -> Option<&'a Step> {
    steps.iter().find(|step| step.calls.last().is_none_or(|call| offers(request, call)))
}

fn offers(request: &ChatRequest, call: &Call) -> bool {
    request.tools.iter().any(|tool| tool.name == call.tool)
}

fn lead(story: &Story, place: &Place<'_>, errand: bool, messages: &[Arc<Message>]) -> String {
    match (&place.last, place.new_message) {
        _ if errand => String::new(),
        (Some(_), true) => story.resuming.clone(),
        (None, _) if first_words(messages).is_some_and(|words| words.trim() != story.task) => story.scripted.clone(),
        _ => String::new(),
    }
}

fn with_words(say: &str, last: Option<&Last<'_>>, (open, close): &(String, String)) -> String {
    let words = last.and_then(Last::words).map(|words| format!("{open}{words}{close}"));
    say.replace("{words}", words.as_deref().unwrap_or_default())
}

/// Whether a conversation that begins with `words` is the subagent's.
fn is_errand(story: &Story, words: &str) -> bool {
    let mut calls = story.steps.iter().flat_map(|step| &step.calls).filter(|call| call.tool == "task");
    calls.any(|call| call.args.get("description").and_then(Value::as_str) == Some(words.trim()))
}

fn is_human(message: &Message) -> bool {
    matches!(message, Message::Human(_))
}

fn first_words(messages: &[Arc<Message>]) -> Option<Cow<'_, str>> {
    messages.iter().find_map(|message| match &**message {
        Message::Human(human) => Some(Cow::Owned(bosun_model::text_of(&human.content))),
        _ => None,
    })
}
