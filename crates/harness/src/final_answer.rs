use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Halt, LiveEvent, Middleware, NextModel, State, TurnContext};
use bosun_model::{
    AiMessage, ChatRequest, ContentBlock, Dropped, Message, MessageId, OutputSchema, StopReason, ToolChoice, ToolSpec,
    ToolStatus,
};
use bosun_tools::{
    ArgumentError, DynTool, Preview, StateUpdate, ToolContext, ToolError, ToolKind, ToolOutput, checked_arguments,
};
use serde_json::Value;

use crate::prompt;

/// Makes the last words of a turn JSON of a given shape. The model hands its answer in with a tool, whose arguments are
/// checked like any others, so that it works with every provider; the turn then ends with them. A turn that ends in
/// anything else has failed.
pub struct FinalAnswer {
    tool: Arc<dyn DynTool>,
}

pub(crate) const NAME: &str = "final_answer";
/// The state field with the last answer that was handed in, by its call: a person may have changed it.
const FIELD: &str = "handed_in";
/// What the tool says.
const HANDED_IN: &str = "The answer was handed in.";
/// How often a model that ends in prose is reminded.
const REMINDERS: usize = 2;

impl FinalAnswer {
    pub fn new(output: OutputSchema) -> Self {
        Self { tool: Arc::new(HandIn::new(output)) }
    }
}

impl Middleware for FinalAnswer {
    fn name(&self) -> &'static str {
        "FinalAnswer"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        vec![Arc::clone(&self.tool)]
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        if let Some(answer) = cx.log().with_state(|state| handed_in(&request.messages, state)) {
            // As it was checked: a figure that came as text is a figure.
            let answer = self.tool.validate(&answer).unwrap_or(answer);
            let id = MessageId::new(cx.agent().ids.next());
            return Box::pin(async move { Ok(last_words(id, &answer)) });
        }
        prompt::append(&mut request, prompt::FINAL_ANSWER);
        Box::pin(async move {
            let mut dropped = None;
            for _ in 0..REMINDERS {
                let reply = next.run(request.clone()).await?;
                if !reply.tool_calls.is_empty() || !reply.invalid_tool_calls.is_empty() {
                    return Ok(AiMessage { dropped, ..reply });
                }
                // What it said does not count, so whoever shows it is told; the model sees it once more.
                cx.log().emit(LiveEvent::ReplyDropped { message: reply.id.clone() });
                dropped = Some(Dropped::with(dropped, &reply, &cx.asked()));
                if !reply.text().trim().is_empty() {
                    request.messages.push(Arc::new(Message::Ai(reply)));
                }
                request.messages.push(Arc::new(Message::human("final-answer", prompt::HAND_IN)));
            }
            // Asked twice in words, it is made to; what a model says that cannot be is no answer.
            request.tool_choice = ToolChoice::Tool(NAME.to_owned());
            Ok(AiMessage { dropped, ..next.run(request).await? })
        })
    }

    /// Ends a turn without an answer as one that failed: what was said instead is recorded by now, and counted.
    fn after_model<'a>(
        &'a self,
        cx: &'a TurnContext,
        message: &'a AiMessage,
    ) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        let ends = message.calls().next().is_none() && !cx.log().with_state(State::person_spoke_last);
        let is_answer =
            || serde_json::from_str(&message.text()).is_ok_and(|answer| self.tool.validate(&answer).is_ok());
        let outcome =
            if ends && !is_answer() { Err(Halt::AnswerNotHandedIn.into()) } else { Ok(StateUpdate::default()) };
        Box::pin(async move { outcome })
    }
}

/// The answer that was handed in with the last reply. A call that a person answered in the tool's place handed nothing in.
fn handed_in(messages: &[Arc<Message>], state: &State) -> Option<Value> {
    let results = messages.iter().rev().take_while(|message| matches!(***message, Message::Tool(_)));
    let taken: Vec<_> = results
        .filter_map(|message| match &**message {
            Message::Tool(result) if result.name == NAME && result.status == ToolStatus::Success => Some(result),
            _ => None,
        })
        .collect();
    let reply = messages.iter().rev().find_map(|message| match &**message {
        Message::Ai(reply) => Some(reply),
        _ => None,
    })?;
    reply.tool_calls.iter().find_map(|call| {
        let result = taken.iter().find(|result| result.call_id == call.id)?;
        let answer = state.fields.get(FIELD).and_then(|answers| answers.get(call.id.as_str()));
        // A session of before this was kept has the model's own alone.
        let own = (result.text() == HANDED_IN).then_some(&call.args);
        answer.or(own).cloned()
    })
}

fn last_words(id: MessageId, answer: &Value) -> AiMessage {
    AiMessage {
        id,
        content: vec![ContentBlock::text(answer.to_string())],
        tool_calls: Vec::new(),
        invalid_tool_calls: Vec::new(),
        call_places: Vec::new(),
        dropped: None,
        usage: None,
        stop: StopReason::EndTurn,
        model: None,
        asked: None,
    }
}

/// Takes the answer.
struct HandIn {
    spec: ToolSpec,
}

impl HandIn {
    fn new(output: OutputSchema) -> Self {
        let description = format!(
            "Hands in the final answer ('{}') and ends your work. Call it once, alone, when everything is done.",
            output.name
        );
        Self { spec: ToolSpec { name: NAME.to_owned(), description, schema: output.schema } }
    }
}

impl DynTool for HandIn {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Plan
    }

    fn validate(&self, args: &Value) -> Result<Value, ArgumentError> {
        checked_arguments(&self.spec, args)
    }

    fn call<'a>(&'a self, cx: &'a ToolContext, args: Value) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let mut output = ToolOutput::text(HANDED_IN);
        output.update.fields.push((FIELD.to_owned(), serde_json::json!({ cx.call_id.as_str(): args })));
        Box::pin(async { Ok(output) })
    }

    fn preview<'a>(&'a self, _cx: &'a ToolContext, _args: &'a Value) -> BoxFuture<'a, Preview> {
        Box::pin(async { Preview::Fields })
    }

    fn mutates(&self, _cx: &ToolContext, _args: &Value) -> Option<bosun_backend::VirtualPath> {
        None
    }
}
