use bosun_backend::VirtualPath;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{DiffLimits, Duration, diff_within, file_diff, is_crlf};
use crate::{DiffHunk, DiffLine, DiffLineKind, FileDiff, Preview};

fn diff_of(name: &str, before: Option<&str>, after: Option<&str>) -> FileDiff {
    let path = VirtualPath::parse(name).unwrap();
    file_diff(&path, before.map(str::as_bytes), after.map(str::as_bytes), DiffLimits::PREVIEW)
}

/// A diff as a person would read it; changed words in `{}`.
fn drawn(diff: &FileDiff) -> String {
    let mut out = format!("+{} -{}", diff.added, diff.removed);
    for (flag, name) in
        [(diff.binary, "binary"), (diff.truncated, "truncated"), (diff.created, "created"), (diff.deleted, "deleted")]
    {
        if flag {
            out.push(' ');
            out.push_str(name);
        }
    }
    out.push('\n');
    for DiffHunk { old_start, old_lines, new_start, new_lines, heading, lines } in &diff.hunks {
        out.push_str(format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@ {heading}").trim_end());
        out.push('\n');
        for line in lines {
            out.push(match line.kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            });
            for segment in &line.segments {
                let text = segment.text.replace('\r', "\\r");
                out.push_str(&if segment.changed { format!("{{{text}}}") } else { text });
            }
            out.push_str(if line.no_newline { "\\\n" } else { "\n" });
        }
    }
    out
}

#[test]
fn a_change_stands_in_its_context() {
    let before = "use a;\n\nfn first() {\n    one();\n    two();\n    three();\n    four(1, old_name);\n    five();\n    six();\n    seven();\n    eight();\n}\n";
    let after = before.replace("old_name", "new_name");
    assert_eq!(
        drawn(&diff_of("/a.rs", Some(before), Some(&after))),
        "+1 -1\n@@ -4,7 +4,7 @@ fn first() {\n     one();\n     two();\n     three();\n-    four(1, {old_name});\n+    four(1, {new_name});\n     five();\n     six();\n     seven();\n"
    );
}

#[test]
fn lines_carry_their_numbers_on_each_side() {
    let diff = diff_of("/a", Some("a\nb\nc\n"), Some("a\nx\ny\nc\n"));
    let numbers: Vec<_> = diff.hunks[0].lines.iter().map(|line| (line.old, line.new)).collect();
    assert_eq!(numbers, [(Some(1), Some(1)), (Some(2), None), (None, Some(2)), (None, Some(3)), (Some(3), Some(4))]);
}

#[test]
fn created_and_deleted_files_have_one_side() {
    assert_eq!(drawn(&diff_of("/n", None, Some("one\n\ntwo"))), "+3 -0 created\n@@ -0,0 +1,3 @@\n+one\n+\n+two\\\n");
    assert_eq!(drawn(&diff_of("/n", Some("one\n"), None)), "+0 -1 deleted\n@@ -1,1 +0,0 @@\n-one\n");
    assert_eq!(drawn(&diff_of("/n", None, Some(""))), "+0 -0 created\n");
    assert_eq!(drawn(&diff_of("/n", Some("same\n"), Some("same\n"))), "+0 -0\n");
}

#[test]
fn a_missing_last_line_feed_is_a_change() {
    assert_eq!(drawn(&diff_of("/n", Some("a\nb"), Some("a\nb\n"))), "+1 -1\n@@ -1,2 +1,2 @@\n a\n-b\\\n+b\n");
    assert_eq!(drawn(&diff_of("/n", Some("a\nb"), Some("x\nb"))), "+1 -1\n@@ -1,2 +1,2 @@\n-a\n+x\n b\\\n");
}

#[test]
fn carriage_returns_show_where_they_differ() {
    assert_eq!(drawn(&diff_of("/n", Some("a\r\nb\r\n"), Some("a\r\nc\r\n"))), "+1 -1\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert_eq!(drawn(&diff_of("/n", Some("a\nb\n"), Some("a\r\nb\n"))), "+1 -1\n@@ -1,2 +1,2 @@\n-a\n+a{\\r}\n b\n");
    assert_eq!(drawn(&diff_of("/n", None, Some("a\r\n"))), "+1 -0 created\n@@ -0,0 +1,1 @@\n+a\\r\n");
}

#[test]
fn words_are_marked_where_lines_have_enough_in_common() {
    let marked = |before: &str, after: &str| {
        let diff = drawn(&diff_of("/n", Some(before), Some(after)));
        diff.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(marked("let x = call(a);\n", "let x = call(a, b);\n"), ["-let x = call(a);", "+let x = call(a{, b});"]);
    assert_eq!(marked("alpha beta\n", "something else\n"), ["-alpha beta", "+something else"]);
    assert_eq!(marked("保存文件到磁盘\n", "保存图片到磁盘\n"), ["-保存{文件}到磁盘", "+保存{图片}到磁盘"]);
    assert_eq!(
        marked("the quick brown fox sat there\n", "the slow red fox sat there\n"),
        ["-the {quick brown} fox sat there", "+the {slow red} fox sat there"]
    );
}

#[test]
fn headings_name_what_encloses_a_change() {
    let heading = |name: &str, before: &str, from: &str, to: &str| {
        let after = before.replace(from, to);
        assert_ne!(before, after);
        diff_of(name, Some(before), Some(&after)).hunks[0].heading.clone()
    };
    let filler = "    pass\n".repeat(5);
    let python = format!(
        "class Tree:\n    def grow(self):\n        if self.old:\n{}        return target\n",
        filler.repeat(2).replace("    pass", "            pass")
    );
    assert_eq!(heading("/t.py", &python, "target", "changed"), "def grow(self):");
    let wrapped = format!("pub(crate) async fn wrapped(\n    a: u32,\n) -> u32 {{\n{filler}    target\n}}\n");
    assert_eq!(heading("/t.rs", &wrapped, "target", "changed"), "pub(crate) async fn wrapped(");
    let c = format!("static int\nmain(int argc)\n{{\n{filler}    target;\n}}\n");
    assert_eq!(heading("/t.c", &c, "target", "changed"), "main(int argc)");
    let js = format!("class A {{\n  render(x) {{\n{filler}    target\n  }}\n}}\n");
    assert_eq!(heading("/t.js", &js, "target", "changed"), "render(x) {");
    let markdown = format!("# Top\n\n## Part two\n\n{}target\n", "text\n".repeat(6));
    assert_eq!(heading("/t.md", &markdown, "target", "changed"), "## Part two");
    let toml = format!("[package]\n{}target = 1\n", "a = 1\n".repeat(6));
    assert_eq!(heading("/t.toml", &toml, "target", "changed"), "[package]");
    let top = format!("fn a() {{\n{filler}}}\n\n\n\n\ntarget\n");
    assert_eq!(heading("/t.rs", &top, "target", "changed"), "");
}

#[test]
fn bytes_that_are_not_text_are_only_said() {
    let path = VirtualPath::parse("/b").unwrap();
    for after in [&b"\xff\xfe"[..], b"a\0b"] {
        let diff = file_diff(&path, Some(b"text\n"), Some(after), DiffLimits::PREVIEW);
        assert_eq!(drawn(&diff), "+0 -0 binary\n");
    }
}

#[test]
fn a_long_diff_is_cut_and_still_counted() {
    let path = VirtualPath::parse("/b").unwrap();
    let after: String = (0..5_000).map(|line| format!("line {line}\n")).collect();
    let diff = file_diff(&path, None, Some(after.as_bytes()), DiffLimits { lines: 10, characters: 1_000 });
    assert_eq!((diff.added, diff.truncated, diff.hunks[0].lines.len()), (5_000, true, 10));
    assert_eq!((diff.hunks[0].new_start, diff.hunks[0].new_lines, diff.hunks[0].old_lines), (1, 10, 0));

    let long = "x".repeat(100_000);
    let diff = file_diff(&path, None, Some(long.as_bytes()), DiffLimits::ROW);
    assert!(diff.truncated);
    assert_eq!(diff.hunks[0].lines[0].segments[0].text.len(), DiffLimits::ROW.characters);
}

#[test]
fn a_kept_diff_costs_little_more_than_its_text() {
    let after: String = (0..300).map(|line| format!("    line {line} of a file\n")).collect();
    let diff = diff_of("/n", None, Some(&after));
    let kept = serde_json::to_string(&diff).unwrap();
    assert!(kept.len() < after.len() * 13 / 10, "{} for {}", kept.len(), after.len());
    let diff = diff_of("/n", Some("one two three\nend"), Some("one 2 three\nend"));
    assert_eq!(
        serde_json::to_string(&diff).unwrap(),
        r#"{"path":"/n","added":1,"removed":1,"hunks":[{"old_start":1,"old_lines":2,"new_start":1,"new_lines":2,"lines":["-one two three","+one 2 three"," end"],"changed":[[0,[4,7]],[1,[4,5]]],"no_newline":[2]}]}"#
    );
}

/// Without a clock: what is alike is matched whole in few steps, and what shares nothing comes out right even when there
/// is no time to match it at all.
#[test]
fn large_files_stay_cheap() {
    let path = VirtualPath::parse("/big").unwrap();
    let diff_of = |before: &str, after: &str, patience| {
        diff_within(&path, Some(before.as_bytes()), Some(after.as_bytes()), DiffLimits::PREVIEW, patience)
    };
    let before: String = (0..200_000).map(|line| format!("line {line} {}\n", line * 7 % 13)).collect();
    let after = before.replace("line 77 ", "changed 77 ").replace("line 190000 ", "changed 190000 ");
    let diff = diff_of(&before, &after, None);
    assert_eq!((diff.added, diff.removed, diff.hunks.len(), diff.truncated), (2, 2, 2, false));
    let other: String = (0..100_000).map(|line| format!("other {}\n", line * 31 % 999)).collect();
    let diff = diff_of(&before, &other, Some(Duration::ZERO));
    assert_eq!((diff.added, diff.removed), (100_000, 200_000));
}

/// What a reader of the diff would make of `old`, knowing how lines end.
fn applied(old: &str, diff: &FileDiff, end: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut at = 0;
    for hunk in &diff.hunks {
        let start = (hunk.old_start as usize).saturating_sub(usize::from(hunk.old_lines > 0));
        out.extend(old[at..start].iter().copied());
        for line in &hunk.lines {
            if line.kind != DiffLineKind::Removed {
                out.push_str(&text_of(line));
                out.push_str(if line.no_newline { "" } else { end });
            }
        }
        at = start + hunk.old_lines as usize;
    }
    out.extend(old[at..].iter().copied());
    out
}

fn text_of(line: &DiffLine) -> String {
    line.segments.iter().map(|segment| segment.text.as_str()).collect()
}

fn inverse(diff: &FileDiff) -> FileDiff {
    let mut diff = diff.clone();
    for hunk in &mut diff.hunks {
        std::mem::swap(&mut hunk.old_start, &mut hunk.new_start);
        std::mem::swap(&mut hunk.old_lines, &mut hunk.new_lines);
        for line in &mut hunk.lines {
            std::mem::swap(&mut line.old, &mut line.new);
            line.kind = match line.kind {
                DiffLineKind::Added => DiffLineKind::Removed,
                DiffLineKind::Removed => DiffLineKind::Added,
                DiffLineKind::Context => DiffLineKind::Context,
            };
        }
    }
    diff
}

fn text(ends: &'static [&'static str]) -> impl Strategy<Value = String> {
    let line = (
        prop::sample::select(vec!["", "a", "b", "fn x() {", "    y(1, 2);", "}", "漢字", "a b c"]),
        prop::sample::select(ends),
    );
    (prop::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, last)| {
        let mut text: String = lines.iter().flat_map(|(line, end)| [*line, *end]).collect();
        if !last {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

fn two_texts() -> impl Strategy<Value = (String, String)> {
    prop_oneof![
        (text(&["\n"]), text(&["\n"])),
        (text(&["\r\n"]), text(&["\r\n"])),
        (text(&["\n", "\r\n"]), text(&["\n", "\r\n", "\r"])),
    ]
}

proptest! {
    #[test]
    fn the_new_file_can_be_made_from_the_old_one_and_the_diff((before, after) in two_texts()) {
        let diff = diff_of("/p.rs", Some(&before), Some(&after));
        prop_assert!(!diff.truncated);
        let end = if is_crlf(&before) && is_crlf(&after) { "\r\n" } else { "\n" };
        prop_assert_eq!(applied(&before, &diff, end), after.clone());
        prop_assert_eq!(applied(&after, &inverse(&diff), end), before.clone());
        let shown = Preview::Diff { diff: diff.clone() };
        let kept = serde_json::to_string(&shown).unwrap();
        prop_assert_eq!(serde_json::from_str::<Preview>(&kept).unwrap(), shown);
        let count = |kind| diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count();
        prop_assert_eq!(count(DiffLineKind::Added), diff.added as usize);
        prop_assert_eq!(count(DiffLineKind::Removed), diff.removed as usize);
        prop_assert_eq!(before == after, diff.hunks.is_empty());
    }
}
