//! The base URL a session was begun with, so that going on with it speaks to the same server.

use bosun_store::{Database, DatabaseError};

const SETTING: &str = "cli_base_urls";
/// Sessions whose URL is remembered; the oldest go first.
const MOST: usize = 200;

pub(super) async fn recall(database: &Database, session: &str) -> Result<Option<String>, DatabaseError> {
    let known: Vec<(String, String)> = database.setting(SETTING).await?.unwrap_or_default();
    Ok(known.into_iter().find(|(id, _)| id == session).map(|(_, url)| url))
}

/// A URL may hold a key in its query; that part is not kept.
pub(super) async fn keep(database: &Database, session: &str, url: &str) -> Result<(), DatabaseError> {
    let mut known: Vec<(String, String)> = database.setting(SETTING).await?.unwrap_or_default();
    known.retain(|(id, _)| id != session);
    let bare = url.split(['?', '#']).next().unwrap_or(url);
    known.push((session.to_owned(), bare.to_owned()));
    let over = known.len().saturating_sub(MOST);
    known.drain(..over);
    database.set_setting(SETTING, &known).await
}
