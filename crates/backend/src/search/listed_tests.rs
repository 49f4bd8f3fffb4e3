use std::fs;
use std::time::Duration;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use super::{Completeness, Wanted, named};
use crate::root::{Mounts, Root};
use crate::search::{Budget, glob};
use crate::{GlobQuery, VirtualPath};

fn query(pattern: &str, start: &str, include_ignored: bool) -> GlobQuery {
    let path = VirtualPath::parse(start).unwrap();
    GlobQuery { pattern: pattern.to_owned(), path, include_ignored, cancel: CancellationToken::new() }
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b.rs"), Just("c"), Just(".h"), Just("a-x"), Just("out")].prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A list of paths is searched as the same files on a disk are.
    #[test]
    fn a_list_is_searched_as_a_disk_is(
        files in prop::collection::vec((prop::collection::vec(names(), 1..4), 0_usize..6), 1..12),
        pattern in prop_oneof![Just("*"), Just("**/*.rs"), Just("a/*"), Just("/a"), Just(".h/*"), Just("**")],
        start in prop_oneof![Just("/"), Just("/a"), Just("/out"), Just("/.h/a"), Just("/c/b.rs")],
        include_ignored: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let rules = ["out\n", "*.rs\n", "!b.rs\n", "/a/c\n", "c/\n", ""];
        let mut listed = Vec::new();
        for (segments, rule) in files {
            let (folders, _) = segments.split_at(segments.len() - 1);
            let mut put = |path: String, text: &str| {
                let host = folder.path().join(&path);
                let made = host.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok());
                if made && fs::write(&host, text).is_ok() {
                    listed.push(VirtualPath::parse(&path).unwrap());
                }
            };
            put(segments.join("/"), "x");
            let own = [folders, &[".gitignore".to_owned()]].concat().join("/");
            put(own, rules[rule]);
        }
        listed.sort();
        listed.dedup();
        let query = query(pattern, start, include_ignored);
        let root = Root::open(folder.path(), Mounts::Refuse).unwrap();
        let budget = Budget::new(Duration::from_secs(60), &query.cancel);
        let disk = glob(&root, &query, &budget).unwrap();
        let text = |path: &VirtualPath| fs::read(folder.path().join(path.relative())).ok();
        let list = Wanted::by_name(&query).unwrap().select(&listed, &text);
        prop_assert_eq!(named(list, Completeness::default()), disk);
    }
}

#[test]
fn a_repository_ends_the_rules_of_git_from_above() {
    let files: Vec<VirtualPath> = ["/.gitignore", "/sub/.git/HEAD", "/sub/x", "/x"]
        .into_iter()
        .map(|path| VirtualPath::parse(path).unwrap())
        .collect();
    let text = |path: &VirtualPath| (path.as_str() == "/.gitignore").then(|| b"x\n".to_vec());
    let found = Wanted::by_name(&query("*", "/", false)).unwrap().select(&files, &text);
    assert_eq!(found, files[2..3]);
}
