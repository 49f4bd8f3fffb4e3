use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;

use super::{Links, NAME, Root, file_type, or_dot};

/// As many as the kernel follows in one path.
const MAX_LINKS: u32 = 40;

impl Root {
    /// `relative` with its links replaced by where they lead, which has to be below the root. An absolute link that
    /// comes back into the root counts as below it. What does not exist is kept as it is.
    ///
    /// This gives a *name*, worth nothing by itself: the caller opens it with [`Links::Refuse`], so that a link that
    /// appears in it afterwards is an error.
    pub(super) fn untangle(&self, relative: &str) -> Result<String, Errno> {
        let mut todo: VecDeque<String> = names(relative).collect();
        let mut done: Vec<String> = Vec::new();
        let mut here: Option<OwnedFd> = None;
        let mut links = 0;
        while let Some(name) = todo.pop_front() {
            if name == ".." {
                done.pop().ok_or(Errno::XDEV)?;
                here = Some(self.reopen(&done)?);
                continue;
            }
            let at = here.as_ref().map_or(self.dir.as_fd(), AsFd::as_fd);
            let kind = match rustix::fs::statat(at, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => file_type(&stat),
                Err(Errno::NOENT) if !todo.iter().any(|name| name == "..") => {
                    done.push(name);
                    done.extend(todo);
                    break;
                }
                Err(errno) => return Err(errno),
            };
            match kind {
                FileType::Symlink => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno::LOOP);
                    }
                    let target = rustix::fs::readlinkat(at, &*name, Vec::new())?;
                    let target = target.into_string().map_err(|_| Errno::ILSEQ)?;
                    let inside = if target.starts_with('/') {
                        done.clear();
                        here = None;
                        self.below(&target).ok_or(Errno::XDEV)?
                    } else {
                        target
                    };
                    for name in names(&inside).rev() {
                        todo.push_front(name);
                    }
                }
                FileType::Directory => {
                    here = Some(self.open_child(at, &name, NAME | OFlags::DIRECTORY)?);
                    done.push(name);
                }
                _ if todo.is_empty() => done.push(name),
                _ => return Err(Errno::NOTDIR),
            }
        }
        Ok(done.join("/"))
    }

    fn reopen(&self, done: &[String]) -> Result<OwnedFd, Errno> {
        self.open_relative(or_dot(&done.join("/")), NAME | OFlags::DIRECTORY, Links::Refuse)
    }

    /// The rest of an absolute host path below this root.
    pub(crate) fn below(&self, host: &str) -> Option<String> {
        let host = Path::new(host);
        let names = [&self.real, &self.host].into_iter().chain(&self.called);
        let rest = names.filter_map(|name| host.strip_prefix(name).ok()).next()?;
        rest.to_str().map(str::to_owned)
    }
}

fn names(relative: &str) -> impl DoubleEndedIterator<Item = String> {
    relative.split('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned)
}
