use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType};

use super::super::dialect::is_hidden;
use super::super::rules::{Present, Rules};
use super::{BATCH, Entry, Files, Folder, Listed, Visitor, Walk, Work, is_git};
use crate::VirtualPath;
use crate::root::{Links, NAME, file_type};

/// Whether what has this name can be told by a path: not where it is too long with all that is above it, or goes up where
/// Windows reads it.
fn can_be_path(path: &str, name: &str) -> bool {
    path.len() <= VirtualPath::MAX_LENGTH && (!name.contains('\\') || VirtualPath::parse(path).is_ok())
}

/// One folder while its entries come in.
pub(super) struct Reading<'a> {
    walk: &'a Walk<'a>,
    folder: Folder,
    handle: Arc<OwnedFd>,
    /// The folder's own rules, once its ignore files were looked for.
    rules: Option<Rules>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(walk: &'a Walk<'a>, folder: Folder, handle: Arc<OwnedFd>) -> Self {
        Self { walk, folder, handle, rules: None }
    }

    /// Takes the next part of the listing: folders to the queue, files to the visitor.
    pub(super) fn take<V: Visitor>(
        &mut self,
        names: &mut Vec<Listed>,
        present: Present,
        visitor: &V,
        local: &mut V::Local,
    ) {
        let rules = match (&self.rules, self.walk.include_ignored) {
            (Some(rules), _) => rules.clone(),
            (None, true) => Rules::default(),
            (None, false) => {
                let above = &self.folder.rules;
                above.enter(self.walk.root, self.handle.as_fd(), &self.folder.relative, present)
            }
        };
        self.rules = Some(rules.clone());
        let mut path = String::with_capacity(self.folder.relative.len() + 64);
        let mut files = Vec::new();
        for Listed { name, is_text, kind } in names.drain(..) {
            path.clear();
            if !self.folder.relative.is_empty() {
                path.push('/');
                path.push_str(&self.folder.relative);
            }
            path.push('/');
            path.push_str(&name);
            match self.kind(&name, kind) {
                Some(FileType::Directory) => {
                    if let Some(folder) = self.entered(&path, &name, &rules) {
                        if is_text && can_be_path(&path, &name) {
                            self.walk.add(Work::Folder(folder));
                        } else {
                            self.walk.leave_out();
                        }
                    }
                }
                Some(kind @ (FileType::RegularFile | FileType::Symlink)) => {
                    let wanted = self.wants_file(&name) && !rules.leave_out(&path, false) && visitor.wants(&path);
                    let link = kind == FileType::Symlink;
                    if wanted && !(is_text && can_be_path(&path, &name)) {
                        self.walk.leave_out();
                    } else if wanted && (!link || self.leads_to_file(&path)) {
                        files.push(Entry { name, link });
                    }
                }
                _ => {}
            }
        }
        self.share(files, visitor, local);
    }

    /// Keeps one batch for this thread and leaves the others to all.
    fn share<V: Visitor>(&self, mut files: Vec<Entry>, visitor: &V, local: &mut V::Local) {
        let relative: Arc<str> = self.folder.relative.as_str().into();
        let batch = |entries| Files { folder: Arc::clone(&self.handle), relative: Arc::clone(&relative), entries };
        while files.len() > BATCH {
            let entries = files.split_off(files.len() - BATCH);
            self.walk.add(Work::Files(batch(entries)));
        }
        self.walk.visit(&batch(files), visitor, local);
    }

    fn kind(&self, name: &str, listed: FileType) -> Option<FileType> {
        if is_git(name) {
            return None;
        }
        if listed != FileType::Unknown {
            return Some(listed);
        }
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(file_type(&stat))
    }

    /// The folder of this name, if the search goes into it.
    fn entered(&self, path: &str, name: &str, rules: &Rules) -> Option<Folder> {
        let progress = match (&self.walk.filter, &self.folder.progress) {
            (Some(glob), Some(progress)) => Some(glob.enter(progress, name)?),
            _ if is_hidden(name) && !self.walk.include_ignored => return None,
            _ => None,
        };
        let relative = path.trim_start_matches('/').to_owned();
        (!rules.leave_out(path, true)).then(|| Folder { relative, progress, rules: rules.clone() })
    }

    fn wants_file(&self, name: &str) -> bool {
        match (&self.walk.filter, &self.folder.progress) {
            (Some(glob), Some(progress)) => glob.matches(progress, name),
            _ => self.walk.include_ignored || !is_hidden(name),
        }
    }

    /// Links to folders are not entered: what is behind them is met under its own name.
    fn leads_to_file(&self, path: &str) -> bool {
        let target = self.walk.root.open_relative(path.trim_start_matches('/'), NAME, Links::Follow);
        target.and_then(rustix::fs::fstat).is_ok_and(|stat| file_type(&stat) == FileType::RegularFile)
    }
}
