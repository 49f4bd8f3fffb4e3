use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bosun_agent::AskPlace;
use bosun_backend::{
    Access, AppMounts, Backend, CompositeBackend, FilesystemBackend, FilesystemOptions, Listed, LocalShellBackend,
    LocalShellOptions, MountError, Namespace, Route, StateBackend, Store, VirtualPath, mount_point,
};
use bosun_harness::{Artifacts, DeclaredKind, MountNote, RootPlace, builtin_skill_files};
use bosun_protocol::{MountKind, MountView, Problem};
use bosun_store::KeyValueStore;

use crate::actor::{Actor, ProjectFolder};
use crate::routes::{AtRoot, OwnRoute};
use crate::stream::locked;
use crate::{Explain, SessionError};

/// Where a person keeps skills for every agent they use, below their home folder.
const HOME_SKILLS: &str = ".agents/skills";

/// Names of the mounts.
const MOUNTS: [&str; 4] = ["memories", "skills", "large_tool_results", "conversation_history"];

/// The path space of a session: its project, and what Bosun mounts over it (behaviour.md A25).
pub(crate) struct Space {
    pub backend: Arc<dyn Backend>,
    pub places: Places,
    /// What is part of something else than what is at `/`.
    pub reach: Vec<(VirtualPath, AskPlace)>,
    /// What the model is told of all that is not at `/`.
    pub notes: Vec<MountNote>,
}

/// Where the mounts are in this session. A mount gives way to a project that has its name; what is not mounted is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// What is at `/`, where that is not on this machine.
    pub root: Option<MountKind>,
    /// The person's memories; the project's are below `project`.
    pub memories: Option<VirtualPath>,
    /// The folder whose folders are sources of skills: `builtin`, `user`, and `home` where the person has such a folder.
    pub skills: Option<VirtualPath>,
    /// Bosun's own; `None` where a route of the person's is in their place.
    pub builtin_skills: Option<VirtualPath>,
    pub home_skills: Option<VirtualPath>,
    pub results: Option<VirtualPath>,
    pub history: Option<VirtualPath>,
    /// Where routes of the person's are, which may be in the place of a mount.
    pub taken: BTreeMap<VirtualPath, Taken>,
}

/// What a route of the person's leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The part of the store that it shows, where it shows one.
    pub shown: Option<Namespace>,
    pub mount: MountView,
}

impl Places {
    pub(crate) fn of(backend: &CompositeBackend) -> Self {
        let mut places = Self::default();
        for route in backend.routes() {
            let mut names = route.prefix.segments();
            let (Some(first), second, None) = (names.next(), names.next(), names.next()) else { continue };
            match (first.trim_start_matches('_'), second) {
                ("memories", None) => places.memories = Some(route.prefix.clone()),
                ("large_tool_results", None) => places.results = Some(route.prefix.clone()),
                ("conversation_history", None) => places.history = Some(route.prefix.clone()),
                ("skills", Some("user")) => places.skills = route.prefix.parent(),
                ("skills", Some("builtin")) => places.builtin_skills = Some(route.prefix.clone()),
                ("skills", Some("home")) => places.home_skills = Some(route.prefix.clone()),
                _ => {}
            }
        }
        places
    }

    /// Where large results and old conversation go.
    pub(crate) fn artifacts(&self) -> Artifacts {
        match (&self.results, &self.history) {
            (Some(results), Some(history)) => Artifacts::at(results.clone(), history.clone()),
            _ => Artifacts::default(),
        }
    }

    /// What the model is told of the mounts.
    fn notes(&self) -> Vec<MountNote> {
        let note = |path: &Option<VirtualPath>, holds: &str| {
            path.as_ref().map(|path| MountNote { path: path.clone(), holds: holds.to_owned(), host: None })
        };
        let notes = [
            note(&self.memories, "what is remembered for the person; below `project/` what holds for this project"),
            note(
                &self.skills,
                "skills, each a folder with a `SKILL.md`; those of the person are below `user/`, Bosun's own below `builtin/`",
            ),
            note(&self.results, "results of tools that were too large to be shown"),
            note(&self.history, "the conversation before it was summed up"),
        ];
        notes.into_iter().flatten().collect()
    }
}

impl Actor {
    /// The files of the session as its agent sees them: the agent's own while a turn is under way, else opened for this.
    pub(crate) async fn backend(&self) -> Result<Arc<dyn Backend>, SessionError> {
        if self.log.with_state(|state| state.turn.is_some())
            && let Some(agent) = locked(&self.agent).clone()
        {
            return Ok(Arc::clone(&agent.backend));
        }
        Ok(self.space().await?.backend)
    }

    /// What an agent's word for a path leads to, and what that is part of; `None` where it is no path.
    pub(crate) async fn aim(&self, word: &str) -> Result<Option<(VirtualPath, AskPlace)>, SessionError> {
        let space = self.space().await?;
        let Ok(path) = space.backend.resolve(word) else { return Ok(None) };
        let root = self.root().place().of_files();
        let around = space.reach.iter().filter(|(prefix, _)| path.starts_with(prefix));
        let place = around.max_by_key(|(prefix, _)| prefix.as_str().len()).map_or(root, |(_, place)| *place);
        Ok(Some((space.backend.direct(&path), place)))
    }

    /// Opens the path space from the files that the session's state holds now.
    pub(crate) async fn space(&self) -> Result<Space, SessionError> {
        let (own_files, files) = self.session_files(&MOUNTS);
        let root = self.root();
        let project: Arc<dyn Backend> = match (root, own_files) {
            (AtRoot::Elsewhere(route), _) => {
                let opened = self.elsewhere.root(route, self.tree.database.folder()).await;
                opened.map_err(|why| {
                    SessionError::invalid(Problem::DeclaredRoute { prefix: "/".into(), why: Box::new(why) })
                })?
            }
            (_, None) => {
                let ProjectFolder { root, called: names, sightings } = self.project_folder();
                let commands = self.setting.commands.clone();
                let options = LocalShellOptions { names, sightings, commands, ..LocalShellOptions::default() };
                Arc::new(LocalShellBackend::open(&root, options)?)
            }
            (_, Some(own)) => Arc::new(StateBackend::new(own).keeping_in(self.setting.blobs.clone())),
        };
        let top = project.ls(&VirtualPath::root()).await?;
        let own = self.own_routes(&top, &files)?;
        let mut routes = Vec::with_capacity(own.len());
        for route in &own {
            routes.push(self.opened(route, &files).await?);
        }
        let is_own = |prefix: &VirtualPath| own.iter().any(|route| route.prefix == *prefix);
        routes.extend(read_only_skills(&top)?.into_iter().filter(|skills| !is_own(&skills.prefix)));
        let mounts = AppMounts {
            project,
            store: Some(self.store()),
            project_id: self.tree.project.to_string(),
            files,
            blobs: self.setting.blobs.clone(),
            routes,
        };
        let backend = mounts.mount().await.map_err(unmountable)?;
        let mut places = Places::of(&backend);
        places.builtin_skills = places.builtin_skills.filter(|builtin| !is_own(builtin));
        places.root = match root.place() {
            RootPlace::Project | RootPlace::Session => None,
            RootPlace::Machine { .. } => Some(MountKind::Machine),
            RootPlace::Container { .. } => Some(MountKind::Container),
        };
        let taken = |route: &OwnRoute| Taken { shown: self.shown_by(&route.written), mount: route.mount() };
        places.taken = own.iter().map(|route| (route.prefix.clone(), taken(route))).collect();
        let reach = backend.routes().iter().map(|route| (route.prefix.clone(), part_of(&places, &own, &route.prefix)));
        let mut notes = places.notes();
        let own = own.iter().map(OwnRoute::note).filter(|note| !notes.iter().any(|told| told.path == note.path));
        let own: Vec<MountNote> = own.collect();
        notes.extend(own);
        if places.root.is_some() {
            // Over there this machine's folders are nowhere.
            notes.iter_mut().for_each(|note| note.host = None);
        }
        Ok(Space { reach: reach.collect(), places, notes, backend: Arc::new(backend) })
    }

    /// What is kept for longer than a session.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        let store = KeyValueStore::new(Arc::clone(&self.tree.database), Arc::clone(&self.tree.clock));
        Arc::new(store.by(self.log.session().as_str()))
    }
}

/// What a mount is part of.
fn part_of(places: &Places, own: &[OwnRoute], prefix: &VirtualPath) -> AskPlace {
    if let Some(route) = own.iter().find(|route| route.prefix == *prefix) {
        return match route.written.kind {
            DeclaredKind::State => AskPlace::Session,
            DeclaredKind::Store => AskPlace::Memory,
            DeclaredKind::Folder
            | DeclaredKind::Sandbox
            | DeclaredKind::Ssh
            | DeclaredKind::Container
            | DeclaredKind::ContainerCopy => AskPlace::Outside,
        };
    }
    let at = |place: &Option<VirtualPath>| place.as_ref().is_some_and(|place| prefix.starts_with(place));
    if at(&places.memories) {
        AskPlace::Memory
    } else if at(&places.skills) || at(&places.home_skills) {
        AskPlace::Skill
    } else {
        AskPlace::Session
    }
}

/// Skills that are there to be read only: Bosun's own, and those of the person's home folder where they have any.
fn read_only_skills(top: &Listed) -> Result<Vec<Route>, SessionError> {
    let skills = mount_point(top, "skills")?;
    let route = |name: &str, backend: Arc<dyn Backend>| {
        let prefix = skills.join(name).map_err(SessionError::internal)?;
        Ok::<_, SessionError>(Route { prefix, backend, access: Access::ReadOnly })
    };
    let mut routes = vec![route("builtin", Arc::new(builtin_skill_files()))?];
    let folder = std::env::home_dir().map(|home: PathBuf| home.join(HOME_SKILLS));
    if let Some(folder) = folder
        && let Ok(backend) = FilesystemBackend::open(&folder, FilesystemOptions::default())
    {
        routes.push(route("home", Arc::new(backend))?);
    }
    Ok(routes)
}

fn unmountable(error: MountError) -> SessionError {
    match error {
        MountError::Project(error) => error.into(),
        error @ (MountError::Namespace(_) | MountError::Route(_)) => SessionError::invalid(error.problem()),
    }
}
