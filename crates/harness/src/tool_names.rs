//! Names of tools in settings and declarations: which tools Bosun has, and what is told of names that stand for none.

mod unmatched;

use bosun_agent::{AgentError, BoxFuture, Middleware, NoteAbout, TurnContext};
use bosun_tools::{
    BACKGROUND_TOOLS, Delete, EditFile, Execute, Glob, Grep, Ls, ReadFile, StateUpdate, Task, Tool as _, WriteFile,
    WriteTodos,
};

use crate::{final_answer, memory, on_demand, summarization, told};
pub(crate) use unmatched::{Named, unmatched};

/// Longest list of tools in what is told, in characters.
const LONGEST: usize = 1_000;
/// What stands between a server and its tool in the name of that tool.
const OF_SERVER: &str = "__";

/// The built-in tools that a subagent may name: all that there are where files can be deleted and commands run.
pub const SUBAGENT_TOOLS: [&str; 11] = [
    Ls::NAME,
    ReadFile::NAME,
    WriteFile::NAME,
    EditFile::NAME,
    Delete::NAME,
    Glob::NAME,
    Grep::NAME,
    Execute::NAME,
    WriteTodos::NAME,
    Task::NAME,
    summarization::COMPACT,
];

/// Tools that are there where something else asks for them, whatever built-in tools are chosen.
const ASKED: [&str; 2] = [on_demand::SEARCH, final_answer::NAME];

/// All built-in tools, whatever the folder and the settings leave of them.
pub fn built_in_tools() -> impl Iterator<Item = &'static str> {
    SUBAGENT_TOOLS.into_iter().chain(BACKGROUND_TOOLS).chain([memory::SEARCH])
}

/// The first of `names` that is no built-in tool.
pub(crate) fn not_built_in<'a>(mut names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    names.find(|name| !built_in_tools().any(|known| known == *name))
}

/// All of Bosun's own tools, with those that are there where something else asks for them.
pub(crate) fn own() -> impl Iterator<Item = &'static str> {
    built_in_tools().chain(ASKED)
}

/// Whether one of Bosun's own tools has a name.
pub fn is_own(name: &str) -> bool {
    own().any(|known| known == name)
}

/// Whether a tool of a server can have a name, be it that of one that is not there yet.
pub fn can_be_of_server(name: &str) -> bool {
    name.contains(OF_SERVER)
}

/// All built-in tools as a sentence names them.
pub(crate) fn built_in_list() -> String {
    built_in_tools().collect::<Vec<_>>().join(", ")
}

/// The names among `named` that `is_here` does not know, each once, as a sentence lists them; `None` where it knows all.
pub(crate) fn missing<'a>(
    named: impl IntoIterator<Item = &'a String>,
    is_here: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut missing: Vec<&str> = Vec::new();
    for name in named.into_iter().filter(|name| !is_here(name)) {
        if !missing.contains(&name.as_str()) {
            missing.push(name);
        }
    }
    let list: String = missing.join(", ").chars().take(LONGEST).collect();
    (!missing.is_empty()).then_some(list)
}

/// Tells the person, as a turn begins, of names in an agent's configuration that stand for no tool here.
pub(crate) struct ToolNames {
    notes: Vec<NoteAbout>,
}

impl ToolNames {
    /// `None` where there is nothing to tell.
    pub(crate) fn telling(notes: Vec<NoteAbout>) -> Option<Self> {
        (!notes.is_empty()).then_some(Self { notes })
    }
}

impl Middleware for ToolNames {
    fn name(&self) -> &'static str {
        "ToolNames"
    }

    fn before_turn<'a>(&'a self, cx: &'a TurnContext) -> BoxFuture<'a, Result<StateUpdate, AgentError>> {
        Box::pin(async move {
            told::tell(cx, self.name(), &self.notes).await?;
            Ok(StateUpdate::default())
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_name_can_be_a_built_in_tool_or_one_of_a_server() {
        for name in ["ls", "execute", "search_memories", "cancel_async_task", "search_tools"] {
            assert!(is_own(name) && !can_be_of_server(name), "{name}");
        }
        assert!(can_be_of_server("docs__find"));
        for name in ["", "exceute", "Ls", "docs_find"] {
            assert!(!is_own(name) && !can_be_of_server(name), "{name}");
        }
        let named = ["ls", "docs__fnid", "fly", "fly"].map(str::to_owned);
        assert_eq!(missing(&named, is_own), Some("docs__fnid, fly".to_owned()));
        assert_eq!(missing(&named[..1], is_own), None);
    }
}
