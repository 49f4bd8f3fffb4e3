use std::path::Path;
use std::sync::Arc;

use bosun_backend::{
    Access, Backend, FilesystemBackend, FilesystemOptions, Route, StateBackend, Store, StoreBackend, StoreScope,
    VirtualPath,
};
use bosun_harness::{DeclaredAgent, DeclaredKind, DeclaredRoute, DeclaredScope};
use bosun_protocol::{ModelRef, Problem};

use crate::actor::Actor;
use crate::{Explain, SessionError, Sessions};

/// How an agent is called that nobody gave a name.
const MAIN: &str = "main";

impl Sessions {
    /// Sessions that are opened from now on are worked on by `agent`, declared by the person themselves: nothing of a
    /// project belongs here.
    pub fn declare(&self, agent: DeclaredAgent) {
        self.set_declared(Arc::new(agent));
    }

    /// The model that the declared agent names for sessions that are given no other; `None` where it names none.
    pub fn declared_model(&self) -> Option<ModelRef> {
        let agent = self.declared()?;
        let (provider, name) = agent.model.as_deref()?.split_once(':')?;
        Some(ModelRef { provider: provider.trim().to_owned(), name: name.trim().to_owned() })
    }
}

/// What sessions call the agent at their root.
pub(crate) fn name_of(declared: Option<&DeclaredAgent>) -> String {
    declared.and_then(|declared| declared.name.clone()).unwrap_or_else(|| MAIN.to_owned())
}

impl Actor {
    /// The routes that the declaration of the agent has.
    pub(crate) fn declared_routes(&self) -> Result<Vec<Route>, SessionError> {
        let Some(declared) = &self.setting.declared else { return Ok(Vec::new()) };
        declared.backend.routes.iter().map(|route| self.declared_route(declared, route)).collect()
    }

    fn declared_route(&self, declared: &DeclaredAgent, route: &DeclaredRoute) -> Result<Route, SessionError> {
        let backend: Arc<dyn Backend> = match route.kind {
            DeclaredKind::State => {
                self.log.with_state(|state| Arc::new(StateBackend::mounted(&state.files, &route.prefix)))
            }
            DeclaredKind::Store => {
                let scope = match route.scope {
                    DeclaredScope::User => StoreScope::User,
                    DeclaredScope::Project => StoreScope::Project(self.tree.project.to_string()),
                    DeclaredScope::Agent => StoreScope::Assistant(name_of(Some(declared))),
                };
                stored(self.store(), &scope, route)?
            }
            DeclaredKind::Folder => folder(route.folder.as_deref(), route)?,
        };
        let access = if route.read_only { Access::ReadOnly } else { Access::ReadWrite };
        Ok(Route { prefix: route.prefix.clone(), backend, access })
    }

    /// The files at `/` where they are kept in the session: those that no mount and no route has.
    pub(crate) fn session_files(&self, mounts: &[&str]) -> Arc<dyn Backend> {
        let routes = self.setting.declared.iter().flat_map(|declared| &declared.backend.routes);
        let routes: Vec<&VirtualPath> = routes.map(|route| &route.prefix).collect();
        let is_own = |path: &VirtualPath| {
            let top = path.segments().next().unwrap_or_default();
            !mounts.contains(&top) && !routes.iter().any(|prefix| path.starts_with(prefix))
        };
        self.log.with_state(|state| {
            let own = state.files.iter().filter(|(path, _)| is_own(path));
            Arc::new(StateBackend::new(own.map(|(path, data)| (path.clone(), data.clone()))))
        })
    }
}

fn stored(store: Arc<dyn Store>, scope: &StoreScope, route: &DeclaredRoute) -> Result<Arc<dyn Backend>, SessionError> {
    let namespace = scope.namespace(route.namespace.as_deref().unwrap_or_default());
    let namespace = namespace.map_err(|error| impossible(route, error.problem()))?;
    Ok(Arc::new(StoreBackend::new(store, namespace)))
}

fn folder(folder: Option<&Path>, route: &DeclaredRoute) -> Result<Arc<dyn Backend>, SessionError> {
    let folder = folder.unwrap_or(Path::new(""));
    let backend = FilesystemBackend::open(folder, FilesystemOptions::default())
        .map_err(|error| impossible(route, error.problem()))?;
    Ok(Arc::new(backend))
}

fn impossible(route: &DeclaredRoute, why: Problem) -> SessionError {
    SessionError::invalid(Problem::DeclaredRoute { prefix: route.prefix.to_string(), why: Box::new(why) })
}
