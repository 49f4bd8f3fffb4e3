//! Claude at Amazon Bedrock: Anthropic's events, each in a frame of `application/vnd.amazon.eventstream`.
//!
//! A frame is its length, the length of its headers, a checksum of both, headers, payload and a checksum of all, big end
//! first. Written from the vendor's description of the encoding, not over the crate that the adapter uses.

use serde_json::{Value, json};

use super::{Ids, Out, anthropic};
use crate::{Part, Reply};

/// Lengths and checksums of a frame.
const AROUND: usize = 16;

pub(super) fn stream(reply: &Reply, model: &str, ids: &Ids) -> Vec<Out> {
    let refused = reply.parts.iter().find_map(|part| match part {
        Part::Error { kind, message } => Some((kind.as_str(), message.as_str())),
        _ => None,
    });
    let mut out = Vec::new();
    for item in anthropic::stream(reply, model, ids) {
        match item {
            Out::Bytes(events) => match refused.filter(|_| events.starts_with("event: error\n")) {
                Some((kind, message)) => out.push(Out::Frame(exception(kind, message))),
                None => out.extend(data_of(&events).map(|data| Out::Frame(chunk(data)))),
            },
            other => out.push(other),
        }
    }
    out
}

/// The data of server-sent events; each of ours is one line.
fn data_of(events: &str) -> impl Iterator<Item = &str> {
    events.lines().filter_map(|line| line.strip_prefix("data: "))
}

/// The frame around one event.
fn chunk(event: &str) -> Vec<u8> {
    let headers = [(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")];
    // The filler hides the length of what is inside.
    let payload = json!({ "bytes": base64(event.as_bytes()), "p": "abcdefgh" });
    frame(&headers, payload.to_string().as_bytes())
}

/// The frame of a failure in the middle of a stream, with the vendor's own word for it where there is one.
fn exception(kind: &str, message: &str) -> Vec<u8> {
    let kind = match kind {
        "overloaded_error" => "serviceUnavailableException",
        "api_error" => "internalServerException",
        "rate_limit_error" => "throttlingException",
        "invalid_request_error" => "validationException",
        "authentication_error" => "accessDeniedException",
        other => other,
    };
    let headers = [(":exception-type", kind), (":content-type", "application/json"), (":message-type", "exception")];
    frame(&headers, json!({ "message": message }).to_string().as_bytes())
}

/// One frame with text headers.
pub(super) fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut named = Vec::new();
    for (name, value) in headers {
        named.push(u8::try_from(name.len()).unwrap());
        named.extend_from_slice(name.as_bytes());
        // 7: a text with a length of two bytes.
        named.push(7);
        named.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        named.extend_from_slice(value.as_bytes());
    }
    let mut frame = Vec::with_capacity(AROUND + named.len() + payload.len());
    frame.extend_from_slice(&u32::try_from(AROUND + named.len() + payload.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(&u32::try_from(named.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(&checksum(&frame).to_be_bytes());
    frame.extend_from_slice(&named);
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&checksum(&frame).to_be_bytes());
    frame
}

/// CRC-32 as in gzip.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |mut sum: u32, byte: &u8| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
        sum
    };
    !bytes.iter().fold(u32::MAX, step)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for triple in bytes.chunks(3) {
        let byte = |at: usize| u32::from(triple.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[usize::try_from(bits >> (18 - 6 * at) & 63).unwrap()];
            text.push(if at as usize <= triple.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The list of models that may be invoked by name; its second half, the profiles, is empty here.
pub(super) fn models(names: &[String]) -> Value {
    let rows: Vec<_> = names
        .iter()
        .map(|name| {
            json!({
                "modelId": name, "modelName": name, "providerName": "Anthropic", "inputModalities": ["TEXT", "IMAGE"],
                "outputModalities": ["TEXT"], "responseStreamingSupported": true,
                "inferenceTypesSupported": ["ON_DEMAND"], "modelLifecycle": { "status": "ACTIVE" },
            })
        })
        .collect();
    json!({ "modelSummaries": rows })
}

pub(super) fn error(message: &str) -> Value {
    json!({ "message": message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_the_bytes_of_the_description() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
        let frame = frame(&[("a", "b")], b"{}");
        assert_eq!(frame[..8], [0, 0, 0, 24, 0, 0, 0, 6]);
        assert_eq!(frame[12..20], [1, b'a', 7, 0, 1, b'b', b'{', b'}']);
        assert_eq!(frame.len(), 24);
    }
}
