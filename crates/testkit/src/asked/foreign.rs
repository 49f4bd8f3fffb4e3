//! Requests of the wires whose conversations are not lists of chat messages, brought to the one shape.

use serde_json::Value;

use super::{Asked, AskedCall, Said, Speaker};
use crate::Wire;

type Parsed = Result<Asked, String>;

fn object(wire: Wire, body: &[u8]) -> Result<Value, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| format!("not a {wire} request: {error}"))?;
    if body.is_object() { Ok(body) } else { Err(format!("not a {wire} request: no object")) }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A string, or the texts of a list of parts.
fn content(value: &Value, joint: &str) -> String {
    match value {
        Value::String(text) => text.clone(),
        _ => list(value).iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join(joint),
    }
}

fn said(by: Speaker, text: String) -> Said {
    Said { by, text, calls: Vec::new(), call_id: None }
}

/// OpenAI Responses.
pub(super) fn responses(body: &[u8]) -> Parsed {
    let wire = Wire::OpenAiResponses;
    let body = object(wire, body)?;
    let mut asked = Asked {
        wire,
        model: text(&body["model"]),
        system: text(&body["instructions"]),
        said: Vec::new(),
        tools: list(&body["tools"]).iter().map(|tool| text(&tool["name"])).collect(),
        stream: body["stream"].as_bool().unwrap_or(false),
    };
    if let Value::String(input) = &body["input"] {
        asked.said.push(said(Speaker::Human, input.clone()));
    }
    for item in list(&body["input"]) {
        response_item(&mut asked, item)?;
    }
    Ok(asked)
}

fn response_item(asked: &mut Asked, item: &Value) -> Result<(), String> {
    match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let words = content(&item["content"], "\n");
            match item["role"].as_str() {
                Some("user") => asked.said.push(said(Speaker::Human, words)),
                Some("assistant") => reply(asked).text.push_str(&words),
                Some("system" | "developer") => asked.said.push(said(Speaker::System, words)),
                other => return Err(format!("a message with the unknown role {other:?}")),
            }
        }
        "function_call" => {
            let id = text(&item["call_id"]);
            let args = serde_json::from_str(&text(&item["arguments"]))
                .map_err(|error| format!("the arguments of call {id} are not JSON: {error}"))?;
            reply(asked).calls.push(AskedCall { id, name: text(&item["name"]), args });
        }
        "function_call_output" => {
            let call_id = Some(text(&item["call_id"]));
            asked.said.push(Said { call_id, ..said(Speaker::Tool, content(&item["output"], "\n")) });
        }
        "reasoning" => {}
        other => return Err(format!("an item of the unknown type {other:?}")),
    }
    Ok(())
}

/// The reply that an item of the model's belongs to: its items follow each other.
fn reply(asked: &mut Asked) -> &mut Said {
    if asked.said.last().is_none_or(|last| last.by != Speaker::Ai) {
        asked.said.push(said(Speaker::Ai, String::new()));
    }
    let last = asked.said.len() - 1;
    &mut asked.said[last]
}

/// Gemini; model and stream stand in the path.
pub(super) fn gemini(path: &str, body: &[u8]) -> Parsed {
    let wire = Wire::Gemini;
    let body = object(wire, body)?;
    let last = path.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let (model, action) = last.split_once(':').unwrap_or((last, ""));
    let tools = list(&body["tools"]).iter().flat_map(|tool| list(&tool["functionDeclarations"]));
    let mut asked = Asked {
        wire,
        model: model.to_owned(),
        system: content(&body["systemInstruction"]["parts"], "\n\n"),
        said: Vec::new(),
        tools: tools.map(|tool| text(&tool["name"])).collect(),
        stream: action == "streamGenerateContent",
    };
    for turn in list(&body["contents"]) {
        let parts = list(&turn["parts"]);
        if turn["role"] == "model" {
            let calls = parts.iter().map(|part| &part["functionCall"]).filter(|call| call.is_object());
            let calls = calls.map(|call| AskedCall {
                id: text(&call["id"]),
                name: text(&call["name"]),
                args: call["args"].clone(),
            });
            asked.said.push(Said { calls: calls.collect(), ..said(Speaker::Ai, content(&turn["parts"], "\n")) });
            continue;
        }
        for result in parts.iter().map(|part| &part["functionResponse"]).filter(|result| result.is_object()) {
            let response = &result["response"];
            let words = ["output", "error", "result"].iter().find_map(|name| response[*name].as_str());
            let words = words.map_or_else(|| response.to_string(), String::from);
            asked.said.push(Said { call_id: Some(text(&result["id"])), ..said(Speaker::Tool, words) });
        }
        if parts.iter().any(|part| part["text"].is_string()) {
            asked.said.push(said(Speaker::Human, content(&turn["parts"], "\n")));
        }
    }
    Ok(asked)
}

/// Ollama; a request streams unless it says otherwise.
pub(super) fn ollama(body: &[u8]) -> Parsed {
    let wire = Wire::Ollama;
    let body = object(wire, body)?;
    let mut asked = Asked {
        wire,
        model: text(&body["model"]),
        system: String::new(),
        said: Vec::new(),
        tools: list(&body["tools"]).iter().map(|tool| text(&tool["function"]["name"])).collect(),
        stream: body["stream"].as_bool().unwrap_or(true),
    };
    for message in list(&body["messages"]) {
        let words = text(&message["content"]);
        let by = match message["role"].as_str() {
            Some("system") if asked.said.is_empty() => {
                asked.system.push_str(&words);
                continue;
            }
            Some("system") => Speaker::System,
            Some("user") => Speaker::Human,
            Some("assistant") => Speaker::Ai,
            Some("tool") => Speaker::Tool,
            other => return Err(format!("a message with the unknown role {other:?}")),
        };
        let calls = list(&message["tool_calls"]).iter().map(|call| AskedCall {
            id: text(&call["id"]),
            name: text(&call["function"]["name"]),
            args: call["function"]["arguments"].clone(),
        });
        let call_id = message["tool_call_id"].as_str().map(String::from);
        asked.said.push(Said { by, text: words, calls: calls.collect(), call_id });
    }
    Ok(asked)
}
