use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use pretty_assertions::assert_eq;

use super::{CommandChanges, SightingLimits, Sightings, SightingsByRoot, Uncompared, UnkeptChange};
use crate::{
    Backend, BlobStore, ContentHash, ExecRequest, Expect, LocalShellBackend, LocalShellOptions, OutputSink,
    Unwitnessed, VirtualPath,
};

struct Deaf;

impl OutputSink for Deaf {
    fn output(&self, _bytes: &[u8]) {}
}

struct Scene {
    folder: tempfile::TempDir,
    blobs: Arc<BlobStore>,
    shell: LocalShellBackend,
    _store: tempfile::TempDir,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, SightingLimits::default())
    }

    fn with(files: &[(&str, &str)], limits: SightingLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(folder.path(), path, text);
        }
        let blobs = Arc::new(BlobStore::open(store.path().join("blobs")).unwrap());
        let sightings = Some(Arc::new(Sightings::new(Arc::clone(&blobs), limits)));
        let options = LocalShellOptions { sightings, ..LocalShellOptions::default() };
        let shell = LocalShellBackend::open(folder.path(), options).unwrap();
        Self { folder, blobs, shell, _store: store }
    }

    async fn run(&self, command: &str) -> CommandChanges {
        let request = ExecRequest::new(command);
        self.shell.shell().unwrap().execute(request, &Deaf).await.unwrap().files.unwrap()
    }

    /// Path, before and after as texts.
    async fn told(&self, command: &str) -> Vec<(String, Option<String>, Option<String>)> {
        let found = self.run(command).await;
        assert_eq!((&found.unkept, found.more, found.uncompared), (&Vec::new(), 0, None));
        let mut told = Vec::new();
        for change in found.changes {
            told.push((
                change.path.to_string(),
                self.text(change.before.as_ref()).await,
                self.text(change.after.as_ref()).await,
            ));
        }
        told
    }

    async fn text(&self, hash: Option<&ContentHash>) -> Option<String> {
        Some(String::from_utf8(self.blobs.get(hash?).await.unwrap()).unwrap())
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> (String, Option<String>, Option<String>) {
    (path.into(), before.map(Into::into), after.map(Into::into))
}

#[tokio::test]
async fn what_a_command_makes_changes_and_removes_is_told_with_the_bytes() {
    let scene = Scene::new(&[("a.txt", "one\n"), ("b/c.txt", "two\n"), (".hidden/d", "x"), ("same", "s")]);
    assert_eq!(
        scene.told("echo more >> a.txt; rm -r b; echo new > e.txt; echo y > .hidden/d; touch same; ls").await,
        vec![
            change("/.hidden/d", Some("x"), Some("y\n")),
            change("/a.txt", Some("one\n"), Some("one\nmore\n")),
            change("/b/c.txt", Some("two\n"), None),
            change("/e.txt", None, Some("new\n")),
        ]
    );
    assert_eq!(scene.told("cat a.txt").await, vec![]);
    assert_eq!(
        scene.told("mv a.txt f.txt; printf z >> e.txt").await,
        vec![
            change("/a.txt", Some("one\nmore\n"), None),
            change("/e.txt", Some("new\n"), Some("new\nz")),
            change("/f.txt", None, Some("one\nmore\n")),
        ]
    );
}

#[tokio::test]
async fn times_that_were_set_back_do_not_deceive() {
    let scene = Scene::new(&[("a", "1111")]);
    scene.run("true").await;
    assert_eq!(
        scene.told("cp -p a old; printf 2222 > a; touch -r old a; rm old").await,
        vec![change("/a", Some("1111"), Some("2222"))]
    );
}

#[tokio::test]
async fn rights_before_and_after_are_told_also_where_they_are_all_that_changed() {
    let scene = Scene::new(&[("a", "a"), ("b", "b"), ("c", "c")]);
    scene.run("chmod 644 a b c").await;
    let modes = |found: CommandChanges| -> Vec<_> {
        let modes = found.changes.iter().map(|change| (change.path.to_string(), change.mode, change.mode_after));
        modes.collect()
    };
    let (closed, open) = (Some(0o644), Some(0o755));
    assert_eq!(
        modes(
            scene.run("chmod 755 a; printf more >> b; rm c; printf d > d; chmod 755 d; chmod 600 b; chmod 644 b").await
        ),
        [
            ("/a".into(), closed, open),
            ("/b".into(), closed, closed),
            ("/c".into(), closed, None),
            ("/d".into(), None, open)
        ]
    );
    assert_eq!(scene.told("chmod 644 a").await, vec![change("/a", Some("a"), Some("a"))]);
    assert_eq!(scene.told("chmod 755 a; chmod 644 a; touch b").await, vec![]);
    let mode = std::fs::metadata(scene.folder.path().join("a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[tokio::test]
async fn ignored_files_are_nobodys_business_and_naming_them_deletes_nothing() {
    let scene = Scene::new(&[(".gitignore", "target/\n"), ("target/x", "old"), ("notes", "n"), ("log", "l")]);
    write(scene.folder.path(), ".git/HEAD", "ref");
    assert_eq!(scene.told("echo a > target/x; echo b > target/y; echo c > .git/HEAD").await, vec![]);
    tokio::time::sleep(std::time::Duration::from_millis(120)).await;
    assert_eq!(
        scene.told("printf 'target/\\nlog\\n' > .gitignore").await,
        vec![change("/.gitignore", Some("target/\n"), Some("target/\nlog\n"))]
    );
    assert_eq!(
        scene.told("rm .gitignore").await,
        vec![change("/.gitignore", Some("target/\nlog\n"), None)],
        "what no longer is ignored was there before"
    );
}

#[tokio::test]
async fn a_persons_edits_between_commands_are_not_the_commands() {
    let scene = Scene::new(&[("a", "1"), ("b", "1")]);
    scene.run("true").await;
    write(scene.folder.path(), "a", "mine");
    write(scene.folder.path(), "c", "mine");
    std::fs::remove_file(scene.folder.path().join("b")).unwrap();
    assert_eq!(scene.told("echo x >> a").await, vec![change("/a", Some("mine"), Some("minex\n"))]);
}

#[tokio::test]
async fn what_a_tool_writes_beside_a_command_is_the_tools() {
    let scene = Scene::new(&[("a", "1")]);
    let running = scene.run("echo started > b; while [ ! -e c ]; do sleep 0.01; done");
    let tool = async {
        while !scene.folder.path().join("b").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let write = |path: &'static str| {
            let path = VirtualPath::parse(path).unwrap();
            let shell = &scene.shell;
            async move { shell.write(&path, b"tool".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap() }
        };
        write("/a").await;
        write("/c").await;
    };
    let (found, ()) = tokio::join!(running, tool);
    let paths: Vec<&str> = found.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["/b"]);
}

#[tokio::test]
async fn of_two_commands_at_once_each_change_is_told_once() {
    let scene = Scene::new(&[("a", "1")]);
    let first = scene.run("echo 2 > a; touch one; while [ ! -e two ]; do sleep 0.01; done; sleep 0.1");
    let second = async {
        while !scene.folder.path().join("one").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        scene.run("echo 3 > a; touch two").await
    };
    let (first, second) = tokio::join!(first, second);
    let mut paths: Vec<String> =
        first.changes.iter().chain(&second.changes).map(|change| change.path.to_string()).collect();
    paths.sort();
    assert_eq!(paths, ["/a", "/one", "/two"]);
    let a = first.changes.iter().find(|change| change.path.as_str() == "/a").unwrap();
    assert_eq!(
        (scene.text(a.before.as_ref()).await, scene.text(a.after.as_ref()).await),
        (Some("1".into()), Some("3\n".into()))
    );
}

#[tokio::test]
async fn what_is_too_large_is_named_and_cannot_be_undone() {
    let limits = SightingLimits { file_bytes: 4, ..SightingLimits::default() };
    let scene = Scene::with(&[("big", "12345"), ("small", "1")], limits);
    let found = scene.run("echo more >> big; echo long enough > new; echo long enough >> small").await;
    assert_eq!(found.changes, vec![]);
    let unkept = |path: &str, before, after| UnkeptChange { path: VirtualPath::parse(path).unwrap(), before, after };
    assert_eq!(
        found.unkept,
        vec![unkept("/big", Some(5), Some(10)), unkept("/new", None, Some(12)), unkept("/small", Some(1), Some(13)),]
    );
}

#[tokio::test]
async fn rights_of_what_is_not_kept_are_told_as_what_cannot_be_undone() {
    let limits = SightingLimits { file_bytes: 4, ..SightingLimits::default() };
    let scene = Scene::with(&[("big", "12345")], limits);
    scene.run("chmod 644 big").await;
    let found = scene.run("chmod 755 big").await;
    let unkept = |path: &str, size| {
        let path = VirtualPath::parse(path).unwrap();
        UnkeptChange { path, before: Some(size), after: Some(size) }
    };
    assert_eq!((found.changes, found.unkept), (vec![], vec![unkept("/big", 5)]));
    assert_eq!(scene.told("chmod 644 big; chmod 755 big; cat big").await, vec![]);

    let limits = SightingLimits { changes: 1, ..SightingLimits::default() };
    let scene = Scene::with(&[("a", "1"), ("b", "12"), ("c", "123")], limits);
    scene.run("chmod 644 a b c").await;
    let found = scene.run("chmod 755 a b; chmod 600 c; chmod 644 c").await;
    assert_eq!((found.changes.len(), found.unkept), (1, vec![unkept("/b", 2)]));
}

#[tokio::test]
async fn what_nobody_may_read_any_more_has_the_bytes_that_it_had() {
    let scene = Scene::new(&[("a", "1"), ("b", "1")]);
    scene.run("chmod 644 a b").await;
    let found = scene.run("chmod 000 a; printf 2 > b; chmod 000 b").await;
    let modes: Vec<_> =
        found.changes.iter().map(|change| (change.path.as_str(), change.mode, change.mode_after)).collect();
    let is_any_read = std::fs::read(scene.folder.path().join("a")).is_ok();
    assert_eq!(modes.first(), Some(&("/a", Some(0o644), Some(0))));
    assert_eq!(found.changes.first().map(|change| change.before == change.after), Some(true));
    let unread = UnkeptChange { path: VirtualPath::parse("/b").unwrap(), before: Some(1), after: Some(1) };
    assert_eq!(found.unkept, if is_any_read { vec![] } else { vec![unread] });
}

#[tokio::test]
async fn a_flood_is_counted() {
    let limits = SightingLimits { changes: 10, named: 5, ..SightingLimits::default() };
    let scene = Scene::with(&[], limits);
    let found = scene.run("for i in $(seq 1 40); do echo $i > $i; done").await;
    assert_eq!((found.changes.len(), found.unkept.len(), found.more), (10, 5, 25));
    assert_eq!(scene.told("true").await, vec![]);
}

#[tokio::test]
async fn in_a_folder_with_too_many_files_nothing_is_compared() {
    let limits = SightingLimits { files: 2, ..SightingLimits::default() };
    let scene = Scene::with(&[("a", "1"), ("b", "1"), ("c", "1")], limits);
    let found = scene.run("echo x > a").await;
    assert_eq!(found, CommandChanges { uncompared: Some(Uncompared::TooMany { limit: 2 }), ..Default::default() });
}

/// `cargo test -p bosun-backend --release large_tree -- --ignored --nocapture`
#[tokio::test]
#[ignore = "a measurement, for when someone asks what it costs"]
async fn a_large_tree() {
    let files: usize = std::env::var("FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000);
    let scene = Scene::new(&[]);
    for at in 0..files {
        let text = format!("// file {at}\n{}", "let some = code(that, is, like, code);\n".repeat(at % 400));
        write(scene.folder.path(), &format!("d{}/e{}/f{at}.rs", at % 100, at % 7), &text);
    }
    for command in ["true", "true", "for i in $(seq 100 299); do echo x >> d$((i%100))/e$((i%7))/f$i.rs; done", "true"]
    {
        let begun = std::time::Instant::now();
        let found = scene.run(command).await;
        println!("{files} files: {:?}, {} changes, {:?}", begun.elapsed(), found.changes.len(), found.uncompared);
    }
}

/// Says to a second process of this test that it is the one to be killed.
const DOOMED: &str = "BOSUN_TEST_DOOMED";

fn kept_scene(folder: &Path, data: &Path) -> LocalShellBackend {
    let blobs = Arc::new(BlobStore::open(data.join("blobs")).unwrap());
    let sightings = Sightings::kept_in(blobs, SightingLimits::default(), data.join("seen/project"));
    let options = LocalShellOptions { sightings: Some(Arc::new(sightings)), ..LocalShellOptions::default() };
    LocalShellBackend::open(folder, options).unwrap()
}

#[tokio::test]
async fn what_a_command_did_is_found_out_after_the_app_was_killed_under_it() {
    let command = "printf new > a.txt; rm b.txt; echo made > c.txt; touch ready; sleep 60";
    let request = || ExecRequest::new(command);
    if let Some(place) = std::env::var_os(DOOMED) {
        let place = Path::new(&place);
        let shell = kept_scene(&place.join("project"), &place.join("data"));
        shell.shell().unwrap().execute(request(), &Deaf).await.unwrap();
        unreachable!("it is killed before");
    }
    let place = tempfile::tempdir().unwrap();
    let (project, data) = (place.path().join("project"), place.path().join("data"));
    for (path, text) in [("a.txt", "old"), ("b.txt", "gone"), ("kept.txt", "kept")] {
        write(&project, path, text);
    }
    let mut app = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "manifest::tests::what_a_command_did_is_found_out_after_the_app_was_killed_under_it"])
        .env(DOOMED, place.path())
        .spawn()
        .unwrap();
    for _ in 0..1_000 {
        if project.join("ready").exists() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(project.join("ready").exists(), "the command never ran");
    app.kill().unwrap();
    app.wait().unwrap();

    let shell = kept_scene(&project, &data);
    let left = shell.shell().unwrap().left_over().await.unwrap();
    let paths: Vec<&str> = left.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(
        (paths, &left.unkept, left.uncompared),
        (vec!["/a.txt", "/b.txt", "/c.txt", "/ready"], &Vec::new(), None)
    );
    let blobs = BlobStore::open(data.join("blobs")).unwrap();
    assert_eq!(blobs.get(left.changes[0].before.as_ref().unwrap()).await.unwrap(), b"old");
    assert_eq!(blobs.get(left.changes[0].after.as_ref().unwrap()).await.unwrap(), b"new");
    assert_eq!(blobs.get(left.changes[1].before.as_ref().unwrap()).await.unwrap(), b"gone");
    assert_eq!(left.changes[1].after, None);
    // It is told once, and the next command has its own.
    assert_eq!(shell.shell().unwrap().left_over().await, Some(CommandChanges::default()));
    let next = ExecRequest::new("rm kept.txt");
    let next = shell.shell().unwrap().execute(next, &Deaf).await.unwrap().files.unwrap();
    assert_eq!(next.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["/kept.txt"]);
    drop(shell);
    assert_eq!(kept_scene(&project, &data).shell().unwrap().left_over().await, Some(CommandChanges::default()));
}

#[tokio::test]
async fn two_processes_do_not_take_each_others_notes() {
    let place = tempfile::tempdir().unwrap();
    let (project, data) = (place.path().join("project"), place.path().join("data"));
    write(&project, "a.txt", "old");
    let (first, second) = (kept_scene(&project, &data), kept_scene(&project, &data));
    for (shell, text) in [(&first, "one"), (&second, "two")] {
        let command = format!("printf {text} > a.txt");
        let request = ExecRequest::new(command);
        let found = shell.shell().unwrap().execute(request, &Deaf).await.unwrap().files.unwrap();
        assert_eq!(found.changes.len(), 1, "{found:?}");
    }
}

#[tokio::test]
async fn what_could_not_be_kept_at_first_is_kept_at_the_next_look() {
    let place = tempfile::tempdir().unwrap();
    let (project, data) = (place.path().join("project"), place.path().join("data"));
    write(&project, "a.txt", "old");
    let blobs = Arc::new(BlobStore::open(data.join("blobs")).unwrap());
    let sightings = Arc::new(Sightings::new(blobs, SightingLimits::default()));
    let options = LocalShellOptions { sightings: Some(Arc::clone(&sightings)), ..LocalShellOptions::default() };
    let shell = LocalShellBackend::open(&project, options).unwrap();
    let run = async |command: &str| {
        let request = ExecRequest::new(command);
        shell.shell().unwrap().execute(request, &Deaf).await.unwrap().files.unwrap()
    };
    run("true").await;
    // As if there had been no time for it.
    sightings.write().files.values_mut().for_each(|seen| seen.kept = None);
    run("true").await;
    let found = run("printf new > a.txt").await;
    assert_eq!((found.changes.len(), found.unkept.len()), (1, 0), "{found:?}");
}

#[tokio::test]
async fn what_a_command_left_goes_along_where_the_folder_is_moved() {
    let place = tempfile::tempdir().unwrap();
    let (old, new, data) = (place.path().join("old"), place.path().join("new"), place.path().join("data"));
    write(&old, "a.txt", "old");
    let opened = |root: &Path, roots: &SightingsByRoot| {
        let blobs = Arc::new(BlobStore::open(data.join("blobs")).unwrap());
        let options = LocalShellOptions { sightings: Some(roots.of(root, &blobs)), ..LocalShellOptions::default() };
        (LocalShellBackend::open(root, options).unwrap(), blobs)
    };
    {
        let (shell, _) = opened(&old, &SightingsByRoot::default());
        let command =
            shell.shell().unwrap().execute(ExecRequest::new("printf new > a.txt; touch ready; sleep 60"), &Deaf);
        // Dropped as by an end of the app: nobody finds out what it did.
        tokio::select! {
            _ = command => unreachable!("it sleeps"),
            () = async { while !old.join("ready").exists() { tokio::time::sleep(std::time::Duration::from_millis(10)).await } } => {}
        }
    }
    std::fs::rename(&old, &new).unwrap();
    let roots = SightingsByRoot::default();
    let blobs = BlobStore::open(data.join("blobs")).unwrap();
    roots.moved(&old, &new, &blobs);
    let (shell, _) = opened(&new, &roots);
    let left = shell.shell().unwrap().left_over().await.unwrap();
    let change = left.changes.iter().find(|change| change.path.as_str() == "/a.txt").unwrap();
    assert_eq!(blobs.get(change.before.as_ref().unwrap()).await.unwrap(), b"old");
    assert_eq!(blobs.get(change.after.as_ref().unwrap()).await.unwrap(), b"new");
    // Told once, and only where the folder is now.
    write(&old, "a.txt", "another");
    let (shell, _) = opened(&old, &roots);
    assert_eq!(shell.shell().unwrap().left_over().await, Some(CommandChanges::default()));
}
