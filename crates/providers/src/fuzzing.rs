//! Replies of any bytes, for fuzzers and soaks; in tests and with the feature `fuzzing` only.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bosun_model::{ChatRequest, MessageBuilder, ModelError, ModelEvent};

use crate::adapter::{CallIds, adapter};
use crate::driver::{Driver, Events};
use crate::endpoint::Endpoint;
use crate::origin::Origin;
use crate::sse::Sizes;
use crate::{Family, ProviderConfig};

/// Reads `bytes` as a reply of `family`, whole and in two pieces.
///
/// # Errors
/// In words, the law that was broken: the same bytes gave other events in pieces, or a message came out of a reply that
/// its provider did not finish. A panic is the caller's to find.
pub fn reply(family: Family, bytes: &[u8]) -> Result<(), String> {
    if family == Family::Bedrock {
        // Hardly any bytes have the right checksums by chance, so what is in the frames is tried by itself.
        let framed: Vec<u8> = bytes.split(|byte| *byte == b'\n').flat_map(framed).collect();
        laws(family, &framed)?;
    }
    laws(family, bytes)
}

fn laws(family: Family, bytes: &[u8]) -> Result<(), String> {
    let whole = read(family, &[bytes])?;
    let at = bytes.len() / 3;
    let pieces: Vec<&[u8]> = bytes.split_at_checked(at).map(|(a, b)| vec![a, b]).unwrap_or_default();
    if read(family, &pieces)? != whole {
        return Err(format!("cut at {at}, it gives other events"));
    }
    let mut builder = MessageBuilder::new();
    let built = whole.0.iter().try_for_each(|event| builder.push(event));
    let is_finished = whole.0.iter().any(|event| matches!(event, ModelEvent::Finished { .. }));
    if built.is_ok() && builder.finish("fuzz".into(), "fuzz").is_ok() && !is_finished {
        return Err("a message came out of a reply without an end".to_owned());
    }
    Ok(())
}

type Read = (Vec<ModelEvent>, Result<(), ModelError>);

fn read(family: Family, pieces: &[&[u8]]) -> Result<Read, String> {
    let config = ProviderConfig::new("fuzz", family, family.default_base_url());
    let endpoint = Endpoint::parse("fuzz", family, &config.base_url).map_err(|error| error.message)?;
    let adapter = adapter(&endpoint, family, "", None);
    let origin = Arc::new(Origin::new(&config, &endpoint));
    let decoder = adapter.decoder(CallIds::of(&ChatRequest::default()));
    let mut driver = Driver::new(origin, adapter.framing(), decoder, Sizes::default());
    let mut events = Events::new();
    let fed = pieces.iter().try_for_each(|piece| driver.feed(piece, &mut events));
    let end = fed.and_then(|()| driver.end(None, &mut events));
    Ok((events.into(), end))
}

/// An event in AWS's frame.
pub(crate) fn framed(event: &[u8]) -> Vec<u8> {
    let payload = format!(r#"{{"bytes":"{}"}}"#, STANDARD.encode(event));
    let mut headers = Vec::new();
    for (name, value) in [(":event-type", "chunk"), (":message-type", "event")] {
        headers.extend(
            [&[length(name.len()) as u8], name.as_bytes(), &[7, 0, length(value.len()) as u8], value.as_bytes()]
                .concat(),
        );
    }
    let mut frame = length(16 + headers.len() + payload.len()).to_be_bytes().to_vec();
    frame.extend(length(headers.len()).to_be_bytes());
    frame.extend(checksum(&frame).to_be_bytes());
    frame.extend(headers);
    frame.extend(payload.as_bytes());
    frame.extend(checksum(&frame).to_be_bytes());
    frame
}

fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// CRC-32 as in gzip.
fn checksum(bytes: &[u8]) -> u32 {
    let bit = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: [(Family, &str); 16] = [
        (Family::Anthropic, include_str!("../fixtures/anthropic_thinking_and_calls.sse")),
        (Family::Anthropic, include_str!("../fixtures/anthropic_overloaded.sse")),
        (Family::OpenAiChat, include_str!("../fixtures/openai_parallel_calls.sse")),
        (Family::OpenAiChat, include_str!("../fixtures/openai_objects.sse")),
        (Family::OpenAiChat, include_str!("../fixtures/openai_openrouter.sse")),
        (Family::OpenAiChat, include_str!("../fixtures/openai_mistral.sse")),
        (Family::OpenAiResponses, include_str!("../fixtures/responses_thinking_and_calls.sse")),
        (Family::OpenAiResponses, include_str!("../fixtures/responses_failed.sse")),
        (Family::Gemini, include_str!("../fixtures/gemini_thinking_and_calls.sse")),
        (Family::Gemini, include_str!("../fixtures/gemini_blocked.sse")),
        (Family::Ollama, include_str!("../fixtures/ollama_thinking_and_calls.ndjson")),
        (Family::Ollama, include_str!("../fixtures/ollama_error.ndjson")),
        // One event a line, which is framed.
        (Family::Bedrock, include_str!("../fixtures/bedrock_events.ndjson")),
        (Family::Vertex, include_str!("../fixtures/gemini_thinking_and_calls.sse")),
        (Family::Anthropic, include_str!("../fixtures/anthropic_unknown.sse")),
        (Family::OpenAiResponses, include_str!("../fixtures/responses_unknown.sse")),
    ];

    /// A generator that gives the same numbers in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 16).unwrap() % end.max(1)
        }
    }

    /// A recording with a few of its bytes changed, doubled, moved or gone, as a broken server might send it.
    fn spoiled(recorded: &str, numbers: &mut Numbers) -> Vec<u8> {
        let mut bytes = recorded.as_bytes().to_vec();
        for _ in 0..=numbers.below(6) {
            let (at, length) = (numbers.below(bytes.len()), 1 + numbers.below(40));
            let piece: Vec<u8> = bytes.iter().skip(at).take(length).copied().collect();
            match numbers.below(5) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..(at + length).min(bytes.len()))),
                2 => drop(bytes.splice(at..at, piece)),
                3 => bytes[at] = u8::try_from(numbers.below(256)).unwrap(),
                _ => {
                    let to = numbers.below(bytes.len());
                    drop(bytes.splice(to..to, piece));
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        bytes
    }

    fn spoil(times: usize) {
        let mut numbers = Numbers(0x05ee_d0fb_05e5);
        for round in 0..times {
            let (family, recorded) = RECORDED[round % RECORDED.len()];
            let bytes = spoiled(recorded, &mut numbers);
            reply(family, &bytes).unwrap_or_else(|law| {
                panic!("{family:?}, round {round}: {law}\n{}", String::from_utf8_lossy(&bytes));
            });
        }
    }

    #[test]
    fn spoiled_recordings_keep_the_laws() {
        spoil(5_600);
    }

    #[test]
    #[ignore = "a soak, for the long profile"]
    fn spoiled_recordings_keep_the_laws_for_long() {
        spoil(2_000_000);
    }
}
