use std::ops::Deref;
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

    pub fn executor(&self) -> Arc<dyn Executor> {
        let options = SshOptions {
            root: Some(self.root().to_str().unwrap().to_owned()),
            config: Some(self.config()),
            ..SshOptions::default()
        };
        ssh("there", options).unwrap()
    }
}

pub fn machine() -> Option<Machine> {
    SshServer::start().map(Machine)
}
