use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    AiMessage, CallId, ContentBlock, InvalidToolCall, MessageId, ModelError, ModelErrorKind, ModelEvent, ModelTrouble,
    Reasoning, StopReason, ToolCall, Usage,
};

/// Most calls of one reply, whoever made it. Many more are no plan any more, but a model or a server that runs away.
pub const MOST_CALLS: usize = 10_000;

/// Folds [`ModelEvent`]s into an [`AiMessage`].
///
/// | input | outcome |
/// |---|---|
/// | no `Finished` | [`ModelErrorKind::StreamCut`]; the partial text stays readable through [`Self::partial_text`] |
/// | arguments that are not a JSON object | an [`InvalidToolCall`] with the text that arrived |
/// | arguments never closed, and a stop other than a natural one | an [`InvalidToolCall`]; valid-looking JSON is not trusted |
/// | no argument text at all, and such a stop | an [`InvalidToolCall`]; it may have been cut before the first byte |
/// | a refusal | no call at all: it is the end of the turn |
/// | a delta for a call that never started | a protocol error |
/// | empty argument text | `{}` |
/// | more than [`MOST_CALLS`] calls | one more, an [`InvalidToolCall`] that says how many were left out |
#[derive(Debug, Default)]
pub struct MessageBuilder {
    content: Vec<ContentBlock>,
    reasoning: Option<Reasoning>,
    calls: BTreeMap<u32, CallBuilder>,
    /// The first call beyond those that a reply may have, and how many came after it.
    beyond: Option<(u32, usize)>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    model: Option<String>,
}

#[derive(Debug)]
struct CallBuilder {
    id: CallId,
    name: String,
    json: String,
    done: bool,
    /// How many blocks stand before it.
    place: usize,
}

impl MessageBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one event. Fails on events that contradict those before.
    pub fn push(&mut self, event: &ModelEvent) -> Result<(), ModelError> {
        match event {
            ModelEvent::Started { model } => self.model.clone_from(model),
            ModelEvent::ThinkingUnseen { .. } => {}
            ModelEvent::TextDelta { text } => self.push_text(text),
            ModelEvent::ReasoningDelta { text } => {
                self.reasoning.get_or_insert_default().text.push_str(text);
            }
            ModelEvent::ReasoningDone { signature, opaque } => {
                let mut block = self.reasoning.take().unwrap_or_default();
                block.signature.clone_from(signature);
                block.opaque.clone_from(opaque);
                self.content.push(ContentBlock::Reasoning(block));
            }
            ModelEvent::ToolCallStarted { index, id, name } => {
                self.close_reasoning();
                if let Some((_, after)) = &mut self.beyond {
                    *after += 1;
                    return Ok(());
                }
                if self.calls.len() == MOST_CALLS {
                    self.beyond = Some((*index, 0));
                }
                let (id, name, place) = (id.clone(), name.clone(), self.content.len());
                let call = CallBuilder { id, name, json: String::new(), done: false, place };
                if self.calls.insert(*index, call).is_some() {
                    return Err(protocol(format!("two tool calls share the index {index}")));
                }
            }
            ModelEvent::ToolCallDelta { index, json } => {
                if let Some(call) = self.call(*index)? {
                    call.json.push_str(json);
                }
            }
            ModelEvent::ToolCallDone { index } => {
                if let Some(call) = self.call(*index)? {
                    call.done = true;
                }
            }
            ModelEvent::Usage(usage) => {
                self.usage = Some(*usage);
            }
            ModelEvent::Finished { stop } => self.stop = Some(stop.clone()),
        }
        Ok(())
    }

    /// Whether a call that has begun is part of the message.
    pub fn has_call(&self, index: u32) -> bool {
        self.calls.contains_key(&index)
    }

    /// The text so far, for keeping what a cut stream already showed.
    pub fn partial_text(&self) -> String {
        crate::message::spoken(&self.content, |at| self.calls.values().any(|call| call.place == at))
    }

    /// The finished message. An argument object cut short never becomes a call, nor does any of a reply that was cut or
    /// refused: what else the model meant to do with it, nobody knows.
    pub fn finish(mut self, id: MessageId, provider: &str) -> Result<AiMessage, ModelError> {
        let Some(stop) = self.stop.take() else {
            return Err(ModelError::own(ModelErrorKind::StreamCut, provider, ModelTrouble::ReplyUnfinished));
        };
        self.close_reasoning();
        let mut call_places: Vec<usize> = self.calls.values().map(|call| call.place).collect();
        if call_places.iter().all(|place| *place == self.content.len()) {
            call_places.clear();
        }
        let mut tool_calls = Vec::new();
        let mut invalid_tool_calls = Vec::new();
        for (place, (index, call)) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            let is_unsure = !call.done || call.json.trim().is_empty();
            let cut = is_cut(&stop) || !ended_naturally(&stop) && is_unsure;
            let args = match self.beyond {
                Some((first, after)) if first == index => Err(too_many(after)),
                _ => arguments(&call.json, cut),
            };
            match args {
                Ok(args) => tool_calls.push(ToolCall { id: call.id, name: call.name, args }),
                Err(reason) => {
                    let CallBuilder { id, name, json: args, .. } = call;
                    invalid_tool_calls.push(InvalidToolCall { id, name, args, reason, place });
                }
            }
        }
        if is_refused(&stop) {
            // Answering them would ask the model once more for what it declined.
            (tool_calls, invalid_tool_calls, call_places) = (Vec::new(), Vec::new(), Vec::new());
        }
        Ok(AiMessage {
            id,
            content: self.content,
            tool_calls,
            invalid_tool_calls,
            call_places,
            usage: self.usage,
            dropped: None,
            stop,
            model: self.model,
            asked: None,
        })
    }

    fn push_text(&mut self, text: &str) {
        self.close_reasoning();
        // Only who signs or seals what the model thought wants to see again on which side of a call a word stood.
        let is_kept_apart =
            self.content.iter().any(is_sealed) && self.calls.values().any(|call| call.place == self.content.len());
        if let Some(ContentBlock::Text { text: last }) = self.content.last_mut().filter(|_| !is_kept_apart) {
            Arc::make_mut(last).push_str(text);
        } else {
            self.content.push(ContentBlock::text(text));
        }
    }

    fn close_reasoning(&mut self) {
        if let Some(block) = self.reasoning.take() {
            self.content.push(ContentBlock::Reasoning(block));
        }
    }

    /// The call that goes on; `None` for one beyond those that a reply may have.
    fn call(&mut self, index: u32) -> Result<Option<&mut CallBuilder>, ModelError> {
        let beyond = self.beyond.map(|(first, _)| first);
        match self.calls.get_mut(&index) {
            Some(_) if beyond == Some(index) => Ok(None),
            None if beyond.is_some() => Ok(None),
            None => Err(protocol(format!("arguments for a tool call {index} that never began"))),
            call => Ok(call),
        }
    }
}

fn is_sealed(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Reasoning(thought) if thought.signature.is_some() || thought.opaque.is_some())
}

/// Whether the model itself chose to stop. Only then may a call be taken whose end the provider did not announce.
fn ended_naturally(stop: &StopReason) -> bool {
    match stop {
        StopReason::EndTurn | StopReason::ToolUse | StopReason::StopSequence => true,
        StopReason::MaxTokens | StopReason::Refusal | StopReason::RefusalFor(_) | StopReason::Other(_) => false,
    }
}

fn is_refused(stop: &StopReason) -> bool {
    matches!(stop, StopReason::Refusal | StopReason::RefusalFor(_))
}

/// Whether the provider says that the reply is not all that the model meant to say.
fn is_cut(stop: &StopReason) -> bool {
    matches!(stop, StopReason::MaxTokens) || is_refused(stop)
}

/// Why a call beyond those that a reply may have is not run, where `after` more came.
fn too_many(after: usize) -> String {
    let (rest, were) = match after {
        0 => (String::new(), "was"),
        1 => (" and the one after it".to_owned(), "were"),
        more => (format!(" and the {more} after it"), "were"),
    };
    format!("a reply can make at most {MOST_CALLS} calls, so this one{rest} {were} left out")
}

fn arguments(json: &str, cut: bool) -> Result<Value, String> {
    if cut {
        return Err("the reply was stopped before it was complete".into());
    }
    if json.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str::<Value>(json) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("the arguments are not a JSON object".into()),
        Err(error) => Err(format!("the arguments are not valid JSON: {error}")),
    }
}

fn protocol(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, "model", message)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::ReplyPart;

    fn build(events: &[ModelEvent]) -> Result<AiMessage, ModelError> {
        let mut builder = MessageBuilder::new();
        for event in events {
            builder.push(event)?;
        }
        builder.finish("m1".into(), "test")
    }

    fn call(json: &str, done: bool, stop: StopReason) -> Vec<ModelEvent> {
        let mut events = vec![
            ModelEvent::ToolCallStarted { index: 0, id: "c1".into(), name: "ls".into() },
            ModelEvent::ToolCallDelta { index: 0, json: json.into() },
        ];
        if done {
            events.push(ModelEvent::ToolCallDone { index: 0 });
        }
        events.push(ModelEvent::Finished { stop });
        events
    }

    #[test]
    fn a_reply_with_more_calls_than_it_may_have_says_how_many_were_left_out() {
        let started = |index: u32| {
            let id = format!("c{index}").as_str().into();
            let json = r#"{"path":"/"}"#.to_owned();
            [
                ModelEvent::ToolCallStarted { index, id, name: "ls".into() },
                ModelEvent::ToolCallDelta { index, json },
                ModelEvent::ToolCallDone { index },
            ]
        };
        for (calls, told) in [
            (10_000, ""),
            (10_001, "a reply can make at most 10000 calls, so this one was left out"),
            (10_002, "a reply can make at most 10000 calls, so this one and the one after it were left out"),
            (15_000, "a reply can make at most 10000 calls, so this one and the 4999 after it were left out"),
        ] {
            let mut events: Vec<ModelEvent> = (0..calls).flat_map(started).collect();
            events.push(ModelEvent::Finished { stop: StopReason::ToolUse });
            let message = build(&events).unwrap();
            let left_out: Vec<(&str, &str)> =
                message.invalid_tool_calls.iter().map(|call| (call.id.as_str(), call.reason.as_str())).collect();
            assert_eq!(message.tool_calls.len(), MOST_CALLS);
            assert_eq!(left_out, Some(("c10000", told)).filter(|_| !told.is_empty()).into_iter().collect::<Vec<_>>());
            assert!(message.invalid_tool_calls.iter().all(|call| call.args.is_empty()));
        }
    }

    #[test]
    fn text_reasoning_and_calls_keep_their_order() {
        let message = build(&[
            ModelEvent::ReasoningDelta { text: "hm".into() },
            ModelEvent::ReasoningDone { signature: Some("s".into()), opaque: None },
            ModelEvent::TextDelta { text: "a".into() },
            ModelEvent::TextDelta { text: "b".into() },
            ModelEvent::ToolCallStarted { index: 1, id: "c1".into(), name: "ls".into() },
            ModelEvent::ToolCallDelta { index: 1, json: "{\"path\":".into() },
            ModelEvent::ToolCallDelta { index: 1, json: "\"/\"}".into() },
            ModelEvent::ToolCallDone { index: 1 },
            ModelEvent::Finished { stop: StopReason::ToolUse },
        ])
        .unwrap();
        assert_eq!(
            message.content,
            vec![
                ContentBlock::Reasoning(Reasoning { text: "hm".into(), signature: Some("s".into()), opaque: None }),
                ContentBlock::text("ab"),
            ]
        );
        assert_eq!(
            message.tool_calls,
            vec![ToolCall { id: "c1".into(), name: "ls".into(), args: json!({"path": "/"}) }]
        );
    }

    #[test]
    fn what_is_thought_and_said_between_calls_stays_between_them() {
        let started =
            |index: u32| ModelEvent::ToolCallStarted { index, id: format!("c{index}").into(), name: "ls".into() };
        let thought = |text: &str| {
            let signature = Some(text.to_owned());
            [ModelEvent::ReasoningDelta { text: text.into() }, ModelEvent::ReasoningDone { signature, opaque: None }]
        };
        let mut events = thought("a").to_vec();
        events.extend([started(0), ModelEvent::ToolCallDone { index: 0 }]);
        events.extend(thought("b"));
        events.push(ModelEvent::TextDelta { text: "now".into() });
        events.extend([
            started(1),
            ModelEvent::ToolCallDone { index: 1 },
            ModelEvent::TextDelta { text: "end".into() },
        ]);
        events.push(ModelEvent::Finished { stop: StopReason::ToolUse });
        let message = build(&events).unwrap();
        let order = |message: &AiMessage| {
            let word = |part| match part {
                ReplyPart::Call(call) => call.id().to_string(),
                ReplyPart::Block(ContentBlock::Reasoning(thought)) => thought.text.clone(),
                ReplyPart::Block(block) => block.as_text().unwrap_or_default().to_owned(),
            };
            message.parts().map(word).collect::<Vec<_>>()
        };
        assert_eq!(order(&message), ["a", "c0", "b", "now", "c1", "end"]);
        let mut stored = serde_json::to_value(&message).unwrap();
        assert_eq!(serde_json::from_value::<AiMessage>(stored.clone()).unwrap(), message);
        // Of older journals, and of replies that end with their calls.
        stored.as_object_mut().unwrap().remove("call_places");
        let older = serde_json::from_value(stored).unwrap();
        assert_eq!(order(&older), ["a", "b", "now", "end", "c0", "c1"]);
    }

    /// A line feed of ours would stand in the middle of a word in every later request.
    #[test]
    fn what_is_said_around_a_call_stays_one_text_unless_thoughts_are_signed() {
        let text = |text: &str| ModelEvent::TextDelta { text: text.into() };
        let said = [
            text("Loo"),
            ModelEvent::ToolCallStarted { index: 0, id: "c".into(), name: "ls".into() },
            ModelEvent::ToolCallDone { index: 0 },
            text("king."),
            ModelEvent::Finished { stop: StopReason::ToolUse },
        ];
        let plain = build(&said).unwrap();
        assert_eq!((plain.content.as_slice(), plain.call_places.len()), (&[ContentBlock::text("Looking.")][..], 0));
        let signature = Some("s".to_owned());
        let mut signed = vec![ModelEvent::ReasoningDone { signature, opaque: None }];
        signed.extend(said);
        let signed = build(&signed).unwrap();
        assert_eq!(
            (signed.content.len(), signed.call_places.as_slice(), signed.text()),
            (3, &[2][..], "Looking.".into())
        );
    }

    #[test]
    fn a_cut_stream_is_an_error_and_makes_no_call() {
        let mut events = call("{\"path\":\"/\"}", true, StopReason::ToolUse);
        events.pop();
        assert_eq!(build(&events).unwrap_err().kind, ModelErrorKind::StreamCut);
    }

    #[test]
    fn partial_arguments_become_an_invalid_call() {
        let message = build(&call("{\"path\":", true, StopReason::ToolUse)).unwrap();
        assert_eq!(message.tool_calls, vec![]);
        assert_eq!(message.invalid_tool_calls.len(), 1);
    }

    #[test]
    fn calls_keep_the_order_of_the_reply_whether_whole_or_not() {
        let mut events = Vec::new();
        for (index, json) in ["{", "{}", "{", "{}", "["].into_iter().enumerate() {
            let at = u32::try_from(index).unwrap();
            events.push(ModelEvent::ToolCallStarted { index: at, id: format!("c{index}").into(), name: "ls".into() });
            events.push(ModelEvent::ToolCallDelta { index: at, json: json.into() });
            events.push(ModelEvent::ToolCallDone { index: at });
        }
        events.push(ModelEvent::Finished { stop: StopReason::ToolUse });
        let message = build(&events).unwrap();
        let order = |message: &AiMessage| message.calls().map(|call| call.id().to_string()).collect::<Vec<_>>();
        assert_eq!(order(&message), ["c0", "c1", "c2", "c3", "c4"]);
        let mut stored = serde_json::to_value(&message).unwrap();
        let stored_calls = stored["invalid_tool_calls"].as_array_mut().unwrap();
        stored_calls.iter_mut().for_each(|call| drop(call.as_object_mut().unwrap().remove("place")));
        let older: AiMessage = serde_json::from_value(stored).unwrap();
        assert_eq!(order(&older), ["c1", "c3", "c0", "c2", "c4"]);
    }

    #[test]
    fn the_length_limit_never_yields_a_call_even_if_the_json_parses() {
        let message = build(&call("{}", false, StopReason::MaxTokens)).unwrap();
        assert_eq!(message.tool_calls, vec![]);
    }

    #[test]
    fn no_call_of_a_reply_that_was_cut_or_refused_is_made() {
        let two = |stop: StopReason| {
            let mut events = call("{\"path\":\"/\"}", true, StopReason::ToolUse);
            events.pop();
            events.push(ModelEvent::ToolCallStarted { index: 7, id: "second".into(), name: "write_file".into() });
            events.push(ModelEvent::ToolCallDelta { index: 7, json: "{\"file".into() });
            events.push(ModelEvent::Finished { stop });
            build(&events).unwrap()
        };
        let cut = two(StopReason::MaxTokens);
        assert_eq!((cut.tool_calls, cut.invalid_tool_calls.len()), (vec![], 2));
        // There is nothing to answer, so that the turn ends with the refusal.
        for stop in [StopReason::Refusal, StopReason::refusal("no")] {
            assert!(two(stop).calls().next().is_none());
        }
        // A reason that nobody knows says nothing of a call whose end was announced.
        assert_eq!(two(StopReason::Other("eos".into())).tool_calls.len(), 1);
    }

    #[test]
    fn a_reply_stopped_before_the_first_argument_byte_yields_no_call() {
        for stop in [StopReason::MaxTokens, StopReason::Other("pause_turn".into())] {
            let message = build(&call("", true, stop)).unwrap();
            assert_eq!((message.tool_calls, message.invalid_tool_calls.len()), (vec![], 1));
        }
    }

    #[test]
    fn empty_arguments_are_an_empty_object() {
        let message = build(&call("", true, StopReason::ToolUse)).unwrap();
        assert_eq!(message.tool_calls[0].args, json!({}));
    }
}
