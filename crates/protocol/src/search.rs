use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ItemId, ProjectId, SessionId, SessionSummary};

/// What to look for in the sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SearchSessions {
    /// Words that must all be there; the last letters of each may be missing.
    pub text: String,
    /// Only in this project.
    pub project: Option<ProjectId>,
    /// Most hits wanted; at most 200.
    pub limit: u32,
}

/// Where the words were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Type)]
pub struct SearchHit {
    /// The session to open: the root's, where a subagent said it.
    pub session: SessionSummary,
    /// The session whose conversation has the row.
    pub found_in: SessionId,
    /// The row; `None` where the title was found.
    pub item: Option<ItemId>,
    /// Milliseconds since 1970.
    #[specta(type = specta_typescript::Number)]
    pub at: i64,
    /// The words with some text around them.
    pub snippet: Vec<SnippetPart>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SnippetPart {
    pub text: String,
    /// Whether this is what was looked for.
    pub hit: bool,
}
