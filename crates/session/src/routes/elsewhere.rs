use std::path::Path;
use std::sync::Arc;

use bosun_backend::{
    Backend, ContainerOptions, Executor, LocalExecutorOptions, ProjectIn, SandboxBackend, SshOptions, bubblewrap,
    container, project_root, ssh,
};
use bosun_harness::{DeclaredKind, DeclaredRoute};
use bosun_protocol::Problem;
use tokio::sync::Mutex;

use crate::Explain;

/// Places that something else leads to, as they were opened for the session: a sandbox, another machine, a container.
/// A container that was made for it, and what is in it, goes with this.
#[derive(Default)]
pub(crate) struct Elsewhere {
    open: Mutex<Vec<(DeclaredRoute, Arc<dyn Backend>)>>,
}

impl Elsewhere {
    /// The place of `route`, opened where it is not open yet; `data` is Bosun's own folder. Of another machine nothing is
    /// asked yet: one that does not answer is an error of the call that needs it.
    pub(crate) async fn place(&self, route: &DeclaredRoute, data: &Path) -> Result<Arc<dyn Backend>, Problem> {
        let mut open = self.open.lock().await;
        if let Some((_, place)) = open.iter().find(|(other, _)| other == route) {
            return Ok(Arc::clone(place));
        }
        let place: Arc<dyn Backend> = Arc::new(SandboxBackend::below(executor(route, data).await?));
        open.push((route.clone(), Arc::clone(&place)));
        Ok(place)
    }
}

/// A folder of this machine is one that an agent may have, whatever leads to it.
async fn executor(route: &DeclaredRoute, data: &Path) -> Result<Arc<dyn Executor>, Problem> {
    let here = || route.folder.as_deref().map(|folder| project_root(folder, Some(data))).transpose();
    let opened = match route.kind {
        DeclaredKind::Ssh => {
            let root = route.folder.as_ref().map(|folder| folder.to_string_lossy().into_owned());
            let options = SshOptions { root, config: route.config.clone(), ..SshOptions::default() };
            ssh(route.host.as_deref().unwrap_or_default(), options)
        }
        DeclaredKind::Container | DeclaredKind::ContainerCopy => {
            let folder = here().map_err(|error| error.problem())?;
            let is_copied = route.kind == DeclaredKind::ContainerCopy;
            let project = if is_copied { ProjectIn::Copied } else { ProjectIn::Mounted };
            let options = ContainerOptions { project, ..ContainerOptions::default() };
            let name = route.container.as_deref().unwrap_or_default();
            container(name, folder.as_ref().map(|folder| folder.path.as_path()), options).await
        }
        DeclaredKind::Sandbox | DeclaredKind::Folder | DeclaredKind::State | DeclaredKind::Store => {
            let folder = project_root(route.folder.as_deref().unwrap_or(Path::new("")), Some(data));
            bubblewrap(&folder.map_err(|error| error.problem())?.path, LocalExecutorOptions::default()).await
        }
    };
    opened.map_err(|error| error.problem())
}
