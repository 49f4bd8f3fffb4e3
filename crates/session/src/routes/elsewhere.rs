use std::path::Path;
use std::sync::{Arc, Mutex};

use bosun_backend::{
    Backend, ContainerOptions, Executor, LocalExecutorOptions, ProjectIn, SandboxBackend, SshOptions, bubblewrap,
    container, late, project_root, ssh,
};
use bosun_harness::{DeclaredKind, DeclaredRoute};
use bosun_protocol::Problem;

use crate::Explain;
use crate::stream::locked;

/// Places that something else leads to, as they were opened for the session: a sandbox, another machine, a container.
/// A container that was made for it, and what is in it, goes with this.
#[derive(Default)]
pub(crate) struct Elsewhere {
    open: Mutex<Vec<(DeclaredRoute, Arc<dyn Backend>)>>,
    root: tokio::sync::Mutex<Option<(DeclaredRoute, Arc<dyn Backend>)>>,
}

impl Elsewhere {
    /// The place of `route`; `data` is Bosun's own folder. Nothing is asked of it yet: one that does not answer is an
    /// error of the call that needs it, and of no other.
    pub(crate) fn place(&self, route: &DeclaredRoute, data: &Path) -> Result<Arc<dyn Backend>, Problem> {
        let mut open = locked(&self.open);
        if let Some((_, place)) = open.iter().find(|(other, _)| other == route) {
            return Ok(Arc::clone(place));
        }
        let place: Arc<dyn Backend> = Arc::new(SandboxBackend::below(executor(route, data)?));
        open.push((route.clone(), Arc::clone(&place)));
        Ok(place)
    }

    /// The same for what is at `/`, which is asked what its folder is called there: commands may name it so.
    pub(crate) async fn root(&self, route: &DeclaredRoute, data: &Path) -> Result<Arc<dyn Backend>, Problem> {
        let mut root = self.root.lock().await;
        if let Some((_, place)) = root.as_ref().filter(|(other, _)| other == route) {
            return Ok(Arc::clone(place));
        }
        let place: Arc<dyn Backend> = Arc::new(SandboxBackend::open(executor(route, data)?).await);
        *root = Some((route.clone(), Arc::clone(&place)));
        Ok(place)
    }
}

fn executor(route: &DeclaredRoute, data: &Path) -> Result<Arc<dyn Executor>, Problem> {
    if route.kind == DeclaredKind::Ssh {
        let root = route.folder.as_ref().map(|folder| folder.to_string_lossy().into_owned());
        let options = SshOptions { root, config: route.config.clone(), ..SshOptions::default() };
        return ssh(route.host.as_deref().unwrap_or_default(), options).map_err(|error| error.problem());
    }
    let project = match route.kind {
        DeclaredKind::Container => Some(ProjectIn::Mounted),
        DeclaredKind::ContainerCopy => Some(ProjectIn::Copied),
        _ => None,
    };
    // A folder of this machine is one that an agent may have, whatever leads to it.
    let folder = match (&route.folder, project) {
        (None, Some(_)) => None,
        (folder, _) => {
            let folder = project_root(folder.as_deref().unwrap_or(Path::new("")), Some(data));
            Some(folder.map_err(|error| error.problem())?.path)
        }
    };
    let name = route.container.clone().unwrap_or_default();
    Ok(late(Box::new(move || {
        let (name, folder) = (name.clone(), folder.clone());
        Box::pin(async move {
            match project {
                Some(project) => {
                    let options = ContainerOptions { project, ..ContainerOptions::default() };
                    container(&name, folder.as_deref(), options).await
                }
                None => bubblewrap(&folder.unwrap_or_default(), LocalExecutorOptions::default()).await,
            }
        })
    })))
}
