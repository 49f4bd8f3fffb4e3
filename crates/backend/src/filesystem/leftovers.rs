//! Temporary files that a crash left beside what was being changed: complete copies of the old or the new bytes, which
//! nobody looks for.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, FileType};
use uuid::Uuid;

use crate::root::{file_type, identity};

/// Another Bosun may be at work in the same folder; none needs this long between a name and its change.
const YOUNG: Duration = Duration::from_secs(10);
/// Folders that are remembered as looked at; all are forgotten where there would be more.
const MAX_LOOKED_AT: usize = 4096;

/// A moment before this process made its first name.
static BEGUN: LazyLock<Duration> = LazyLock::new(|| made_at(Uuid::now_v7()).unwrap_or_default());
/// Folders that had none, or have none any more: those of a crash do not become more while this process lives.
static LOOKED_AT: LazyLock<Mutex<HashSet<(u64, u64)>>> = LazyLock::new(Mutex::default);

/// Hidden, so that no search meets it, and not to be guessed. It says when it was made.
pub(super) fn fresh_name() -> String {
    LazyLock::force(&BEGUN);
    format!(".bosun-{}.tmp", Uuid::now_v7().simple())
}

/// Takes them out of `folder`, once in the life of this process.
pub(super) fn remove_once(folder: &OwnedFd) {
    let Ok(stat) = rustix::fs::fstat(folder) else { return };
    let id = identity(&stat);
    let looked_at = || LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    if looked_at().contains(&id) {
        return;
    }
    if remove(folder) == Left::None {
        let mut looked_at = looked_at();
        if looked_at.len() >= MAX_LOOKED_AT {
            looked_at.clear();
        }
        looked_at.insert(id);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    None,
    /// Some may be in use, or could not be removed.
    Some,
}

/// Takes out of `folder` what is called as [`fresh_name`] does and is older than this process.
pub(super) fn remove(folder: &OwnedFd) -> Left {
    let Some(now) = made_at(Uuid::now_v7()) else { return Left::Some };
    let Ok(entries) = Dir::read_from(folder) else { return Left::Some };
    let mut left = Left::None;
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().ok().filter(|name| name.starts_with(".bosun-")) else { continue };
        let Some(made) = name_made_at(name) else { continue };
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        if !stat.is_ok_and(|stat| file_type(&stat) == FileType::RegularFile) {
            continue;
        }
        if made >= *BEGUN || now.saturating_sub(made) < YOUNG {
            left = Left::Some;
            continue;
        }
        match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) => tracing::info!(%name, "a temporary file that a crash left behind was removed"),
            Err(errno) => {
                tracing::debug!(%name, %errno, "a temporary file that a crash left behind stays");
                left = Left::Some;
            }
        }
    }
    left
}

fn name_made_at(name: &str) -> Option<Duration> {
    let word = name.strip_prefix(".bosun-")?.strip_suffix(".tmp")?;
    let id = Uuid::try_parse(word).ok()?;
    // Other ways to write the same number are not ours.
    (id.get_version_num() == 7 && id.simple().to_string() == word).then(|| made_at(id)).flatten()
}

/// Since 1970.
fn made_at(id: Uuid) -> Option<Duration> {
    let (seconds, nanoseconds) = id.get_timestamp()?.to_unix();
    Some(Duration::new(seconds, nanoseconds))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use pretty_assertions::assert_eq;
    use uuid::Uuid;

    use super::{fresh_name, made_at};
    use crate::{Backend, Expect, FilesystemBackend, FilesystemOptions, Unwitnessed, VirtualPath};

    fn name_of_age(seconds: u64) -> String {
        let now = made_at(Uuid::now_v7()).unwrap().as_millis();
        let made = u64::try_from(now).unwrap() - seconds * 1000;
        let id = uuid::Builder::from_unix_timestamp_millis(made, &[7; 10]).into_uuid();
        format!(".bosun-{}.tmp", id.simple())
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A folder with what a crash left, what another Bosun is at, and names that are only like it.
    fn arena() -> (tempfile::TempDir, Vec<String>) {
        let top = tempfile::tempdir().unwrap();
        let stays = [
            name_of_age(2),
            fresh_name(),
            ".bosun-notes.tmp".into(),
            format!(".bosun-{}.tmp", Uuid::nil().simple()),
            name_of_age(3600).to_uppercase(),
            name_of_age(3600).replace(".tmp", ".txt"),
        ];
        for name in stays.iter().chain([&name_of_age(3600), &name_of_age(3700)]) {
            fs::write(top.path().join(name), "left").unwrap();
        }
        // A folder of such a name is nobody's temporary file.
        let folder = name_of_age(7200);
        fs::create_dir(top.path().join(&folder)).unwrap();
        let mut stays = stays.to_vec();
        stays.push(folder);
        (top, stays)
    }

    #[tokio::test]
    async fn what_a_crash_left_goes_when_its_folder_is_written_to() {
        let (top, mut stays) = arena();
        let backend = FilesystemBackend::open(top.path(), FilesystemOptions::default()).unwrap();
        let path = VirtualPath::parse("/a.txt").unwrap();
        backend.write(&path, b"new".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
        stays.push("a.txt".into());
        stays.sort();
        assert_eq!(names(top.path()), stays);
        // One that was too young is looked at again.
        fs::rename(top.path().join(&stays[0]), top.path().join(name_of_age(3800))).unwrap();
        backend.write(&path, b"newer".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
        assert_eq!(names(top.path()).len(), stays.len() - 1);
    }

    /// A change that was made right before a crash is settled without another.
    #[tokio::test]
    async fn what_a_crash_left_goes_when_its_change_is_settled() {
        let (top, mut stays) = arena();
        let backend = FilesystemBackend::open(top.path(), FilesystemOptions::default()).unwrap();
        backend.tidy(&VirtualPath::parse("/a.txt").unwrap()).await;
        backend.tidy(&VirtualPath::parse("/none/a.txt").unwrap()).await;
        stays.sort();
        assert_eq!(names(top.path()), stays);
    }
}
