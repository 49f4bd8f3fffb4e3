use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bosun_backend::{VirtualPath, quoted};
use bosun_model::{AiMessage, CallId, ChatRequest, ContentBlock, Message, ToolCall, ToolMessage};
use bosun_tools::{DynTool, ToolKind, ToolOutput};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::recover::Begun;
use crate::{
    AgentError, Decision, EntryBody, NextModel, NextTool, OpenCall, State, ToolOutcome, TurnContext, TurnEnd, delegate,
    recover, tool_call,
};

/// One model call through the stack, in the state. It is recorded with what comes of it: its calls, or the end of the turn.
pub(crate) async fn reply(cx: &TurnContext) -> Result<AiMessage, AgentError> {
    let agent = cx.agent();
    for middleware in &agent.middleware {
        middleware.before_step(cx).await?;
    }
    let request = ChatRequest {
        system: agent.system.clone(),
        messages: cx.log().with_state(|state| state.messages.clone()),
        tools: agent.tools.specs(),
        max_output: agent.model.info().max_output,
        conversation: Some(cx.log().session().as_str().into()),
        ..ChatRequest::default()
    };
    let mut message = NextModel { cx, rest: &agent.middleware }.run(request).await?;
    name_apart(cx, &mut message);
    let kinds = message.tool_calls.iter().map(|call| kind_of(cx, &call.name)).collect();
    let cost = message.cost(&cx.asked());
    cx.log().record_with_next(vec![EntryBody::Ai { message: message.clone(), kinds, cost }]).await;
    Ok(message)
}

/// What comes of a reply: what middleware makes of it, and its calls. It is saved with the first of these that is
/// recorded, but soon.
pub(crate) async fn go_by(cx: &TurnContext, message: &AiMessage) -> Result<(), AgentError> {
    let work = async {
        for middleware in cx.agent().middleware.iter().rev() {
            let update = middleware.after_model(cx, message).await?;
            record_update(cx, middleware.name(), update).await?;
        }
        run_calls(cx).await
    };
    saved_in_time(cx, work).await
}

/// Does `work`, with whose entries a reply is to be saved, and saves it before where that takes its time.
pub(crate) async fn saved_in_time<T>(
    cx: &TurnContext,
    work: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        outcome = &mut work => return outcome,
        saved = saved_soon(cx) => saved?,
    }
    work.await
}

/// Saves the reply after a moment, and then tells of the calls that run.
async fn saved_soon(cx: &TurnContext) -> Result<(), AgentError> {
    tokio::time::sleep(SAVED_WITHIN).await;
    cx.log().save().await?;
    tool_call::tell_running(cx);
    Ok(())
}

/// How long a reply may wait for the first that comes of its calls, to be saved together with it. A page of a file is
/// read in less.
const SAVED_WITHIN: Duration = Duration::from_millis(2);

/// Gives calls whose id the session had before an id of their own: approvals, results and subagents go by it.
fn name_apart(cx: &TurnContext, message: &mut AiMessage) {
    let mut taken = HashSet::new();
    let valid = message.tool_calls.iter_mut().map(|call| &mut call.id);
    let invalid = message.invalid_tool_calls.iter_mut().map(|call| &mut call.id);
    for id in valid.chain(invalid) {
        if cx.log().with_state(|state| state.has_call(id)) || taken.contains(id) {
            *id = CallId::new(format!("{id}-{}", cx.agent().ids.next()));
        }
        taken.insert(id.clone());
    }
}

/// Records a middleware's update, where it has one.
pub(crate) async fn record_update(
    cx: &TurnContext,
    by: &str,
    mut update: bosun_tools::StateUpdate,
) -> Result<(), AgentError> {
    cx.agent().stamp(&mut update);
    if !update.is_empty() {
        cx.log().record(vec![EntryBody::Updated { by: by.to_owned(), update }]).await?;
    }
    Ok(())
}

/// Brings every open call to a result. Calls run side by side, except that calls which change one path, or a folder and
/// something in it, run in call order, each against the bytes it meets (behaviour.md A12), and that commands and file
/// changes keep their order among each other ([`tool_call::call`]). Works the same for a fresh step and for one
/// rebuilt from the journal.
pub(crate) async fn run_calls(cx: &TurnContext) -> Result<(), AgentError> {
    let open: Vec<OpenCall> = cx.log().with_state(|state| {
        state.step.iter().flat_map(|step| &step.calls).filter(|call| call.result.is_none()).cloned().collect()
    });
    let lanes = in_lanes(cx, open);
    // All that begin now are on their way before the first of them gets anywhere.
    lanes.iter().filter_map(|lane| lane.first()).for_each(|(place, call)| approach(cx, *place, call));
    let mut running: FuturesUnordered<_> = lanes
        .into_iter()
        .map(|lane| async move {
            for (place, call) in lane {
                approach(cx, place, &call);
                run_call(cx, call).await?;
            }
            Ok::<(), AgentError>(())
        })
        .collect();
    let mut cancelled = false;
    while let Some(outcome) = running.next().await {
        match outcome {
            Ok(()) => {}
            // The others are being cancelled too and may still have something to record.
            Err(AgentError::Cancelled) => cancelled = true,
            Err(error) => return Err(error),
        }
    }
    if cancelled { Err(AgentError::Cancelled) } else { Ok(()) }
}

/// A call that may yet ask is on its way to the gate.
fn approach(cx: &TurnContext, place: usize, open: &OpenCall) {
    if open.ask.is_none() {
        cx.asks().enter(&open.call.id, place);
    }
}

/// Calls that run one after the other, each with its place in the step, and what they change and read.
struct Lane {
    changes: Vec<VirtualPath>,
    reads: Vec<VirtualPath>,
    calls: Vec<(usize, OpenCall)>,
}

impl Lane {
    /// Whether one of the two changes what the other changes or reads.
    fn meets(&self, other: &Self) -> bool {
        let any = |some: &[VirtualPath], more: &[VirtualPath]| {
            some.iter().any(|path| more.iter().any(|other| is_within(path, other)))
        };
        any(&self.changes, &other.changes) || any(&self.changes, &other.reads) || any(&self.reads, &other.changes)
    }
}

/// Calls that change one path, or a folder and something in it, share a lane with those that read it, in call order;
/// every other call has a lane of its own.
fn in_lanes(cx: &TurnContext, calls: Vec<OpenCall>) -> Vec<Vec<(usize, OpenCall)>> {
    let mut lanes: Vec<Lane> = Vec::with_capacity(calls.len());
    for (index, call) in calls.into_iter().enumerate() {
        let tool = cx.agent().tools.get(&call.call.name);
        let context = tool_call::context(cx, &call.call.id);
        let changed = tool.and_then(|tool| tool.mutates(&context, call.args()));
        let read = tool.and_then(|tool| tool.reads(&context, call.args()));
        let mut lane = Lane {
            changes: changed.into_iter().collect(),
            reads: read.into_iter().collect(),
            calls: vec![(index, call)],
        };
        let met: Vec<_> = lanes.extract_if(.., |other| lane.meets(other)).collect();
        for met in met {
            lane.changes.extend(met.changes);
            lane.reads.extend(met.reads);
            lane.calls.extend(met.calls);
        }
        lane.calls.sort_by_key(|(index, _)| *index);
        lanes.push(lane);
    }
    lanes.into_iter().map(|lane| lane.calls).collect()
}

/// Whether one of two paths is the other or a folder that it is in.
fn is_within(a: &VirtualPath, b: &VirtualPath) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

async fn run_call(cx: &TurnContext, open: OpenCall) -> Result<(), AgentError> {
    let ended = brought_to_end(cx, &open).await;
    cx.asks().leave(&open.call.id);
    let (output, outcome) = ended?;
    record_result(cx, &open, output, outcome).await
}

async fn brought_to_end(cx: &TurnContext, open: &OpenCall) -> Result<(ToolOutput, ToolOutcome), AgentError> {
    Ok(match ready(cx, open) {
        Err(refusal) => (ToolOutput::error(refusal), ToolOutcome::Refused),
        Ok((tool, call)) => {
            let target = tool.mutates(&tool_call::context(cx, &call.id), open.args());
            match recover::settle(open, target.as_ref(), &*cx.agent().backend).await {
                Begun::Ended(output, outcome) => (*output, outcome),
                Begun::Runs { made } => {
                    let next = NextTool { cx, tool, rest: &cx.agent().middleware };
                    let mut output = next.run(call).await?;
                    if made > 0 {
                        let text = format!("Before Bosun was restarted during this call, it had made {made} changes.");
                        output.content.push(ContentBlock::text(text));
                    }
                    let outcome = outcome_of(cx, open, &output);
                    (output, outcome)
                }
            }
        }
    })
}

/// The tool and the call as it may run, or the sentence that says why it never can.
fn ready<'a>(cx: &'a TurnContext, open: &OpenCall) -> Result<(&'a Arc<dyn DynTool>, ToolCall), String> {
    let tools = &cx.agent().tools;
    let name = &open.call.name;
    if let Some(reason) = &open.invalid {
        let (name, reason) = (quoted(name), quoted(reason));
        return Err(format!("Error invoking tool '{name}': {reason}. It was not run; call it again in full."));
    }
    let tool = tools.get(name).ok_or_else(|| tools.unknown(name))?;
    let args = tool.validate(&open.call.args).map_err(|error| error.to_string())?;
    Ok((tool, ToolCall { id: open.call.id.clone(), name: name.clone(), args }))
}

/// How a call that came through the stack ended: by what a person decided, else by whether it reached its endpoint and
/// was stopped there.
fn outcome_of(cx: &TurnContext, open: &OpenCall, output: &ToolOutput) -> ToolOutcome {
    let decision = cx.log().with_state(|state| {
        state.open_call(&open.call.id).and_then(|call| call.decision.as_ref()).map(|record| record.decision.clone())
    });
    if delegate::is_paused(cx, &open.call.id) {
        return ToolOutcome::Paused;
    }
    let (mut ran, mut is_rejected) = (false, false);
    cx.note(&open.call.id, |note| (ran, is_rejected) = (note.started_at.is_some(), note.is_rejected));
    match decision {
        Some(Decision::Reject { .. }) => ToolOutcome::Rejected,
        None if is_rejected => ToolOutcome::Rejected,
        Some(Decision::Respond { .. }) => ToolOutcome::Answered,
        _ if ran && output.stopped => ToolOutcome::Cancelled,
        _ if ran => ToolOutcome::Ran,
        _ => ToolOutcome::Refused,
    }
}

async fn record_result(
    cx: &TurnContext,
    open: &OpenCall,
    mut output: ToolOutput,
    outcome: ToolOutcome,
) -> Result<(), AgentError> {
    // Whoever finds the turn quiet may leave, and an effect without its result would be an unknown outcome.
    let busy = cx.activity().enter();
    let (intents, child) = cx.log().with_state(|state| {
        let call = state.open_call(&open.call.id);
        call.map(|call| (call.intents.clone(), call.child.clone())).unwrap_or_default()
    });
    let untold = recover::untold(&intents, &output.artifact.changes, &*cx.agent().backend).await;
    output.artifact.changes.splice(0..0, untold);
    cx.agent().stamp(&mut output.update);
    let note = cx.take_note(&open.call.id);
    let record = |state: &State| {
        // What a subagent made of the state meets the state that the result is added to, so that of two that end side
        // by side neither overwrites the other.
        let brought = delegate::brought(cx, state, &open.call.id);
        output.content.extend(brought.conflicts.into_iter().map(ContentBlock::text));
        output.update.files.extend(brought.update.files);
        output.update.fields.extend(brought.update.fields);
        output.update.reducers.extend(brought.update.reducers);
        let message = ToolMessage {
            call_id: open.call.id.clone(),
            name: open.call.name.clone(),
            status: output.status(),
            content: output.content,
        };
        vec![EntryBody::ToolResult {
            call_id: open.call.id.clone(),
            message: Arc::new(Message::Tool(message)),
            outcome,
            update: output.update,
            artifact: output.artifact,
            started_at: note.started_at,
            allowed_by: note.allowed_by,
        }]
    };
    cx.log().record_together(record).await?;
    if let Some(child) = child {
        cx.log().let_go(&child);
    }
    drop(busy);
    Ok(())
}

/// Gives every open call a result that says it was cancelled with the turn, which ended as `end` (law 5).
pub(crate) async fn cancel_open_calls(cx: &TurnContext, end: &TurnEnd) -> Result<(), AgentError> {
    let open: Vec<OpenCall> = cx.log().with_state(|state| {
        state.step.iter().flat_map(|step| &step.calls).filter(|call| call.result.is_none()).cloned().collect()
    });
    let why = if *end == TurnEnd::Stopped { "by the user" } else { "with the turn, which was ended," };
    for call in open {
        let has_begun = call.started || !call.intents.is_empty() || delegate::has_begun(cx, &call);
        let text = if has_begun {
            format!("Cancelled {why} while it ran; look at what it may have changed before you repeat it.")
        } else {
            format!("Cancelled {why} before it ran.")
        };
        let is_paused = delegate::is_paused_by(cx, &call.call.id, end);
        let outcome = if is_paused { ToolOutcome::Paused } else { ToolOutcome::Cancelled };
        record_result(cx, &call, ToolOutput::error(text), outcome).await?;
    }
    Ok(())
}

fn kind_of(cx: &TurnContext, name: &str) -> ToolKind {
    cx.agent().tools.get(name).map_or(ToolKind::Other, |tool| tool.kind())
}
