use std::sync::Arc;

use bosun_harness::DeclaredAgent;
use bosun_protocol::ModelRef;

use crate::Sessions;

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
