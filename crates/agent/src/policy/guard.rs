use serde::{Deserialize, Serialize};

/// Why no standing rule lets a call pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "guard", rename_all = "snake_case")]
pub enum RuleGuard {
    #[error("{name} is a protected name")]
    Protected { name: String },
    #[error("deleting is always asked for")]
    Deletes,
    #[error("it holds characters that are not plain")]
    Hidden,
    #[error("the shell would change or redirect it")]
    Shell,
    #[error("it names a place outside the project, or an address")]
    Outside,
    #[error("'{command}' removes what cannot be recovered")]
    Destructive { command: String },
    #[error("'{program}' runs whatever it is told to")]
    RunsOther { program: String },
    #[error("the option '{option}' runs another program or writes elsewhere")]
    Option { option: String },
    #[error("it is several commands; each needs a rule of its own")]
    SeveralCommands,
    #[error("it is too long to be looked into")]
    TooLong,
    /// Its tool is set to ask, by whoever set it up or by a hook.
    #[error("its tool is set to ask")]
    Configured,
    /// The approval of the same call does not hold for what a script of it holds now.
    #[error("it is asked for again because of a script that it runs")]
    ScriptChanged,
}

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum PatternProblem {
    #[error("a pattern is up to 1,000 letters long")]
    Empty,
    #[error("this would cover every command; name one")]
    Everything,
    #[error("a rule is for one command; make one for each")]
    OneCommand,
    #[error("'{program}' does many things; say which, for example with its next word")]
    Vague { program: String },
    #[error("write a path from the top of the project, with * for a name and ** for folders")]
    NotAPath,
    #[error("no rule may let this pass: {guard}")]
    Guarded { guard: RuleGuard },
    /// It does not cover the call that it was made for.
    #[error("this does not cover the call that waits")]
    NotThis,
}
