use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Access, CompositeBackend, Route, RouteError, mount_point};
use crate::{
    Backend, BackendError, BlobStore, FileData, StateBackend, Store, StoreBackend, StoreError, StoreScope, VirtualPath,
};

/// The path space of a session: the project at `/` and the app's own mounts (behaviour.md A25).
///
/// | Mount | Keeps |
/// |---|---|
/// | `/memories/` | the person's memories, in the store; the project's below `project/` |
/// | `/skills/user/` | the person's skills, in the store; `/skills/` itself keeps nothing |
/// | `/conversation_history/`, `/large_tool_results/` | in the session's state |
///
/// A mount whose name the project has already is called `/_NAME/`. One in which the session keeps files already stays where
/// they are, whatever the project comes to have: the paths in the session's messages lead to them.
#[derive(Clone)]
pub struct AppMounts {
    pub project: Arc<dyn Backend>,
    /// Without a store there are no memories and no skills of the person's.
    pub store: Option<Arc<dyn Store>>,
    /// Tells this project's memories from those of others; letters, digits and `- _ . @ + : ~`.
    pub project_id: String,
    /// The files of the session's state, by their full paths.
    pub files: BTreeMap<VirtualPath, FileData>,
    /// Has the content of those of them that are large; without it they are held whole.
    pub blobs: Option<Arc<BlobStore>>,
    /// More routes, as settings have them. They keep their places: an app mount of the same place is left out.
    pub routes: Vec<Route>,
}

/// Why the path space of a session cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MountError {
    #[error(transparent)]
    Project(#[from] BackendError),
    #[error(transparent)]
    Namespace(#[from] StoreError),
    #[error(transparent)]
    Route(#[from] RouteError),
}

impl AppMounts {
    /// # Errors
    /// [`MountError`]: the project cannot be listed, its id is no name, or two routes are at one place.
    pub async fn mount(self) -> Result<CompositeBackend, MountError> {
        let top = self.project.ls(&VirtualPath::root()).await?;
        let mut routes = self.routes.clone();
        let mut add_with = |prefix: VirtualPath, backend: Arc<dyn Backend>, access: Access| {
            if !self.routes.iter().any(|route| route.prefix == prefix) {
                routes.push(Route { prefix, backend, access });
            }
        };
        let mut add = |prefix, backend| add_with(prefix, backend, Access::ReadWrite);
        for name in ["conversation_history", "large_tool_results"] {
            let place = VirtualPath::root().join(name).map_err(BackendError::from)?;
            let mut prefixes = kept_points(self.files.keys(), &place);
            prefixes.retain(|prefix| !self.routes.iter().any(|route| route.prefix == *prefix));
            if prefixes.is_empty() {
                prefixes.push(mount_point(&top, name)?);
            }
            for prefix in prefixes {
                let backend = StateBackend::mounted(&self.files, &prefix).keeping_in(self.blobs.clone());
                add(prefix, Arc::new(backend));
            }
        }
        if let Some(store) = &self.store {
            let stored = |scope: StoreScope, kind: &str| -> Result<Arc<dyn Backend>, StoreError> {
                Ok(Arc::new(StoreBackend::new(Arc::clone(store), scope.namespace(kind)?)))
            };
            let memories = mount_point(&top, "memories")?;
            let of_project = memories.join("project").map_err(BackendError::from)?;
            add(of_project, stored(StoreScope::Project(self.project_id.clone()), "memories")?);
            add(memories, stored(StoreScope::User, "memories")?);
            let skills = mount_point(&top, "skills")?;
            add(skills.join("user").map_err(BackendError::from)?, stored(StoreScope::User, "skills")?);
            // Nothing is kept beside its folders: without this, what is written there would go to the project.
            add_with(skills, Arc::new(StateBackend::new(BTreeMap::new())), Access::ReadOnly);
        }
        Ok(CompositeBackend::new(self.project, routes)?)
    }
}

/// Where those of a session's `files` are that were put into `place`: below it, or below `/_NAME` where `place` had given
/// way to the project when they were. The place itself first.
pub fn kept_points<'a>(files: impl Iterator<Item = &'a VirtualPath>, place: &VirtualPath) -> Vec<VirtualPath> {
    let mut points = BTreeMap::new();
    for path in files {
        let Some((marks, below)) = path.relative().split_once(place.relative()) else { continue };
        if below.starts_with('/')
            && marks.bytes().all(|mark| mark == b'_')
            && let Ok(point) = VirtualPath::parse(&format!("/{marks}{}", place.relative()))
        {
            points.insert(marks.len(), point);
        }
    }
    points.into_values().collect()
}
