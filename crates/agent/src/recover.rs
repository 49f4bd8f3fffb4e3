use std::collections::BTreeMap;

use bosun_backend::{Backend, BackendError, ContentHash, VirtualPath};
use bosun_tools::{ChangeRecord, ToolKind, ToolOutput, left_by_command};

use crate::{ChangeIntent, OpenCall, ToolOutcome};

/// Most paths that a sentence for the model names.
const NAMED: usize = 10;

/// What is to be done with a call that may have begun in an earlier life of the app.
pub(crate) enum Begun {
    /// It is at its end.
    Ended(Box<ToolOutput>, ToolOutcome),
    /// It runs as decided; so many of its changes were made before.
    Runs { made: usize },
}

/// Settles a call that an earlier life of the app began and did not finish (architecture.md 5.3).
///
/// | begun | found | outcome |
/// |---|---|---|
/// | a command, a network call | - | unknown; it is not run again |
/// | a file change | the new bytes | done |
/// | a file change | the old bytes | not done: it runs as decided |
/// | a file change | anything else | a conflict, left as it is |
/// | changes below `target`, a folder that is still there | each as before or as intended | the rest runs as decided |
///
/// `target` is the path that the call changes, as its tool says.
pub(crate) async fn settle(call: &OpenCall, target: Option<&VirtualPath>, backend: &dyn Backend) -> Begun {
    if matches!(call.kind, ToolKind::Execute | ToolKind::Other) && call.started {
        let files = match backend.shell().filter(|_| call.kind == ToolKind::Execute) {
            Some(shell) => shell.left_over().await,
            None => None,
        };
        let mut text = "Error: Bosun ended while this was running, so what it did is not known. It was not run again. \
                        Look at what it may have changed before you repeat it."
            .to_owned();
        let paths: Vec<&VirtualPath> =
            files.iter().flat_map(|files| files.changes.iter().map(|change| &change.path)).collect();
        if !paths.is_empty() {
            text.push_str(&format!(" Since it began these files changed: {}.", named(&paths)));
        }
        return Begun::Ended(Box::new(left_by_command(text, files)), ToolOutcome::Unknown);
    }
    for intent in &call.intents {
        backend.tidy(&intent.path).await;
    }
    let Found { made, open, conflicts } = look(&call.intents, backend).await;
    if !conflicts.is_empty() {
        let text = format!(
            "Error: Bosun was restarted during this call. Of its changes {} are made and {open} are not; what is at {} \
             now is neither as before nor as intended and was left as it is. Read it and decide what to do.",
            made.len(),
            named(&conflicts)
        );
        return Begun::Ended(Box::new(ToolOutput::error(text)), ToolOutcome::Unknown);
    }
    if made.is_empty() || open > 0 || is_left(target, &made, backend).await {
        return Begun::Runs { made: made.len() };
    }
    let paths: Vec<&VirtualPath> = made.iter().map(|change| &change.path).collect();
    let text = format!(
        "The change to {} was made; Bosun was restarted right after it. Read the file again before changing it.",
        named(&paths)
    );
    Begun::Ended(Box::new(ToolOutput::text(text)), ToolOutcome::Ran)
}

/// The changes that a call meant to make and that are on disk, but not among `told`, which are those that its result
/// tells of. A call that ended badly changed what it changed, and all of that can be undone (architecture.md 5.7).
pub(crate) async fn untold(
    intents: &[ChangeIntent],
    told: &[ChangeRecord],
    backend: &dyn Backend,
) -> Vec<ChangeRecord> {
    let told: std::collections::HashSet<&VirtualPath> = told.iter().map(|change| &change.path).collect();
    let open: Vec<ChangeIntent> = intents.iter().filter(|intent| !told.contains(&intent.path)).cloned().collect();
    look(&open, backend).await.made
}

/// Whether a folder that a call was changing from within is still there, so that there may be more to do.
async fn is_left(target: Option<&VirtualPath>, made: &[ChangeRecord], backend: &dyn Backend) -> bool {
    let Some(target) = target.filter(|target| made.iter().any(|change| change.path != **target)) else { return false };
    !matches!(
        backend.ls(target).await,
        Err(BackendError::NotFound { .. }
            | BackendError::DirectoryNotFound { .. }
            | BackendError::NotADirectory { .. })
    )
}

/// What became of intents.
#[derive(Default)]
struct Found<'a> {
    made: Vec<ChangeRecord>,
    /// How many were not made.
    open: usize,
    conflicts: Vec<&'a VirtualPath>,
}

async fn look<'a>(intents: &'a [ChangeIntent], backend: &dyn Backend) -> Found<'a> {
    // A call that ran twice meant a path twice: from the bytes before the first to those after the last.
    let mut spans: BTreeMap<&VirtualPath, (&ChangeIntent, &ChangeIntent)> = BTreeMap::new();
    for intent in intents {
        spans.entry(&intent.path).and_modify(|span| span.1 = intent).or_insert((intent, intent));
    }
    let mut found = Found::default();
    for (path, (first, last)) in spans {
        match place(last, backend).await {
            Place::After => found.made.push(ChangeRecord {
                path: path.clone(),
                before: first.before.clone(),
                after: last.after.clone(),
                mode: first.mode,
                // What replaces a file has its rights.
                mode_after: last.mode.filter(|_| last.after.is_some()),
            }),
            Place::Before => found.open += 1,
            Place::Neither => found.conflicts.push(path),
        }
    }
    found
}

enum Place {
    Before,
    After,
    Neither,
}

async fn place(intent: &ChangeIntent, backend: &dyn Backend) -> Place {
    if intent.after.is_none() && intent.mode.is_none() {
        // A link or a pipe, whose own bytes cannot be read through it: what counts is whether it is there.
        return if is_listed(&intent.path, backend).await { Place::Before } else { Place::After };
    }
    let now = match backend.download(vec![intent.path.clone()]).await.pop() {
        Some(Ok(bytes)) => Some(ContentHash::of(&bytes)),
        Some(Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. })) => None,
        Some(Err(_)) | None => return Place::Neither,
    };
    if now == intent.after {
        Place::After
    } else if now == intent.before {
        Place::Before
    } else {
        Place::Neither
    }
}

async fn is_listed(path: &VirtualPath, backend: &dyn Backend) -> bool {
    // A folder can have very many entries; only a link that leads nowhere is told by those alone.
    if backend.stat(path).await.is_ok() {
        return true;
    }
    let Some(folder) = path.parent() else { return true };
    match backend.ls(&folder).await {
        Ok(entries) => entries.iter().any(|entry| entry.path == *path),
        Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => false,
        Err(_) => true,
    }
}

/// Some paths as a sentence names them.
fn named(paths: &[&VirtualPath]) -> String {
    let shown: Vec<&str> = paths.iter().take(NAMED).map(|path| path.as_str()).collect();
    let rest = paths.len().saturating_sub(NAMED);
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more", shown.join(", ")) }
}
