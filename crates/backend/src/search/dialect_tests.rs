use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{Glob, Hidden};

/// Whether `pattern` matches the file `path`, given below the folder searched.
fn matches_with(pattern: &str, path: &str, hidden: Hidden) -> bool {
    let glob = Glob::parse(pattern, hidden).unwrap();
    let mut progress = glob.start();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
        match glob.enter(&progress, folder) {
            Some(next) => progress = next,
            None => return false,
        }
    }
    glob.matches(&progress, name)
}

fn matches(pattern: &str, path: &str) -> bool {
    matches_with(pattern, path, Hidden::Skip)
}

fn hits<'a>(pattern: &str, paths: &[&'a str]) -> Vec<&'a str> {
    paths.iter().copied().filter(|path| matches(pattern, path)).collect()
}

const F2: &[&str] = &[
    "a.txt",
    "two.txt",
    "dir/b.py",
    "dir/sub/c.py",
    ".hid/x.yml",
    ".env",
    "noeol.txt",
    "data_01.csv",
    "x.ts",
    "y.tsx",
];

#[test]
fn the_table_of_the_reference() {
    let rows: &[(&str, &[&str])] = &[
        ("*.py", &["dir/b.py", "dir/sub/c.py"]),
        ("**/*.py", &["dir/b.py", "dir/sub/c.py"]),
        ("/dir/**/*.py", &["dir/b.py", "dir/sub/c.py"]),
        ("dir/**", &["dir/b.py", "dir/sub/c.py"]),
        ("dir/*.py", &["dir/b.py"]),
        ("/*.txt", &["a.txt", "two.txt", "noeol.txt"]),
        // Part A 9: a hidden folder is entered only where the pattern names it.
        ("*.yml", &[]),
        ("**/*.yml", &[]),
        (".hid/*.yml", &[".hid/x.yml"]),
        (".env", &[".env"]),
        (".*", &[".env"]),
        ("*.{ts,tsx}", &["x.ts", "y.tsx"]),
        ("data_[0-9][0-9].csv", &["data_01.csv"]),
        ("data_[!0-9]*.csv", &[]),
        ("?.ts", &["x.ts"]),
        ("", &[]),
        ("dir/", &[]),
        ("!*.txt", &[]),
        ("{dir/*,*.ts}", &["dir/b.py", "x.ts"]),
        ("**", &["a.txt", "two.txt", "dir/b.py", "dir/sub/c.py", "noeol.txt", "data_01.csv", "x.ts", "y.tsx"]),
    ];
    for (pattern, expected) in rows {
        assert_eq!(hits(pattern, F2), *expected, "{pattern}");
    }
}

#[test]
fn base_names_in_hidden_folders_are_found_when_asked_for() {
    assert!(matches_with("*.yml", ".hid/x.yml", Hidden::Enter));
    assert!(!matches_with("**/*.yml", ".hid/x.yml", Hidden::Enter));
    assert!(!matches_with("*", ".env", Hidden::Enter));
}

#[test]
fn literal_where_it_cannot_be_meant_otherwise() {
    assert!(matches("*.{py", "x.{py"));
    assert!(matches("a}b", "a}b"));
    assert!(matches("{a}", "{a}"));
    assert!(matches("[ab", "[ab"));
    assert!(matches(r"\*.py", "*.py") && !matches(r"\*.py", "a.py"));
    assert!(matches(r"\{a,b\}", "{a,b}"));
    assert!(matches("[]]", "]") && matches("[!]]", "x") && !matches("[!]]", "]"));
    assert!(matches("[a-]", "-") && matches("[{,}]", ","));
    assert!(matches("!x", "!x"));
}

#[test]
fn nested_braces() {
    for name in ["ac", "ad", "b"] {
        assert!(matches("{a{c,d},b}", name), "{name}");
    }
    assert!(!matches("{a{c,d},b}", "a"));
    assert!(matches("{,pre}fix", "fix") && matches("{,pre}fix", "prefix"));
}

#[test]
fn a_leading_dot_is_met_by_a_literal_dot_only() {
    for pattern in ["*", "?c", "[.]c", "*c", "**"] {
        assert!(!matches(pattern, ".c"), "{pattern}");
    }
    assert!(matches(".*", ".c") && matches(r"\.c", ".c"));
    assert!(!matches("**/*.rs", "a/.b/c.rs") && matches("**/.b/*.rs", "a/.b/c.rs"));
}

#[test]
fn folders_stand_for_none_or_many() {
    for path in ["x", "a/x", "a/b/c/x"] {
        assert!(matches("**/x", path), "{path}");
    }
    assert!(matches("a/**/x", "a/x") && !matches("a/**/x", "x"));
    assert!(!matches("dir/**", "dir"));
    assert!(matches("a**b/c", "aXb/c") && !matches("a**b/c", "a/b/c"));
}

#[test]
fn everything_that_can_match_lies_in_these_folders() {
    let rows: &[(&str, &[&str])] = &[
        ("*.md", &[]),
        ("/area7/*42.md", &["area7"]),
        ("a/b/c", &["a", "b"]),
        (r"a/\*/c", &["a", "*"]),
        ("a/**/c", &["a"]),
        ("a/b*/c", &["a"]),
        ("**/a/b", &[]),
        ("a/{b,c}/d", &["a"]),
        ("{a/b,a/b/c}/d", &["a", "b"]),
        ("{a/b,c}", &[]),
    ];
    for (pattern, folders) in rows {
        assert_eq!(Glob::parse(pattern, Hidden::Skip).unwrap().folders(), *folders, "{pattern}");
    }
}

#[test]
fn refused_patterns_say_why() {
    for (pattern, token) in [("../x", "'..'"), ("a/{..,b}/c", "'..'"), (&"{a,b}".repeat(12), "1000")] {
        let error = Glob::parse(pattern, Hidden::Skip).unwrap_err().to_string();
        assert!(error.contains(token), "{error}");
    }
    assert!(Glob::parse("a..b", Hidden::Skip).is_ok());
}

#[test]
fn hostile_patterns_stay_cheap() {
    let deep = "a/".repeat(300) + "b";
    assert!(!matches(&("**/".repeat(50) + "*z"), &deep));
    assert!(matches(&("**/".repeat(50) + "*"), &deep));
    assert!(!matches(&"*a".repeat(60), &("a".repeat(200) + "b")));
    assert!(matches(&"{a,b}".repeat(9), "ababababa"));
}

#[test]
fn what_is_left_below_a_folder() {
    let rows: &[(&str, &[&str])] = &[
        ("*.md", &["*.md"]),
        ("/mem/*.md", &["/*.md"]),
        ("mem/**", &["/**"]),
        ("**/*.md", &["/**/*.md"]),
        ("{mem,other}/{a,b}/*", &["/a/*", "/b/*"]),
        ("**/mem/x", &["/**/mem/x", "/x"]),
        ("other/*", &[]),
        ("*", &["*"]),
    ];
    for (pattern, expected) in rows {
        let glob = Glob::parse(pattern, Hidden::Skip).unwrap();
        let rest = glob.enter(&glob.start(), "mem").map(|progress| glob.rest(&progress)).unwrap_or_default();
        assert_eq!(rest, *expected, "{pattern}");
    }
}

proptest! {
    /// Searching below a folder with what is left is searching the whole with the pattern.
    #[test]
    fn what_is_left_matches_what_the_whole_matches(
        pattern in "(/|\\*\\*/|)([ab*]|\\{a,b\\}|\\*\\*)(/([ab*]|\\*\\*)){0,2}",
        path in "[ab](/[ab]){1,3}",
    ) {
        let (folder, below) = path.split_once('/').unwrap();
        let glob = Glob::parse(&pattern, Hidden::Skip).unwrap();
        let rest = glob.enter(&glob.start(), folder).map(|progress| glob.rest(&progress)).unwrap_or_default();
        prop_assert_eq!(rest.iter().any(|rest| matches(rest, below)), matches(&pattern, &path));
    }

    #[test]
    fn a_path_matches_itself_escaped(path in "[a-z*?{}!,]{1,6}(/[a-z*?{}!,]{1,6}){0,3}") {
        let escaped: String = path
            .chars()
            .flat_map(|char| if char.is_ascii_lowercase() || char == '/' { vec![char] } else { vec!['\\', char] })
            .collect();
        let anchored = format!("/{escaped}");
        prop_assert!(matches(&anchored, &path));
    }

    #[test]
    fn no_pattern_panics(pattern in any::<String>(), path in "[a-z.]{1,4}(/[a-z.]{1,4}){0,3}") {
        if let Ok(glob) = Glob::parse(&pattern, Hidden::Enter) {
            let _matched = glob.matches(&glob.start(), &path);
        }
    }
}
