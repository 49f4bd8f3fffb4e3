//! The agent of a run, where `--agent` declares one.

use std::path::{Path, PathBuf};

use bosun_session::DeclaredAgent;
use bosun_store::Database;

use super::remembered;
use crate::failure::Failure;

/// The file that `--agent` names, else the one that the session was begun with.
pub(super) async fn file(
    given: Option<&Path>,
    session: Option<&str>,
    database: Option<&Database>,
) -> Result<Option<PathBuf>, Failure> {
    match (given, session, database) {
        (Some(given), _, _) => Ok(Some(std::path::absolute(given)?)),
        (None, Some(id), Some(database)) => {
            Ok(remembered::recall(database, remembered::AGENT, id).await?.map(PathBuf::from))
        }
        (None, _, _) => Ok(None),
    }
}

/// Reads and checks the file.
pub(super) fn read(path: &Path) -> Result<DeclaredAgent, Failure> {
    let wrong = |reason: String| Failure::Agent { path: path.to_owned(), reason };
    let text = bosun_backend::settings_text(path).map_err(|error| wrong(error.to_string()))?;
    DeclaredAgent::parse(&text).map_err(|error| wrong(error.to_string()))
}
