use bosun_testkit::{Reply, Wire};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn reply() -> Vec<u8> {
    Wire::Bedrock.recording(&Reply::text("Gr\u{fc}\u{df}e").and_call("ls", json!({ "path": "/a" })).delta_chars(3))
}

fn read_all(chunks: &[&[u8]], sizes: Sizes) -> Result<Vec<(String, String)>, Malformed> {
    let mut framer = EventStreamFramer::new(sizes);
    let mut frames = Vec::new();
    for chunk in chunks {
        framer.feed::<Malformed>(chunk, &mut |frame| {
            frames.push((frame.event.to_owned(), frame.data.to_owned()));
            Ok(Flow::More)
        })?;
    }
    Ok(frames)
}

#[test]
fn frames_do_not_depend_on_the_split() {
    let bytes = reply();
    let whole = read_all(&[&bytes], Sizes::default()).unwrap();
    assert!(whole.len() > 8 && whole[0].1.contains("message_start"), "{whole:?}");
    for at in 0..bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(read_all(&[head, tail], Sizes::default()).unwrap(), whole, "{at}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read_all(&single, Sizes::default()).unwrap(), whole);
}

/// Every bit of a frame is under one of its two checksums.
#[test]
fn a_changed_byte_is_never_read() {
    let bytes = reply();
    let first = usize::try_from(u32::from_be_bytes(bytes[..4].try_into().unwrap())).unwrap();
    for at in 0..first {
        let mut spoiled = bytes.clone();
        spoiled[at] ^= 0x10;
        let read = read_all(&[&spoiled], Sizes::default());
        let nothing = read.as_ref().is_ok_and(Vec::is_empty);
        assert!(nothing || matches!(read, Err(Malformed::Damaged | Malformed::EventTooLarge)), "{at}: {read:?}");
    }
}

#[test]
fn sizes_are_kept_before_the_bytes_come() {
    let huge = [0x7f, 0xff, 0xff, 0xff];
    assert_eq!(read_all(&[&huge], Sizes::default()), Err(Malformed::EventTooLarge));
    assert_eq!(read_all(&[&[0, 0, 0, 3]], Sizes::default()), Err(Malformed::Damaged));
    let all = Sizes { event: 1 << 20, stream: 500 };
    assert_eq!(read_all(&[&reply()], all), Err(Malformed::StreamTooLarge));
}

#[test]
fn failures_have_a_name() {
    let reply = Reply::text("a").and_error("overloaded_error", "busy");
    let frames = read_all(&[&Wire::Bedrock.recording(&reply)], Sizes::default()).unwrap();
    let last = frames.last().unwrap();
    assert_eq!((last.0.as_str(), last.1.as_str()), ("exception:serviceUnavailableException", r#"{"message":"busy"}"#));
}
