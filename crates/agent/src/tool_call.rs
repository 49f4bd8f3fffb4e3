use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use bosun_backend::OutputSink;
use bosun_model::{CallId, ToolCall};
use bosun_tools::{Delegate, DynTool, ToolContext, ToolError, ToolKind, ToolOutput};
use futures_util::FutureExt;

use crate::delegate::Delegation;
use crate::witness::JournalWitness;
use crate::{AgentError, EntryBody, LiveEvent, SessionLog, State, TurnContext};

/// The innermost endpoint of a tool call: intent, effect. The result is recorded by the step.
pub(crate) async fn call(cx: &TurnContext, tool: &Arc<dyn DynTool>, call: ToolCall) -> Result<ToolOutput, AgentError> {
    let kind = tool.kind();
    after_earlier(cx, &call.id, kind).await?;
    // From before the intent is written: a pause there would look as if only a person could move the turn. A delegation
    // is not busy itself: its subagent's calls are, and a subagent may wait for a person.
    let busy = (kind != ToolKind::Delegate).then(|| cx.activity().enter());
    match kind {
        ToolKind::Execute | ToolKind::Other => {
            cx.log().record(vec![EntryBody::CallStarted { call_id: call.id.clone() }]).await?;
        }
        // A session of its own comes to be, that of a call that is in the journal.
        ToolKind::Delegate => {
            let _busy = cx.activity().enter();
            cx.log().save().await?;
        }
        ToolKind::Read | ToolKind::Edit | ToolKind::Plan => {}
    }
    let at = cx.log().now_ms();
    cx.note(&call.id, |note| note.started_at = Some(at));
    tell_running(cx);
    let tool_cx = context(cx, &call.id);
    let outcome = AssertUnwindSafe(tool.call(&tool_cx, call.args)).catch_unwind().await;
    drop(busy);
    match outcome {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(ToolError::Model(text))) => Ok(ToolOutput::error(text)),
        Ok(Err(ToolError::Cancelled)) => Err(AgentError::Cancelled),
        Ok(Err(ToolError::Fatal(reason))) => Err(AgentError::Fatal(reason)),
        Err(_panic) => Ok(ToolOutput::error(format!(
            "Error: the tool {} broke inside and did not finish; try another way",
            call.name
        ))),
    }
}

/// Tells of the calls that have begun to run, once the reply that they are of can be told.
pub(crate) fn tell_running(cx: &TurnContext) {
    if cx.log().is_saved() {
        for (call_id, at) in cx.take_begun() {
            cx.log().emit(LiveEvent::CallRunning { call_id, at });
        }
    }
}

/// A command meets the files as the changes before it in its step left them, and a change meets them as the commands
/// before it did. Waiting for a person goes on meanwhile: only the effect is held back. The call leaves the order of asks
/// for good: no other one waits to ask for what may wait for the person itself.
pub(crate) async fn after_earlier(cx: &TurnContext, call_id: &CallId, kind: ToolKind) -> Result<(), AgentError> {
    cx.asks().leave(call_id);
    let earlier = match kind {
        ToolKind::Execute => ToolKind::Edit,
        ToolKind::Edit => ToolKind::Execute,
        ToolKind::Read | ToolKind::Delegate | ToolKind::Plan | ToolKind::Other => return Ok(()),
    };
    let are_done = |state: &State| {
        let mut before = state.step.iter().flat_map(|step| &step.calls).take_while(|open| open.call.id != *call_id);
        before.all(|open| open.kind != earlier || open.result.is_some())
    };
    tokio::select! {
        biased;
        () = cx.cancel().cancelled() => Err(AgentError::Cancelled),
        () = cx.log().until(are_done) => Ok(()),
    }
}

/// What a call of this turn may use.
pub(crate) fn context(cx: &TurnContext, call_id: &CallId) -> ToolContext {
    let delegate = cx.agent().subagents.as_ref().map(|subagents| {
        let delegation = Delegation::new(cx.clone(), call_id.clone(), Arc::clone(subagents));
        Arc::new(delegation) as Arc<dyn Delegate>
    });
    let cancel = cx.cancel().child_token();
    ToolContext {
        call_id: call_id.clone(),
        backend: Arc::clone(&cx.agent().backend),
        state: Arc::clone(cx.log()) as Arc<dyn bosun_tools::StateView>,
        witness: Arc::new(JournalWitness {
            log: Arc::clone(cx.log()),
            blobs: cx.agent().blobs.clone(),
            call_id: call_id.clone(),
            cancel: cancel.clone(),
        }),
        output: Arc::new(LiveOutput {
            log: Arc::clone(cx.log()),
            call_id: call_id.clone(),
            cut_character: Mutex::default(),
        }),
        cancel,
        held: cx.is_held(call_id),
        abilities: cx.agent().model.info().abilities,
        delegate,
    }
}

/// Shows a command's output as it comes; a character cut between two chunks waits for its rest.
struct LiveOutput {
    log: Arc<SessionLog>,
    call_id: CallId,
    cut_character: Mutex<Vec<u8>>,
}

impl OutputSink for LiveOutput {
    fn output(&self, bytes: &[u8]) {
        let mut pending = self.cut_character.lock().unwrap_or_else(PoisonError::into_inner);
        pending.extend_from_slice(bytes);
        let whole = whole_characters(&pending);
        let rest = pending.split_off(whole);
        let text = String::from_utf8_lossy(&pending).into_owned();
        *pending = rest;
        drop(pending);
        if !text.is_empty() {
            self.log.emit(LiveEvent::Output { call_id: self.call_id.clone(), text });
        }
    }
}

/// How many of `bytes` can be shown now: all but an unfinished character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let Some(&byte) = bytes.get(at) else { break };
        let wanted = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x80..=0xBF => continue,
            _ => break,
        };
        return if wanted > back { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn a_cut_character_waits() {
        let text = "aé漢🙂".as_bytes();
        for end in 0..=text.len() {
            let head = &text[..end];
            let whole = whole_characters(head);
            assert!(std::str::from_utf8(&head[..whole]).is_ok(), "{end}");
            assert!(end - whole < 4);
        }
        assert_eq!(whole_characters(b"\xff\xff"), 2);
    }
}
