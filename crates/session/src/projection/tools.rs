use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bosun_agent::{EntryBody, PlannedTodo, SessionId, ToolOutcome};
use bosun_model::{AiMessage, CallId, Message, MessageId, ReplyCall};
use bosun_protocol::{
    Decision, Delta, Item, ItemBody, ItemId, SessionEvent, SessionId as WireSessionId, ToolItem, ToolState,
};
use bosun_tools::{Artifact, Execute, Framing, Tool as _, ToolKind, without_framing};
use serde_json::Value;

use super::Projection;
use super::changes::command_of;
use crate::convert;
use crate::timeline::state_of;
use crate::view::View;

/// Most of a result's text that a row carries; the rest is read where it is kept.
const OUTPUT: usize = 20_000;
/// Most live output that a row has while a command runs, in bytes; half of it stays when there is more.
const LIVE_OUTPUT: usize = 200_000;

/// Where the calls of the step under way are shown.
#[derive(Default)]
pub(super) struct Calls {
    rows: HashMap<CallId, ItemId>,
    /// Rows of a reply that is still being written, in the order its calls began.
    proposals: Vec<(MessageId, ItemId)>,
    /// The words of the todo that they are for.
    todo: Option<String>,
}

/// A call's result as an entry has it.
pub(super) struct Result<'a> {
    pub message: &'a Arc<Message>,
    pub outcome: ToolOutcome,
    pub artifact: &'a Artifact,
    pub started_at: Option<i64>,
    pub at: i64,
}

/// The call that an agent is at, as `tool object`.
pub(super) fn current(view: &View) -> Option<String> {
    let busy = |item: &&Item| match &item.body {
        ItemBody::Tool(tool) => matches!(tool.state, ToolState::Running | ToolState::Waiting),
        ItemBody::Human { .. } | ItemBody::Ai { .. } | ItemBody::Notice(_) => false,
    };
    let item = view.items.last_ones().iter().rev().take(64).find(busy)?;
    let ItemBody::Tool(tool) = &item.body else { return None };
    let object = ["file_path", "path", "pattern", "command", "description"]
        .iter()
        .find_map(|name| ran(tool).get(name).and_then(Value::as_str))
        .map(|object| object.lines().next().unwrap_or_default().chars().take(80).collect::<String>());
    Some(object.map_or_else(|| tool.name.clone(), |object| format!("{} {object}", tool.name)))
}

/// The arguments that a call runs with: the model's own, unless a decision put others in their place.
fn ran(tool: &ToolItem) -> &Value {
    match tool.decision.as_ref().map(|record| &record.decision) {
        Some(Decision::Edit { args }) => args,
        _ => &tool.args,
    }
}

impl Projection {
    /// Whether a subagent was sent out and has ended.
    pub(crate) fn has_ended(&self, child: &bosun_agent::SessionId) -> bool {
        self.state.subagent(child).is_some_and(|sent| sent.end.is_some())
    }

    /// The model began to write a call; its arguments are not known yet.
    pub(super) fn proposed(&mut self, message: &MessageId, call_id: &CallId, name: &str, at: i64) {
        let index = self.calls.proposals.iter().filter(|(known, _)| known == message).count();
        let id = row_of(message, index);
        self.calls.proposals.push((message.clone(), id.clone()));
        let kind = kind_guess(name);
        let tool = empty_row(call_id, name, kind, Value::Object(serde_json::Map::new()));
        self.emit(SessionEvent::ItemStarted { item: Item { id, turn: self.turn(), at, body: ItemBody::Tool(tool) } });
    }

    /// The reply was dropped: the calls it had begun never came to be.
    pub(super) fn drop_proposals(&mut self, message: &MessageId) {
        let dropped: Vec<ItemId> =
            self.calls.proposals.iter().filter(|(known, _)| known == message).map(|(_, id)| id.clone()).collect();
        self.calls.proposals.retain(|(known, _)| known != message);
        for item in dropped {
            self.emit(SessionEvent::ItemRemoved { item });
        }
    }

    /// Takes the rows of the calls that a reply has begun away, to be put behind another row.
    pub(super) fn lift_proposals(&mut self, message: &MessageId) -> Vec<Item> {
        let ids = self.calls.proposals.iter().filter(|(known, _)| known == message).map(|(_, id)| id);
        let lifted: Vec<Item> = ids.filter_map(|id| self.view.item(id).map(Cow::into_owned)).collect();
        for item in &lifted {
            self.emit(SessionEvent::ItemRemoved { item: item.id.clone() });
        }
        lifted
    }

    pub(super) fn propose(&mut self, message: &AiMessage, kinds: &[ToolKind], todos: &[PlannedTodo], at: i64) {
        self.calls.rows.clear();
        self.calls.todo = todos.first().map(|todo| todo.content.clone());
        let ids: Vec<String> = todos.iter().map(|todo| todo.id.clone()).collect();
        let proposed: Vec<_> = self.calls.proposals.extract_if(.., |(known, _)| *known == message.id).collect();
        // A reply that the model broke off by refusing has none of the calls that it had begun.
        for (_, item) in proposed.into_iter().skip(message.calls().count()) {
            self.emit(SessionEvent::ItemRemoved { item });
        }
        for (index, call) in message.calls().enumerate() {
            let (call_id, name) = (call.id(), call.name());
            let (kind, args) = match call {
                ReplyCall::Valid { index, call } => {
                    (kinds.get(index).copied().unwrap_or(ToolKind::Other), call.args.clone())
                }
                ReplyCall::Invalid(_) => (ToolKind::Other, Value::Object(serde_json::Map::new())),
            };
            let id = row_of(&message.id, index);
            self.calls.rows.insert(call_id.clone(), id.clone());
            let tool = ToolItem { todos: ids.clone(), ..empty_row(call_id, name, kind, args) };
            let item = Item { id, turn: self.turn(), at, body: ItemBody::Tool(tool) };
            self.emit(SessionEvent::ItemStarted { item });
        }
    }

    /// The turn goes on. Calls that had their result are open again where it goes on with the subagents that they wait for.
    pub(super) fn goes_on(&mut self, turn: u32, at: i64) {
        self.emit(SessionEvent::TurnStarted { turn, at });
        let calls = self.state.step.iter().flat_map(|step| &step.calls);
        let open: Vec<CallId> = calls
            .filter(|call| call.result.is_none() && call.child.is_some())
            .map(|call| call.call.id.clone())
            .collect();
        for call_id in open {
            self.change_call(&call_id, |tool| {
                if tool.ended_at.take().is_some() {
                    tool.state = ToolState::Proposed;
                    (tool.output, tool.output_truncated) = (String::new(), false);
                }
            });
        }
    }

    pub(super) fn running_call(&mut self, call_id: &CallId, at: i64) {
        self.change_call(call_id, |tool| {
            if tool.state != ToolState::Running {
                tool.state = ToolState::Running;
                tool.started_at = Some(at);
            }
        });
    }

    /// The words of the todo that a call of the step under way belongs to.
    pub(super) fn todo_of(&self, call_id: &CallId) -> Option<String> {
        self.calls.rows.get(call_id).and(self.calls.todo.clone())
    }

    /// The command that a call runs, where it runs one.
    pub(crate) fn command(&self, call_id: &CallId) -> Option<String> {
        match &self.view.item(self.calls.rows.get(call_id)?)?.body {
            ItemBody::Tool(tool) => command_of(&tool.name, &tool.args).map(ToOwned::to_owned),
            ItemBody::Human { .. } | ItemBody::Ai { .. } | ItemBody::Notice(_) => None,
        }
    }

    pub(super) fn delegated(&mut self, call_id: &CallId, child: &SessionId) {
        let child = WireSessionId::new(child.as_str());
        self.change_call(call_id, |tool| tool.child = Some(child));
    }

    pub(super) fn output(&mut self, call_id: &CallId, text: &str) {
        let Some(id) = self.calls.rows.get(call_id).cloned() else { return };
        let Some(mut item) = self.view.item(&id).filter(|item| is_full(item, text)).map(Cow::into_owned) else {
            let delta = Delta::Output { text: text.to_owned() };
            return self.emit(SessionEvent::ItemDelta { item: id, delta });
        };
        if let ItemBody::Tool(tool) = &mut item.body {
            // What a command says last tells most of how it goes: the middle makes room for it.
            tool.output.push_str(text);
            tool.output = head_and_tail(&tool.output, LIVE_OUTPUT / 2).0;
            tool.output_truncated = true;
        }
        self.emit(SessionEvent::ItemUpdated { item });
    }

    pub(super) fn finish_call(&mut self, call_id: &CallId, result: &Result<'_>, allowed_by: Option<&str>) {
        let Some(id) = self.calls.rows.get(call_id).cloned() else { return };
        let Some(mut item) = self.view.item(&id).map(Cow::into_owned) else { return };
        if let ItemBody::Tool(tool) = &mut item.body {
            let text = shown(result.message, &result.artifact.framing);
            tool.state = state_of(result.outcome, result.message);
            tool.started_at = result.started_at.or(tool.started_at);
            tool.ended_at = Some(result.at);
            if let Some(rule) = allowed_by {
                tool.decision = Some(convert::by_rule(rule, result.outcome, result.at));
            }
            tool.figures = result.artifact.figures.iter().map(convert::figure).collect();
            (tool.output, tool.output_truncated) = head_and_tail(&text, OUTPUT);
            // That some of it is left out was said in what was taken away.
            tool.output_truncated |= result.artifact.truncated && !result.artifact.framing.is_empty();
            tool.diff = match (&result.artifact.diff, tool.state) {
                (Some(diff), _) => Some(convert::diff(diff)),
                (None, ToolState::Done) => None,
                // What was refused stays to be seen.
                (None, _) => tool.diff.take(),
            };
        }
        self.emit(SessionEvent::ItemCompleted { item });
        self.resolve(call_id, None);
    }

    /// Changes the row of a call of the step under way, and tells.
    pub(super) fn change_call(&mut self, call_id: &CallId, change: impl FnOnce(&mut ToolItem)) {
        let Some(id) = self.calls.rows.get(call_id).cloned() else { return };
        let Some(mut item) = self.view.item(&id).map(Cow::into_owned) else { return };
        if let ItemBody::Tool(tool) = &mut item.body {
            change(tool);
        }
        self.emit(SessionEvent::ItemUpdated { item });
    }
}

/// What a person sees of a result: without what frames it for the model, which the row says itself.
pub(crate) fn shown(message: &Message, framing: &Framing) -> String {
    let Message::Tool(message) = message else { return String::new() };
    let text = message.text();
    if !framing.is_empty() {
        return framing.without(&text);
    }
    if message.name == Execute::NAME { without_framing(&text).to_owned() } else { text }
}

fn row_of(message: &MessageId, index: usize) -> ItemId {
    ItemId::new(format!("{message}.{index}"))
}

/// The row of a call, where `body` is the reply that proposed it.
pub(crate) fn row_of_call(body: &EntryBody, call: &CallId) -> Option<ItemId> {
    let EntryBody::Ai { message, .. } = body else { return None };
    let index = message.tool_calls.iter().position(|proposed| proposed.id == *call)?;
    Some(row_of(&message.id, index))
}

fn empty_row(call_id: &CallId, name: &str, kind: ToolKind, args: Value) -> ToolItem {
    ToolItem {
        call_id: bosun_protocol::CallId::new(call_id.as_str()),
        name: name.to_owned(),
        tool_kind: convert::tool_kind(kind),
        args,
        state: ToolState::Proposed,
        started_at: None,
        ended_at: None,
        figures: Vec::new(),
        output: String::new(),
        output_truncated: false,
        diff: None,
        decision: None,
        child: None,
        todos: Vec::new(),
    }
}

/// The kind of a call whose message is not finished; the finished message brings the true one.
fn kind_guess(name: &str) -> ToolKind {
    match name {
        "ls" | "read_file" | "glob" | "grep" => ToolKind::Read,
        "write_file" | "edit_file" | "delete" => ToolKind::Edit,
        "execute" => ToolKind::Execute,
        "task" => ToolKind::Delegate,
        "write_todos" => ToolKind::Plan,
        _ => ToolKind::Other,
    }
}

/// Whether a row has no room for more live output.
fn is_full(item: &Item, more: &str) -> bool {
    matches!(&item.body, ItemBody::Tool(tool) if tool.output.len() + more.len() > LIVE_OUTPUT)
}

/// The text, or its head and tail where it is longer than `most` bytes, cut between characters.
pub(crate) fn head_and_tail(text: &str, most: usize) -> (String, bool) {
    if text.len() <= most {
        return (text.to_owned(), false);
    }
    let half = most / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    (format!("{head}\n…\n{tail}"), true)
}

#[cfg(test)]
mod tests {
    use bosun_model::{ContentBlock, ToolMessage, ToolStatus};
    use pretty_assertions::assert_eq;

    use super::*;

    const END: &str = "[Command succeeded with exit code 0]";

    fn seen(name: &str, text: &str, framing: Framing) -> String {
        let content = vec![ContentBlock::text(text)];
        let message = ToolMessage { call_id: "c".into(), name: name.into(), content, status: ToolStatus::Success };
        shown(&Message::Tool(message), &framing)
    }

    #[test]
    fn what_frames_a_command_for_the_model_is_not_shown_as_its_output() {
        let framing = Framing { behind: format!("\n{END}"), ..Framing::default() };
        let text = format!("{END}\n\n{END}");
        assert_eq!(seen("execute", &text, framing), format!("{END}\n"));
        // In journals of earlier versions it was not told apart.
        assert_eq!(seen("execute", &text, Framing::default()), format!("{END}\n"));
        assert_eq!(seen("execute", &format!("<no output>\n\n{END}"), Framing::default()), "");
        assert_eq!(seen("execute", "hello", Framing::default()), "hello");
        assert_eq!(seen("read_file", &text, Framing::default()), text);
    }
}
