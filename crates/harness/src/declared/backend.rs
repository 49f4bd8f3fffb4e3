use std::collections::BTreeSet;
use std::path::PathBuf;

use bosun_backend::{StoreScope, VirtualPath};
use serde::{Deserialize, Serialize};

/// The path space of an agent, as its declaration has it. Whoever opens sessions makes it so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredBackend {
    pub default: DeclaredDefault,
    /// Where commands run; of the project's folder only, as there are none over files of the session.
    pub commands: Option<DeclaredCommands>,
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

/// Where commands have to run. Outside a sandbox is no declaration's to say: that is the person's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredCommands {
    /// In a sandbox around the project, whatever is chosen.
    Sandbox,
}

/// What is below a prefix instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredRoute {
    pub prefix: VirtualPath,
    pub kind: DeclaredKind,
    /// What the files are called in the store; of a `store` only, which has to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Who shares what is in the store.
    #[serde(default)]
    pub scope: DeclaredScope,
    /// Where on this machine; of a `folder` only, which has to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    #[serde(default)]
    pub read_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// A route that cannot be as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteFault {
    #[error("a route cannot be at '/', which is the default's; give it a folder of its own, such as /memories")]
    Root,
    #[error("two routes are at '{prefix}'; give each a folder of its own")]
    Twice { prefix: VirtualPath },
    #[error("the store at '{prefix}' needs a 'namespace', under which its files are kept")]
    NoNamespace { prefix: VirtualPath },
    #[error("'{given}' is not a namespace: use non-empty names of letters, digits and - _ . @ + : ~")]
    BadNamespace { given: String },
    #[error("the folder at '{prefix}' needs its 'folder', a whole path of this machine")]
    NoFolder { prefix: VirtualPath },
    #[error("the 'folder' of '{prefix}' has to be a whole path of this machine, not \"{}\"", folder.display())]
    PartOfPath { prefix: VirtualPath, folder: PathBuf },
    #[error("'{field}' at '{prefix}' is for a {kind} only; leave it out")]
    Misplaced { prefix: VirtualPath, field: &'static str, kind: &'static str },
}

impl DeclaredBackend {
    /// Checks all that can be known without opening anything.
    ///
    /// # Errors
    /// What cannot be as it is written.
    pub(super) fn check(&self) -> Result<(), BackendFault> {
        if self.default == DeclaredDefault::State && self.commands.is_some() {
            return Err(BackendFault::NoCommands);
        }
        Ok(DeclaredRoute::check_all(&self.routes)?)
    }
}

/// A path space that cannot be as it is declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BackendFault {
    #[error(
        "'commands' of [backend] is for default = \"project\" only: over files of the session no commands are run; leave \
         it out"
    )]
    NoCommands,
    #[error(transparent)]
    Route(#[from] RouteFault),
}

impl DeclaredRoute {
    /// Checks all that can be known without opening anything.
    ///
    /// # Errors
    /// [`RouteFault`] for the first route that cannot be.
    pub(crate) fn check_all(routes: &[Self]) -> Result<(), RouteFault> {
        let mut seen = BTreeSet::new();
        for route in routes {
            route.check()?;
            if !seen.insert(&route.prefix) {
                return Err(RouteFault::Twice { prefix: route.prefix.clone() });
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), RouteFault> {
        let prefix = || self.prefix.clone();
        if self.prefix.is_root() {
            return Err(RouteFault::Root);
        }
        if self.kind != DeclaredKind::Store && self.namespace.is_some() {
            return Err(RouteFault::Misplaced { prefix: prefix(), field: "namespace", kind: "store" });
        }
        if self.kind != DeclaredKind::Folder && self.folder.is_some() {
            return Err(RouteFault::Misplaced { prefix: prefix(), field: "folder", kind: "folder" });
        }
        match (self.kind, &self.namespace, &self.folder) {
            (DeclaredKind::Store, None, _) => Err(RouteFault::NoNamespace { prefix: prefix() }),
            (DeclaredKind::Store, Some(given), _) => match StoreScope::User.namespace(given) {
                Ok(_) => Ok(()),
                Err(_) => Err(RouteFault::BadNamespace { given: given.clone() }),
            },
            (DeclaredKind::Folder, _, None) => Err(RouteFault::NoFolder { prefix: prefix() }),
            (DeclaredKind::Folder, _, Some(folder)) if !folder.is_absolute() => {
                Err(RouteFault::PartOfPath { prefix: prefix(), folder: folder.clone() })
            }
            (DeclaredKind::Folder | DeclaredKind::State, _, _) => Ok(()),
        }
    }
}
