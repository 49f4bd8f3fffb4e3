use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::fault::fault;
use crate::root::{FOLDER, Links, NAME, Root, file_type, modified_ns, size};
use crate::{BackendError, FileInfo, Listed, VirtualPath};

/// Entries of one listing: the first in order. A folder with a million files costs bounded memory, and no caller shows
/// this many.
const MAX_ENTRIES: usize = 100_000;
/// For fewer entries another thread costs more than it saves.
const ALONE: usize = 500;
const MAX_THREADS: usize = 4;

pub(super) fn list(root: &Root, path: &VirtualPath) -> Result<Listed, BackendError> {
    let folder = root.open_path(path, FOLDER, Links::Follow).map_err(|errno| match errno {
        Errno::NOENT => BackendError::DirectoryNotFound { path: path.clone() },
        other => fault(other, path),
    })?;
    let mut names = Vec::new();
    let mut left_out = 0;
    for entry in rustix::fs::Dir::read_from(&folder).map_err(|errno| fault(errno, path))? {
        let entry = entry.map_err(|errno| fault(errno, path))?;
        match entry.file_name().to_str() {
            Ok("." | "..") => {}
            Ok(name) => {
                names.push(name.to_owned());
                if names.len() >= 2 * MAX_ENTRIES {
                    keep_first(&mut names);
                }
            }
            // It cannot be a path here, so that it could only be shown, never used.
            Err(_) => left_out += 1,
        }
    }
    // Files lie beside one another in the system's memory about as they are called: in this order their state is found
    // faster, and the rows are in theirs.
    keep_first(&mut names);
    let rows = side_by_side(&names, |name| {
        let stat = rustix::fs::statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        row(root, path.join(name).ok()?, &stat)
    });
    Ok(Listed { rows, left_out })
}

/// The rows of `names`, in their order; those of a large folder by several threads.
fn side_by_side(names: &[String], row: impl Fn(&str) -> Option<FileInfo> + Sync) -> Vec<FileInfo> {
    let rows = |names: &[String]| names.iter().filter_map(|name| row(name)).collect::<Vec<_>>();
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

fn keep_first(names: &mut Vec<String>) {
    names.sort_unstable();
    names.truncate(MAX_ENTRIES);
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
            let names: Vec<String> = (0..count).map(|number| format!("{number:05}")).collect();
            let row = |name: &str| {
                let path = VirtualPath::root().join(name).unwrap();
                let is_dir = false;
                (!name.ends_with('3')).then_some(FileInfo {
                    path,
                    is_dir,
                    is_link: false,
                    size: None,
                    modified_ns: None,
                })
            };
            let listed: Vec<_> = side_by_side(&names, row).into_iter().map(|row| row.path.to_string()).collect();
            let wanted: Vec<_> =
                names.iter().filter(|name| !name.ends_with('3')).map(|name| format!("/{name}")).collect();
            assert_eq!(listed, wanted);
        }
    }
}
