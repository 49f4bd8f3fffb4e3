use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commands {
    /// On this machine, with everything that its user may do.
    #[default]
    Machine,
    /// In a sandbox around the folder: the folder can be written, nothing else, and there is no network. Where there can
    /// be no sandbox they do not run.
    Sandbox,
}

/// Where commands run, as it is now: what is chosen holds from the next command on for all that have a clone.
#[derive(Clone, Debug, Default)]
pub struct CommandSwitch {
    in_sandbox: Arc<AtomicBool>,
}

impl CommandSwitch {
    pub fn set(&self, commands: Commands) {
        self.in_sandbox.store(commands == Commands::Sandbox, Ordering::SeqCst);
    }

    pub fn get(&self) -> Commands {
        if self.in_sandbox.load(Ordering::SeqCst) { Commands::Sandbox } else { Commands::Machine }
    }
}

impl From<Commands> for CommandSwitch {
    fn from(commands: Commands) -> Self {
        let switch = Self::default();
        switch.set(commands);
        switch
    }
}
