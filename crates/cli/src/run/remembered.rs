//! What a session was begun with on this command line, so that going on with it goes on the same way.

use bosun_store::{Database, DatabaseError};

/// The base URL, so that going on speaks to the same server.
pub(super) const BASE_URL: &str = "cli_base_urls";
/// The file that declares the agent.
pub(super) const AGENT: &str = "cli_agents";
/// Whether commands run in a sandbox.
pub(super) const SANDBOX: &str = "cli_sandboxes";
/// Sessions of which something is remembered; the oldest go first, but what holds a session back stays.
const MOST: usize = 200;

pub(super) async fn recall(
    database: &Database,
    what: &'static str,
    session: &str,
) -> Result<Option<String>, DatabaseError> {
    let known: Vec<(String, String)> = database.setting(what).await?.unwrap_or_default();
    Ok(known.into_iter().find(|(id, _)| id == session).map(|(_, value)| value))
}

pub(super) async fn keep(
    database: &Database,
    what: &'static str,
    session: &str,
    value: &str,
) -> Result<(), DatabaseError> {
    let mut known: Vec<(String, String)> = database.setting(what).await?.unwrap_or_default();
    known.retain(|(id, _)| id != session);
    known.push((session.to_owned(), value.to_owned()));
    let over = if what == SANDBOX { 0 } else { known.len().saturating_sub(MOST) };
    known.drain(..over);
    database.set_setting(what, &known).await
}

/// A URL may hold a key in its query; that part is not kept.
pub(super) fn bare(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}
