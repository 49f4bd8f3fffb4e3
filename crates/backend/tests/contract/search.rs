use bosun_backend::{Backend, BackendError, GrepQuery, Truncation};
use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use crate::support::{edit, given, glob, glob_below, glob_query, grep, grep_query, page, path};

async fn f2(backend: &dyn Backend) {
    let names = [
        "/a.txt",
        "/two.txt",
        "/dir/b.py",
        "/dir/sub/c.py",
        "/.hid/x.yml",
        "/.env",
        "/noeol.txt",
        "/data_01.csv",
        "/x.ts",
        "/y.tsx",
    ];
    given(backend, &names.map(|name| (name, "x\n"))).await;
}

async fn g(backend: &dyn Backend) {
    given(
        backend,
        &[
            ("/a.py", "TODO one\nx\nTODO two\n"),
            ("/b/c.py", "TODO three\n"),
            ("/b/d.txt", "a.b TODO\naxb\n"),
            ("/r.txt", "foo|bar\nfoo\n"),
        ],
    )
    .await;
}

const TODO: [&str; 4] = ["/a.py:1:TODO one", "/a.py:3:TODO two", "/b/c.py:1:TODO three", "/b/d.txt:1:a.b TODO"];

pub async fn patterns_find_files(backend: &dyn Backend) {
    f2(backend).await;
    let both = ["/dir/b.py", "/dir/sub/c.py"];
    for pattern in ["*.py", "**/*.py", "/dir/**/*.py", "dir/**"] {
        assert_eq!(glob(backend, pattern).await, both, "{pattern}");
    }
    assert_eq!(glob(backend, "dir/*.py").await, ["/dir/b.py"]);
    assert_eq!(glob(backend, "/*.txt").await, ["/a.txt", "/noeol.txt", "/two.txt"]);
    assert_eq!(glob(backend, "*.{ts,tsx}").await, ["/x.ts", "/y.tsx"]);
    for nothing in ["", "dir/", "*.rs", "dir"] {
        assert_eq!(glob(backend, nothing).await, [""; 0], "{nothing}");
    }
}

pub async fn a_search_below_a_folder(backend: &dyn Backend) {
    f2(backend).await;
    assert_eq!(glob_below(backend, "*.py", "/dir").await, ["/dir/b.py", "/dir/sub/c.py"]);
    assert_eq!(glob_below(backend, "/*.py", "/dir").await, ["/dir/b.py"]);
    assert_eq!(glob_below(backend, "sub/*", "/dir").await, ["/dir/sub/c.py"]);
    assert_eq!(glob_below(backend, "*", "/.hid").await, ["/.hid/x.yml"]);
    for nowhere in ["/nope", "/nope/deeper", "/a.txt/x", "/a..b"] {
        assert_eq!(glob_below(backend, "*", nowhere).await, [""; 0], "{nowhere}");
    }
    g(backend).await;
    assert_eq!(grep(backend, GrepQuery { path: path("/b"), ..grep_query("TODO") }).await, TODO[2..]);
    assert_eq!(grep(backend, GrepQuery { path: path("/b/c.py"), ..grep_query("TODO") }).await, TODO[2..3]);
    assert_eq!(grep(backend, GrepQuery { path: path("/zz"), ..grep_query("TODO") }).await, [""; 0]);
}

pub async fn ignore_files_hold_in_both(backend: &dyn Backend) {
    given(
        backend,
        &[
            ("/.gitignore", "target/\n*.log\n!keep.log\n/only_here\n"),
            ("/.ignore", "private.txt\n"),
            ("/target/x", "needle\n"),
            ("/a.log", "needle\n"),
            ("/keep.log", "needle\n"),
            ("/only_here", "needle\n"),
            ("/private.txt", "needle\n"),
            ("/sub/.gitignore", "!a.log\nz\n"),
            ("/sub/a.log", "needle\n"),
            ("/sub/b.log", "needle\n"),
            ("/sub/only_here", "needle\n"),
            ("/sub/deep/z", "needle\n"),
            ("/z", "needle\n"),
        ],
    )
    .await;
    let seen = ["/keep.log", "/sub/a.log", "/sub/only_here", "/z"];
    assert_eq!(glob(backend, "*").await, seen);
    let rows = seen.map(|name| format!("{name}:1:needle"));
    assert_eq!(grep(backend, grep_query("needle")).await, rows);
    assert_eq!(grep(backend, GrepQuery { glob: Some("*".into()), ..grep_query("needle") }).await, rows);
    // A folder that is named is searched, by the rules that hold in it.
    assert_eq!(glob_below(backend, "*", "/target").await, ["/target/x"]);
    assert_eq!(glob_below(backend, "*", "/sub").await, ["/sub/a.log", "/sub/only_here"]);
    assert_eq!(glob_below(backend, "*", "/a.log").await, ["/a.log"]);
    let mut all = glob_query("*.log", "/");
    all.include_ignored = true;
    let all: Vec<_> = backend.glob(all).await.unwrap().paths.iter().map(ToString::to_string).collect();
    assert_eq!(all, ["/a.log", "/keep.log", "/sub/a.log", "/sub/b.log"]);
    let every = GrepQuery { include_ignored: true, ..grep_query("needle") };
    assert_eq!(grep(backend, every).await.len(), 10);
}

pub async fn git_is_never_searched(backend: &dyn Backend) {
    given(
        backend,
        &[
            ("/.git/config", "needle\n"),
            ("/.git/info/exclude", "excluded\n"),
            ("/excluded", "needle\n"),
            ("/sub/.git/HEAD", "needle\n"),
            ("/sub/excluded", "needle\n"),
            ("/a", "needle\n"),
        ],
    )
    .await;
    assert_eq!(grep(backend, grep_query("needle")).await, ["/a:1:needle", "/sub/excluded:1:needle"]);
    for pattern in [".git/**", "**/.git/*", ".git/config", ".*"] {
        assert_eq!(glob(backend, pattern).await, [""; 0], "{pattern}");
    }
    assert_eq!(glob_below(backend, "*", "/.git").await, [""; 0]);
    let all = GrepQuery { include_ignored: true, ..grep_query("needle") };
    assert_eq!(grep(backend, all).await.len(), 3);
}

pub async fn hidden_files_only_by_name(backend: &dyn Backend) {
    f2(backend).await;
    given(backend, &[("/.github/workflows/ci.yml", "x\n")]).await;
    for nothing in ["*.yml", "**/*.yml", "?env"] {
        assert_eq!(glob(backend, nothing).await, [""; 0], "{nothing}");
    }
    assert_eq!(glob(backend, ".env").await, ["/.env"]);
    assert_eq!(glob(backend, ".github/**/*.yml").await, ["/.github/workflows/ci.yml"]);
    assert_eq!(glob(backend, "**/.hid/*").await, ["/.hid/x.yml"]);
    assert_eq!(grep(backend, grep_query("x")).await.len(), 8);
    let named = GrepQuery { glob: Some(".env".into()), ..grep_query("x") };
    assert_eq!(grep(backend, named).await, ["/.env:1:x"]);
    let below = GrepQuery { path: path("/.hid"), ..grep_query("x") };
    assert_eq!(grep(backend, below).await, ["/.hid/x.yml:1:x"]);
    let mut every = glob_query("*.yml", "/");
    every.include_ignored = true;
    assert_eq!(backend.glob(every).await.unwrap().paths, [path("/.github/workflows/ci.yml"), path("/.hid/x.yml")]);
}

pub async fn literal_lines(backend: &dyn Backend) {
    g(backend).await;
    assert_eq!(grep(backend, grep_query("TODO")).await, TODO);
    assert_eq!(grep(backend, grep_query("a.b")).await, ["/b/d.txt:1:a.b TODO"]);
    assert_eq!(grep(backend, grep_query("foo|bar")).await, ["/r.txt:1:foo|bar"]);
    for nothing in ["todo", "one\nx", "zz|yy", "["] {
        assert_eq!(grep(backend, grep_query(nothing)).await, [""; 0], "{nothing}");
    }
    // Every line; there is none behind the last line end (behaviour.md A6).
    assert_eq!(grep(backend, grep_query("")).await.len(), 3 + 1 + 2 + 2);
}

pub async fn odd_characters_are_found_as_they_are(backend: &dyn Backend) {
    let line = "say \"hi\"\tnow: \\ 中文 café \u{212a}elvin 100%_*";
    given(backend, &[("/odd.txt", &format!("first\n{line}\n")), ("/other.txt", "SAY \"HI\"\tNOW\n")]).await;
    for found in ["\"hi\"\tnow", "y \"", "\\", " \\ ", "中文", "中", "café", "\u{212a}elvin", "100%_*", "elvin"] {
        assert_eq!(grep(backend, grep_query(found)).await, [format!("/odd.txt:2:{line}")], "{found}");
    }
    for nothing in ["kelvin", "CAFÉ", "cafe", "\\n", "hi AND now", "words"] {
        assert_eq!(grep(backend, grep_query(nothing)).await, [""; 0], "{nothing}");
    }
}

pub async fn expressions(backend: &dyn Backend) {
    g(backend).await;
    given(backend, &[("/crlf", "one\r\nTODO\r\n")]).await;
    let regex = |pattern: &str| GrepQuery { regex: true, ..grep_query(pattern) };
    assert_eq!(grep(backend, regex("a.b$|^foo$")).await, ["/b/d.txt:2:axb", "/r.txt:2:foo"]);
    assert_eq!(grep(backend, regex("(?i)todo$")).await, ["/b/d.txt:1:a.b TODO", "/crlf:2:TODO"]);
}

pub async fn a_filter_on_names(backend: &dyn Backend) {
    g(backend).await;
    let files = |glob: &str| GrepQuery { glob: Some(glob.into()), ..grep_query("TODO") };
    assert_eq!(grep(backend, files("*.py")).await, TODO[..3]);
    assert_eq!(grep(backend, files("b/*.py")).await, TODO[2..3]);
    assert_eq!(grep(backend, files("/*.py")).await, TODO[..2]);
    assert_eq!(grep(backend, files("!*.py")).await, [""; 0]);
}

pub async fn the_first_matches_in_order(backend: &dyn Backend) {
    g(backend).await;
    for (max_count, truncated) in [(2, Some(Truncation::Count)), (3, Some(Truncation::Count)), (4, None), (5, None)] {
        let found = backend.grep(GrepQuery { max_count, ..grep_query("TODO") }).await.unwrap();
        let rows: Vec<_> = found.matches.iter().map(|row| format!("{}:{}:{}", row.path, row.line, row.text)).collect();
        assert_eq!(rows, TODO[..max_count.min(4)]);
        assert_eq!(found.truncated, truncated, "{max_count}");
    }
}

pub async fn line_numbers_are_those_of_reading(backend: &dyn Backend) {
    let text = "\u{feff}x\r\ny\rneedle 1\r\rneedle 2\n\u{2028}needle 3\u{85}z\r\nneedle 4";
    let filler = "filler\r".repeat(60_000);
    given(backend, &[("/small", text), ("/large", &format!("{filler}{text}"))]).await;
    for name in ["/small", "/large"] {
        let found = backend.grep(GrepQuery { path: path(name), ..grep_query("needle") }).await.unwrap();
        assert_eq!(found.matches.len(), 4);
        for row in found.matches {
            let read = page(backend, name, row.line - 1, 1).await.unwrap();
            assert_eq!(read.lines, [row.text]);
        }
    }
}

pub async fn long_lines_are_cut_around_the_match(backend: &dyn Backend) {
    let line = format!("{}needle{}", "é".repeat(50_000), "x".repeat(50_000));
    given(backend, &[("/min.js", &line)]).await;
    let rows = grep(backend, grep_query("needle")).await;
    assert_eq!(rows.len(), 1);
    assert!(rows[0].len() < 3_000 && rows[0].contains("éneedlex") && rows[0].contains("of 150006 bytes"));
}

pub async fn binary_files_are_passed_over(backend: &dyn Backend) {
    let latin = b"caf\xe9 needle\n".to_vec();
    backend
        .upload(vec![(path("/bin"), b"needle\0needle\n".to_vec()), (path("/latin"), latin)])
        .await
        .into_iter()
        .for_each(|answer| answer.unwrap());
    assert_eq!(grep(backend, grep_query("needle")).await, ["/latin:1:caf\u{fffd} needle"]);
    for (name, pattern, binary) in [
        ("/bin", "needle", true),
        ("/bin", "nothing of it", true),
        ("/latin", "nothing of it", false),
        ("/", "needle", false),
    ] {
        let found = backend.grep(GrepQuery { path: path(name), ..grep_query(pattern) }).await.unwrap();
        assert_eq!((found.binary, found.truncated), (binary, None), "{name} {pattern}");
        assert!(name == "/" || found.matches.is_empty(), "{name}");
    }
}

/// What is read and edited as text is searched as text: a NUL far into a log is no end of it.
pub async fn a_nul_far_into_a_text_hides_nothing(backend: &dyn Backend) {
    let lines = "a line of a log\r\n".repeat(1_000);
    let small = format!("{lines}\0\0\0\nNEEDLE\0 here\n\0\rNEEDLE\n");
    let large = format!("{}{small}", lines.repeat(20));
    given(backend, &[("/small.log", &small), ("/large.log", &large)]).await;
    let found = backend.grep(grep_query("NEEDLE")).await.unwrap();
    assert_eq!((found.matches.len(), found.truncated, found.binary), (4, None, false), "{:?}", found.matches);
    for row in found.matches {
        assert_eq!(page(backend, row.path.as_str(), row.line - 1, 1).await.unwrap().lines, [row.text]);
    }
    let named = GrepQuery { path: path("/small.log"), regex: true, ..grep_query("^NEEDLE$") };
    assert_eq!(grep(backend, named).await, ["/small.log:1004:NEEDLE"]);
    edit(backend, "/small.log", "NEEDLE\0 here", "pin").await.unwrap();
    assert_eq!(grep(backend, grep_query("pin")).await, ["/small.log:1002:pin"]);
}

pub async fn unusable_patterns(backend: &dyn Backend) {
    g(backend).await;
    for pattern in ["(", "a{1000}{1000}{1000}", "x\\n"] {
        let error = backend.grep(GrepQuery { regex: true, ..grep_query(pattern) }).await.unwrap_err();
        assert!(matches!(error, BackendError::BadPattern { .. }), "{pattern}: {error}");
        assert!(error.to_string().contains("; correct it"), "{error}");
    }
    for pattern in ["../x", &"{a,b}".repeat(12)] {
        let error = backend.glob(glob_query(pattern, "/")).await.unwrap_err();
        assert!(matches!(error, BackendError::BadPattern { .. }), "{error}");
        let filtered = GrepQuery { glob: Some(pattern.to_owned()), ..grep_query("x") };
        assert!(backend.grep(filtered).await.is_err());
    }
}

pub async fn a_cancelled_search(backend: &dyn Backend) {
    g(backend).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let grep = backend.grep(GrepQuery { cancel: cancel.clone(), ..grep_query("TODO") }).await;
    assert_eq!(grep.unwrap_err(), BackendError::Cancelled);
    let mut query = glob_query("*", "/");
    query.cancel = cancel;
    assert_eq!(backend.glob(query).await.unwrap_err(), BackendError::Cancelled);
}
