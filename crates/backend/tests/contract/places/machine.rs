use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use bosun_backend::{Executor, SandboxBackend, SshOptions, ssh};
use bosun_testkit::SshServer;

/// An SSH server of this machine's, as a place.
pub struct Machine(SshServer);

impl Deref for Machine {
    type Target = SshServer;

    fn deref(&self) -> &SshServer {
        &self.0
    }
}

impl Machine {
    pub async fn backend(&self) -> SandboxBackend {
        SandboxBackend::open(self.executor()).await
    }

    /// The same with another folder of the machine's as its root.
    pub async fn backend_at(&self, root: &Path) -> SandboxBackend {
        SandboxBackend::open(self.executor_at(root)).await
    }

    pub fn executor(&self) -> Arc<dyn Executor> {
        self.executor_at(&self.root())
    }

    fn executor_at(&self, root: &Path) -> Arc<dyn Executor> {
        let options = SshOptions {
            root: Some(root.to_str().unwrap().to_owned()),
            config: Some(self.config()),
            ..SshOptions::default()
        };
        ssh("there", options).unwrap()
    }
}

pub fn machine() -> Option<Machine> {
    SshServer::start().map(Machine)
}
