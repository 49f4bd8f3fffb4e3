use std::sync::{Arc, Mutex};
use std::time::Instant;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use super::{Access, AppMounts, CompositeBackend, Route, RouteError, kept_points, mount_point};
use crate::search::GREP_TIME;
use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Expect, FileData, GlobQuery, GlobResult, GrepMatch,
    GrepQuery, GrepResult, LateFolder, Listed, ReadResult, ReadWindow, Replacement, StateBackend, Truncation,
    Unwitnessed, VirtualPath,
};

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

fn kept(files: &[(&str, &str)]) -> StateBackend {
    StateBackend::new(files.iter().map(|(name, text)| (path(name), FileData::of(text.as_bytes(), None, 0))))
}

fn route(prefix: &str, files: &[(&str, &str)]) -> Route {
    Route { prefix: path(prefix), backend: Arc::new(kept(files)), access: Access::ReadWrite }
}

fn composite(files: &[(&str, &str)], routes: Vec<Route>) -> CompositeBackend {
    CompositeBackend::new(Arc::new(kept(files)), routes).unwrap()
}

fn sample() -> CompositeBackend {
    let memories = route("/memories", &[("/a.md", "TODO one"), ("/deep/b.md", "x")]);
    let team = route("/memories/team", &[("/c.md", "TODO team")]);
    let built_in = Route { access: Access::ReadOnly, ..route("/kept/skills", &[("/s/SKILL.md", "TODO skill")]) };
    let files =
        [("/src/main.rs", "TODO code"), ("/memories_evil/x.md", "TODO evil"), ("/memories/lost.md", "TODO lost")];
    composite(&files, vec![memories, team, built_in])
}

async fn names(backend: &dyn Backend, name: &str) -> Vec<String> {
    let rows = backend.ls(&path(name)).await.unwrap();
    rows.iter().map(|row| format!("{}{}", row.path, if row.is_dir { "/" } else { "" })).collect()
}

async fn glob(backend: &dyn Backend, pattern: &str, below: &str) -> Vec<String> {
    let query = GlobQuery {
        pattern: pattern.into(),
        path: path(below),
        include_ignored: false,
        cancel: CancellationToken::new(),
    };
    backend.glob(query).await.unwrap().paths.iter().map(ToString::to_string).collect()
}

fn todo(max_count: usize, below: &str, glob: Option<&str>) -> GrepQuery {
    GrepQuery { path: path(below), glob: glob.map(str::to_owned), ..GrepQuery::literal("TODO", max_count) }
}

async fn grep(backend: &dyn Backend, query: GrepQuery) -> (Vec<String>, Option<Truncation>) {
    let found = backend.grep(query).await.unwrap();
    (found.matches.iter().map(|row| row.path.to_string()).collect(), found.truncated)
}

#[tokio::test]
async fn listings_show_files_and_mounts_once() {
    let all = sample();
    assert_eq!(names(&all, "/").await, ["/kept/", "/memories/", "/memories_evil/", "/src/"]);
    assert_eq!(names(&all, "/kept").await, ["/kept/skills/"]);
    assert_eq!(names(&all, "/memories").await, ["/memories/a.md", "/memories/deep/", "/memories/team/"]);
    assert_eq!(names(&all, "/memories/team").await, ["/memories/team/c.md"]);
    for folder in ["/", "/kept", "/kept/skills", "/memories", "/memories/deep"] {
        assert!(all.stat(&path(folder)).await.unwrap().is_dir, "{folder}");
    }
    let error = all.ls(&path("/memories/none")).await.unwrap_err();
    assert_eq!(error, BackendError::DirectoryNotFound { path: path("/memories/none") });
}

/// P08, and what the default has below a route.
#[tokio::test]
async fn prefixes_are_whole_segments() {
    let all = sample();
    let read = async |name: &str| {
        all.download(vec![path(name)]).await.remove(0).map(|bytes| String::from_utf8(bytes).unwrap())
    };
    assert_eq!(read("/memories_evil/x.md").await.unwrap(), "TODO evil");
    assert_eq!(read("/memories/team/c.md").await.unwrap(), "TODO team");
    let lost = BackendError::NotFound { path: path("/memories/lost.md") };
    assert_eq!(read("/memories/lost.md").await.unwrap_err(), lost);
}

#[tokio::test]
async fn errors_name_the_full_path() {
    let all = sample();
    let window = ReadWindow { offset: 0, limit: 1 };
    let error = all.read(&path("/memories/zz.md"), window).await.unwrap_err();
    assert!(error.to_string().starts_with("File '/memories/zz.md' not found; "), "{error}");
    let error = all.write(&path("/memories/deep"), vec![], Expect::Absent, &Unwitnessed).await.unwrap_err();
    assert_eq!(error, BackendError::IsADirectory { path: path("/memories/deep") });
    for mount in ["/memories", "/kept"] {
        let error = all.write(&path(mount), vec![], Expect::Anything, &Unwitnessed).await.unwrap_err();
        assert_eq!(error, BackendError::IsADirectory { path: path(mount) });
        assert!(all.read(&path(mount), window).await.is_err());
    }
}

#[tokio::test]
async fn a_change_is_told_in_outer_words() {
    let all = sample();
    let change = all.write(&path("/memories/new.md"), b"x".to_vec(), Expect::Absent, &Unwitnessed).await.unwrap();
    assert_eq!((change.path, change.state[0].0.clone()), (path("/memories/new.md"), path("/memories/new.md")));
}

#[tokio::test]
async fn read_only_routes_and_mounts_stay() {
    let all = sample();
    let skill = path("/kept/skills/s/SKILL.md");
    let read_only = BackendError::ReadOnly { path: skill.clone() };
    assert_eq!(all.write(&skill, vec![], Expect::Anything, &Unwitnessed).await.unwrap_err(), read_only);
    assert_eq!(all.upload(vec![(skill.clone(), vec![])]).await, [Err(read_only.clone())]);
    let deleter = all.deleter().unwrap();
    assert_eq!(deleter.delete(&skill, Expect::Anything, &Unwitnessed).await.unwrap_err(), read_only);
    for mount in ["/", "/memories", "/memories/team", "/kept", "/kept/skills"] {
        let error = deleter.delete(&path(mount), Expect::Anything, &Unwitnessed).await.unwrap_err();
        assert_eq!(error, BackendError::ProtectedRoot { path: path(mount) });
    }
}

#[tokio::test]
async fn one_search_over_all() {
    let all = sample();
    let every =
        ["/kept/skills/s/SKILL.md", "/memories/a.md", "/memories/team/c.md", "/memories_evil/x.md", "/src/main.rs"];
    assert_eq!(grep(&all, todo(5, "/", None)).await, (every.map(str::to_owned).to_vec(), None));
    assert_eq!(
        grep(&all, todo(4, "/", None)).await,
        (every[..4].iter().map(ToString::to_string).collect(), Some(Truncation::Count))
    );
    assert_eq!(grep(&all, todo(9, "/memories", None)).await.0, every[1..3]);
    assert_eq!(grep(&all, todo(9, "/kept", None)).await.0, every[..1]);
    assert_eq!(grep(&all, todo(9, "/", Some("memories/*.md"))).await.0, every[1..2]);
    assert_eq!(grep(&all, todo(9, "/", Some("*.md"))).await.0, every[..4]);
}

#[tokio::test]
async fn patterns_go_on_below_mounts() {
    let all = sample();
    assert_eq!(glob(&all, "*.md", "/memories").await, ["/memories/a.md", "/memories/deep/b.md", "/memories/team/c.md"]);
    assert_eq!(glob(&all, "/memories/*.md", "/").await, ["/memories/a.md"]);
    assert_eq!(glob(&all, "memories/team/**", "/").await, ["/memories/team/c.md"]);
    assert_eq!(glob(&all, "{src,kept/skills}/**", "/").await, ["/kept/skills/s/SKILL.md", "/src/main.rs"]);
    assert_eq!(glob(&all, "/*.md", "/memories").await, ["/memories/a.md"]);
    assert_eq!(glob(&all, "lost.md", "/").await, [""; 0]);
}

/// What lies below a route's prefix in the default must not use up the count of what can be reached.
#[tokio::test]
async fn unreachable_matches_cost_nothing() {
    let hidden: Vec<(String, &str)> = (0..50).map(|at| (format!("/a/{at:02}"), "TODO")).collect();
    let mut files: Vec<(&str, &str)> = hidden.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    files.push(("/z", "TODO"));
    let all = composite(&files, vec![route("/a", &[])]);
    assert_eq!(grep(&all, todo(1, "/", None)).await, (vec!["/z".to_owned()], None));
}

/// Writes down until when it may search, and gives as many matches as are asked for: one in `/z`, each time
/// another, the others in `/a`.
struct Asked {
    files: StateBackend,
    until: Mutex<Vec<Option<Instant>>>,
}

impl Backend for Asked {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        self.files.ls(path)
    }

    fn read<'a>(&'a self, path: &'a VirtualPath, page: ReadWindow) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        self.files.read(path, page)
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        self.files.write(path, bytes, expect, witness)
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        self.files.edit(path, replacement, expect, witness)
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        let round = {
            let mut until = self.until.lock().unwrap();
            until.push(query.until);
            until.len()
        };
        let row = |place: String| GrepMatch { path: path(&place), line: 1, text: "TODO".into() };
        let mut matches: Vec<_> = (1..query.max_count).map(|at| row(format!("/a/{at:04}"))).collect();
        matches.push(row(format!("/z/{round}")));
        Box::pin(async move { Ok(GrepResult { matches, truncated: Some(Truncation::Count), ..GrepResult::default() }) })
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        self.files.glob(query)
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        self.files.upload(files)
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        self.files.download(paths)
    }
}

/// However often a part is asked again, there is one end, that of whoever asks where it comes first; what came before it
/// stays.
#[tokio::test]
async fn one_search_has_one_end() {
    let part = Arc::new(Asked { files: kept(&[]), until: Mutex::default() });
    let all = CompositeBackend::new(part.clone(), vec![route("/a", &[])]).unwrap();
    let asked = || std::mem::take(&mut *part.until.lock().unwrap());
    let latest = Instant::now() + GREP_TIME;
    let (found, _) = grep(&all, todo(5, "/", None)).await;
    assert_eq!(found, ["/z/1", "/z/2", "/z/3", "/z/4", "/z/5"], "nothing that a round found is lost");
    let ends = asked();
    let end = ends[0].unwrap();
    assert_eq!(ends, [Some(end); 5]);
    assert!(end >= latest && end <= Instant::now() + GREP_TIME);
    let sooner = end - GREP_TIME / 2;
    grep(&all, GrepQuery { until: Some(sooner), ..todo(5, "/", None) }).await;
    assert_eq!(asked(), [Some(sooner); 5]);
    let over = GrepQuery { until: Some(Instant::now()), ..todo(5, "/", None) };
    assert_eq!(grep(&all, over).await, (Vec::new(), Some(Truncation::Budget)));
    assert!(asked().is_empty());
}

#[tokio::test]
async fn a_mount_that_cannot_be_searched_is_named_beside_what_was_found() {
    let far = Route { backend: Arc::new(LateFolder::new(|| None)), ..route("/far", &[]) };
    let all = composite(&[("/a.md", "TODO here")], vec![far]);
    // Its path is as whoever asks writes it, through another path space too.
    let nested = Route { backend: Arc::new(all), ..route("/in", &[]) };
    let all = composite(&[("/b.md", "TODO")], vec![nested]);
    let failed = vec![BackendError::FolderGone { path: path("/in/far") }];
    let found = all.grep(todo(10, "/", None)).await.unwrap();
    assert_eq!((found.matches.len(), &found.failed, found.is_partial()), (2, &failed, true));
    let query = GlobQuery {
        pattern: "{*,**/*}.md".into(),
        path: path("/"),
        include_ignored: false,
        cancel: CancellationToken::new(),
    };
    let found = all.glob(query).await.unwrap();
    assert_eq!((found.paths.len(), &found.failed, found.is_partial()), (2, &failed, true));
    // What is asked about itself is an error.
    let refused = all.grep(todo(10, "/in/far", None)).await.unwrap_err();
    assert_eq!(refused, failed[0]);
}

#[tokio::test]
async fn batches_keep_their_order() {
    let all = sample();
    let up = all.upload(vec![
        (path("/memories/1"), b"1".to_vec()),
        (path("/2"), b"2".to_vec()),
        (path("/memories/a.md/x"), vec![]),
        (path("/memories/team/3"), b"3".to_vec()),
    ]);
    let refused = BackendError::NotADirectory { path: path("/memories/a.md/x") };
    assert_eq!(up.await, [Ok(()), Ok(()), Err(refused), Ok(())]);
    let down = all.download(["/memories/team/3", "/2", "/memories/1", "/memories"].map(path).to_vec()).await;
    let bytes = |text: &str| Ok(text.as_bytes().to_vec());
    assert_eq!(down, [bytes("3"), bytes("2"), bytes("1"), Err(BackendError::IsADirectory { path: path("/memories") })]);
}

#[tokio::test]
async fn a_mount_gives_way_to_the_project() {
    let project = kept(&[("/memories/x", ""), ("/_skills", ""), ("/skills", "")]);
    let top = project.ls(&VirtualPath::root()).await.unwrap();
    for (name, expected) in [("memories", "/_memories"), ("skills", "/__skills"), ("other", "/other")] {
        assert_eq!(mount_point(&top, name).unwrap(), path(expected));
    }
}

#[tokio::test]
async fn the_app_mounts_its_own() {
    let files = [("/large_tool_results/call_1", "long"), ("/_conversation_history/s.md", "old"), ("/else", "x")];
    let mounts = AppMounts {
        project: Arc::new(kept(&[("/conversation_history", "the project's own"), ("/a", "")])),
        store: None,
        project_id: "p".into(),
        files: files.iter().map(|(name, text)| (path(name), FileData::of(text.as_bytes(), None, 0))).collect(),
        blobs: None,
        routes: vec![route("/notes", &[("/n", "")])],
    };
    let all = mounts.mount().await.unwrap();
    let top = ["/_conversation_history/", "/a", "/conversation_history", "/large_tool_results/", "/notes/"];
    assert_eq!(names(&all, "/").await, top);
    let read = all.download(vec![path("/large_tool_results/call_1"), path("/_conversation_history/s.md")]).await;
    assert_eq!(read, [Ok(b"long".to_vec()), Ok(b"old".to_vec())]);
    assert!(all.shell().is_none());
}

#[tokio::test]
async fn what_a_session_keeps_stays_where_it_is() {
    let files = [("/large_tool_results/call_1", "long"), ("/_conversation_history/s.md", "old")];
    let mounts = AppMounts {
        // It has come to have the one name, and lost the other.
        project: Arc::new(kept(&[("/large_tool_results/own", ""), ("/a", "")])),
        store: None,
        project_id: "p".into(),
        files: files.iter().map(|(name, text)| (path(name), FileData::of(text.as_bytes(), None, 0))).collect(),
        blobs: None,
        routes: vec![],
    };
    let all = mounts.clone().mount().await.unwrap();
    assert_eq!(names(&all, "/").await, ["/_conversation_history/", "/a", "/large_tool_results/"]);
    assert_eq!(names(&all, "/large_tool_results").await, ["/large_tool_results/call_1"]);
    assert_eq!(names(&all, "/_conversation_history").await, ["/_conversation_history/s.md"]);
    // Another route of that place has it; then a new one is made.
    let routed = AppMounts { routes: vec![route("/_conversation_history", &[])], ..mounts }.mount().await.unwrap();
    let top = ["/_conversation_history/", "/a", "/conversation_history/", "/large_tool_results/"];
    assert_eq!(names(&routed, "/").await, top);
}

#[test]
fn a_place_and_what_it_gave_way_to_are_one() {
    let files = ["/_desk/a", "/desk/deep/b", "/deskx/c", "/_desks/d", "/x_desk/e", "/__desk", "/_x/desk/f"].map(path);
    let found = |place| kept_points(files.iter(), &path(place)).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(found("/desk"), ["/desk", "/_desk"]);
    assert_eq!(found("/desk/deep"), ["/desk/deep"]);
    assert_eq!(found("/x/desk"), ["/_x/desk"]);
    assert_eq!(found("/desk/dee"), [""; 0]);
}

#[test]
fn routes_have_places_of_their_own() {
    let new = |prefixes: &[&str]| {
        let routes = prefixes.iter().map(|prefix| route(prefix, &[])).collect();
        CompositeBackend::new(Arc::new(kept(&[])), routes).err()
    };
    assert_eq!(new(&["/"]), Some(RouteError::Root));
    assert_eq!(new(&["/a", "/b", "/a/"]), Some(RouteError::Twice { prefix: path("/a") }));
    assert_eq!(new(&["/a", "/a/b", "/ab"]), None);
}

fn some_path() -> impl Strategy<Value = VirtualPath> {
    let name = prop_oneof![Just("a"), Just("ab"), Just("b"), Just("a_evil")];
    prop::collection::vec(name, 0..5).prop_map(|segments| path(&segments.join("/")))
}

/// More than is usual; a million with `PROPTEST_CASES=1000000`, as the long form of the tests has it.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(2_000), ..usual }
}

proptest! {
    #![proptest_config(cases())]

    /// Architecture.md, law 3: the longest prefix on whole segments, and back again.
    #[test]
    fn routing_is_longest_prefix_and_reversible(
        prefixes in prop::collection::btree_set(some_path(), 0..5),
        asked in some_path(),
    ) {
        let prefixes: Vec<_> = prefixes.into_iter().filter(|prefix| !prefix.is_root()).collect();
        let all = composite(&[], prefixes.iter().map(|prefix| route(prefix.as_str(), &[])).collect());
        let (part, inner) = all.part(&asked);
        prop_assert_eq!(part.outer(&inner), asked.clone());
        let on_segments = |prefix: &&VirtualPath| {
            let (wanted, given): (Vec<_>, Vec<_>) = (prefix.segments().collect(), asked.segments().collect());
            given.starts_with(&wanted)
        };
        let longest = prefixes.iter().filter(on_segments).max_by_key(|prefix| prefix.segments().count());
        prop_assert_eq!(part.outer(&VirtualPath::root()), longest.cloned().unwrap_or_else(VirtualPath::root));
    }
}

/// A8: the folder that is gone is the one that is mounted, and the project is as it was.
#[cfg(unix)]
#[tokio::test]
async fn a_mounted_folder_that_is_gone_is_named_by_where_it_is_mounted() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let backend = crate::FilesystemBackend::open(&place, crate::FilesystemOptions::default()).unwrap();
    let mounted = Route { prefix: path("/hb"), backend: Arc::new(backend), access: Access::ReadWrite };
    let all = composite(&[("/a", "x")], vec![mounted]);
    std::fs::rename(&place, folder.path().join("elsewhere")).unwrap();
    let gone = BackendError::FolderGone { path: path("/hb") };
    assert_eq!(all.ls(&path("/hb")).await.unwrap_err(), gone);
    assert_eq!(all.read(&path("/hb/x"), ReadWindow { offset: 0, limit: 1 }).await.unwrap_err(), gone);
    assert_eq!(names(&all, "/").await, ["/a", "/hb/"]);
}
