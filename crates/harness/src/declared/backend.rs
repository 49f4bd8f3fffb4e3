use std::path::PathBuf;

use bosun_backend::VirtualPath;
use serde::Deserialize;

use super::DeclaredAgentError;

/// The path space of an agent, as its declaration has it. Whoever opens sessions makes it so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredBackend {
    pub default: DeclaredDefault,
    pub routes: Vec<DeclaredRoute>,
}

/// What is at `/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredDefault {
    /// The project's folder, with a shell.
    #[default]
    Project,
    /// Files that are kept in the session; there is no shell, and the project's are out of reach.
    State,
}

/// What is below a prefix instead.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredRoute {
    pub prefix: VirtualPath,
    pub kind: DeclaredKind,
    /// What the files are called in the store; of a `store` only, which has to have one.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Who shares what is in the store.
    #[serde(default)]
    pub scope: DeclaredScope,
    /// Where on this machine; of a `folder` only, which has to have one.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    #[serde(default)]
    pub read_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredKind {
    /// Kept in the session.
    State,
    /// Kept for longer than a session.
    Store,
    /// A folder of this machine.
    Folder,
}

/// Who shares what is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredScope {
    /// All sessions.
    #[default]
    User,
    /// The sessions of one project.
    Project,
    /// The sessions of this agent, by its name.
    Agent,
}

impl DeclaredBackend {
    /// # Errors
    /// [`DeclaredAgentError`] for a route that cannot be.
    pub(super) fn check(&self) -> Result<(), DeclaredAgentError> {
        for route in &self.routes {
            let prefix = &route.prefix;
            let wrong = match (route.kind, &route.namespace, &route.folder) {
                _ if prefix.is_root() => "it cannot be at '/'; say what is there with 'default'",
                (DeclaredKind::Store, None, _) => "a store needs a 'namespace'",
                (DeclaredKind::Folder, _, None) => "a folder needs its 'folder'",
                (DeclaredKind::Folder, _, Some(folder)) if !folder.is_absolute() => {
                    "its 'folder' has to be a whole path"
                }
                (DeclaredKind::State | DeclaredKind::Folder, Some(_), _) => "only a store has a 'namespace'",
                (DeclaredKind::State | DeclaredKind::Store, _, Some(_)) => "only a folder has a 'folder'",
                (DeclaredKind::State | DeclaredKind::Store | DeclaredKind::Folder, _, _) => continue,
            };
            return Err(DeclaredAgentError(format!("the route at '{prefix}': {wrong}")));
        }
        Ok(())
    }
}
