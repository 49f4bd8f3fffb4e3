use bosun_backend::{Backend, BackendError, ContentHash, Expect, ReadContent, ReadWindow, Replacement, Unwitnessed};
use pretty_assertions::assert_eq;

use crate::support::{given, glob_below, kinds, names, page, path, stamp, write};

pub async fn what_was_written_is_read(backend: &dyn Backend) {
    given(backend, &[("/a.txt", "one\ntwo\nthree\n")]).await;
    let page = page(backend, "/a.txt", 0, 100).await.unwrap();
    assert_eq!(page.lines, ["one", "two", "three"]);
    assert_eq!((page.start_line, page.total_lines, page.blank, page.cut), (1, 3, false, false));
    assert_eq!(stamp(backend, "/a.txt").await.hash, Some(ContentHash::of(b"one\ntwo\nthree\n")));
}

pub async fn a_window_of_lines(backend: &dyn Backend) {
    given(backend, &[("/blank.txt", "a\n\n\nb\n"), ("/open.txt", "abc\ndef")]).await;
    for (offset, limit, lines) in
        [(0, 2, &["a", ""][..]), (1, 2, &["", ""]), (3, 9, &["b"]), (0, u64::MAX, &["a", "", "", "b"])]
    {
        let page = page(backend, "/blank.txt", offset, limit).await.unwrap();
        assert_eq!(
            (page.lines.as_slice(), page.start_line, page.total_lines),
            (lines.map_owned().as_slice(), offset + 1, 4)
        );
    }
    let page = page(backend, "/open.txt", 1, 1).await.unwrap();
    assert_eq!((page.lines, page.total_lines), (vec!["def".to_owned()], 2));
}

trait Owned {
    fn map_owned(&self) -> Vec<String>;
}

impl Owned for [&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|line| (*line).to_owned()).collect()
    }
}

pub async fn lines_end_at_lf_crlf_and_cr_only(backend: &dyn Backend) {
    let odd = "x\u{b}\u{c}\u{1c}\u{85}\u{2028}\u{2029}y";
    let all = format!("a\r\nb\rc\n{odd}\n");
    given(backend, &[("/mixed", &all), ("/cr", "a\rb\rc")]).await;
    assert_eq!(page(backend, "/mixed", 0, 9).await.unwrap().lines, ["a", "b", "c", odd]);
    assert_eq!(page(backend, "/cr", 0, 9).await.unwrap().lines, ["a", "b", "c"]);
}

pub async fn the_mark_in_front_is_not_part_of_the_text(backend: &dyn Backend) {
    given(backend, &[("/bom.txt", "\u{feff}first\nsecond \u{feff}\n"), ("/only", "\u{feff}")]).await;
    assert_eq!(page(backend, "/bom.txt", 0, 9).await.unwrap().lines, ["first", "second \u{feff}"]);
    assert!(page(backend, "/only", 0, 9).await.unwrap().blank);
}

pub async fn nothing_asked_for_nothing_given(backend: &dyn Backend) {
    given(backend, &[("/a.txt", "one\ntwo\n")]).await;
    for offset in [0, 1, 99, u64::MAX] {
        let page = page(backend, "/a.txt", offset, 0).await.unwrap();
        assert_eq!((page.lines.len(), page.total_lines), (0, 2));
    }
}

pub async fn blank_files_say_so(backend: &dyn Backend) {
    given(backend, &[("/e.txt", ""), ("/ws.txt", "  \n\n"), ("/e.png", "")]).await;
    for (name, offset, total) in [("/e.txt", 0, 0), ("/ws.txt", 0, 2), ("/ws.txt", 5, 2), ("/e.png", 0, 0)] {
        let page = page(backend, name, offset, 100).await.unwrap();
        assert_eq!((page.blank, page.total_lines), (true, total), "{name}");
    }
}

pub async fn past_the_end_names_both_numbers(backend: &dyn Backend) {
    given(backend, &[("/a.txt", "one\ntwo\nthree\n")]).await;
    for offset in [3, u64::MAX] {
        let error = page(backend, "/a.txt", offset, 1).await.unwrap_err();
        assert_eq!(error, BackendError::OffsetPastEnd { path: path("/a.txt"), offset, total_lines: 3 });
        assert!(error.to_string().contains("(3 lines)") && error.to_string().contains(&offset.to_string()));
    }
}

pub async fn other_codecs_are_refused(backend: &dyn Backend) {
    let files: [(&str, &[u8]); 5] = [
        ("/latin.txt", b"caf\xe9 au lait\n"),
        ("/cut.dat", b"abc\xe2\x82"),
        ("/utf16.txt", b"\xff\xfeh\x00i\x00"),
        ("/x.docx", b"PK\x03\x04\x00\x00"),
        ("/surrogate", b"\xed\xa0\x80"),
    ];
    let uploads = files.iter().map(|(name, bytes)| (path(name), bytes.to_vec())).collect();
    backend.upload(uploads).await.into_iter().for_each(|answer| answer.unwrap());
    for (name, bytes) in files {
        let error = page(backend, name, 0, 1).await.unwrap_err();
        assert!(matches!(error, BackendError::NotText { .. }), "{name}: {error}");
        let said = error.to_string();
        assert!(said.contains("utf-8") || said.contains("binary"), "{said}");
        let edited = crate::support::edit(backend, name, "a", "b").await.unwrap_err();
        assert!(matches!(edited, BackendError::NotText { .. } | BackendError::Binary { .. }), "{name}: {edited}");
        assert_eq!(crate::support::bytes(backend, name).await, bytes);
    }
}

pub async fn media_come_as_bytes(backend: &dyn Backend) {
    let bytes = b"\x89PNG\r\n\x1a\n\x00rest".to_vec();
    let names = ["/a.png", "/A.PNG", "/d.pdf", "/m.mp4", "/s.mp3", "/v.mkv"];
    let uploads = names.iter().map(|name| (path(name), bytes.clone())).collect();
    backend.upload(uploads).await.into_iter().for_each(|answer| answer.unwrap());
    let mimes = ["image/png", "image/png", "application/pdf", "video/mp4", "audio/mpeg", "video/x-matroska"];
    for (name, expected) in names.iter().zip(mimes) {
        let read = backend.read(&path(name), ReadWindow { offset: 7, limit: 1 }).await.unwrap();
        let ReadContent::Bytes { mime, bytes: got } = read.content else { panic!("{name} is text") };
        assert_eq!((mime.as_str(), &*got), (expected, bytes.as_slice()));
        assert_eq!(read.stamp.hash, Some(ContentHash::of(&bytes)));
    }
    given(backend, &[("/d.svg", "<svg/>\n"), ("/noext", "{}")]).await;
    assert_eq!(page(backend, "/d.svg", 0, 1).await.unwrap().lines, ["<svg/>"]);
    assert_eq!(page(backend, "/noext", 0, 1).await.unwrap().lines, ["{}"]);
}

pub async fn missing_files_and_folders(backend: &dyn Backend) {
    given(backend, &[("/dir/a.txt", "a")]).await;
    let missing = page(backend, "/dir/b.txt", 0, 1).await.unwrap_err().to_string();
    assert!(missing.contains("File '/dir/b.txt' not found"), "{missing}");
    let folder = page(backend, "/dir", 0, 1).await.unwrap_err().to_string();
    assert!(folder.contains("File '/dir' not found") && folder.contains("is a directory"), "{folder}");
    assert!(page(backend, "/dir/a.txt/x", 0, 1).await.is_err());
    let nowhere = backend.ls(&path("/zz")).await.unwrap_err().to_string();
    assert!(nowhere.contains("Path '/zz': path_not_found"), "{nowhere}");
    let file = backend.ls(&path("/dir/a.txt")).await.unwrap_err().to_string();
    assert!(file.contains("Path '/dir/a.txt': not_a_directory"), "{file}");
    let code = backend.download(vec![path("/dir")]).await.remove(0).unwrap_err();
    assert!(matches!(code, BackendError::IsADirectory { .. }));
}

/// Whoever names something below a file hears that, with the path as it was named.
pub async fn nothing_is_below_a_file(backend: &dyn Backend) {
    given(backend, &[("/dir/a.txt", "a")]).await;
    for name in ["/dir/a.txt/x", "/dir/a.txt/x/y"] {
        let name = path(name);
        let refused = Some(BackendError::NotADirectory { path: name.clone() });
        let window = ReadWindow { offset: 0, limit: 1 };
        let replacement = Replacement { old: "a", new: "b", all: false };
        let deleter = backend.deleter().unwrap();
        for (way, answer) in [
            ("ls", backend.ls(&name).await.err()),
            ("read", backend.read(&name, window).await.err()),
            ("download", backend.download(vec![name.clone()]).await.remove(0).err()),
            ("write", backend.write(&name, b"x".to_vec(), Expect::Absent, &Unwitnessed).await.err()),
            ("overwrite", backend.write(&name, b"x".to_vec(), Expect::Anything, &Unwitnessed).await.err()),
            ("upload", backend.upload(vec![(name.clone(), b"x".to_vec())]).await.remove(0).err()),
            ("edit", backend.edit(&name, replacement, Expect::Anything, &Unwitnessed).await.err()),
            ("delete", deleter.delete(&name, Expect::Anything, &Unwitnessed).await.err()),
        ] {
            assert_eq!(answer, refused, "{way}");
        }
        assert_eq!(glob_below(backend, "*", name.as_str()).await, Vec::<String>::new());
    }
    let name = path("/dir/a.txt/x");
    assert_eq!(backend.stat(&name).await.unwrap_err(), BackendError::NotADirectory { path: name });
    assert_eq!(names(backend, "/").await, ["/dir/"]);
    assert_eq!(names(backend, "/dir").await, ["/dir/a.txt"]);
}

pub async fn listings_are_sorted_and_flat(backend: &dyn Backend) {
    given(backend, &[("/b.txt", "12345"), ("/a/x", ""), ("/a/sub/y", ""), ("/.hid/z", ""), ("/.env", ""), ("/Z", "")])
        .await;
    assert_eq!(names(backend, "/").await, ["/.env", "/.hid/", "/Z", "/a/", "/b.txt"]);
    assert_eq!(names(backend, "/a").await, ["/a/sub/", "/a/x"]);
    let rows = backend.ls(&path("/")).await.unwrap();
    let sizes: Vec<_> = rows.iter().map(|row| row.size).collect();
    assert_eq!(sizes, [Some(0), None, Some(0), None, Some(5)]);
    for row in rows {
        assert_eq!(backend.stat(&row.path).await.unwrap(), row);
    }
    assert_eq!(kinds(&backend.names(&path("/")).await.unwrap()), kinds(&backend.ls(&path("/")).await.unwrap()));
    assert!(backend.stat(&path("/")).await.unwrap().is_dir);
    assert!(backend.stat(&path("/none")).await.is_err());
}

pub async fn long_pages_are_cut_not_lost(backend: &dyn Backend) {
    let long = "é".repeat(3 * 1024 * 1024);
    let written = write(backend, "/long", &format!("short\n{long}\nlast\n"), Expect::Absent).await;
    if let Err(BackendError::TooLargeToKeep { .. }) = written {
        // The store has no file of which one page is not enough.
        return;
    }
    written.unwrap();
    let first = page(backend, "/long", 0, 10).await.unwrap();
    assert_eq!((first.lines.len(), first.total_lines, first.cut), (2, 3, true));
    assert!(long.starts_with(first.lines[1].as_str()) && first.lines[1].len() > 4_000_000);
    let rest = page(backend, "/long", 2, 10).await.unwrap();
    assert_eq!((rest.lines, rest.cut), (vec!["last".to_owned()], false));
}
