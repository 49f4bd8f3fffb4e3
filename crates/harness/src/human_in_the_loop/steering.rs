//! Changing what later sessions go by (memories, skills, kinds of subagents) after something was read that nobody vouches
//! for: it may be the one that wants to be remembered (security.md C05).

use bosun_agent::TurnContext;
use bosun_backend::VirtualPath;
use bosun_model::{ContentBlock, Message, ToolCall};

use crate::permissions::named_by;

/// The app's own mounts of that kind. One is called `_NAME` where the project has a folder of its name.
const MOUNTS: [&str; 3] = ["memories", "skills", "agents"];
/// Tools whose results say only what the agent itself did.
const OWN: [&str; 7] =
    ["write_todos", "write_file", "edit_file", "delete", "compact_conversation", "final_answer", "search_memories"];

/// Whether `path` is one of them and the conversation holds something that the person did not say themselves. A subagent
/// does not know what its task was made from, so that it always does.
pub(super) fn guards(cx: &TurnContext, steering: &[VirtualPath], path: &VirtualPath) -> bool {
    is_steering(steering, path) && (cx.depth() > 0 || has_read(cx, steering))
}

fn is_steering(steering: &[VirtualPath], path: &VirtualPath) -> bool {
    let is_mount = |name: &str| MOUNTS.contains(&name.strip_prefix('_').unwrap_or(name));
    path.segments().next().is_some_and(is_mount) || steering.iter().any(|place| path.starts_with(place))
}

fn has_read(cx: &TurnContext, steering: &[VirtualPath]) -> bool {
    cx.log().with_state(|state| {
        state.messages.iter().any(|message| match &**message {
            Message::Ai(reply) => reply.tool_calls.iter().any(|call| reads(cx, steering, call)),
            Message::Human(human) => human.content.iter().any(|block| matches!(block, ContentBlock::Media(_))),
            Message::System(_) | Message::Tool(_) => false,
        })
    })
}

/// Whether a call brings in what is not the person's own: what they have the agent remember is.
fn reads(cx: &TurnContext, steering: &[VirtualPath], call: &ToolCall) -> bool {
    let looks_at_own = || {
        matches!(call.name.as_str(), "read_file" | "ls")
            && named_by(&call.name, &call.args, &*cx.agent().backend)
                .is_some_and(|(_, path)| is_steering(steering, &path))
    };
    !OWN.contains(&call.name.as_str()) && !looks_at_own()
}
