//! The built app in a real WebKitGTK window, driven as a person drives it. Start reading at [`harness`], then [`scene`].
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests start programs, look at files and stop at once"
)]
#![allow(dead_code, reason = "the harness offers more than any one state of the scenarios uses")]

mod additions;
mod agents;
mod approvals;
mod changes;
mod closing;
mod disk;
mod figures;
mod files;
mod first_run;
mod grave;
mod harness;
mod hostile;
mod keyboard;
mod knowledge;
mod lists;
mod looks;
mod notices;
mod outside;
mod past;
mod permissions;
mod places;
mod plan;
mod programs;
mod scene;
mod settings;
mod start;
mod talk;
mod tour;
mod trouble;
mod work;
