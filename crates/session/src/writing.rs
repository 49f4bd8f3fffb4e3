use bosun_agent::EntryBody;
use bosun_protocol::{ItemId, SessionId, WrittenBy};

use crate::journals::Journals;
use crate::projection::row_of_call;
use crate::{SessionError, Sessions};

/// A call's result that wrote a file.
struct Call<'a> {
    at: i64,
    journal: &'a Journals,
    id: &'a bosun_model::CallId,
}

/// The call of a session, or of a subagent of it, that wrote `path` at `at` (milliseconds since 1970); `None` where the
/// session is gone.
pub(crate) async fn written_by(
    sessions: &Sessions,
    session: &SessionId,
    path: &str,
    at: i64,
) -> Result<Option<WrittenBy>, SessionError> {
    let database = sessions.database();
    let id = bosun_agent::SessionId::new(session.as_str());
    let Some(stored) = database.session(&id).await? else { return Ok(None) };
    let title = stored.summary.get("title").and_then(|title| title.as_str()).unwrap_or_default().to_owned();
    let journals = Journals::read(&database, &id).await?;
    let mut calls = Vec::new();
    writers(&journals, path, &mut calls);
    // The result is recorded after the file was written: the first one behind it is the writer's.
    calls.sort_by_key(|call| call.at);
    let call = calls.iter().find(|call| call.at >= at).or(calls.last());
    let (found_in, item) = match call {
        Some(call) => (SessionId::new(call.journal.id.as_str()), row(call)),
        None => (session.clone(), None),
    };
    Ok(Some(WrittenBy { session: session.clone(), title, found_in, item }))
}

fn writers<'a>(journal: &'a Journals, path: &str, calls: &mut Vec<Call<'a>>) {
    for recorded in &journal.entries {
        if let EntryBody::ToolResult { call_id, artifact, .. } = &recorded.entry.body
            && artifact.changes.iter().any(|change| change.path.as_str() == path)
        {
            calls.push(Call { at: recorded.entry.at, journal, id: call_id });
        }
    }
    journal.children.iter().for_each(|child| writers(child, path, calls));
}

/// The row of a call in its session.
fn row(call: &Call<'_>) -> Option<ItemId> {
    call.journal.entries.iter().find_map(|recorded| row_of_call(&recorded.entry.body, call.id))
}
