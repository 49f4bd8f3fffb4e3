use std::borrow::Cow;
use std::sync::Arc;

use bosun_backend::{Namespace, Store, StoreError, StoreHit, StoreQuery, VirtualPath};
use bosun_tools::{DynTool, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(crate) const NAME: &str = "search_memories";

/// Full-text search over what is remembered.
#[derive(Clone)]
pub struct MemorySearch {
    pub store: Arc<dyn Store>,
    /// Where memories are kept, for example the person's and the project's.
    pub shelves: Vec<SearchedShelf>,
    /// Folders of memories that are not in the store: what is in them is not found, which the tool says.
    pub elsewhere: Vec<VirtualPath>,
    /// The tool is offered from so many memories on; fewer are found with `ls` and `grep` as well.
    pub offer_from: usize,
}

/// A part of the store, and where the agent has its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedShelf {
    pub namespace: Namespace,
    /// The folder in the agent's path space; keys of the namespace are paths below it.
    pub mount: VirtualPath,
}

impl MemorySearch {
    pub fn new(store: Arc<dyn Store>, shelves: Vec<SearchedShelf>) -> Self {
        Self { store, shelves, elsewhere: Vec::new(), offer_from: 20 }
    }

    /// Says of these folders that they are not searched.
    #[must_use]
    pub fn but_not(self, elsewhere: Vec<VirtualPath>) -> Self {
        Self { elsewhere, ..self }
    }

    pub(super) fn tool(&self) -> Arc<dyn DynTool> {
        erase(SearchMemories { search: self.clone() })
    }

    pub(super) async fn is_worth_it(&self) -> bool {
        let mut found = 0;
        for shelf in &self.shelves {
            match self.found(shelf, None, self.offer_from).await {
                Ok(hits) => found += hits.len(),
                Err(error) => tracing::warn!(%error, "the memories could not be counted"),
            }
        }
        found >= self.offer_from
    }

    /// The best of `shelf` that are where their path leads: not what a narrower place covers, which nobody could read.
    async fn found(
        &self,
        shelf: &SearchedShelf,
        text: Option<&str>,
        limit: usize,
    ) -> Result<Vec<StoreHit>, StoreError> {
        let (mut found, mut offset) = (Vec::new(), 0);
        loop {
            let (namespace, text) = (shelf.namespace.clone(), text.map(ToOwned::to_owned));
            let hits = self.store.search(StoreQuery { namespace, key_prefix: None, text, limit, offset }).await?;
            let is_last = hits.len() < limit;
            offset += hits.len();
            found.extend(hits.into_iter().filter(|hit| !self.is_covered(&shelf.mount, &hit.item.key)));
            if is_last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }

    /// Whether a place below `mount` is at the path of `key`.
    fn is_covered(&self, mount: &VirtualPath, key: &str) -> bool {
        let Ok(path) = mount.join(key.trim_start_matches('/')) else { return false };
        let places = self.shelves.iter().map(|shelf| &shelf.mount).chain(&self.elsewhere);
        places.filter(|place| *place != mount && place.starts_with(mount)).any(|place| path.starts_with(place))
    }
}

struct SearchMemories {
    search: MemorySearch,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchMemoriesInput {
    /// Words that the memory has to hold, all of them, in any order.
    #[schemars(length(min = 1, max = 1_000))]
    query: String,
    /// Most memories to show.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn ten() -> usize {
    10
}

/// Characters of one memory that are shown.
const SHOWN: usize = 1_500;

impl Tool for SearchMemories {
    const NAME: &'static str = NAME;
    type Input = SearchMemoriesInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        "Searches what was remembered in earlier sessions, best matches first, over their whole text. Use it before \
         you ask the user for something they may have said before, and before a decision that a remembered preference \
         may settle. One or two telling words find more than a sentence."
            .into()
    }

    async fn call(&self, _cx: &ToolContext, input: Self::Input) -> Result<ToolOutput, ToolError> {
        let limit = input.limit.clamp(1, 50);
        let mut hits = Vec::new();
        for shelf in &self.search.shelves {
            let found = self.search.found(shelf, Some(&input.query), limit).await;
            let found = found.map_err(|error| ToolError::Model(format!("Error: {error}")))?;
            hits.extend(found.into_iter().map(|hit| (&shelf.mount, hit)));
        }
        hits.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
        hits.truncate(limit);
        let mut told: Vec<String> = hits.iter().map(|(mount, hit)| row(mount, hit)).collect();
        if told.is_empty() {
            told.push(format!("Nothing is remembered about '{}'.", input.query));
        }
        if !self.search.elsewhere.is_empty() {
            let folders: Vec<&str> = self.search.elsewhere.iter().map(VirtualPath::as_str).collect();
            told.push(format!(
                "Not searched, because its files are kept elsewhere: {}. Search there with grep.",
                folders.join(", ")
            ));
        }
        Ok(ToolOutput::text(told.join("\n\n")))
    }
}

/// A memory by the path under which the agent's file tools have it.
fn row(mount: &VirtualPath, hit: &StoreHit) -> String {
    let whole = words_of(&hit.item.value);
    let mut text: String = whole.chars().take(SHOWN).collect();
    if text.len() < whole.len() {
        text.push_str(" [...]");
    }
    format!("{}/{}\n{text}", mount.as_str().trim_end_matches('/'), hit.item.key.trim_start_matches('/'))
}

/// The text of a stored value: a file's content where it is one, else its JSON.
fn words_of(value: &Value) -> String {
    match value.get("content").unwrap_or(value) {
        Value::String(text) => text.clone(),
        Value::Array(lines) if lines.iter().all(Value::is_string) => {
            lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
