//! A session as a run left it, for what is done with it besides a turn.

use std::sync::Arc;

use bosun_protocol::SessionId;
use bosun_providers::EnvironmentKeys;
use bosun_session::{Limits, ModelSource, Policy, Sessions};
use bosun_store::Database;

use super::{agent, begin, remembered};
use crate::core::{Stored, keyring, open_sessions};
use crate::failure::Failure;
use crate::models::Models;

/// Opens `session` as `bosun run --session` does: at the address and with the agent that it was begun with, with its
/// model, and with what the person adds to every session.
pub(crate) async fn open(session: &SessionId, keys: EnvironmentKeys) -> Result<Sessions, Failure> {
    let folder = bosun_store::data_folder().ok_or(Failure::NoDataFolder)?;
    if Database::open_existing(&folder)?.is_none() {
        Database::could_be_in(&folder)?;
        return Err(Failure::NoSession { id: session.to_string() });
    }
    let stored = Stored::open()?;
    let database = &stored.database;
    let models = Arc::new(Models::new(Some(Arc::clone(database)), keys));
    models.ask_at(remembered::address(database, session.as_str()).await?);
    let source = Arc::clone(&models) as Arc<dyn ModelSource>;
    let sessions = open_sessions(Some(&stored), source, Policy::default(), Limits::default()).await?;
    if let Some(file) = agent::file(None, Some(session.as_str()), Some(database)).await? {
        sessions.declare(agent::read(&file)?);
    }
    sessions.keep_sign_ins(keyring(database));
    sessions.load_additions(Vec::new()).await?;
    let subscription = begin::subscribe(&sessions, session).await?;
    begin::choose_model(&sessions, &models, &subscription.snapshot, None, None).await?;
    Ok(sessions)
}
