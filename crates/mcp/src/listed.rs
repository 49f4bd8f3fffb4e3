//! Tools as a server lists them, made into what a model is told.

use std::collections::BTreeMap;

use bosun_model::ToolSpec;

use crate::left_out::{LeftOut, ToolFault};
use crate::{name, pins, schema, text};

/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 4_000;
/// Longest name that is looked at, in bytes.
const LONGEST_NAME: usize = 256;
/// Tools of one server; more are left out.
pub(crate) const MOST_TOOLS: usize = 500;

/// One tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    pub spec: ToolSpec,
    /// See [`pins::hash_of`].
    pub hash: String,
}

/// The tools of a server by its own names for them, and why others of them are not here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToolList {
    pub tools: BTreeMap<String, Listed>,
    pub left_out: Vec<LeftOut>,
}

impl ToolList {
    pub(crate) fn of(server: &str, raw: &[rmcp::model::Tool]) -> Self {
        let mut list = Self::default();
        for tool in raw.iter().take(MOST_TOOLS) {
            let shown = text::line(&tool.name, 60);
            if list.tools.contains_key(&*tool.name) {
                list.left_out.push(LeftOut::Twice { tool: shown });
                continue;
            }
            match listed(server, tool) {
                Ok(listed) => drop(list.tools.insert(tool.name.to_string(), listed)),
                Err(fault) => list.left_out.push(LeftOut::Unusable { tool: shown, fault }),
            }
        }
        if raw.len() > MOST_TOOLS {
            list.left_out.push(LeftOut::TooMany { more: raw.len() - MOST_TOOLS, most: MOST_TOOLS });
        }
        list
    }
}

fn listed(server: &str, tool: &rmcp::model::Tool) -> Result<Listed, ToolFault> {
    if tool.name.is_empty() || tool.name.len() > LONGEST_NAME {
        return Err(ToolFault::Name { bytes: tool.name.len() });
    }
    let said = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let description = text::clean(said.trim(), LONGEST_DESCRIPTION);
    let spec = ToolSpec {
        name: name::tool_name(server, &tool.name),
        description: if description.is_empty() {
            format!("{} of {server}", text::line(&tool.name, 60))
        } else {
            description
        },
        schema: schema::usable(&tool.input_schema)?,
    };
    Ok(Listed { hash: pins::hash_of(&spec), spec })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::{MOST_TOOLS, ToolList};

    fn tool(name: &str, description: &str, schema: Value) -> rmcp::model::Tool {
        serde_json::from_value(json!({ "name": name, "description": description, "inputSchema": schema })).unwrap()
    }

    #[test]
    fn every_change_that_a_model_would_see_changes_the_hash() {
        let hash = |description: &str, schema: Value| {
            ToolList::of("s", &[tool("t", description, schema)]).tools.remove("t").unwrap().hash
        };
        let plain = hash("does it", json!({ "type": "object", "properties": { "a": {}, "b": {} } }));
        assert_eq!(hash("does it", json!({ "properties": { "b": {}, "a": {} }, "type": "object" })), plain);
        assert_ne!(hash("does it!", json!({ "type": "object", "properties": { "a": {}, "b": {} } })), plain);
        assert_ne!(hash("does it", json!({ "type": "object", "properties": { "a": {} } })), plain);
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_said() {
        let object = || json!({ "type": "object" });
        let mut raw = vec![tool("a", "", object()), tool("a", "", object()), tool("", "x", object())];
        raw.push(tool("b", "x", json!({ "type": "array" })));
        let list = ToolList::of("s", &raw);
        assert_eq!(list.tools.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(list.tools["a"].spec.description, "a of s");
        assert_eq!(list.left_out.len(), 3);
        let many: Vec<_> = (0..MOST_TOOLS + 7).map(|n| tool(&format!("t{n}"), "x", object())).collect();
        let list = ToolList::of("s", &many);
        assert_eq!((list.tools.len(), list.left_out.len()), (MOST_TOOLS, 1));
        assert!(list.left_out[0].to_string().starts_with("7 more"));
    }
}
