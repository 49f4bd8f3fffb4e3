//! What a session was begun with on this command line, so that going on with it goes on the same way.

use bosun_providers::without_query_secrets;
use bosun_store::{Database, DatabaseError};

use crate::models::{Address, Named};

/// Something that is remembered of sessions.
#[derive(Clone, Copy)]
pub(super) struct Remembered {
    /// The setting that holds it.
    setting: &'static str,
    /// Of so many sessions; the oldest go first.
    most: usize,
}

/// The base URL behind the provider whose it is, so that going on speaks to the same server.
const BASE_URL: Remembered = Remembered { setting: "cli_base_urls", most: 200 };
/// The file that declares the agent.
pub(super) const AGENT: Remembered = Remembered { setting: "cli_agents", most: 200 };
/// Whether commands run in a sandbox. What holds a session back is never forgotten because of others.
pub(super) const SANDBOX: Remembered = Remembered { setting: "cli_sandboxes", most: usize::MAX };

pub(super) async fn recall(
    database: &Database,
    what: Remembered,
    session: &str,
) -> Result<Option<String>, DatabaseError> {
    let known: Vec<(String, String)> = database.setting(what.setting).await?.unwrap_or_default();
    Ok(known.into_iter().find(|(id, _)| id == session).map(|(_, value)| value))
}

pub(super) async fn keep(
    database: &Database,
    what: Remembered,
    session: &str,
    value: &str,
) -> Result<(), DatabaseError> {
    let mut known: Vec<(String, String)> = database.setting(what.setting).await?.unwrap_or_default();
    known.retain(|(id, _)| id != session);
    known.push((session.to_owned(), value.to_owned()));
    known.drain(..known.len().saturating_sub(what.most));
    database.set_setting(what.setting, &known).await
}

/// The address at which a session's provider was asked.
pub(super) async fn address(database: &Database, session: &str) -> Result<Option<Address>, DatabaseError> {
    let written = recall(database, BASE_URL, session).await?;
    Ok(written.as_deref().and_then(|written| written.split_once(' ')).map(|(provider, url)| Address {
        provider: provider.to_owned(),
        url: url.to_owned(),
        named: Named::Before,
    }))
}

/// Keeps it. What in its query may be a key is not kept.
pub(super) async fn keep_address(database: &Database, session: &str, address: &Address) -> Result<(), DatabaseError> {
    let url = without_query_secrets(&address.url);
    keep(database, BASE_URL, session, &format!("{} {url}", address.provider)).await
}
