use bosun_backend::TextPage;
use bosun_model::{Abilities, ContentBlock, MediaKind};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{Canned, Fixture};
use crate::{BuiltinOptions, Figure, RESULT_CHARS, ReadFormat};

fn tree() -> Fixture {
    let long = format!("{}\nshort\n", "L".repeat(5_001));
    Fixture::with([
        ("/a.txt", "one\ntwo\nthree\n"),
        ("/e.txt", ""),
        ("/ws.txt", "  \n\n"),
        ("/long.txt", &*long),
        ("/blank.txt", "a\n\n\nb\n"),
        ("/crlf.txt", "a\r\nb\r\n"),
        ("/cr.txt", "a\rb\rc"),
        ("/dir/b.py", "b"),
    ])
}

fn plain(fixture: Fixture) -> Fixture {
    fixture.options(BuiltinOptions { read_format: ReadFormat::Plain, ..BuiltinOptions::default() })
}

#[tokio::test]
async fn rows_carry_numbers() {
    let fixture = tree();
    let output = fixture.run("read_file", json!({"file_path": "/a.txt"})).await;
    assert_eq!(output.content, ["     1\tone\n     2\ttwo\n     3\tthree".into()]);
    assert_eq!(output.artifact.figures, [Figure::Lines(3)]);
    assert!(fixture.knows("/a.txt"));
}

#[tokio::test]
async fn a_page_says_how_to_go_on() {
    let fixture = tree();
    for (offset, limit, text) in [
        (0_i64, 2_i64, "     1\tone\n     2\ttwo\n[Lines 1-2 of 3. More follows: the next offset is 2.]"),
        (1, 1, "     2\ttwo\n[Lines 2-2 of 3. More follows: the next offset is 2.]"),
        (1, 9, "     2\ttwo\n     3\tthree"),
        (1, i64::MAX, "     2\ttwo\n     3\tthree"),
    ] {
        let args = json!({"file_path": "/a.txt", "offset": offset, "limit": limit});
        assert_eq!(fixture.ok("read_file", args).await, text);
    }
    assert_eq!(
        fixture.ok("read_file", json!({"file_path": "/blank.txt", "offset": 1, "limit": 2})).await,
        "     2\t\n     3\t\n[Lines 2-3 of 4. More follows: the next offset is 3.]"
    );
}

#[tokio::test]
async fn numbers_as_text_are_taken_and_others_are_refused() {
    let fixture = tree();
    assert!(fixture.ok("read_file", json!({"file_path": "/a.txt", "limit": "5"})).await.contains("three"));
    for (args, token) in [
        (json!({"file_path": "/a.txt", "limit": 1.5}), "'limit'"),
        (json!({"file_path": "/a.txt", "offset": "x"}), "'offset'"),
        (json!({"file_path": "/a.txt", "offset": 9_223_372_036_854_775_808_u64}), "offset"),
        (json!({}), "'file_path' is missing"),
    ] {
        let text = fixture.err("read_file", args).await;
        assert!(text.starts_with("Error invoking tool 'read_file'"), "{text}");
        assert!(text.contains(token), "{text}");
    }
}

/// In both forms, where each has its notes.
#[tokio::test]
async fn an_offset_before_the_start_is_said() {
    let args = json!({"file_path": "/a.txt", "offset": -4, "limit": 1});
    let said = "offset -4 is before the file's start; reading from line 1.";
    let numbered = tree().ok("read_file", args.clone()).await;
    assert_eq!(numbered, format!("     1\tone\n[{said} Lines 1-1 of 3. More follows: the next offset is 1.]"));
    let header = plain(tree()).ok("read_file", args).await;
    assert_eq!(header, format!("[{said}]\n@@ lines 1-1 of 3 | next offset 1 @@\none"));
    let least = tree().ok("read_file", json!({"file_path": "/a.txt", "offset": i64::MIN, "limit": i64::MAX})).await;
    assert!(
        least.starts_with("     1\tone\n     2\ttwo\n     3\tthree\n[offset -9223372036854775808 is before"),
        "{least}"
    );
}

#[tokio::test]
async fn nothing_asked_for_is_nothing_read() {
    let fixture = tree();
    for limit in [0, -5] {
        let text = fixture.ok("read_file", json!({"file_path": "/a.txt", "limit": limit})).await;
        assert!(text.contains("limit") && text.contains(&limit.to_string()), "{text}");
    }
    assert!(!fixture.knows("/a.txt"));
}

#[tokio::test]
async fn empty_files_are_said() {
    let fixture = tree();
    for args in
        [json!({"file_path": "/e.txt"}), json!({"file_path": "/ws.txt"}), json!({"file_path": "/ws.txt", "offset": 5})]
    {
        let text = fixture.ok("read_file", args).await;
        assert!(text.contains("System reminder") && text.contains("empty"), "{text}");
    }
    assert!(fixture.knows("/e.txt"), "an empty file has been read");
    fixture.put("/no.png", "");
    assert!(fixture.ok("read_file", json!({"file_path": "/no.png"})).await.contains("System reminder"));
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error() {
    let fixture = tree();
    for (path, token) in [
        ("/none.txt", "Error: File '/none.txt' not found"),
        ("/dir", "Error: File '/dir' not found"),
        ("/foo..bar.txt", "Error: File '/foo..bar.txt' not found"),
        ("/a/../b.txt", "/a/../b.txt"),
        ("/etc/passwd", "Error: File '/etc/passwd' not found"),
    ] {
        let text = fixture.err("read_file", json!({"file_path": path})).await;
        assert!(text.starts_with("Error: ") && text.contains(token), "{text}");
    }
    let text = fixture.err("read_file", json!({"file_path": "/a.txt", "offset": 3})).await;
    assert!(text.contains("offset 3") && text.contains("(3 lines)"), "{text}");
}

#[tokio::test]
async fn long_lines_go_on_in_rows_of_their_own() {
    let fixture = tree();
    let first = format!("     1\t{}\n   1.1\tL", "L".repeat(5_000));
    let read = |limit: i64| json!({"file_path": "/long.txt", "limit": limit});
    assert_eq!(fixture.ok("read_file", read(100)).await, format!("{first}\n     2\tshort"));
    let more = "More follows: the next offset is 1.]";
    assert_eq!(fixture.ok("read_file", read(2)).await, format!("{first}\n[Lines 1-1 of 2. {more}"));
    let text = fixture.ok("read_file", read(1)).await;
    let note = text.lines().last().unwrap();
    assert!(note.contains("truncated mid-line: 5000 of 5001") && note.ends_with(more), "{note}");
}

#[tokio::test]
async fn line_ends_are_lf_crlf_and_cr_only() {
    let fixture = tree();
    assert_eq!(fixture.ok("read_file", json!({"file_path": "/crlf.txt"})).await, "     1\ta\n     2\tb");
    assert_eq!(fixture.ok("read_file", json!({"file_path": "/cr.txt"})).await, "     1\ta\n     2\tb\n     3\tc");
    fixture.put("/odd.txt", "a\u{2028}b\u{c}c\u{85}d\n");
    assert_eq!(fixture.ok("read_file", json!({"file_path": "/odd.txt"})).await, "     1\ta\u{2028}b\u{c}c\u{85}d");
}

#[tokio::test]
async fn a_page_stays_below_the_cap() {
    let fixture = Fixture::empty();
    fixture.put("/wide.txt", format!("{}\n", "x".repeat(999)).repeat(200));
    let output = fixture.run("read_file", json!({"file_path": "/wide.txt", "limit": 200})).await;
    let text = output.content[0].as_text().unwrap();
    assert!(text.chars().count() < RESULT_CHARS && output.artifact.truncated);
    let shown = text.lines().count() - 1;
    let Some(Figure::Lines(lines)) = output.artifact.figures.first() else { panic!() };
    assert_eq!(*lines as usize, shown);
    let note = format!("[Lines 1-{shown} of 200. More follows: the next offset is {shown}.]");
    assert_eq!(text.lines().last(), Some(&*note));

    fixture.put("/one.txt", "y".repeat(90_000));
    let text = fixture.ok("read_file", json!({"file_path": "/one.txt"})).await;
    assert!(text.chars().count() < RESULT_CHARS);
    assert!(text.lines().last().unwrap().contains("truncated mid-line: 75000 of 90000"), "{text:.0}");
}

#[tokio::test]
async fn a_line_the_backend_cut_is_said_to_go_on() {
    let page = TextPage { lines: vec!["z".repeat(100)], cut: true, start_line: 1, total_lines: 2, blank: false };
    let fixture = Fixture::canned(Canned { page: Some(page), ..Canned::default() });
    let text = fixture.ok("read_file", json!({"file_path": "/x"})).await;
    assert_eq!(
        text.lines().last().unwrap(),
        "[Line 1 of 2 is truncated mid-line: 100 of more than 100 characters are shown. grep finds text in the rest. \
         More follows: the next offset is 1.]"
    );
}

#[tokio::test]
async fn the_plain_form_is_the_references() {
    let fixture = plain(tree());
    for (args, text) in [
        (json!({"file_path": "/a.txt"}), "@@ lines 1-3 of 3 @@\none\ntwo\nthree".to_owned()),
        (json!({"file_path": "/blank.txt", "limit": 2}), "@@ lines 1-2 of 4 | next offset 2 @@\na\n".to_owned()),
        (
            json!({"file_path": "/blank.txt", "offset": 1, "limit": 2}),
            "@@ lines 2-3 of 4 | next offset 3 @@\n\n".to_owned(),
        ),
        (json!({"file_path": "/cr.txt"}), "@@ lines 1-3 of 3 @@\na\nb\nc".to_owned()),
        (json!({"file_path": "/long.txt"}), format!("@@ lines 1-2 of 2 @@\n{}\nshort", "L".repeat(5_001))),
    ] {
        assert_eq!(fixture.ok("read_file", args).await, text);
    }
    fixture.put("/wide.txt", format!("{}\n", "x".repeat(1_000)).repeat(200));
    let text = fixture.ok("read_file", json!({"file_path": "/wide.txt", "limit": 200})).await;
    assert_eq!(text.lines().nth(1), Some("@@ lines 1-79 of 200 | next offset 79 | truncated due to size @@"));
    assert!(text.starts_with('[') && text.chars().count() < RESULT_CHARS);

    fixture.put("/one.txt", "y".repeat(90_000));
    let text = fixture.ok("read_file", json!({"file_path": "/one.txt"})).await;
    assert_eq!(text.chars().count(), RESULT_CHARS);
    assert!(text.lines().nth(1).unwrap().starts_with("@@ lines 1-1 of 1 | truncated mid-line | 79"));
}

fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend_from_slice(b"\0\0\0\x04\0\0\0\x03\x08\x06\0\0\0....\0\0\0\x01IDAT\0....\0\0\0\0IEND....");
    bytes
}

#[tokio::test]
async fn pictures_documents_sound_and_film_go_out_as_media() {
    let fixture = Fixture::empty();
    fixture.put("/p.PNG", png());
    fixture.put("/d.pdf", "%PDF-1.7\n…");
    fixture.put("/s.mp3", b"ID3\x04 and a sound");
    fixture.put("/v.mp4", b"\0\0\0\x18ftypisom and a film");
    for (path, kind, mime) in [
        ("/p.PNG", MediaKind::Image, "image/png"),
        ("/d.pdf", MediaKind::Document, "application/pdf"),
        ("/s.mp3", MediaKind::Audio, "audio/mpeg"),
        ("/v.mp4", MediaKind::Video, "video/mp4"),
    ] {
        let output = fixture.run("read_file", json!({"file_path": path, "limit": 1})).await;
        let [ContentBlock::Media(media)] = &output.content[..] else { panic!("{output:?}") };
        assert_eq!((media.kind, &*media.mime, media.name.as_deref()), (kind, mime, Some(path)));
        assert!(fixture.knows(path));
        let size = u32::try_from(std::fs::metadata(fixture.host(path)).unwrap().len()).unwrap();
        assert_eq!(output.artifact.figures, [Figure::Media { kind, size }]);
    }
}

#[tokio::test]
async fn what_a_model_cannot_take_is_said_in_its_place() {
    let mut fixture = Fixture::empty();
    fixture.cx.abilities = Abilities::default();
    fixture.put("/p.png", png());
    fixture.put("/s.mp3", "sound");
    fixture.put("/v.mp4", "film");
    fixture.put("/o.mkv", "film");
    for (path, kind, mime, reason) in [
        ("/p.png", "image", "image/png", "this model takes no images."),
        ("/s.mp3", "audio", "audio/mpeg", "this model takes no sound; work from a transcript"),
        ("/v.mp4", "video", "video/mp4", "this model takes no film; work from single pictures"),
        ("/o.mkv", "video", "video/x-matroska", "this model takes no film"),
    ] {
        let output = fixture.run("read_file", json!({"file_path": path})).await;
        assert_eq!((output.is_error, &output.artifact.figures[..]), (false, &[][..]));
        let text = bosun_model::text_of(&output.content);
        assert!(text.contains(path) && text.contains(kind) && text.contains(mime), "{text}");
        assert!(text.contains(reason), "{text}");
    }
}

#[tokio::test]
async fn other_bytes_are_refused_and_known_from_then_on() {
    let fixture = Fixture::empty();
    fixture.put("/x.dat", b"\xff\xfe\x00");
    fixture.put("/latin.txt", b"caf\xe9\n");
    for path in ["/x.dat", "/latin.txt"] {
        let text = fixture.err("read_file", json!({"file_path": path})).await;
        assert!(text.to_lowercase().contains("utf-8") && text.contains(path), "{text}");
        assert!(fixture.knows(path));
    }
    assert_eq!(fixture.ok("delete", json!({"file_path": "/x.dat"})).await, "Deleted /x.dat");
}

#[tokio::test]
async fn a_file_that_is_gone_is_forgotten() {
    let fixture = tree();
    fixture.ok("read_file", json!({"file_path": "/a.txt"})).await;
    std::fs::remove_file(fixture.host("/a.txt")).unwrap();
    fixture.err("read_file", json!({"file_path": "/a.txt"})).await;
    assert!(!fixture.knows("/a.txt"));
}
