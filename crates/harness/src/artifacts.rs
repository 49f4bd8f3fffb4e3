use std::collections::BTreeMap;

use bosun_agent::TurnContext;
use bosun_backend::{Backend, BackendError, Change, Expect, Unwitnessed, VirtualPath};
use bosun_tools::{ReadFile, StateUpdate, Tool as _};

/// Where large results and old conversation are put, so that the model can still read them. Without a root they are
/// put nowhere: a backend whose `/` is somebody's folder is no place for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// The folder that holds `large_tool_results` and `conversation_history`.
    pub root: Option<VirtualPath>,
    /// Those of the two that are elsewhere, by name.
    pub elsewhere: BTreeMap<String, VirtualPath>,
}

/// Longest name that is used as it is, in bytes.
const LONGEST_NAME: usize = 128;

impl Artifacts {
    /// Below `/`, as in the documented path space.
    pub fn at_root() -> Self {
        Self::below(VirtualPath::root())
    }

    /// Below one folder.
    pub fn below(root: VirtualPath) -> Self {
        Self { root: Some(root), elsewhere: BTreeMap::new() }
    }

    /// Large results and old conversation in a folder each.
    pub fn at(results: VirtualPath, history: VirtualPath) -> Self {
        let places = [(crate::eviction::FOLDER, results), (crate::summarization::HISTORY, history)];
        Self { root: None, elsewhere: places.map(|(name, path)| (name.to_owned(), path)).into() }
    }

    /// The path of what an agent keeps of its own under an id. A provider may count the calls of each conversation from 0,
    /// and the agents of a tree share one backend, so that a subagent's are below its session.
    pub(crate) fn own_path(&self, cx: &TurnContext, folder: &str, id: &str) -> Option<VirtualPath> {
        let name = name_of(id);
        match cx.depth() {
            0 => self.place(cx, folder, &name),
            _ => self.place(cx, folder, &format!("{}/{name}", name_of(cx.log().session().as_str()))),
        }
    }

    /// The path of an artifact, where there is a place for it that the agent can read: without `read_file` all stays where it
    /// is, as what left the conversation would be lost to it.
    pub(crate) fn place(&self, cx: &TurnContext, folder: &str, name: &str) -> Option<VirtualPath> {
        cx.agent().tools.get(ReadFile::NAME)?;
        self.path(folder, name)
    }

    fn path(&self, folder: &str, name: &str) -> Option<VirtualPath> {
        match self.elsewhere.get(folder) {
            Some(place) => place.join(name).ok(),
            None => self.root.as_ref()?.join(&format!("{folder}/{name}")).ok(),
        }
    }
}

/// Writes an artifact through the agent's backend. The update is what a backend that keeps its files in the state
/// wants merged.
pub(crate) async fn put(cx: &TurnContext, path: &VirtualPath, bytes: Vec<u8>) -> Result<StateUpdate, BackendError> {
    let change = cx.agent().backend.write(path, bytes, Expect::Anything, &Unwitnessed).await?;
    Ok(update_of(change))
}

/// Writes an artifact where there is none; one that is there already is as good where it holds the same.
pub(crate) async fn put_new(cx: &TurnContext, path: &VirtualPath, bytes: Vec<u8>) -> Result<StateUpdate, BackendError> {
    let backend = &cx.agent().backend;
    match backend.write(path, bytes.clone(), Expect::Absent, &Unwitnessed).await {
        Ok(change) => Ok(update_of(change)),
        Err(BackendError::AlreadyExists { .. }) if whole(&**backend, path).await.is_ok_and(|there| there == bytes) => {
            Ok(StateUpdate::default())
        }
        Err(error) => Err(error),
    }
}

/// Adds `text` at the end of an artifact, or makes it.
pub(crate) async fn append(cx: &TurnContext, path: &VirtualPath, text: &str) -> Result<StateUpdate, BackendError> {
    let mut bytes = match whole(&*cx.agent().backend, path).await {
        Ok(bytes) => bytes,
        Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    bytes.extend_from_slice(text.as_bytes());
    put(cx, path, bytes).await
}

/// The whole of a file.
pub(crate) async fn whole(backend: &dyn Backend, path: &VirtualPath) -> Result<Vec<u8>, BackendError> {
    let missing = || BackendError::NotFound { path: path.clone() };
    backend.download(vec![path.clone()]).await.pop().unwrap_or_else(|| Err(missing()))
}

fn update_of(change: Change) -> StateUpdate {
    StateUpdate { files: change.state, ..StateUpdate::default() }
}

/// A name from an id of the model's or a session: separators and dots become `_`, and one that is too long its hash.
pub(crate) fn name_of(id: &str) -> String {
    if id.is_empty() {
        return "unnamed".into();
    }
    if id.len() > LONGEST_NAME {
        return format!("call-{}", bosun_backend::ContentHash::of(id.as_bytes()));
    }
    id.chars().map(|c| if matches!(c, '.' | '/' | '\\' | '\0') || c.is_control() { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn names_of_ids_are_names() {
        assert_eq!(name_of("call.1/a"), "call_1_a");
        assert_eq!(name_of("../a.b\\c"), "___a_b_c");
        assert_eq!(name_of(&"z".repeat(128)), "z".repeat(128));
        let long = name_of(&"z".repeat(129));
        assert!(long.starts_with("call-") && long.len() == 69, "{long}");
    }

    #[test]
    fn without_a_root_there_is_no_place() {
        assert_eq!(Artifacts::default().path("large_tool_results", "a"), None);
        let path = Artifacts::at_root().path("large_tool_results", "a").unwrap();
        assert_eq!(path.as_str(), "/large_tool_results/a");
    }

    #[test]
    fn a_folder_that_is_elsewhere_is_found_there() {
        let at = |text: &str| VirtualPath::parse(text).unwrap();
        let artifacts = Artifacts::at(at("/_large_tool_results"), at("/conversation_history"));
        let path = |folder| artifacts.path(folder, "a").map(|path| path.to_string());
        assert_eq!(path("large_tool_results").as_deref(), Some("/_large_tool_results/a"));
        assert_eq!(path("conversation_history").as_deref(), Some("/conversation_history/a"));
        assert_eq!(path("another"), None);
    }
}
