use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use bosun_agent::{AgentError, BoxFuture, Middleware, NextModel, TurnContext};
use bosun_model::{AiMessage, ChatRequest, ToolSpec};
use bosun_tools::{DynTool, StateUpdate, Tool, ToolContext, ToolError, ToolKind, ToolOutput, erase};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::offered::Offered;
use crate::{prompt, tokens};

/// The tool that finds others.
pub(crate) const SEARCH: &str = SearchTools::NAME;

/// The state field that says that a tool was found; one field a tool, so that two searches at once lose nothing.
const FIELD: &str = "tool_found:";
/// Tools that one search gives.
const MOST_FOUND: usize = 10;
/// Characters of a description in a list.
const SHOWN: usize = 200;

/// Keeps the descriptions of many tools out of the context until the model has looked for them: requests carry only
/// those that were found, and `search_tools`. It stands at [`crate::DeepAgentConfig::on_demand`].
pub struct OnDemand {
    hidden: HashSet<String>,
    specs: Arc<[ToolSpec]>,
    search: Arc<dyn DynTool>,
    prompt: String,
    offered: Offered,
}

impl OnDemand {
    /// Over `tools`, where their descriptions together take more than `most_tokens` (an estimate).
    pub fn over(tools: &[Arc<dyn DynTool>], most_tokens: u64) -> Option<Self> {
        let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec().clone()).collect();
        (tokens::of_tools(&specs) > most_tokens).then(|| Self::of(specs.into()))
    }

    fn of(specs: Arc<[ToolSpec]>) -> Self {
        let prompt = format!(
            "Besides the tools you see there {}. Their descriptions would fill the conversation, so look for what you need \
             with {} first; what it finds can be called from your next step on.",
            counted(&specs),
            SearchTools::NAME
        );
        let hidden = specs.iter().map(|spec| spec.name.clone()).collect();
        let search = erase(SearchTools { specs: Arc::clone(&specs) });
        Self { hidden, specs, search, prompt, offered: Offered::default() }
    }

    /// The same for an agent that has only those of the tools that `allowed` names; `None` where those are none.
    pub(crate) fn narrowed(self: &Arc<Self>, allowed: &[String]) -> Option<Arc<Self>> {
        let specs: Vec<ToolSpec> = self.specs.iter().filter(|spec| allowed.contains(&spec.name)).cloned().collect();
        match specs.len() {
            0 => None,
            all if all == self.specs.len() => Some(Arc::clone(self)),
            _ => Some(Arc::new(Self::of(specs.into()))),
        }
    }

    /// `tools` without those that nobody has looked for yet.
    pub(crate) fn offered(&self, cx: &TurnContext, tools: &Arc<[ToolSpec]>) -> Arc<[ToolSpec]> {
        let found: HashSet<String> = cx.log().with_state(|state| {
            state.fields.keys().filter_map(|field| field.strip_prefix(FIELD)).map(str::to_owned).collect()
        });
        self.offered.of(tools, |name| !self.hidden.contains(name) || found.contains(name))
    }
}

/// How many tools there are and of which servers, as the end of a sentence.
fn counted(specs: &[ToolSpec]) -> String {
    let servers = servers(specs);
    let (are, these) =
        (if specs.len() == 1 { "is" } else { "are" }, if servers.len() == 1 { "this server" } else { "these servers" });
    format!("{are} {} more, of {these}: {}", specs.len(), servers.join(", "))
}

/// What stands before the separator in their names, each once.
fn servers(specs: &[ToolSpec]) -> Vec<&str> {
    let mut names: Vec<&str> =
        specs.iter().map(|spec| spec.name.split_once("__").map_or(spec.name.as_str(), |(server, _)| server)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Middleware for OnDemand {
    fn name(&self) -> &'static str {
        "OnDemand"
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        vec![Arc::clone(&self.search)]
    }

    fn wrap_model_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        mut request: ChatRequest,
        next: NextModel<'a>,
    ) -> BoxFuture<'a, Result<AiMessage, AgentError>> {
        request.tools = self.offered(cx, &request.tools);
        prompt::append(&mut request, &self.prompt);
        next.run(request)
    }
}

/// Finds tools by what they are for.
struct SearchTools {
    specs: Arc<[ToolSpec]>,
}

#[derive(Deserialize, JsonSchema)]
struct SearchInput {
    /// Words that say what the tool should do, or names of tools.
    query: String,
}

impl Tool for SearchTools {
    const NAME: &'static str = "search_tools";
    type Input = SearchInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn description(&self) -> Cow<'_, str> {
        "Finds tools of connected servers by words of their names and descriptions. The tools it lists can be called \
         from your next step on. Search with a few words for what you want to do; search again with others where \
         nothing fits."
            .into()
    }

    async fn call(&self, _cx: &ToolContext, input: SearchInput) -> Result<ToolOutput, ToolError> {
        let found = self.find(&input.query);
        if found.is_empty() {
            let servers = servers(&self.specs).join(", ");
            return Ok(ToolOutput::text(format!(
                "No tool has these words. There are {} tools, of these servers: {servers}. Try other words, or the name \
                 of a server.",
                self.specs.len()
            )));
        }
        let lines: Vec<String> = found.iter().map(|spec| format!("- {}: {}", spec.name, brief(spec))).collect();
        let mut output = ToolOutput::text(format!("You can call these from now on:\n{}", lines.join("\n")));
        output.update = StateUpdate {
            fields: found.iter().map(|spec| (format!("{FIELD}{}", spec.name), Value::Bool(true))).collect(),
            ..StateUpdate::default()
        };
        Ok(output)
    }
}

impl SearchTools {
    /// Those with the most of the words, names counting more; in their own order where equal.
    fn find(&self, query: &str) -> Vec<&ToolSpec> {
        let lower = query.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 1).collect();
        let mut scored: Vec<(usize, &ToolSpec)> = self.specs.iter().map(|spec| (score(spec, &words), spec)).collect();
        scored.retain(|(score, _)| *score > 0);
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.into_iter().take(MOST_FOUND).map(|(_, spec)| spec).collect()
    }
}

fn score(spec: &ToolSpec, words: &[&str]) -> usize {
    let (name, description) = (spec.name.to_lowercase(), spec.description.to_lowercase());
    words.iter().map(|word| 4 * usize::from(name.contains(word)) + usize::from(description.contains(word))).sum()
}

/// The beginning of its description on one line.
fn brief(spec: &ToolSpec) -> String {
    let line = spec.description.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn spec(name: &str, description: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), schema: json!({ "type": "object" }) }
    }

    #[test]
    fn tools_are_found_by_name_before_description() {
        let specs = vec![
            spec("mail__send", "Sends a letter."),
            spec("files__read_file", "Reads one file."),
            spec("files__move", "Moves a file that was sent."),
        ];
        let search = SearchTools { specs: specs.into() };
        let names = |query: &str| search.find(query).into_iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names("send"), ["mail__send"]);
        assert_eq!(names("sent file"), ["files__move", "files__read_file"]);
        assert_eq!(names("FILES__READ_FILE"), ["files__read_file", "files__move"]);
        assert_eq!(names("a ? !"), Vec::<&str>::new());
        assert_eq!(servers(&search.specs), ["files", "mail"]);
    }

    #[test]
    fn a_long_description_is_named_briefly() {
        assert_eq!(brief(&spec("a", "one\n two")), "one two");
        assert_eq!(brief(&spec("a", &"漢".repeat(300))).chars().count(), SHOWN + 1);
    }
}
