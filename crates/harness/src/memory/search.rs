use std::borrow::Cow;
use std::sync::Arc;

use bosun_backend::{Namespace, Store, StoreHit, StoreQuery};
use bosun_tools::{DynTool, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(super) const NAME: &str = "search_memories";

/// Full-text search over what is remembered.
#[derive(Clone)]
pub struct MemorySearch {
    pub store: Arc<dyn Store>,
    /// Where memories are kept, for example the person's and the project's.
    pub namespaces: Vec<Namespace>,
    /// The tool is offered from so many memories on; fewer are found with `ls` and `grep` as well.
    pub offer_from: usize,
}

impl MemorySearch {
    pub fn new(store: Arc<dyn Store>, namespaces: Vec<Namespace>) -> Self {
        Self { store, namespaces, offer_from: 20 }
    }

    pub(super) fn tool(&self) -> Arc<dyn DynTool> {
        erase(SearchMemories { search: self.clone() })
    }

    pub(super) async fn is_worth_it(&self) -> bool {
        let mut found = 0;
        for namespace in &self.namespaces {
            match self.store.search(query(namespace, None, self.offer_from)).await {
                Ok(hits) => found += hits.len(),
                Err(error) => tracing::warn!(%error, "the memories could not be counted"),
            }
        }
        found >= self.offer_from
    }
}

fn query(namespace: &Namespace, text: Option<String>, limit: usize) -> StoreQuery {
    StoreQuery { namespace: namespace.clone(), key_prefix: None, text, limit, offset: 0 }
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
        for namespace in &self.search.namespaces {
            let found = self.search.store.search(query(namespace, Some(input.query.clone()), limit)).await;
            hits.extend(found.map_err(|error| ToolError::Model(format!("Error: {error}")))?);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(limit);
        if hits.is_empty() {
            return Ok(ToolOutput::text(format!("Nothing is remembered about '{}'.", input.query)));
        }
        Ok(ToolOutput::text(hits.iter().map(row).collect::<Vec<_>>().join("\n\n")))
    }
}

fn row(hit: &StoreHit) -> String {
    let whole = words_of(&hit.item.value);
    let mut text: String = whole.chars().take(SHOWN).collect();
    if text.len() < whole.len() {
        text.push_str(" [...]");
    }
    format!("{}\n{text}", hit.item.key)
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
