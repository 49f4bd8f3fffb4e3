use std::collections::BTreeSet;
use std::path::PathBuf;

use bosun_backend::{StoreScope, VirtualPath};
use serde::{Deserialize, Serialize};

use crate::RootPlace;

/// The path space of an agent, as its declaration has it. Whoever opens sessions makes it so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredBackend {
    pub default: DeclaredDefault,
    /// Where commands run; of the project's folder only.
    pub commands: Option<DeclaredCommands>,
    pub routes: Vec<DeclaredRoute>,
}

/// What is at `/`, unless a route is.
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

/// What is below a prefix instead. At `/` it is another machine or a container in the place of the project, with commands.
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
    /// Where on this machine: what a `folder` is and what a `sandbox` is around, and what an image's container works on,
    /// where it is to. Of `ssh` a folder over there; without it the one after logging in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The machine, as `ssh HOST` has it; of `ssh` only, which has to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Another configuration of OpenSSH than the person's own; of `ssh` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// A container that runs, or an image; of a `container` and a `container-copy` only, which have to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
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
    /// A folder of this machine. Commands run at `/` alone, so that one with a shell is no other.
    #[serde(alias = "filesystem", alias = "shell")]
    Folder,
    /// A folder of this machine, by way of programs that reach nothing else.
    Sandbox,
    /// A folder of another machine.
    Ssh,
    /// What is in a container; in one made from an image the folder itself, if it is named.
    Container,
    /// The same with a copy of the folder.
    #[serde(rename = "container-copy")]
    ContainerCopy,
}

/// Kinds by the fields that are theirs alone, as a refusal names them.
const STORES: &str = "store";
const FOLDERS: &str = "folder, sandbox, ssh, container or container-copy";
const MACHINES: &str = "ssh";
const CONTAINERS: &str = "container or container-copy";

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
    #[error(
        "only another machine or a container can be at '/', and it cannot be read_only; give this a folder of its own, \
         such as /memories"
    )]
    Root,
    #[error("two routes are at '{prefix}'; give each a folder of its own")]
    Twice { prefix: VirtualPath },
    #[error("the store at '{prefix}' needs a 'namespace', under which its files are kept")]
    NoNamespace { prefix: VirtualPath },
    #[error("'{given}' is not a namespace: use non-empty names of letters, digits and - _ . @ + : ~")]
    BadNamespace { given: String },
    #[error("the folder at '{prefix}' needs its 'folder', an absolute path on this machine")]
    NoFolder { prefix: VirtualPath },
    #[error("the 'folder' of '{prefix}' must be an absolute path on this machine, not \"{}\"", folder.display())]
    PartOfPath { prefix: VirtualPath, folder: PathBuf },
    #[error("the other machine at '{prefix}' needs its 'host', as in `ssh HOST`")]
    NoHost { prefix: VirtualPath },
    #[error("the container at '{prefix}' needs its 'container', the name of a running one or of an image")]
    NoContainer { prefix: VirtualPath },
    #[error("'{field}' at '{prefix}' is for the kind {kind} only; leave it out")]
    Misplaced { prefix: VirtualPath, field: &'static str, kind: &'static str },
}

impl DeclaredBackend {
    /// Checks all that can be known without opening anything.
    ///
    /// # Errors
    /// What cannot be as it is written.
    pub(super) fn check(&self) -> Result<(), BackendFault> {
        let root = self.routes.iter().find(|route| route.prefix.is_root());
        if let Some(root) = root.filter(|_| self.default == DeclaredDefault::State) {
            return Err(RouteFault::Twice { prefix: root.prefix.clone() }.into());
        }
        if (root.is_some() || self.default == DeclaredDefault::State) && self.commands.is_some() {
            return Err(BackendFault::NoCommands);
        }
        Ok(DeclaredRoute::check_all(&self.routes)?)
    }
}

/// A path space that cannot be as it is declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BackendFault {
    #[error(
        "'commands' of [backend] is for the project's folder at '/' only: elsewhere there is none to put a sandbox around; \
         leave it out"
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
        if self.prefix.is_root() && (self.read_only || !self.has_commands()) {
            return Err(RouteFault::Root);
        }
        if let Some((field, kind)) = self.misplaced() {
            return Err(RouteFault::Misplaced { prefix: prefix(), field, kind });
        }
        match self.kind {
            DeclaredKind::State => Ok(()),
            DeclaredKind::Store => match &self.namespace {
                None => Err(RouteFault::NoNamespace { prefix: prefix() }),
                Some(given) => match StoreScope::User.namespace(given) {
                    Ok(_) => Ok(()),
                    Err(_) => Err(RouteFault::BadNamespace { given: given.clone() }),
                },
            },
            DeclaredKind::Ssh if self.host.is_none() => Err(RouteFault::NoHost { prefix: prefix() }),
            DeclaredKind::Ssh => Ok(()),
            DeclaredKind::Container | DeclaredKind::ContainerCopy if self.container.is_none() => {
                Err(RouteFault::NoContainer { prefix: prefix() })
            }
            DeclaredKind::Folder | DeclaredKind::Sandbox if self.folder.is_none() => {
                Err(RouteFault::NoFolder { prefix: prefix() })
            }
            DeclaredKind::Folder | DeclaredKind::Sandbox | DeclaredKind::Container | DeclaredKind::ContainerCopy => {
                match self.folder.as_ref().filter(|folder| !folder.is_absolute()) {
                    Some(folder) => Err(RouteFault::PartOfPath { prefix: prefix(), folder: folder.clone() }),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether it can stand in the place of the project: commands run there then.
    fn has_commands(&self) -> bool {
        matches!(self.kind, DeclaredKind::Ssh | DeclaredKind::Container | DeclaredKind::ContainerCopy)
    }

    /// What a person calls it that stands in the place of the project: the machine with the folder over there, the
    /// container.
    pub fn at_root(&self) -> RootPlace {
        match (self.kind, &self.folder) {
            (DeclaredKind::Ssh, folder) => {
                let host = self.host.clone().unwrap_or_default();
                let name = folder.as_ref().map(|folder| format!("{host}:{}", folder.display()));
                RootPlace::Machine { name: name.unwrap_or(host) }
            }
            _ => RootPlace::Container { name: self.container.clone().unwrap_or_default() },
        }
    }

    /// The first field that this kind does not have, and the kinds that do.
    fn misplaced(&self) -> Option<(&'static str, &'static str)> {
        use DeclaredKind as Kind;
        let is_container = matches!(self.kind, Kind::Container | Kind::ContainerCopy);
        let fields = [
            ("namespace", self.namespace.is_some(), self.kind == Kind::Store, STORES),
            ("folder", self.folder.is_some(), !matches!(self.kind, Kind::State | Kind::Store), FOLDERS),
            ("host", self.host.is_some(), self.kind == Kind::Ssh, MACHINES),
            ("config", self.config.is_some(), self.kind == Kind::Ssh, MACHINES),
            ("container", self.container.is_some(), is_container, CONTAINERS),
        ];
        let wrong = fields.into_iter().find(|(_, is_given, is_its_own, _)| *is_given && !is_its_own);
        wrong.map(|(field, .., kinds)| (field, kinds))
    }
}
