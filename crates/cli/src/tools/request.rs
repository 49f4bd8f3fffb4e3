use bosun_model::ToolStatus;
use bosun_tools::Artifact;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::lines::LONGEST;

/// One line of input.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    /// Any JSON value; it comes back with the answer.
    #[serde(default)]
    pub id: Value,
    pub tool: String,
    #[serde(default = "no_arguments")]
    pub args: Value,
}

/// One line of output.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub id: Value,
    pub status: ToolStatus,
    /// What the model would read: a string, or content blocks where there is more than text.
    pub content: Value,
    pub artifact: Artifact,
}

impl Answer {
    fn refused(id: Value, reason: String) -> Self {
        Self { id, status: ToolStatus::Error, content: Value::String(reason), artifact: Artifact::default() }
    }

    /// What line `number` (from 1) is told that cannot be held.
    pub(super) fn too_long(number: u64) -> Self {
        let most = LONGEST >> 20;
        Self::refused(Value::Null, format!("Error: line {number} is longer than {most} MiB; write it in several calls"))
    }
}

impl Request {
    /// Reads line `number` (from 1). What cannot be read is answered, with the line's own id where it has one.
    pub(super) fn parse(line: &[u8], number: u64) -> Result<Self, Box<Answer>> {
        let refused = |id: Value, reason: String| Box::new(Answer::refused(id, reason));
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| refused(Value::Null, format!("Error: line {number} is not JSON: {error}")))?;
        let id = value.get("id").cloned().unwrap_or_default();
        serde_json::from_value(value).map_err(|error| {
            let example = r#"{"id": 1, "tool": "ls", "args": {"path": "/"}}"#;
            refused(id, format!("Error: line {number} is not a call ({error}); write it as {example}"))
        })
    }
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_that_is_no_call_is_answered_under_its_own_id() {
        for (line, id, word) in [
            ("{", json!(null), "line 7 is not JSON"),
            ("\u{1}", json!(null), "not JSON"),
            ("[]", json!(null), "not a call"),
            (r#"{"id":"a"}"#, json!("a"), "missing field `tool`"),
            (r#"{"id":[1],"tool":"ls","arguments":{}}"#, json!([1]), "unknown field `arguments`"),
            (r#"{"id":2,"tool":3}"#, json!(2), "not a call"),
        ] {
            let answer = Request::parse(line.as_bytes(), 7).unwrap_err();
            assert_eq!((answer.id, answer.status), (id, ToolStatus::Error), "{line}");
            assert!(answer.content.as_str().unwrap().contains(word), "{line}: {}", answer.content);
        }
        assert!(Request::parse(b"\xff\xfe", 1).is_err());
    }

    #[test]
    fn id_and_arguments_may_be_left_out() {
        let request = Request::parse(br#"{"tool":"ls"}"#, 1).unwrap();
        assert_eq!(request, Request { id: Value::Null, tool: "ls".into(), args: json!({}) });
    }
}
