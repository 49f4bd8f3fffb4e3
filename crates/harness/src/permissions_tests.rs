#![allow(clippy::disallowed_methods, reason = "tests make their own links")]

use bosun_backend::{
    BackendError, BoxFuture, Expect, FilesystemBackend, FilesystemOptions, GlobQuery, GlobResult, GrepQuery,
    GrepResult, LocalShellBackend, LocalShellOptions, ReadWindow, StateBackend, Truncation, Unread, Unwitnessed,
    hand_on,
};
use bosun_testkit::Project;
use pretty_assertions::assert_eq;

use super::*;

fn pattern(text: &str) -> PathPattern {
    PathPattern::try_from(text.to_owned()).unwrap()
}

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn rules(text: &str) -> PathRules {
    #[derive(Deserialize)]
    struct File {
        permissions: Vec<PathRule>,
    }
    PathRules::new(toml::from_str::<File>(text).unwrap().permissions)
}

fn denied(paths: &str) -> PathRules {
    rules(&format!("[[permissions]]\noperations = ['read', 'write']\npaths = [{paths}]\nmode = 'deny'"))
}

#[test]
fn patterns_are_about_whole_segments_and_hidden_names_too() {
    let about = |text: &str, inside: &[&str], outside: &[&str]| {
        for one in inside {
            assert!(pattern(text).matches(&path(one)), "{text} is about {one}");
        }
        for one in outside {
            assert!(!pattern(text).matches(&path(one)), "{text} is not about {one}");
        }
    };
    about("/secrets/**", &["/secrets", "/secrets/a", "/secrets/.env", "/secrets/.x/y"], &["/secretsx/a", "/a/secrets"]);
    about("/**/*.pem", &["/a.pem", "/x/.y/b.pem"], &["/a.pem/c", "/a.pe"]);
    about("/{a,b{c,d}}/x?", &["/a/x1", "/bc/x2", "/bd/xy"], &["/b/x1", "/a/x", "/a/x12"]);
    about("/s", &["/s"], &["/s/a", "/"]);
    about("/**", &["/", "/a", "/.git/config"], &[]);
    about("/a\\*", &["/a*"], &["/ab"]);
    for (text, word) in [("s", "start with /"), ("~/x", "home"), ("/a/../b", "'..'")] {
        assert!(PathPattern::try_from(text.to_owned()).unwrap_err().to_string().contains(word), "{text}");
    }
    assert!(PathPattern::try_from(format!("/{}", "{a,b}".repeat(12))).is_err());
    // A name and a pattern of any length take no time to speak of.
    assert!(!pattern(&format!("/{}b", "*a".repeat(200))).matches(&path(&format!("/{}", "a".repeat(200)))));
}

#[test]
fn the_first_rule_that_fits_decides() {
    let rules = rules(
        "[[permissions]]\noperations = ['read']\npaths = ['/secrets/open/**']\nmode = 'allow'\n\
         [[permissions]]\noperations = ['read', 'write']\npaths = ['/secrets/**']\nmode = 'deny'\n\
         [[permissions]]\noperations = ['write']\npaths = ['/docs/**']\nmode = 'interrupt'",
    );
    use PathOperation::{Read, Write};
    let modes = [
        (Read, "/secrets/open/a"),
        (Write, "/secrets/open/a"),
        (Read, "/secrets/a"),
        (Write, "/docs/a"),
        (Read, "/docs/a"),
    ];
    let modes = modes.map(|(operation, at)| rules.mode(operation, &path(at)));
    use PathMode::{Allow, Deny, Interrupt};
    assert_eq!(modes, [Allow, Deny, Deny, Interrupt, Allow]);
}

#[tokio::test]
async fn what_is_denied_is_not_to_be_had_by_any_way() {
    let project =
        Project::new().file("secrets/key", "TODO s3cret\n").file("pub/a.txt", "TODO a\n").file("secrets/.env", "x");
    std::os::unix::fs::symlink("../secrets/key", project.at("pub/link")).unwrap();
    let inner = FilesystemBackend::open(project.root(), FilesystemOptions::default()).unwrap();
    let backend = denied("'/secrets/**'").hold(Arc::new(inner), &[]);
    let names = |entries: bosun_backend::Listed| entries.into_iter().map(|e| e.path.to_string()).collect::<Vec<_>>();
    assert_eq!(names(backend.ls(&path("/")).await.unwrap()), ["/pub"]);
    assert_eq!(names(backend.ls(&path("/pub")).await.unwrap()), ["/pub/a.txt"]);
    for hidden in ["/secrets/key", "/secrets/.env", "/pub/link"] {
        let read = backend.read(&path(hidden), ReadWindow { offset: 0, limit: 10 }).await.unwrap_err().to_string();
        assert!(read.contains(&format!("permission denied for '{hidden}'")), "{read}");
        assert!(backend.download(vec![path(hidden)]).await.remove(0).is_err());
    }
    let written = backend.write(&path("/secrets/new"), b"x".to_vec(), Expect::Absent, &Unwitnessed).await;
    assert!(written.is_err() && !project.exists("secrets/new"));
    let grep = GrepQuery { include_ignored: true, ..GrepQuery::literal("TODO", 10) };
    let found = backend.grep(grep).await.unwrap().matches;
    assert_eq!(found.iter().map(|found| found.path.as_str()).collect::<Vec<_>>(), ["/pub/a.txt"]);
    let glob =
        GlobQuery { pattern: "*".into(), path: VirtualPath::root(), include_ignored: true, cancel: Default::default() };
    let found = backend.glob(glob).await.unwrap().paths;
    assert_eq!(found.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["/pub/a.txt"]);
}

#[tokio::test]
async fn a_search_meets_nothing_through_a_link_that_it_would_ask_for_under_its_own_name() {
    let project = Project::new().file("docs/a.md", "TODO docs\n").file("pub/b.txt", "TODO pub\n");
    std::os::unix::fs::symlink("../docs", project.at("pub/shelf")).unwrap();
    std::os::unix::fs::symlink("../docs/a.md", project.at("pub/link")).unwrap();
    let inner = FilesystemBackend::open(project.root(), FilesystemOptions::default()).unwrap();
    let rules = rules("[[permissions]]\noperations = ['read']\npaths = ['/docs/**']\nmode = 'interrupt'");
    let backend = rules.hold(Arc::new(inner), &[]);
    let found = async |below: &str| {
        let grep = GrepQuery { path: path(below), ..GrepQuery::literal("TODO", 10) };
        let by_text = backend.grep(grep).await.unwrap().matches.into_iter().map(|found| found.path);
        let glob =
            GlobQuery { pattern: "**/*".into(), path: path(below), include_ignored: false, cancel: Default::default() };
        let by_name = backend.glob(glob).await.unwrap().paths;
        assert_eq!(by_text.collect::<Vec<_>>(), by_name, "{below}");
        by_name.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("/pub").await, ["/pub/b.txt"]);
    // These ask, and are answered whole.
    assert_eq!(found("/").await, ["/docs/a.md", "/pub/b.txt", "/pub/link"]);
    assert_eq!(found("/pub/shelf").await, ["/pub/shelf/a.md"]);
}

/// However much there is of what is denied, and wherever it stands in the order of names.
#[tokio::test]
async fn what_is_denied_takes_no_room_from_what_is_found() {
    let hits = "TODO\n".repeat(1_000);
    let project = Project::new().file("a/many", &hits).file("b/few", "TODO\nTODO\n").file("z/more", &hits);
    let files = FilesystemBackend::open(project.root(), FilesystemOptions::default()).unwrap();
    let held = denied("'/a/**'").hold(Arc::new(files), &[]);
    let found = held.grep(GrepQuery::literal("TODO", 10)).await.unwrap();
    let shown: Vec<String> = found.matches.iter().map(|one| format!("{}:{}", one.path, one.line)).collect();
    let more = (1..=8).map(|line| format!("/z/more:{line}"));
    assert_eq!(shown, ["/b/few:1".into(), "/b/few:2".into()].into_iter().chain(more).collect::<Vec<String>>());
    assert_eq!(found.truncated, Some(Truncation::Count));
    let query = GrepQuery { path: path("/b"), ..GrepQuery::literal("TODO", 2) };
    assert_eq!(held.grep(query).await.unwrap().truncated, None);
}

/// A search that could not read two files, and files that have nothing in them.
struct Unreadable(Arc<dyn Backend>);

fn unread() -> Vec<Unread> {
    ["/a/key", "/b"].map(|at| Unread { path: path(at), reason: "permission denied".into() }).into()
}

impl Backend for Unreadable {
    hand_on!(0: ls, stat, read, write, edit, upload, download, resolve);

    fn grep(&self, _query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(async { Ok(GrepResult { unread: unread(), ..GrepResult::default() }) })
    }

    fn glob(&self, _query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(async { Ok(GlobResult { unread: unread(), ..GlobResult::default() }) })
    }
}

#[tokio::test]
async fn of_what_is_denied_no_search_says_that_it_cannot_be_read() {
    let held = denied("'/a/**'").hold(Arc::new(Unreadable(Arc::new(StateBackend::new([])))), &[]);
    let found = held.grep(GrepQuery::literal("x", 10)).await.unwrap();
    assert_eq!(found.unread, unread()[1..]);
    let query = GlobQuery { pattern: "*".into(), path: path("/"), include_ignored: false, cancel: Default::default() };
    assert_eq!(held.glob(query).await.unwrap().unread, unread()[1..]);
}

/// Everything that is optional of a backend is there through the rules as it is without them.
#[tokio::test]
async fn what_is_allowed_is_as_it_is_without_rules() {
    let project = Project::new().file("run.sh", "x").file("secrets/run.sh", "x");
    std::os::unix::fs::symlink("run.sh", project.at("link")).unwrap();
    let inner = FilesystemBackend::open(project.root(), FilesystemOptions::default()).unwrap();
    let backend = denied("'/secrets/**'").hold(Arc::new(inner.clone()), &[]);
    assert_eq!(backend.direct(&path("/link")), path("/run.sh"));
    assert_eq!(backend.host_path(&path("/run.sh")), inner.host_path(&path("/run.sh")));
    let host = project.at("run.sh");
    assert_eq!(backend.resolve(host.to_str().unwrap()).unwrap(), path("/run.sh"));
    let mode = |name: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(project.at(name)).unwrap().permissions().mode() & 0o777
    };
    let modes = backend.modes().unwrap();
    modes.set_mode(&path("/run.sh"), 0o750).await.unwrap();
    assert_eq!(mode("run.sh"), 0o750);
    assert!(modes.set_mode(&path("/secrets/run.sh"), 0o750).await.is_err() && mode("secrets/run.sh") != 0o750);
}

#[tokio::test]
async fn a_folder_with_something_denied_in_it_is_not_deleted() {
    let project = Project::new().file("a/keep/x", "x").file("a/y", "y").file("b/z", "z");
    let open = || Arc::new(FilesystemBackend::open(project.root(), FilesystemOptions::default()).unwrap());
    let delete = async |rules: PathRules, at: &str| {
        let backend = rules.hold(open(), &[]);
        backend.deleter().unwrap().delete(&path(at), Expect::Anything, &Unwitnessed).await.is_ok()
    };
    assert!(!delete(denied("'/a/keep/*'"), "/a").await && !delete(denied("'/a/keep'"), "/a/keep/x").await);
    assert!(!delete(denied("'/**/x'"), "/a").await && project.exists("a/keep/x"));
    assert!(delete(denied("'/a/keep/*'"), "/a/y").await && delete(denied("'/a/**'"), "/b").await);
}

#[test]
fn there_are_no_commands_where_they_could_do_what_is_forbidden() {
    let project = Project::new();
    let open = || Arc::new(LocalShellBackend::open(project.root(), LocalShellOptions::default()).unwrap());
    let mounts = [
        MountNote { path: path("/memories"), holds: "notes".into(), host: None },
        MountNote { path: path("/handbook"), holds: "pages".into(), host: Some("/srv/handbook".into()) },
    ];
    let has_shell = |rules: PathRules| rules.hold(open(), &mounts).shell().is_some();
    assert!(has_shell(PathRules::default()) && has_shell(denied("'/memories/private/**'")));
    for reached in ["'/secrets'", "'/**'", "'/mem*/x'", "'/memories/x', '/y'", "'/memories_evil/x'", "'/handbook/**'"] {
        assert!(!has_shell(denied(reached)), "{reached}");
    }
}
