use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::fault::fault;
use crate::file::Told;
use crate::root::{FOLDER, Links, NAME, Root, file_type, modified_ns, size};
use crate::{BackendError, FileInfo, Listed, VirtualPath};

/// For fewer entries another thread costs more than it saves.
const ALONE: usize = 500;
const MAX_THREADS: usize = 4;

pub(super) fn list(root: &Root, path: &VirtualPath, told: Told) -> Result<Listed, BackendError> {
    let folder = root.open_path(path, FOLDER, Links::Follow).map_err(|errno| match errno {
        Errno::NOENT => BackendError::DirectoryNotFound { path: path.clone() },
        other => fault(other, path),
    })?;
    // Who may read a folder and not enter it is told names, and nothing of what they are.
    rustix::fs::statat(&folder, ".", AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| fault(errno, path))?;
    let mut names = Vec::new();
    let (mut left_out, mut cut) = (0, false);
    for entry in rustix::fs::Dir::read_from(&folder).map_err(|errno| fault(errno, path))? {
        let entry = entry.map_err(|errno| fault(errno, path))?;
        match entry.file_name().to_str() {
            Ok("." | "..") => {}
            Ok(name) => {
                names.push((name.to_owned(), entry.file_type()));
                if names.len() >= 2 * Listed::MOST {
                    cut |= keep_first(&mut names);
                }
            }
            // It cannot be a path here, so that it could only be shown, never used.
            Err(_) => left_out += 1,
        }
    }
    // Files lie beside one another in the system's memory about as they are called: in this order their state is found
    // faster, and the rows are in theirs.
    cut |= keep_first(&mut names);
    // Nor can what is too long with all that is above it, or goes up where Windows reads it.
    let no_path = AtomicUsize::new(0);
    let rows = side_by_side(&names, |name, kind| {
        let Ok(path) = path.join(name) else {
            no_path.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        if told == Told::Names && !matches!(kind, FileType::Symlink | FileType::Unknown) {
            return Some(named(path, kind == FileType::Directory));
        }
        match rustix::fs::statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => row(root, path, &stat),
            Err(Errno::NOENT) => None,
            // It is there, whatever it is.
            Err(_) => Some(FileInfo { is_link: kind == FileType::Symlink, ..named(path, kind == FileType::Directory) }),
        }
    });
    let left_out = left_out + no_path.into_inner();
    Ok(Listed { rows, left_out, cut })
}

/// What a folder itself tells of an entry.
type Name = (String, FileType);

/// The rows of `names`, in their order; those of a large folder by several threads.
fn side_by_side(names: &[Name], row: impl Fn(&str, FileType) -> Option<FileInfo> + Sync) -> Vec<FileInfo> {
    let rows = |names: &[Name]| names.iter().filter_map(|(name, kind)| row(name, *kind)).collect::<Vec<_>>();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    if threads == 1 || names.len() < 2 * ALONE {
        return rows(names);
    }
    let share = names.len().div_ceil(threads).max(ALONE);
    let (own, others) = names.split_at(share);
    std::thread::scope(|scope| {
        let others: Vec<_> = others.chunks(share).map(|share| scope.spawn(|| rows(share))).collect();
        let mut all = rows(own);
        for other in others {
            match other.join() {
                Ok(more) => all.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

/// Whether there were more than one listing holds.
fn keep_first(names: &mut Vec<Name>) -> bool {
    names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let has_more = names.len() > Listed::MOST;
    names.truncate(Listed::MOST);
    has_more
}

/// A row of which no more is known.
fn named(path: VirtualPath, is_dir: bool) -> FileInfo {
    FileInfo { path, is_link: false, is_dir, size: None, modified_ns: None }
}

/// `None` for a link that leads out of the root. A link inside it is listed under its own name with what it leads to;
/// one that leads nowhere is listed too, so that it can be deleted.
fn row(root: &Root, path: VirtualPath, stat: &Stat) -> Option<FileInfo> {
    let followed;
    let is_link = file_type(stat) == FileType::Symlink;
    let stat = if is_link {
        match root.open_path(&path, NAME, Links::Follow).and_then(rustix::fs::fstat) {
            Ok(target) => {
                followed = target;
                &followed
            }
            Err(Errno::XDEV) => return None,
            Err(_) => stat,
        }
    } else {
        stat
    };
    Some(FileInfo {
        path,
        is_link,
        is_dir: file_type(stat) == FileType::Directory,
        size: (file_type(stat) == FileType::RegularFile).then(|| size(stat)),
        modified_ns: Some(modified_ns(stat)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_look_the_rows_are_in_order_and_none_is_lost() {
        for count in [0, 1, 2 * ALONE - 1, 2 * ALONE, 7_001] {
            let names: Vec<Name> = (0..count).map(|number| (format!("{number:05}"), FileType::RegularFile)).collect();
            let row = |name: &str, _| {
                let path = VirtualPath::root().join(name).unwrap();
                (!name.ends_with('3')).then(|| named(path, false))
            };
            let listed: Vec<_> = side_by_side(&names, row).into_iter().map(|row| row.path.to_string()).collect();
            let wanted: Vec<_> =
                names.iter().filter(|(name, _)| !name.ends_with('3')).map(|(name, _)| format!("/{name}")).collect();
            assert_eq!(listed, wanted);
        }
    }
}
