//! Backends by the names that the command line has for them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use bosun_backend::{
    Access, AppMounts, Backend, BackendError, CompositeBackend, ContainerOptions, ContentHash, FilesystemBackend,
    FilesystemOptions, LocalExecutorOptions, LocalShellBackend, LocalShellOptions, MountError, Namespace, ProjectIn,
    ProjectRoot, Route, SandboxBackend, SandboxError, SshOptions, StateBackend, Store, StoreBackend, StoreScope,
    VirtualPath, bubblewrap, container, project_root, ssh,
};
use bosun_session::SystemClock;
use bosun_store::{Database, KeyValueStore, data_folder};

use super::ToolsArgs;
use crate::failure::Failure;

/// A backend to be opened.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    One(Single),
    /// The project's shell and the app's own mounts.
    Composite,
}

/// A backend that is not made of others.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Single {
    /// Files that last as long as the program.
    State,
    /// A folder's files; the project where none is named.
    Filesystem(Option<PathBuf>),
    /// The same, and commands in it.
    Shell(Option<PathBuf>),
    /// Files in the store of the data folder; the person's memories where no namespace is named.
    Store(Option<Namespace>),
    /// The project in a sandbox of this machine.
    Sandbox,
    /// A folder of another machine; the one after logging in where none is named.
    Ssh { host: String, folder: Option<String> },
    /// A container, or one made from an image for the project.
    Container { name: String, project: ProjectIn },
}

/// A backend below a folder of another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RouteTo {
    prefix: VirtualPath,
    kind: Single,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument).filter(|argument| !argument.is_empty())),
            None => (text, None),
        };
        let folder = || argument.map(PathBuf::from);
        let plain = |kind: Self| match argument {
            Some(argument) => Err(format!("{name} takes nothing behind it, and here is '{argument}'")),
            None => Ok(kind),
        };
        match name {
            "state" => plain(Self::One(Single::State)),
            "composite" => plain(Self::Composite),
            "filesystem" => Ok(Self::One(Single::Filesystem(folder()))),
            "shell" => Ok(Self::One(Single::Shell(folder()))),
            "store" => {
                let namespace = argument.map(|argument| Namespace::new(argument.split('/'))).transpose();
                Ok(Self::One(Single::Store(namespace.map_err(|error| error.to_string())?)))
            }
            "sandbox" => plain(Self::One(Single::Sandbox)),
            "ssh" => {
                let place = argument.ok_or("ssh needs a host behind it: ssh:HOST or ssh:HOST:/FOLDER")?;
                let (host, folder) = match place.split_once(':') {
                    Some((host, folder)) => (host, Some(folder.to_owned()).filter(|folder| !folder.is_empty())),
                    None => (place, None),
                };
                Ok(Self::One(Single::Ssh { host: host.to_owned(), folder }))
            }
            "container" => {
                let name = argument.ok_or("container needs a container or an image behind it: container:NAME")?;
                Ok(Self::One(Single::Container { name: name.to_owned(), project: ProjectIn::Mounted }))
            }
            "container-copy" => {
                let name = argument.ok_or("container-copy needs an image behind it: container-copy:IMAGE")?;
                Ok(Self::One(Single::Container { name: name.to_owned(), project: ProjectIn::Copied }))
            }
            other => Err(format!(
                "'{other}' is no backend; take state, filesystem, shell, store, composite, sandbox, ssh:HOST, \
                 container:NAME or container-copy:IMAGE"
            )),
        }
    }
}

impl FromStr for RouteTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (prefix, kind) = text
            .split_once('=')
            .ok_or_else(|| "a route is PREFIX=KIND[:ARG], for example /notes=store:notes/mine".to_owned())?;
        let prefix = VirtualPath::parse(prefix).map_err(|error| error.to_string())?;
        match kind.parse()? {
            Kind::Composite => Err("composite is the whole path space; it cannot be below a folder of another".into()),
            Kind::One(kind) => Ok(Self { prefix, kind }),
        }
    }
}

/// Opens the backend that is asked for, with its routes over it.
pub(super) async fn open(args: ToolsArgs) -> Result<Arc<dyn Backend>, Failure> {
    let ToolsArgs { project, backend: kind, routes, ssh_config } = args;
    let mut opener = Opener { project: project.as_deref(), ssh_config, store: None };
    let mut opened = Vec::with_capacity(routes.len());
    for RouteTo { prefix, kind } in routes {
        let backend = match opener.single(kind.clone()).await {
            // The project is for what is at `/`; a container that is there stays as it is.
            Err(Failure::Place(SandboxError::NoFolderIn { .. })) => {
                Opener { project: None, ssh_config: None, store: None }.single(kind).await?
            }
            opened => opened?,
        };
        opened.push(Route { prefix, backend, access: Access::ReadWrite });
    }
    let default = match kind {
        Kind::One(kind) => opener.single(kind).await?,
        Kind::Composite => {
            let mounts = AppMounts {
                project: opener.single(Single::Shell(None)).await?,
                store: Some(opener.store()?),
                project_id: opener.project_id()?,
                files: BTreeMap::new(),
                blobs: None,
                routes: opened,
            };
            return Ok(Arc::new(mounts.mount().await?));
        }
    };
    if opened.is_empty() {
        return Ok(default);
    }
    Ok(Arc::new(CompositeBackend::new(default, opened).map_err(MountError::from)?))
}

/// What several backends of one command line share.
struct Opener<'a> {
    project: Option<&'a Path>,
    ssh_config: Option<PathBuf>,
    store: Option<Arc<dyn Store>>,
}

impl Opener<'_> {
    async fn single(&mut self, kind: Single) -> Result<Arc<dyn Backend>, Failure> {
        Ok(match kind {
            Single::State => Arc::new(StateBackend::new([])),
            Single::Filesystem(folder) => {
                let root = self.root(folder)?;
                Arc::new(FilesystemBackend::open_called(
                    &root.path,
                    root.called.as_slice(),
                    FilesystemOptions::default(),
                )?)
            }
            Single::Shell(folder) => {
                let ProjectRoot { path, called, .. } = self.root(folder)?;
                let options = LocalShellOptions { names: called.into_iter().collect(), ..LocalShellOptions::default() };
                Arc::new(LocalShellBackend::open(&path, options)?)
            }
            Single::Store(namespace) => {
                let namespace = namespace.map_or_else(|| StoreScope::User.namespace("memories"), Ok)?;
                Arc::new(StoreBackend::new(self.store()?, namespace))
            }
            Single::Sandbox => {
                let executor = bubblewrap(&self.folder(None)?, LocalExecutorOptions::default()).await?;
                Arc::new(SandboxBackend::open(executor).await)
            }
            Single::Ssh { host, folder } => {
                let options =
                    SshOptions { root: folder.clone(), config: self.ssh_config.clone(), ..SshOptions::default() };
                let there = SandboxBackend::open(ssh(&host, options)?).await;
                // Everything else that may be wrong over there is an answer to the call that meets it.
                if let Some(folder) = folder
                    && let Err(BackendError::RootGone) = there.ls(&VirtualPath::root()).await
                {
                    return Err(Failure::NoFolderThere { host, folder });
                }
                Arc::new(there)
            }
            Single::Container { name, project: project_in } => {
                let project = self.project.map(|project| self.folder(Some(project.to_owned()))).transpose()?;
                let options = ContainerOptions { project: project_in, ..ContainerOptions::default() };
                let executor = container(&name, project.as_deref(), options).await?;
                if project.is_some() && project_in == ProjectIn::Copied {
                    writeln!(
                        std::io::stderr(),
                        "the container of {name} has a copy of the project, which goes at the end with all that was made in it; \
                         container:{name} works on the project itself"
                    )?;
                }
                Arc::new(SandboxBackend::open(executor).await)
            }
        })
    }

    fn folder(&self, named: Option<PathBuf>) -> Result<PathBuf, Failure> {
        Ok(self.root(named)?.path)
    }

    fn root(&self, named: Option<PathBuf>) -> Result<ProjectRoot, Failure> {
        let folder = named.as_deref().or(self.project).ok_or(Failure::NoProject)?;
        Ok(project_root(folder, data_folder().as_deref())?)
    }

    /// The same for one folder, whatever it is called.
    fn project_id(&self) -> Result<String, Failure> {
        let folder = self.folder(None)?;
        let hash = ContentHash::of(folder.as_os_str().as_encoded_bytes());
        Ok(hash.as_str().chars().take(16).collect())
    }

    fn store(&mut self) -> Result<Arc<dyn Store>, Failure> {
        if let Some(store) = &self.store {
            return Ok(Arc::clone(store));
        }
        let folder = data_folder().ok_or(Failure::NoDataFolder)?;
        let store: Arc<dyn Store> = Arc::new(KeyValueStore::new(Database::open(&folder)?, Arc::new(SystemClock)));
        self.store = Some(Arc::clone(&store));
        Ok(store)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn kinds_by_name() {
        let made = |name: &str, project| Kind::One(Single::Container { name: name.into(), project });
        let namespace = |parts: &[&str]| Some(Namespace::new(parts.iter().copied()).unwrap());
        for (text, kind) in [
            ("state", Kind::One(Single::State)),
            ("shell", Kind::One(Single::Shell(None))),
            ("filesystem:/srv/x:y", Kind::One(Single::Filesystem(Some("/srv/x:y".into())))),
            ("store", Kind::One(Single::Store(None))),
            ("store:notes/mine", Kind::One(Single::Store(namespace(&["notes", "mine"])))),
            ("composite", Kind::Composite),
            ("sandbox", Kind::One(Single::Sandbox)),
            ("ssh:me@there", Kind::One(Single::Ssh { host: "me@there".into(), folder: None })),
            ("ssh:there:/srv/a", Kind::One(Single::Ssh { host: "there".into(), folder: Some("/srv/a".into()) })),
            ("container:docker.io/x/y:1", made("docker.io/x/y:1", ProjectIn::Mounted)),
            ("container-copy:busybox", made("busybox", ProjectIn::Copied)),
        ] {
            assert_eq!(text.parse(), Ok(kind), "{text}");
        }
        for (text, word) in [
            ("disk", "filesystem"),
            ("state:x", "nothing"),
            ("store:a//b", "a//b"),
            ("ssh", "HOST"),
            ("container:", "NAME"),
            ("container-copy", "IMAGE"),
        ] {
            let error = text.parse::<Kind>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn routes_by_prefix() {
        let route: RouteTo = "/notes/=store:notes".parse().unwrap();
        assert_eq!(route.prefix.as_str(), "/notes");
        for (text, word) in [("/x", "PREFIX=KIND"), ("/../x=state", ".."), ("/x=composite", "whole")] {
            let error = text.parse::<RouteTo>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
