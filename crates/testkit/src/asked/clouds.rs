//! Anthropic Messages as clouds take them: the model in the address, a version in the body.

use serde_json::Value;

use super::Asked;
use crate::Wire;

/// Claude at Bedrock or on Vertex AI.
pub(super) fn claude(wire: Wire, path: &str, body: &[u8]) -> Result<Asked, String> {
    let path = path.split('?').next().unwrap_or_default();
    let (model, streams, version) = match wire {
        Wire::Bedrock => bedrock(path)?,
        _ => vertex(path)?,
    };
    let fields: Value = serde_json::from_slice(body).map_err(|error| format!("not a {wire} request: {error}"))?;
    let named = fields["anthropic_version"].as_str().unwrap_or_default();
    // The vendor's newer clients name their own version at every cloud.
    if named != version && !is_date(named) {
        return Err(format!("not a {wire} request: anthropic_version must be {version}"));
    }
    if !fields["model"].is_null() {
        return Err(format!("not a {wire} request: model: Extra inputs are not permitted"));
    }
    if wire == Wire::Bedrock && !fields["stream"].is_null() {
        return Err(format!("not a {wire} request: stream: Extra inputs are not permitted"));
    }
    if wire == Wire::Vertex && fields["stream"].as_bool().unwrap_or(false) != streams {
        return Err(format!("not a {wire} request: the address and the field `stream` say different things"));
    }
    let asked = Asked::parse_chat(Wire::Anthropic, body)?;
    Ok(Asked { wire, model: plain(model), stream: streams, ..asked })
}

/// `2026-10-21`
fn is_date(text: &str) -> bool {
    let shape = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
    shape.eq("0000-00-00".chars())
}

/// `/model/MODEL/invoke-with-response-stream`
fn bedrock(path: &str) -> Result<(&str, bool, &'static str), String> {
    let call = path.strip_prefix("/model/").and_then(|rest| rest.split_once('/'));
    let (model, verb) = call.ok_or_else(|| format!("{path} names no model"))?;
    Ok((model, verb == "invoke-with-response-stream", "bedrock-2023-05-31"))
}

/// `…/publishers/anthropic/models/MODEL:streamRawPredict`
fn vertex(path: &str) -> Result<(&str, bool, &'static str), String> {
    let call = path.rsplit_once("/models/").and_then(|(_, call)| call.split_once(':'));
    let (model, verb) = call.ok_or_else(|| format!("{path} names no model"))?;
    Ok((model, verb == "streamRawPredict", "vertex-2023-10-16"))
}

/// `text` without the escapes of addresses.
fn plain(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let escaped = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_model_stands_in_the_address_and_the_version_in_the_body() {
        let body = |fields: Value| fields.to_string().into_bytes();
        let said = json!([{ "role": "user", "content": "hello" }]);
        let good = body(json!({ "anthropic_version": "bedrock-2023-05-31", "messages": said }));
        let path = "/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream";
        let asked = claude(Wire::Bedrock, path, &good).unwrap();
        assert_eq!((asked.model.as_str(), asked.stream), ("us.anthropic.claude-haiku-4-5-20251001-v1:0", true));
        let vertex = "/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-x@20250101:streamRawPredict";
        assert!(claude(Wire::Vertex, vertex, &good).unwrap_err().contains("vertex-2023-10-16"));
        let good = body(json!({ "anthropic_version": "vertex-2023-10-16", "messages": said, "stream": true }));
        assert_eq!(claude(Wire::Vertex, vertex, &good).unwrap().model, "claude-x@20250101");
        for extra in [json!({ "model": "m" }), json!({ "stream": true })] {
            let mut fields = json!({ "anthropic_version": "bedrock-2023-05-31", "messages": said });
            fields.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            assert!(claude(Wire::Bedrock, path, &body(fields)).unwrap_err().contains("Extra inputs"));
        }
    }
}
