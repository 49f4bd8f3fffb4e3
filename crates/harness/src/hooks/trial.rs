//! A hook on its own, as a person tries it: told of something that did not happen, and nothing comes of what it answers.

use std::path::Path;
use std::time::Duration;

use bosun_agent::TurnEnd;
use bosun_backend::{ProgramExit, ProgramRun};
use bosun_mcp::TokenStore;
use bosun_model::{CallId, ToolCall};
use bosun_tools::{Task, Tool as _, ToolKind, ToolOutput};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Answer, Decision};
use super::run::{MOST_OUTPUT, program};
use super::{HookConfig, HookPoint, OnFailure, event};
use crate::summarization::{Summary, SummaryCause};

/// What every text of the event says.
const SAID: &str = "This is a trial of the hook; nothing happened.";
/// What stands for the session and the call.
const TRIAL: &str = "trial";

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookTrial {
    /// The JSON that it was told.
    pub event: String,
    /// `None` where it did not start, or did not end by itself.
    pub exit: Option<ProgramExit>,
    pub stdout: String,
    pub stderr: String,
    /// Whether either leaves something out.
    pub truncated: bool,
    pub verdict: HookVerdict,
}

/// What Bosun would have done in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookVerdict {
    GoesOn,
    /// Given the model something to read.
    Adds {
        text: String,
    },
    /// Asked a person.
    Asks {
        reason: Option<String>,
    },
    Denies {
        reason: Option<String>,
    },
    /// It failed, which is half a sentence after its name.
    Failed {
        how: String,
        then: OnFailure,
    },
}

impl HookConfig {
    /// Runs it once in `folder`, within the bounds of any other run, whether it is enabled or not. The values of its
    /// variables come from `kept`, and are in nothing that it said.
    pub async fn try_out(&self, folder: &Path, kept: &dyn TokenStore, cancel: CancellationToken) -> HookTrial {
        let event = sample(self, &folder.to_string_lossy());
        let run = ProgramRun {
            input: serde_json::to_vec(&event).unwrap_or_default(),
            timeout: Duration::from_secs(self.timeout),
            cancel,
            most_output: MOST_OUTPUT,
        };
        let event = serde_json::to_string_pretty(&event).unwrap_or_default();
        let failed = |how: String| HookVerdict::Failed { how, then: self.failure() };
        let unstarted = |event: String, how: String| HookTrial {
            event,
            exit: None,
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
            verdict: failed(how),
        };
        let program = match program(self, folder, kept).await {
            Ok(program) => program,
            Err(error) => return unstarted(event, error.to_string()),
        };
        let shown = |bytes: &[u8]| kept.masked(&String::from_utf8_lossy(bytes));
        match program.run(run).await {
            Ok(answer) => HookTrial {
                event,
                verdict: answer::read(self, &answer).map_or_else(|how| failed(kept.masked(&how)), verdict),
                exit: answer.exit,
                stdout: shown(&answer.stdout),
                stderr: shown(&answer.stderr),
                truncated: answer.truncated,
            },
            Err(error) => unstarted(event, format!("could not be started: {error}")),
        }
    }
}

fn verdict(answer: Answer) -> HookVerdict {
    match (answer.decision, answer.context) {
        (Decision::Deny, _) => HookVerdict::Denies { reason: answer.reason },
        (Decision::Ask, _) => HookVerdict::Asks { reason: answer.reason },
        (Decision::GoOn, Some(text)) => HookVerdict::Adds { text },
        (Decision::GoOn, None) => HookVerdict::GoesOn,
    }
}

/// An event of the hook's point as a turn would tell it, which says that it is a trial.
fn sample(hook: &HookConfig, folder: &str) -> Value {
    let result = || event::result(&ToolOutput::text(SAID));
    let own = match hook.point {
        HookPoint::TurnStart => json!({ "message": SAID }),
        HookPoint::BeforeModel => json!({ "messages": 1, "tools": ["read_file", "edit_file", "execute"] }),
        HookPoint::AfterModel => json!({ "message": SAID, "tool_calls": [] }),
        HookPoint::BeforeTool => json!({ "tool": tool(hook) }),
        HookPoint::AfterTool => json!({ "tool": tool(hook), "result": result() }),
        HookPoint::SubagentStart => json!({ "tool": sending() }),
        HookPoint::SubagentEnd => json!({ "tool": sending(), "result": result() }),
        HookPoint::Compaction => event::compaction(&Summary {
            cutoff: 1,
            text: SAID.to_owned(),
            facts: String::new(),
            file: None,
            filed: None,
            made_at: 1,
            cause: SummaryCause::Threshold,
            request_tokens: 1_000,
            tokens_before: 1_000,
            tokens_after: 100,
            usage: None,
            left_out: 0,
            edited: false,
        }),
        HookPoint::TurnEnd => json!({ "end": TurnEnd::Done }),
    };
    let mut event = event::of(hook.point.word(), json!(TRIAL), 1, json!([]), folder, own);
    if let Some(event) = event.as_object_mut() {
        event.insert(TRIAL.to_owned(), Value::Bool(true));
    }
    event
}

/// A call that the hook is for.
fn tool(hook: &HookConfig) -> Value {
    let known = [
        ("execute", ToolKind::Execute, json!({ "command": "echo trial" })),
        ("write_file", ToolKind::Edit, json!({ "file_path": "/trial.txt", "content": SAID })),
        ("edit_file", ToolKind::Edit, json!({ "file_path": "/trial.txt", "old_string": "a", "new_string": "b" })),
        ("read_file", ToolKind::Read, json!({ "file_path": "/trial.txt" })),
    ];
    match known.into_iter().find(|(name, ..)| hook.is_for(Some(name))) {
        Some((name, kind, args)) => call(name, kind, args),
        // One of a server: what stands for any characters stands for none.
        None => {
            call(&hook.tools.first().map(|one| one.replace('*', "")).unwrap_or_default(), ToolKind::Other, json!({}))
        }
    }
}

fn sending() -> Value {
    let args = json!({ "description": SAID, "subagent_type": "general-purpose" });
    call(Task::NAME, ToolKind::Delegate, args)
}

fn call(name: &str, kind: ToolKind, args: Value) -> Value {
    event::tool(&ToolCall { id: CallId::new(TRIAL), name: name.to_owned(), args }, kind)
}
