use bosun_backend::{Backend, BackendError, ContentHash};
use bosun_tools::{ToolKind, ToolOutput};

use crate::{ChangeIntent, OpenCall, ToolOutcome};

/// Settles a call that an earlier life of the app began and did not finish (architecture.md 5.3).
///
/// | begun | found | outcome |
/// |---|---|---|
/// | a command, a network call | - | unknown; it is not run again |
/// | a file change | the new bytes | done |
/// | a file change | the old bytes | not done: `None`, it runs as decided |
/// | a file change | anything else | a conflict, left as it is |
pub(crate) async fn settle(call: &OpenCall, backend: &dyn Backend) -> Option<(ToolOutput, ToolOutcome)> {
    if matches!(call.kind, ToolKind::Execute | ToolKind::Other) && call.started {
        let text = "Error: Bosun ended while this was running, so what it did is not known. It was not run again. \
                    Look at what it may have changed before you repeat it.";
        return Some((ToolOutput::error(text), ToolOutcome::Unknown));
    }
    if call.intents.is_empty() {
        return None;
    }
    let mut done = 0;
    let mut undone = 0;
    for intent in &call.intents {
        match found(intent, backend).await {
            Found::After => done += 1,
            Found::Before => undone += 1,
            Found::Neither => {}
        }
    }
    let all = call.intents.len();
    if done == all {
        let names: Vec<&str> = call.intents.iter().map(|intent| intent.path.as_str()).collect();
        let text = format!(
            "The change to {} was made; Bosun was restarted right after it. Read the file again before changing it.",
            names.join(", ")
        );
        return Some((ToolOutput::text(text), ToolOutcome::Ran));
    }
    if undone == all {
        return None;
    }
    let names: Vec<&str> = call.intents.iter().map(|intent| intent.path.as_str()).collect();
    let text = format!(
        "Error: Bosun was restarted during this change and {} is now neither as before nor as intended; it was left \
         as it is. Read it and decide what to do.",
        names.join(", ")
    );
    Some((ToolOutput::error(text), ToolOutcome::Unknown))
}

enum Found {
    Before,
    After,
    Neither,
}

async fn found(intent: &ChangeIntent, backend: &dyn Backend) -> Found {
    let now = match backend.download(vec![intent.path.clone()]).await.pop() {
        Some(Ok(bytes)) => Some(ContentHash::of(&bytes)),
        Some(Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. })) => None,
        Some(Err(_)) | None => return Found::Neither,
    };
    if now == intent.after {
        Found::After
    } else if now == intent.before {
        Found::Before
    } else {
        Found::Neither
    }
}
