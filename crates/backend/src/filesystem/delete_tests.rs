use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use rustix::io::Errno;

use super::Doomed;
use crate::root::{Mounts, Root};
use crate::{
    Backend, BackendError, BoxFuture, ChangeWitness, Delete, Expect, FilesystemBackend, FilesystemOptions,
    PlannedChange, VirtualPath,
};

fn path(text: &str) -> VirtualPath {
    VirtualPath::parse(text).unwrap()
}

/// `/a`, found to be deleted.
fn found(folder: &Path) -> Doomed {
    let root = Root::open(folder, Mounts::Refuse).unwrap();
    Doomed::find(&root, &path("/a"), path("/a"), &Expect::Anything, u64::MAX).unwrap()
}

fn make(at: &Path, kind: &str) {
    match kind {
        "file" => fs::write(at, "old").unwrap(),
        "link" => symlink("nowhere", at).unwrap(),
        _ => mknodat(CWD, at, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap(),
    }
}

/// F01: the last look was over, and the name is somebody else's by the time of the end.
#[test]
fn what_is_saved_after_the_last_look_is_put_back() {
    for kind in ["file", "link", "pipe"] {
        let top = tempfile::tempdir().unwrap();
        let (at, other) = (top.path().join("a"), top.path().join("other"));
        let saves: [(&str, &dyn Fn()); 3] = [
            ("by rename", &|| fs::write(&other, "saved").and_then(|()| fs::rename(&other, &at)).unwrap()),
            ("as a folder", &|| {
                fs::remove_file(&at).unwrap();
                fs::create_dir(&at).unwrap();
                fs::write(at.join("saved"), "saved").unwrap();
            }),
            ("as a link", &|| fs::remove_file(&at).and_then(|()| symlink("saved", &at)).unwrap()),
        ];
        for (how, save) in saves {
            make(&at, kind);
            let doomed = found(top.path());
            save();
            let refused = doomed.take_away().unwrap_err();
            assert_eq!(refused, BackendError::Changed { path: path("/a") }, "{kind} {how}");
            let kept = match how {
                "as a link" => fs::read_link(&at).unwrap() == Path::new("saved"),
                "as a folder" => fs::read_to_string(at.join("saved")).unwrap() == "saved",
                _ => fs::read_to_string(&at).unwrap() == "saved",
            };
            assert!(kept && fs::read_dir(top.path()).unwrap().count() == 1, "{kind} {how}");
            if at.is_symlink() || at.is_file() { fs::remove_file(&at) } else { fs::remove_dir_all(&at) }.unwrap();
        }
        make(&at, kind);
        found(top.path()).take_away().unwrap();
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 0, "{kind}");
    }
}

/// The same bytes and the same object, written to with a time that does not tell.
#[test]
fn bytes_written_after_the_last_look_are_put_back() {
    let top = tempfile::tempdir().unwrap();
    let at = top.path().join("a");
    make(&at, "file");
    let doomed = found(top.path());
    let modified = at.metadata().unwrap().modified().unwrap();
    fs::write(&at, "new").unwrap();
    fs::File::options().write(true).open(&at).unwrap().set_modified(modified).unwrap();
    assert_eq!(doomed.take_away().unwrap_err(), BackendError::Changed { path: path("/a") });
    assert_eq!(fs::read_to_string(&at).unwrap(), "new");
}

#[test]
fn of_what_could_not_be_put_back_it_is_said_where_it_is() {
    let kept = super::Kept { name: "a.bosun-1".into(), errno: Errno::EXIST };
    let said = super::told(&kept, &path("/a")).to_string();
    assert!(said.contains("was not deleted") && said.contains("'a.bosun-1'"), "{said}");
}

/// Keeps what it is told of.
#[derive(Default)]
struct Recorded(Mutex<Vec<String>>);

impl ChangeWitness for Recorded {
    fn intend(&self, change: PlannedChange) -> BoxFuture<'_, Result<(), BackendError>> {
        let bytes = change.before.as_deref().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        self.0.lock().unwrap().extend(bytes);
        Box::pin(async { Ok(()) })
    }
}

/// F01: somebody saves as fast as the machine can while it is deleted and written: every save is there still, was taken
/// out by whoever saved next, or is recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_save_is_lost_that_nobody_recorded() {
    const SAVES: usize = 4000;
    const LONG: Duration = Duration::from_secs(10);
    let top = tempfile::tempdir().unwrap();
    let (project, outs) = (top.path().join("proj"), top.path().join("outs"));
    fs::create_dir(&project).unwrap();
    fs::create_dir(&outs).unwrap();
    let backend = FilesystemBackend::open(&project, FilesystemOptions::default()).unwrap();
    let (recorded, went) = (Recorded::default(), Arc::new(AtomicUsize::new(0)));
    let saver = {
        let (went, at, outs) = (Arc::clone(&went), project.join("a"), outs.clone());
        std::thread::spawn(move || {
            for number in 0..SAVES {
                let (save, begun) = (outs.join(format!("{number}")), Instant::now());
                fs::write(&save, format!("save {number}")).unwrap();
                // What was there comes out; where nothing was, the save gets the name.
                while renameat_with(CWD, &save, CWD, &at, RenameFlags::EXCHANGE).is_err()
                    && renameat_with(CWD, &save, CWD, &at, RenameFlags::NOREPLACE).is_err()
                {
                    assert!(begun.elapsed() < LONG, "save {number} has found no name to take");
                }
                // Now and then a change gets through, however long it takes here.
                let (before, begun) = (went.load(Ordering::Relaxed), Instant::now());
                while number % 1000 == 500 && went.load(Ordering::Relaxed) == before && begun.elapsed() < LONG {
                    std::thread::yield_now();
                }
            }
        })
    };
    for turn in 0.. {
        // Also where it has failed, which is told when it is joined.
        if saver.is_finished() {
            break;
        }
        if turn % 2 == 0 {
            let done = backend.delete(&path("/a"), Expect::Anything, &recorded).await;
            went.fetch_add(usize::from(done.is_ok()), Ordering::Relaxed);
        } else {
            let done = backend.write(&path("/a"), b"written".to_vec(), Expect::Anything, &recorded).await;
            went.fetch_add(usize::from(done.is_ok()), Ordering::Relaxed);
        }
    }
    saver.join().unwrap();
    assert!(went.load(Ordering::Relaxed) > 0, "nothing was changed in between");
    let mut known: std::collections::HashSet<String> = recorded.0.into_inner().unwrap().into_iter().collect();
    for folder in [&project, &outs] {
        known.extend(fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()));
    }
    let lost: Vec<String> =
        (0..SAVES).map(|number| format!("save {number}")).filter(|save| !known.contains(save)).collect();
    assert_eq!(lost, [""; 0]);
}
