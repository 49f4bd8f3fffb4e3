use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::fault::fault;
use crate::root::{FOLDER, Links, NAME, Root, file_type, modified_ns, size};
use crate::{BackendError, FileInfo, Listed, VirtualPath};

/// Entries of one listing: the first in order. A folder with a million files costs bounded memory, and no caller shows
/// this many.
const MAX_ENTRIES: usize = 100_000;

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
    let rows = names
        .into_iter()
        .filter_map(|name| {
            let stat = rustix::fs::statat(folder.as_fd(), &*name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            row(root, path.join(&name).ok()?, &stat)
        })
        .collect();
    Ok(Listed { rows, left_out })
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
