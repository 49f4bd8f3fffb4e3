//! One actor per session: its queue, its pending approvals, its recovery, and what it shows.
//!
//! **Owns** [`Sessions`] (what the desktop and the command line share), the projection from journal entries to
//! `protocol` items and events, and subscriptions. **Must not** speak HTTP or SQL, decide what a tool may do, or know
//! a window.
//!
//! Start reading at [`Sessions`], then `projection` (entries in, events out), then `actor`.

mod actor;
mod assembling;
mod beginning;
mod browsing;
mod calls;
mod choices;
mod convert;
mod counting;
mod deciding;
mod declared;
mod definitions;
mod error;
pub mod export;
mod extras;
mod host;
mod journals;
mod knowledge;
mod own_programs;
mod past;
mod permissions;
mod problem;
mod projection;
mod recording;
mod restoring;
mod reviewing;
mod rewinding;
mod routes;
mod rows;
mod search;
mod sessions;
mod signing_in;
mod space;
mod states;
mod stored;
mod stream;
mod summing;
mod timeline;
mod trust;
mod turns;
mod view;
mod watching;
mod writing;

#[cfg(test)]
mod tests;

pub use beginning::{default_effort, default_model};
pub use bosun_agent::Grave;
/// What [`SessionsParts`] are made of, for those who may not name the loop's own room.
pub use bosun_agent::{Clock, IdSource, Limits, PermissionRule, Policy, SystemClock, UuidSource};
pub use bosun_harness::{DeclaredAgent, DeclaredAgentError, Extras, ExtrasError, mcp};
pub use bosun_tools::ToolKind;
pub use calls::counted_as_test;
pub use error::SessionError;
pub use own_programs::{gsettings, run_own_program};
pub use problem::Explain;
pub use sessions::bundles::ImportFrom;
pub use sessions::grave::GraveCall;
pub use sessions::places::ProjectsWatch;
pub use sessions::{ModelSource, Quiet, Sessions, SessionsParts};
pub use signing_in::SIGN_INS;
pub use stream::{EventStream, Subscription, SummaryStream};
pub use trust::PROJECT_CONFIG;
