//! What only those can show who have the place's file system beside the backend: links, modes, what is no file, and
//! somebody else who saves. `folder` is the backend's root on this machine.
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bosun_backend::{
    Backend, BackendError, BoxFuture, ChangeWitness, Expect, GrepQuery, PlannedChange, Replacement, Unwitnessed,
};
use pretty_assertions::assert_eq;

use crate::places::{ran, ran_if};
use crate::shell::run;
use crate::support::{edit, given, glob, glob_query, grep, grep_query, kinds, names, path, stamp, text, write};

fn put(folder: &Path, name: &str, text: &str) {
    let at = folder.join(name);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

async fn delete(backend: &dyn Backend, name: &str) -> Result<(), BackendError> {
    delete_before(backend, name, &Unwitnessed).await
}

async fn delete_before(backend: &dyn Backend, name: &str, witness: &dyn ChangeWitness) -> Result<(), BackendError> {
    backend.deleter().unwrap().delete(&path(name), Expect::Anything, witness).await.map(|_| ())
}

/// P09, P10, P11: links in, out and in a loop.
pub async fn links_lead_in_and_never_out(backend: &dyn Backend, folder: &Path) {
    put(folder, "dir/f", "inside");
    let links = [
        ("dir/f", "good"),
        ("dir", "gooddir"),
        ("../out/secret", "bad"),
        ("/tmp", "baddir"),
        ("/etc/passwd", "worse"),
        ("loop", "loop"),
        ("nowhere", "broken"),
    ];
    for (target, name) in links {
        symlink(target, folder.join(name)).unwrap();
    }
    for name in ["/bad", "/baddir/new", "/baddir/deep/er/new", "/worse"] {
        let outside = BackendError::OutsideRoot { path: path(name) };
        assert_eq!(write(backend, name, "new", Expect::Anything).await.unwrap_err(), outside);
        assert_eq!(edit(backend, name, "a", "b").await.unwrap_err(), outside);
        assert_eq!(backend.download(vec![path(name)]).await.remove(0).unwrap_err(), outside);
    }
    // A file is no folder to go up from, whether it is named itself or by a link.
    for (target, name) in [("dir/f/../f", "/odd"), ("good/../good", "/oddly"), ("worse/../hosts", "/odder")] {
        symlink(target, folder.join(name.trim_start_matches('/'))).unwrap();
        let read = backend.download(vec![path(name)]).await.remove(0).unwrap_err();
        let written = write(backend, name, "new", Expect::Anything).await.unwrap_err();
        let said = match name {
            "/odder" => BackendError::OutsideRoot { path: path(name) },
            _ => BackendError::NotADirectory { path: path(name) },
        };
        assert_eq!((read, written), (said.clone(), said));
        fs::remove_file(folder.join(name.trim_start_matches('/'))).unwrap();
    }
    let refused = write(backend, "/loop", "new", Expect::Anything).await.unwrap_err();
    assert_eq!(refused, BackendError::LinkLoop { path: path("/loop") });
    assert_eq!((text(backend, "/good").await, text(backend, "/gooddir/f").await), ("inside".into(), "inside".into()));
    write(backend, "/good", "new", Expect::Anything).await.unwrap();
    assert_eq!(fs::read_to_string(folder.join("dir/f")).unwrap(), "new");
    assert!(folder.join("good").is_symlink(), "the link stays a link");
    assert_eq!(names(backend, "/").await, ["/broken", "/dir/", "/good", "/gooddir/", "/loop"]);
    assert_eq!(grep(backend, grep_query("new")).await, ["/dir/f:1:new", "/good:1:new"]);
    let links: Vec<String> = backend
        .ls(&path("/"))
        .await
        .unwrap()
        .into_iter()
        .filter(|row| row.is_link)
        .map(|row| row.path.to_string())
        .collect();
    assert_eq!(links, ["/broken", "/good", "/gooddir", "/loop"]);
    assert_eq!(kinds(&backend.names(&path("/")).await.unwrap()), kinds(&backend.ls(&path("/")).await.unwrap()));
    for (name, is_link) in [("/gooddir", true), ("/good", true), ("/dir", false), ("/gooddir/f", false), ("/", false)] {
        assert_eq!(backend.stat(&path(name)).await.unwrap().is_link, is_link, "{name}");
    }
    delete(backend, "/gooddir").await.unwrap();
    assert!(folder.join("dir/f").exists() && !folder.join("gooddir").is_symlink());
}

/// P09, P10: a link on the way means the same wherever it is met, also where what it leads to cannot be seen from there.
pub async fn links_on_the_way_mean_the_same(backend: &dyn Backend, folder: &Path) {
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "x", "secret");
    put(folder, "dir/f", "needle");
    let out = outside.path();
    for (target, name) in [
        (out, "outd"),
        (&out.join("x"), "outf"),
        (&out.join("none"), "outn"),
        (Path::new("/"), "top"),
        (Path::new("loop"), "loop"),
        (Path::new("round"), "way"),
        (Path::new("way"), "round"),
        (Path::new("dir/f"), "file"),
        (Path::new("nowhere"), "brk"),
        (Path::new("dir"), "in"),
        (Path::new("in/../brk"), "far"),
    ] {
        symlink(target, folder.join(name)).unwrap();
    }
    type Kind = fn(bosun_backend::VirtualPath) -> BackendError;
    let outside: Kind = |path| BackendError::OutsideRoot { path };
    let endless: Kind = |path| BackendError::LinkLoop { path };
    let no_folder: Kind = |path| BackendError::NotADirectory { path };
    let missing: Kind = |path| BackendError::NotFound { path };
    for (name, kind) in [
        ("/outd/x", outside),
        ("/outd/new/x", outside),
        ("/outd/none", outside),
        ("/outf/x", outside),
        ("/outn/x", outside),
        ("/top/etc/passwd", outside),
        ("/in/../outd/x", outside),
        ("/loop/x", endless),
        ("/loop/x/y", endless),
        ("/round/x", endless),
        ("/file/x", no_folder),
        ("/brk/x", missing),
        ("/far/x", missing),
    ] {
        let Ok(name) = bosun_backend::VirtualPath::parse(name) else { continue };
        let refused = Some(kind(name.clone()));
        let replacement = Replacement { old: "needle", new: "new", all: false };
        let listed = match kind(name.clone()) {
            BackendError::NotFound { path } => Some(BackendError::DirectoryNotFound { path }),
            error => Some(error),
        };
        // A search that begins nowhere finds nothing.
        let searched = refused
            .clone()
            .filter(|error| matches!(error, BackendError::OutsideRoot { .. } | BackendError::LinkLoop { .. }));
        let grep = backend.grep(GrepQuery { path: name.clone(), ..grep_query("needle") }).await;
        for (way, answer, said) in [
            ("read", backend.download(vec![name.clone()]).await.remove(0).err(), &refused),
            ("edit", backend.edit(&name, replacement, Expect::Anything, &Unwitnessed).await.err(), &refused),
            ("delete", delete(backend, name.as_str()).await.err(), &refused),
            ("ls", backend.ls(&name).await.err(), &listed),
            ("glob", backend.glob(glob_query("*", name.as_str())).await.err(), &searched),
            ("grep", grep.err(), &searched),
        ] {
            assert_eq!(answer, *said, "{way} {name}");
        }
        if !matches!(refused, Some(BackendError::NotFound { .. })) {
            assert_eq!(write(backend, name.as_str(), "mine", Expect::Anything).await.err(), refused, "write {name}");
        }
    }
    assert_eq!(fs::read_dir(out).unwrap().count(), 1);
    // What does not lead anywhere yet leads to where something is made.
    write(backend, "/brk/deep/x", "made", Expect::Anything).await.unwrap();
    write(backend, "/far/y", "made", Expect::Absent).await.unwrap();
    assert_eq!(fs::read_to_string(folder.join("nowhere/deep/x")).unwrap(), "made");
    assert_eq!(text(backend, "/nowhere/y").await, "made");
    let shown = ["/brk/", "/dir/", "/far/", "/file", "/in/", "/loop", "/nowhere/", "/round", "/way"];
    assert_eq!(names(backend, "/").await, shown);
}

/// P28: what a file has besides its bytes stays, or it is said.
pub async fn a_change_keeps_mode_and_attributes_or_says_so(backend: &dyn Backend, folder: &Path) {
    put(folder, "f", "old");
    let at = folder.join("f");
    let note = rustix::fs::setxattr(&at, "user.note", b"kept", rustix::fs::XattrFlags::empty());
    let has_note = note.is_ok();
    for mode in [0o4755, 0o6711, 0o640, 0o4644] {
        fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
        let (old, new) = if mode == 0o4755 { ("old", "new") } else { ("new", "new too new") };
        let changed = edit(backend, "/f", old, new).await.unwrap();
        assert_eq!(fs::metadata(&at).unwrap().permissions().mode() & 0o7777, mode);
        fs::write(&at, "new").unwrap();
        let mut value = [0; 8];
        let kept =
            rustix::fs::getxattr(&at, "user.note", &mut value[..]).is_ok_and(|length| &value[..length] == b"kept");
        assert!(!changed.handed_over);
        assert_eq!(changed.stripped, has_note && !kept, "mode {mode:o}");
        if has_note {
            rustix::fs::setxattr(&at, "user.note", b"kept", rustix::fs::XattrFlags::empty()).unwrap();
        }
    }
}

/// P09: an ignore file that is a link, or that a link leads to, is none, wherever it leads.
pub async fn a_linked_ignore_file_is_none(backend: &dyn Backend, folder: &Path) {
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "rules", "*.txt\n");
    put(outside.path(), "info/exclude", "*.txt\n");
    let seen = ["in/a.txt", "out/a.txt", "own/a.md", "git/a.txt", "info/a.txt", "exclude/a.txt", "later/deep/a.txt"];
    for name in seen {
        put(folder, name, "needle\n");
    }
    for (name, text) in [("rules", "*.txt\n"), ("own/.gitignore", "*.txt\n"), ("own/a.txt", "needle\n")] {
        put(folder, name, text);
    }
    for name in ["info/.git", "exclude/.git/info"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let rules = outside.path().join("rules");
    for (target, name) in [
        (Path::new("../rules"), "in/.gitignore"),
        (&rules, "out/.gitignore"),
        (&rules, "out/.ignore"),
        (outside.path(), "git/.git"),
        (&outside.path().join("info"), "info/.git/info"),
        (&rules, "exclude/.git/info/exclude"),
        (&rules, "later/.gitignore"),
    ] {
        symlink(target, folder.join(name)).unwrap();
    }
    let mut names: Vec<String> = seen.map(|name| format!("/{name}")).into();
    names.sort();
    let rows = |names: &[String]| names.iter().map(|name| format!("{name}:1:needle")).collect::<Vec<_>>();
    assert_eq!(grep(backend, grep_query("needle")).await, rows(&names));
    names.retain(|name| name.ends_with(".txt"));
    assert_eq!(glob(backend, "*.txt").await, names);
    // Nor is one in a folder above where the search begins.
    let below = GrepQuery { path: path("/later/deep"), ..grep_query("needle") };
    assert_eq!(grep(backend, below).await, ["/later/deep/a.txt:1:needle"]);
}

/// P18: what is no file is refused by name at once, never waited for.
pub async fn pipes_sockets_and_devices(backend: &dyn Backend, folder: &Path) {
    ran("mkfifo", &[folder.join("pipe").to_str().unwrap()]);
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    symlink("pipe", folder.join("to-pipe")).unwrap();
    symlink("/dev/zero", folder.join("zero")).unwrap();
    let device = ran_if("mknod", &[folder.join("device").to_str().unwrap(), "c", "1", "5"]);
    put(folder, "text.txt", "needle\n");
    let mut found = vec!["/pipe", "/socket", "/to-pipe", "/zero"];
    found.extend(device.then_some("/device"));
    let all = async {
        for name in found {
            let typed = |error: BackendError| {
                let known = matches!(error, BackendError::NotRegular { .. } | BackendError::OutsideRoot { .. });
                assert!(known && error.to_string().contains(name), "{name}: {error}");
            };
            typed(backend.download(vec![path(name)]).await.remove(0).unwrap_err());
            typed(write(backend, name, "x", Expect::Anything).await.unwrap_err());
            typed(edit(backend, name, "a", "b").await.unwrap_err());
        }
        assert_eq!(grep(backend, grep_query("needle")).await, ["/text.txt:1:needle"]);
        delete(backend, "/pipe").await.unwrap();
    };
    tokio::time::timeout(Duration::from_secs(120), all).await.unwrap();
    assert!(!folder.join("pipe").exists());
}

/// P31: a mode that lets nobody write is respected, for the superuser too, before anybody is told of a change.
pub async fn read_only_is_respected(backend: &dyn Backend, folder: &Path) {
    let give = |name: &str, mode| fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    put(folder, "fixed", "old");
    put(folder, "shut/in", "old");
    put(folder, "tree/shut/in", "old");
    give("fixed", 0o444);
    give("shut", 0o555);
    give("tree/shut", 0o555);
    let witness = crate::support::Witness::default();
    for name in ["/fixed", "/shut/in", "/shut/new", "/shut/new/deeper"] {
        let refused = backend.write(&path(name), b"new".to_vec(), Expect::Anything, &Unwitnessed).await;
        assert_eq!(refused.unwrap_err(), BackendError::ReadOnly { path: path(name) });
    }
    for name in ["/fixed", "/shut/in"] {
        let replacement = Replacement { old: "old", new: "new", all: false };
        let refused = backend.edit(&path(name), replacement, Expect::Anything, &witness).await.unwrap_err();
        assert_eq!(refused, BackendError::ReadOnly { path: path(name) });
    }
    for (name, held) in [("/shut/in", "/shut/in"), ("/shut", "/shut"), ("/tree", "/tree/shut")] {
        let refused = delete_before(backend, name, &witness).await.unwrap_err();
        // Who can say what of a tree it is says that.
        let said = [name, held].map(|name| BackendError::ReadOnly { path: path(name) });
        assert!(said.contains(&refused), "{refused}");
    }
    assert!(witness.seen.lock().unwrap().is_empty(), "nothing was begun");
    for name in ["fixed", "shut/in", "tree/shut/in"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "old");
    }
    assert_eq!(fs::read_dir(folder.join("shut")).unwrap().count(), 1);
    give("shut", 0o755);
    give("tree/shut", 0o755);
    // The right to take a file away is its folder's.
    delete(backend, "/fixed").await.unwrap();
    delete(backend, "/tree").await.unwrap();
}

/// P15.
pub async fn hard_links_are_broken_and_it_is_said(backend: &dyn Backend, folder: &Path) {
    put(folder, "one", "old");
    fs::hard_link(folder.join("one"), folder.join("other")).unwrap();
    assert!(edit(backend, "/one", "old", "new").await.unwrap().parted);
    assert_eq!((text(backend, "/one").await, text(backend, "/other").await), ("new".into(), "old".into()));
    assert!(!edit(backend, "/one", "new", "newer").await.unwrap().parted, "it is alone now");
}

/// Somebody who saves between what is recorded and what is done.
struct Meddles {
    file: PathBuf,
    /// What becomes of it: a file, or a link.
    into: Into,
}

enum Into {
    File,
    Link,
}

impl ChangeWitness for Meddles {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        if self.file.ends_with(change.path.name().unwrap()) {
            fs::remove_file(&self.file).unwrap();
            match self.into {
                Into::File => fs::write(&self.file, "saved by somebody").unwrap(),
                Into::Link => symlink("saved by somebody", &self.file).unwrap(),
            }
        }
        Box::pin(async { Ok(()) })
    }
}

/// F01: what was recorded is what goes; what somebody saved in between stays.
pub async fn what_is_changed_in_between_stays(backend: &dyn Backend, folder: &Path) {
    put(folder, "a", "old");
    put(folder, "tree/b", "old");
    put(folder, "tree/sub/c", "old");
    symlink("b", folder.join("tree/link")).unwrap();
    symlink("a", folder.join("link")).unwrap();
    ran("mkfifo", &[folder.join("pipe").to_str().unwrap()]);
    let meddles = |name: &str, into| Meddles { file: folder.join(name), into };
    let written = backend.write(&path("/a"), b"mine".to_vec(), Expect::Anything, &meddles("a", Into::File)).await;
    assert_eq!(written.unwrap_err(), BackendError::Changed { path: path("/a") });
    put(folder, "a", "old");
    for (name, file, into) in [
        ("/a", "a", Into::File),
        ("/link", "link", Into::Link),
        ("/link", "link", Into::File),
        ("/pipe", "pipe", Into::File),
        ("/tree", "tree/link", Into::Link),
        ("/tree", "tree/link", Into::File),
        ("/tree", "tree/sub/c", Into::File),
    ] {
        let is_link = matches!(into, Into::Link);
        // What was before it is gone each time.
        put(folder, "tree/sub/c", "old");
        if file == "tree/link" && !folder.join(file).is_symlink() {
            symlink("b", folder.join(file)).unwrap();
        }
        let refused = delete_before(backend, name, &meddles(file, into)).await;
        let said = [name, file].map(|name| Err(BackendError::Changed { path: path(name) }));
        assert!(said.contains(&refused), "{file}: {refused:?}");
        let kept = folder.join(file);
        let is_there = if is_link {
            fs::read_link(kept).unwrap() == Path::new("saved by somebody")
        } else {
            fs::read_to_string(kept).unwrap() == "saved by somebody"
        };
        assert!(is_there, "{file}");
    }
    delete(backend, "/tree").await.unwrap();
    assert!(!folder.join("tree").exists());
}

/// P19, P33: who changes a file was told its path, and its own name is what a rule knows.
pub async fn no_link_leads_a_change_to_a_protected_name(backend: &dyn Backend, folder: &Path) {
    put(folder, ".git/config", "as it was");
    put(folder, ".git/hooks/old", "as it was");
    put(folder, ".github/workflows/ci.yml", "as it was");
    put(folder, "sub/.GIT/config", "as it was");
    put(folder, "workflows/plain", "old");
    fs::create_dir(folder.join(".vscode")).unwrap();
    for (target, name) in [
        (".git/config", "notes"),
        (".git/hooks", "hooks"),
        (".github", "ci"),
        ("sub/.GIT", "dressed"),
        (".envrc", "later"),
        ("workflows", "plain"),
        ("../.git/hooks", ".vscode/hooks"),
        ("../workflows", ".vscode/plain"),
        ("config", ".git/other"),
    ] {
        symlink(target, folder.join(name)).unwrap();
    }
    for name in [
        "/notes",
        "/hooks/old",
        "/hooks/new",
        "/ci/workflows/ci.yml",
        "/dressed/config",
        "/later",
        // What a person is asked about by one protected name leads to no other.
        "/.vscode/hooks/old",
    ] {
        let refused = BackendError::LinkToProtected { path: path(name) };
        assert_eq!(write(backend, name, "mine", Expect::Anything).await.unwrap_err(), refused);
    }
    for name in ["/notes", "/hooks/old", "/ci/workflows/ci.yml", "/dressed/config"] {
        let refused = BackendError::LinkToProtected { path: path(name) };
        assert_eq!(edit(backend, name, "as", "is").await.unwrap_err(), refused);
        assert_eq!(text(backend, name).await, "as it was");
    }
    for name in ["/hooks/old", "/ci/workflows", "/dressed/config"] {
        let refused = BackendError::LinkToProtected { path: path(name) };
        assert_eq!(delete(backend, name).await.unwrap_err(), refused);
    }
    assert!(!folder.join(".envrc").exists() && folder.join(".git/hooks/old").exists());
    // By its own name a person was asked about it; a link itself can go, and others lead where they lead.
    write(backend, "/.git/config", "mine", Expect::Anything).await.unwrap();
    delete(backend, "/notes").await.unwrap();
    edit(backend, "/plain/plain", "old", "new").await.unwrap();
    edit(backend, "/.vscode/plain/plain", "new", "newer").await.unwrap();
    edit(backend, "/.git/other", "mine", "still mine").await.unwrap();
    assert_eq!(text(backend, "/.git/config").await, "still mine");
}

/// A26, P06: what a shell says its folder is called is understood.
pub async fn the_folder_by_the_name_that_the_shell_has_for_it(backend: &dyn Backend, folder: &Path) {
    given(backend, &[("/in/a.txt", "there")]).await;
    let pwd = run(backend, "pwd").await.output.trim().to_owned();
    let resolved = |text: &str| backend.resolve(text).unwrap();
    let found = resolved(&format!("{pwd}/in/a.txt"));
    assert_eq!(
        (found.clone(), resolved(&pwd), resolved("/in/a.txt")),
        (path("/in/a.txt"), path("/"), path("/in/a.txt"))
    );
    assert_eq!(text(backend, found.as_str()).await, "there");
    stamp(backend, found.as_str()).await;
    // P07, and what is elsewhere.
    for other in [format!("{pwd}-evil/x"), "/etc/passwd".to_owned()] {
        assert_eq!(resolved(&other), path(&other));
    }
    // Where the project comes to have that name itself, neither is taken for the other.
    let own = pwd.split('/').nth(1).unwrap();
    put(folder, &format!("{own}/x"), "own");
    assert!(names(backend, "/").await.contains(&format!("/{own}/")));
    let given = format!("{pwd}/in/a.txt");
    let refused = BackendError::AmbiguousPath { path: path(&given), below: path("/in/a.txt") };
    assert_eq!(backend.resolve(&given).unwrap_err(), refused);
    assert_eq!((resolved(&given[1..]), resolved("/in/a.txt")), (path(&given), path("/in/a.txt")));
    assert!(backend.resolve(&format!("{pwd}/../x")).is_err());
}

/// Names that no path can say are counted where they would have been shown, and what they are in can still be looked at.
pub async fn names_that_are_not_text_are_counted(backend: &dyn Backend, folder: &Path) {
    let odd = |name: &[u8]| folder.join(std::ffi::OsStr::from_bytes(name));
    put(folder, "in/a.txt", "needle\n");
    put(folder, ".ignore", "ignored\n");
    fs::create_dir(folder.join("ignored")).unwrap();
    for name in [&b"in/\xff.txt"[..], b"in/\xfe.md", b"in/.hid\xff.txt", b"ignored/\xff.txt"] {
        fs::write(odd(name), "needle\n").unwrap();
    }
    fs::create_dir(odd(b"in/\xfd")).unwrap();
    fs::write(odd(b"in/\xfd/a.txt"), "needle\n").unwrap();
    fs::write(odd(b"in/\xfd/b.txt"), "needle\n").unwrap();
    // On Windows these go up.
    fs::write(odd(b"in/a\\..\\b.txt"), "needle\n").unwrap();
    fs::create_dir(odd(b"in/c\\..\\d")).unwrap();
    fs::write(odd(b"in/c\\..\\d/a.txt"), "needle\n").unwrap();
    let listed = backend.ls(&path("/in")).await.unwrap();
    assert_eq!((listed.rows.len(), listed.left_out), (1, 6));
    assert_eq!(backend.ls(&path("/")).await.unwrap().left_out, 0);
    let found = backend.glob(glob_query("*.txt", "/")).await.unwrap();
    assert_eq!(found.truncated, None);
    assert_eq!((found.paths, found.left_out), (vec![path("/in/a.txt")], 4), "two files and two folders");
    assert_eq!(backend.glob(glob_query("in/*.md", "/")).await.unwrap().left_out, 1);
    let found = backend.grep(grep_query("needle")).await.unwrap();
    assert_eq!((found.matches.len(), found.left_out), (1, 5), "no hidden and no ignored ones");
    let all = GrepQuery { include_ignored: true, ..grep_query("needle") };
    assert_eq!(backend.grep(all).await.unwrap().left_out, 7);
    let refused = delete(backend, "/ignored").await.unwrap_err();
    assert_eq!(refused, BackendError::NameNotText { path: path("/ignored") });
}
