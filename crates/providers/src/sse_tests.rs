use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

type Frames = Vec<(String, String)>;

/// All frames of `chunks`, and what went wrong.
fn frames(sizes: Sizes, chunks: &[&[u8]]) -> (Frames, Option<Malformed>) {
    let mut framer = SseFramer::new(sizes);
    let mut frames = Vec::new();
    for chunk in chunks {
        let result = framer.feed::<Malformed>(chunk, &mut |frame| {
            frames.push((frame.event.to_owned(), frame.data.to_owned()));
            Ok(Flow::More)
        });
        if let Err(malformed) = result {
            return (frames, Some(malformed));
        }
    }
    (frames, None)
}

fn whole(text: &str) -> Frames {
    frames(Sizes::default(), &[text.as_bytes()]).0
}

fn frame(event: &str, data: &str) -> (String, String) {
    (event.into(), data.into())
}

#[test]
fn fields_comments_and_line_ends_follow_the_standard() {
    assert_eq!(whole("event: a\ndata: 1\n\n"), [frame("a", "1")]);
    assert_eq!(
        whole("\u{feff}data:x\r\n\r\ndata: y\r\rdata:  z\n\n"),
        [frame("", "x"), frame("", "y"), frame("", " z")]
    );
    assert_eq!(whole("data: one\ndata: two\ndata\n\n"), [frame("", "one\ntwo\n")]);
    assert_eq!(whole(": ping\n\nevent: only a name\n\nid: 1\nretry: 5\ndata: d\nunknown: x\n\n"), [frame("", "d")]);
    assert_eq!(whole("data: not closed\n"), []);
}

#[test]
fn sizes_are_held_while_a_line_still_grows() {
    let sizes = Sizes { event: 16, stream: 64 };
    let long = [b'x'; 10];
    assert_eq!(frames(sizes, &[&long, &long]).1, Some(Malformed::EventTooLarge));
    assert_eq!(frames(sizes, &[b"data: 123456\ndata: 123456\ndata: 123456\n\n"]).1, Some(Malformed::EventTooLarge));
    let (seen, malformed) = frames(sizes, &[&b"data: 1\n\n".repeat(10)]);
    assert_eq!((seen.len(), malformed), (7, Some(Malformed::StreamTooLarge)));
    assert_eq!(frames(sizes, &[&b":\n".repeat(100)]).1, Some(Malformed::StreamTooLarge));
    assert_eq!(frames(sizes, &[b"data: \xff\n\n"]).1, Some(Malformed::NotUtf8));
}

#[test]
fn nothing_is_read_after_a_stop() {
    let mut framer = SseFramer::new(Sizes::default());
    let mut seen = 0;
    let flow = framer.feed::<Malformed>(b"data: 1\n\ndata: 2\n\n", &mut |_| {
        seen += 1;
        Ok(Flow::Stop)
    });
    assert_eq!((flow, seen), (Ok(Flow::Stop), 1));
}

proptest! {
    /// Law 1, at the level of frames, with the errors.
    #[test]
    fn any_split_gives_the_same_frames(
        text in prop::collection::vec(prop::sample::select(vec![
            "data: a", "data:é世", "data", "event: e", ": c", "\n", "\n", "\r", "\r\n", "\u{feff}", "x", "data: \u{1F980}\n\n",
        ]), 0..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        limit in 8usize..200,
    ) {
        let bytes = text.concat().into_bytes();
        let sizes = Sizes { event: 40, stream: limit };
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let chunks: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(frames(sizes, &chunks), frames(sizes, &[&bytes]));
    }
}
