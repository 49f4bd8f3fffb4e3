//! The loop: from a message to the end of a turn, over a journal that can be folded again at any time.
//!
//! **Owns** [`State`] and its reducers, [`JournalEntry`], the [`Journal`] and [`Host`] traits, [`Middleware`] with its
//! `Next`, asks and [`Decision`]s, [`Policy`], and [`run_turn`]. **Must not** do IO of its own, know SQLite, HTTP or a
//! UI, or hold state that is not in the journal: dropping a running turn at any point loses nothing that was recorded.
//!
//! Start reading at [`JournalEntry`], then [`SessionLog`] (the journal and the state folded from it, kept equal), then
//! [`run_turn`].

mod activity;
mod agent;
mod ask;
mod ask_order;
mod background;
mod changed;
mod children;
mod clock;
mod context;
mod delegate;
mod entry;
mod error;
mod event;
mod halt;
mod history;
mod journal;
mod log;
mod memory;
mod middleware;
mod model_call;
mod policy;
mod recover;
mod spent;
mod state;
mod step;
mod tool_call;
mod turn;
mod witness;

pub use activity::Activity;
pub use agent::{Agent, AgentParts, Limits, Subagents};
pub use ask::{
    Ask, AskPlace, AskReason, AskedAgain, AskedScript, Decision, DecisionError, DecisionKind, DecisionRecord,
    DecisionSource, ScriptFigures,
};
pub use background::BackgroundRuns;
pub use changed::{ChangedFile, FileFate};
pub use clock::{Clock, IdSource, SystemClock, UuidSource};
pub use context::TurnContext;
pub use delegate::ask_id;
pub use entry::{
    ChangeIntent, EntryBody, JournalEntry, NoteKind, OutsideChange, Recorded, Seq, SubagentMode, ToolOutcome, TurnEnd,
    is_news,
};
pub use error::AgentError;
pub use event::LiveEvent;
pub use halt::{Halt, NoteAbout};
pub use history::{effective, stays};
pub use journal::{ChildStart, Host, Journal, JournalError, OpenedChild, SessionId};
pub use log::{HeldLog, SessionLog};
pub use memory::MemoryHost;
pub use middleware::{Middleware, NextModel, NextTool};
pub use policy::{
    ApprovalMode, CallFacts, Certainty, Grave, InterruptConfig, PatternProblem, PermissionRule, Policy, RuleGuard,
    RuleKind, RulePattern, RuleScope, RuleSubject, ScriptName, ScriptNames, Standing, StandingRule, Verdict,
};
pub use spent::Spent;
pub use state::{
    FollowedFile, OpenCall, OpenStep, OpenTurn, PlannedTodo, QueuedMessage, Restoring, SentSubagent, State,
};
pub use turn::{end_turn, run_turn};

/// A boxed future that may borrow from its maker.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;
