//! The scripts that a command runs, as they were when a person was asked: they approved what these held (security.md A12).

use std::sync::Arc;

use bosun_agent::{
    AgentError, Ask, AskPlace, AskedAgain, AskedScript, Certainty, Decision, ScriptFigures, ScriptNames, TurnContext,
};
use bosun_backend::{Backend, BackendError, ReadWindow, VirtualPath};
use bosun_model::{CallId, ToolCall};
use bosun_tools::{DynTool, Preview, ToolKind};
use serde_json::Value;

/// Scripts that are looked at for one command, of those that are there.
const MOST: usize = 16;
/// Bytes up to which a script is compared by its content.
const MAX_HASHED: u64 = 4 * 1024 * 1024;

/// What a command runs.
#[derive(Default)]
pub(super) struct Scripts {
    pub named: Vec<AskedScript>,
    /// It may run more than these.
    pub has_more: bool,
}

/// The scripts of this call as they are now; none but for commands.
pub(super) async fn named_by(backend: &dyn Backend, call: &ToolCall, kind: ToolKind) -> Scripts {
    let line = call.args.get("command").and_then(Value::as_str).unwrap_or_default();
    if kind != ToolKind::Execute || backend.shell().is_none() {
        return Scripts::default();
    }
    let folder = backend.host_path(&VirtualPath::root());
    let names = ScriptNames::of(line, folder.as_deref().and_then(|folder| folder.to_str()).unwrap_or_default());
    let mut scripts = Scripts { named: Vec::new(), has_more: names.has_more };
    let mut there = 0;
    for file in &names.files {
        let Some(path) = place_of(backend, &file.path) else {
            // Nobody looks outside; a guess is no reason to say so.
            scripts.has_more |= file.certainty == Certainty::Said;
            continue;
        };
        if scripts.named.iter().any(|known| known.path == path) {
            continue;
        }
        let script = match look(backend, &path).await {
            Seen::Script(script) => script,
            Seen::Hidden(script) => {
                scripts.has_more = true;
                script
            }
        };
        if script.is_there() && there == MOST {
            scripts.has_more = true;
            continue;
        }
        there += usize::from(script.is_there());
        scripts.named.push(script);
    }
    scripts
}

/// Asks once more where an approved command would run a script that is not as it was then, or without the sandbox that it
/// was to run in, or in another place, or where the line that a person put in its place runs a script that they were not
/// shown. What an earlier call of the same step made of it was asked for beside it. Gives whether it was asked for.
pub(super) async fn ask_again(
    cx: &TurnContext,
    call_id: &CallId,
    decision: &Decision,
    tool: &Arc<dyn DynTool>,
    place: Option<AskPlace>,
) -> Result<bool, AgentError> {
    let kind = tool.kind();
    let asked = cx.log().with_state(|state| state.open_call(call_id).and_then(|call| call.ask.clone()));
    let Some(ask) = asked.filter(|_| kind == ToolKind::Execute) else { return Ok(false) };
    let now = tool.preview(&cx.tool_context(call_id), &ask.call.args).await;
    let is_moved = ask.place != place || folder(&now) != folder(&ask.preview);
    let call = match decision {
        Decision::Approve if !ask.scripts.is_empty() || ask.sandbox.is_some() || is_moved => ask.call.clone(),
        Decision::Edit { args } => ToolCall { args: args.clone(), ..ask.call.clone() },
        Decision::Approve | Decision::Respond { .. } | Decision::Reject { .. } => return Ok(false),
    };
    cx.after_earlier(call_id, kind).await?;
    let busy = cx.activity().enter();
    let backend = &*cx.agent().backend;
    let Scripts { named: scripts, has_more: more_scripts } = named_by(backend, &call, kind).await;
    let sandbox = super::sandbox(backend, kind);
    let is_bare = ask.sandbox.is_some() && sandbox.is_none();
    let moved = is_moved.then_some(AskedAgain::PlaceChanged);
    let again = moved.or_else(|| not_approved(cx, &ask, &scripts)).or(is_bare.then_some(AskedAgain::SandboxOff));
    let Some(again) = again else { return Ok(false) };
    let is_edited = ask.is_edited || matches!(decision, Decision::Edit { .. });
    let preview = tool.preview(&cx.tool_context(call_id), &call.args).await;
    let again = Some(again);
    let ask = Ask { call, preview, sandbox, place, scripts, more_scripts, again, is_edited, ..ask };
    cx.record_ask(ask.sealed()).await?;
    drop(busy);
    Ok(true)
}

/// Where a command runs; one that cannot be is nowhere.
fn folder(preview: &Preview) -> Option<&str> {
    match preview {
        Preview::Command { folder, .. } => Some(folder),
        _ => None,
    }
}

/// What of these scripts, as they are now, the approval of `ask` does not hold for.
fn not_approved(cx: &TurnContext, ask: &Ask, scripts: &[AskedScript]) -> Option<AskedAgain> {
    scripts.iter().find_map(|now| {
        let path = now.path.to_string();
        match ask.scripts.iter().find(|asked| asked.path == now.path) {
            Some(asked) if asked == now => None,
            None if !now.is_there() => None,
            _ if made_beside(cx, &ask.call.id, now) => None,
            Some(_) => Some(AskedAgain::ScriptChanged { path }),
            None => Some(AskedAgain::ScriptNamed { path }),
        }
    })
}

/// Whether an earlier call of the same step that was asked for left the file like this.
fn made_beside(cx: &TurnContext, call_id: &CallId, now: &AskedScript) -> bool {
    cx.log().with_state(|state| {
        let calls = state.step.iter().flat_map(|step| &step.calls).take_while(|call| call.call.id != *call_id);
        let changes = calls.flat_map(|call| call.intents.iter().map(move |intent| (call, intent)));
        let last = changes.filter(|(_, intent)| intent.path == now.path).last();
        last.is_some_and(|(call, intent)| call.ask.is_some() && now.figures.is_none() && intent.after == now.hash)
    })
}

/// Where a name from a command line lies in the project; a line's absolute paths are the machine's, not the agent's.
fn place_of(backend: &dyn Backend, name: &str) -> Option<VirtualPath> {
    let literal = VirtualPath::parse(name).ok()?;
    if !name.starts_with('/') {
        return Some(literal);
    }
    let root = backend.host_path(&VirtualPath::root());
    if let Some(Ok(below)) = root.map(|root| std::path::Path::new(name).strip_prefix(root)) {
        return VirtualPath::parse(below.to_str()?).ok();
    }
    // By another name of the same folder, or in a place that is not this machine.
    backend.resolve(name).ok().filter(|path| *path != literal)
}

enum Seen {
    /// As it is now, or not there.
    Script(AskedScript),
    /// Something is or may be there that cannot be looked at: what a link to the outside leads to, what a rule or the
    /// system denies, what is no regular file.
    Hidden(AskedScript),
}

/// A script as it is now. Its size is known before anything of it is read.
async fn look(backend: &dyn Backend, path: &VirtualPath) -> Seen {
    let script = |hash, figures| AskedScript { path: path.clone(), hash, figures };
    // It stands among the scripts, so that one that takes the place of another, or comes to be there, is asked for.
    let hidden = || Seen::Hidden(script(None, Some(ScriptFigures { size: 0, modified_ns: None })));
    if !is_as_commands_see_it(backend, path) {
        return hidden();
    }
    let found = match backend.stat(path).await {
        Ok(found) if found.is_dir => return Seen::Script(script(None, None)),
        Ok(found) => found,
        Err(
            BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. } | BackendError::NotADirectory { .. },
        ) => return Seen::Script(script(None, None)),
        Err(_) => return hidden(),
    };
    let Some(size) = found.size else { return hidden() };
    let hash = if size <= MAX_HASHED {
        backend.read(path, ReadWindow { offset: 0, limit: 1 }).await.ok().and_then(|read| read.stamp.hash)
    } else {
        None
    };
    let figures = hash.is_none().then_some(ScriptFigures { size, modified_ns: found.modified_ns });
    Seen::Script(script(hash, figures))
}

/// Whether a command finds at this path what the agent finds there: under a route that is kept elsewhere it does not.
fn is_as_commands_see_it(backend: &dyn Backend, path: &VirtualPath) -> bool {
    let Some(root) = backend.host_path(&VirtualPath::root()) else { return true };
    backend.host_path(path) == Some(root.join(path.as_str().trim_start_matches('/')))
}
