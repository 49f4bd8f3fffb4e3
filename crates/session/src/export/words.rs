//! The fixed words of what is written about a session, in each language that Bosun speaks. What people, models, tools and
//! the system said stands in it as it came.

mod chinese;
mod english;
mod said;

use bosun_protocol::{Decision, DecisionSource, Figure, NoticeCode, Problem, SessionStatus};

pub use chinese::CHINESE;
pub use english::ENGLISH;

/// The words of one language.
pub struct Words {
    /// Its BCP 47 tag.
    pub(super) tag: &'static str,
    /// The title of a session that has none, and the name of its file.
    pub(super) untitled: &'static str,
    pub(crate) file: &'static str,
    /// What stands before the facts of the head, with what parts them.
    pub(super) session: &'static str,
    pub(super) project: &'static str,
    pub(super) model: &'static str,
    pub(super) status_is: &'static str,
    pub(super) begun: &'static str,
    /// In place of a time that is none.
    pub(super) unknown_time: &'static str,
    pub(super) tokens: fn(received: u64, sent: u64) -> String,
    pub(super) person: &'static str,
    pub(super) agent: &'static str,
    pub(super) subagent: fn(name: &str, session: &str) -> String,
    pub(super) thinking: &'static str,
    /// A file that stands with a message, with its type and its bytes.
    pub(super) file_of: fn(name: &str, mime: &str, bytes: u64) -> String,
    pub(super) attached: &'static str,
    pub(super) goes_on: &'static str,
    pub(super) plan: &'static str,
    pub(super) changed_files: &'static str,
    pub(super) waiting: &'static str,
    /// Between the notes of a call.
    pub(super) comma: &'static str,
    pub(super) rejected: &'static str,
    pub(super) answered: &'static str,
    pub(super) stopped: &'static str,
    pub(super) cancelled: &'static str,
    pub(super) unknown: &'static str,
    pub(super) figure: fn(&Figure) -> String,
    /// Who decided what; the arguments of a call that was changed stand below it.
    pub(super) decided: fn(&Decision, &DecisionSource) -> String,
    pub(super) diff: DiffWords,
    pub(super) status: fn(SessionStatus) -> &'static str,
    /// A whole sentence.
    pub(super) notice: fn(NoticeCode) -> &'static str,
    /// What Bosun says about trouble; what others said stands in it as it came.
    pub(super) problem: fn(&Problem) -> String,
    /// Whose failure a notice tells, behind its sentence.
    pub(super) of_model: fn(sentence: &str, model: &str) -> String,
    /// Such a sentence with what is known of it.
    pub(super) with_detail: fn(sentence: &str, detail: &str) -> String,
}

/// What is said within a diff.
pub(super) struct DiffWords {
    pub new_file: &'static str,
    pub deleted: &'static str,
    pub binary: &'static str,
    pub no_newline: &'static str,
    pub goes_on: fn(added: u32, removed: u32) -> String,
}

/// A session's status in a word.
#[must_use]
pub fn word(status: SessionStatus, words: &Words) -> &'static str {
    (words.status)(status)
}
