use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{VirtualPath, is_device_name};
use crate::PathError;

fn parsed(text: &str) -> String {
    VirtualPath::parse(text).unwrap().to_string()
}

#[test]
fn many_ways_to_write_one_path() {
    for (text, path) in [
        ("foo/bar", "/foo/bar"),
        ("/./foo//bar", "/foo/bar"),
        ("/a/b/", "/a/b"),
        ("", "/"),
        (".", "/"),
        ("./", "/"),
        ("/", "/"),
        ("///", "/"),
        ("//a//b", "/a/b"),
        ("//host/x", "/host/x"),
        ("./a/./b", "/a/b"),
    ] {
        assert_eq!(parsed(text), path, "{text:?}");
    }
}

/// P01, P02.
#[test]
fn ways_out_are_refused() {
    for text in ["/../../etc/passwd", "a/../../x", "..", "/a/..", "../", "/a/../b", r"..\..\x", r"/a\..\b"] {
        assert!(matches!(VirtualPath::parse(text), Err(PathError::Traversal { .. })), "{text:?}");
    }
    for text in [r"C:\x", "c:/x", "C:", r"\\host\share", r"\\?\C:\x"] {
        let error = VirtualPath::parse(text).unwrap_err();
        assert!(matches!(error, PathError::Windows { .. }), "{text:?}");
        assert!(error.to_string().contains("Windows") && error.to_string().contains(text));
    }
    for text in ["~", "~x", "~/x"] {
        assert!(matches!(VirtualPath::parse(text), Err(PathError::Home { .. })), "{text:?}");
    }
    assert!(matches!(VirtualPath::parse("/a\0b"), Err(PathError::Nul { .. })));
}

/// P03, P04, P20.
#[test]
fn odd_names_are_names() {
    let names = [
        "/report..final.md",
        "/app/[...slug]/page.tsx",
        "/...",
        "/.../x",
        "/a..b",
        "/..a",
        "/%2e%2e/x",
        "/..%2fx",
        "/%252e",
        "/~/x",
        "/a~b",
        "/a b",
        "/a:b",
        "/C:x",
        "/\u{ff0e}\u{ff0e}/x",
        "/a\u{2215}b\u{29f8}c",
        "/\u{202e}gpj.exe",
        "/cafe\u{301}",
        "/caf\u{e9}",
    ];
    for name in names {
        assert_eq!(parsed(name), name);
    }
    #[cfg(not(windows))]
    assert_eq!(parsed(r"a\b"), r"/a\b");
    assert_ne!(parsed("/cafe\u{301}"), parsed("/caf\u{e9}"));
}

/// P19: Windows has devices under these names in every folder. Elsewhere they are names.
#[test]
fn devices_of_windows_are_known_by_any_of_their_names() {
    for name in [
        "CON",
        "con",
        "Aux.c",
        "nul",
        "PRN .txt",
        "COM1",
        "com9.log",
        "LPT\u{b2}",
        "lpt\u{b9}.x",
        "NUL::$DATA",
        "conout$",
    ] {
        assert!(is_device_name(name), "{name}");
        assert_eq!(VirtualPath::parse(&format!("/src/{name}")).is_ok(), !cfg!(windows), "{name}");
    }
    for name in ["", "con1", "console", "com", "com0", "com10", "lpt", "auxiliary.c", "null", ".con", "falcon"] {
        assert!(!is_device_name(name), "{name}");
    }
}

/// P22.
#[test]
fn lengths_are_bounded() {
    assert!(VirtualPath::parse(&"n".repeat(255)).is_ok());
    assert!(matches!(VirtualPath::parse(&"n".repeat(256)), Err(PathError::TooLong { limit: 255, .. })));
    assert!(matches!(VirtualPath::parse(&"a/".repeat(2500)), Err(PathError::TooLong { limit: 4096, .. })));
    let deep = VirtualPath::parse(&"a/".repeat(2000)).unwrap();
    assert_eq!(deep.segments().count(), 2000);
    let long = VirtualPath::parse(&"é".repeat(3000)).unwrap_err().to_string();
    assert!(long.chars().count() < 500, "{long}");
    // The name in its folder, as it was written.
    let name = VirtualPath::parse(&format!("/src/{}/a", "n".repeat(256))).unwrap_err().to_string();
    let given = format!("'/src/{}/a'", "n".repeat(256));
    assert_eq!(name, format!("a name in the path {given} is longer than 255 bytes; use a shorter name"));
}

#[test]
fn parts() {
    let path = VirtualPath::parse("/a/b.txt").unwrap();
    assert_eq!((path.name(), path.relative(), path.is_root()), (Some("b.txt"), "a/b.txt", false));
    assert_eq!(path.parent().unwrap().as_str(), "/a");
    assert_eq!(path.parent().unwrap().parent(), Some(VirtualPath::root()));
    let root = VirtualPath::root();
    assert_eq!((root.name(), root.parent(), root.relative(), root.is_root()), (None, None, "", true));
    assert!(root.join("../x").is_err());
}

/// P07, P08.
#[test]
fn prefixes_end_at_segments() {
    let memories = VirtualPath::parse("/memories").unwrap();
    let below = |text: &str| VirtualPath::parse(text).unwrap().strip_prefix(&memories).map(String::from);
    assert_eq!(below("/memories").as_deref(), Some("/"));
    assert_eq!(below("/memories/a/b").as_deref(), Some("/a/b"));
    assert_eq!(below("/memories_evil/x"), None);
    assert_eq!(below("/memoriesX"), None);
    assert_eq!(below("/x/memories"), None);
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-zA-Z0-9._~% \\[\\]-]{1,12}",
        1 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just("...".to_owned()),
        2 => any::<String>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    (proptest::collection::vec(name(), 0..8), "/{0,2}", "/{0,2}")
        .prop_map(|(names, lead, tail)| format!("{lead}{}{tail}", names.join("/")))
}

/// More than is usual; a million with `PROPTEST_CASES=1000000`, as the long form of the tests has it.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(2_000), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(cases())]

    /// Law 3: whatever was parsed, the path holds no way out and is its own normal form.
    #[test]
    fn a_path_never_leaves_its_root(text in text()) {
        let Ok(path) = VirtualPath::parse(&text) else { return Ok(()) };
        prop_assert!(path.as_str().starts_with('/'));
        prop_assert!(path.segments().all(|name| !matches!(name, "" | "." | "..") && !name.contains('\0')));
        prop_assert!(path.is_root() || !path.as_str().ends_with('/'));
        prop_assert_eq!(VirtualPath::parse(path.as_str()).unwrap(), path.clone());
        let joined = std::path::Path::new("/root").join(path.relative());
        prop_assert!(joined.starts_with("/root"));
        let no_way_up = joined.components().all(|part| !matches!(part, std::path::Component::ParentDir));
        prop_assert!(no_way_up);
    }

    #[test]
    fn a_refusal_is_for_a_reason(text in text()) {
        let Err(error) = VirtualPath::parse(&text) else { return Ok(()) };
        let reason = match error {
            PathError::Traversal { .. } => text.split(['/', '\\']).any(|name| name == ".."),
            PathError::Home { .. } => text.starts_with('~'),
            PathError::Windows { .. } => text.contains(':') || text.starts_with("\\\\"),
            PathError::Device { .. } => cfg!(windows),
            PathError::Nul { .. } => text.contains('\0'),
            PathError::TooLong { .. } => text.len() > 255,
        };
        prop_assert!(reason);
    }

    #[test]
    fn joining_and_stripping_are_each_others_inverse(prefix in text(), rest in text()) {
        let (Ok(prefix), Ok(rest)) = (VirtualPath::parse(&prefix), VirtualPath::parse(&rest)) else { return Ok(()) };
        let Ok(joined) = prefix.join(rest.relative()) else { return Ok(()) };
        prop_assert!(joined.starts_with(&prefix));
        prop_assert_eq!(joined.strip_prefix(&prefix), Some(rest));
        let sibling = VirtualPath::parse(&format!("{}x", prefix.as_str()));
        if let Ok(sibling) = sibling && !prefix.is_root() {
            prop_assert_eq!(sibling.strip_prefix(&prefix), None);
        }
    }
}
