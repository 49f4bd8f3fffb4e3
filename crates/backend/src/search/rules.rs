use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::root::{FOLDER, Links, READ, Root, file_type};

/// An ignore file larger than this was not written by hand and would cost more than it saves.
pub(super) const MAX_FILE: u64 = 1024 * 1024;

/// The files with rules that a folder may have, the deciding one first.
pub(super) const NAMES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The ignore files in force in one folder: its own and those of the folders above it, up to the root. Files outside
/// the root are not asked, nor is the machine's own git configuration, so that a search means the same everywhere.
#[derive(Clone, Default)]
pub(super) struct Rules(Option<Arc<Level>>);

struct Level {
    above: Rules,
    /// `.ignore`, then `.gitignore`, then git's own list beside a repository.
    own: [Gitignore; 3],
    /// A repository begins here: git's rules from above end.
    repository: bool,
}

/// Which ignore files a folder may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Present {
    pub(super) ignore: bool,
    pub(super) gitignore: bool,
    pub(super) git: bool,
}

impl Present {
    /// Before the folder was read to its end: each has to be tried.
    pub(super) const UNKNOWN: Self = Self { ignore: true, gitignore: true, git: true };

    pub(super) fn note(&mut self, name: &str) {
        match name {
            ".ignore" => self.ignore = true,
            ".gitignore" => self.gitignore = true,
            ".git" => self.git = true,
            _ => {}
        }
    }

    fn any(self) -> bool {
        self.ignore || self.gitignore || self.git
    }
}

impl Rules {
    /// The rules in the folder `relative` (below the root, without links) given those above it.
    pub(super) fn enter(&self, root: &Root, folder: BorrowedFd<'_>, relative: &str, present: Present) -> Self {
        if !present.any() {
            return self.clone();
        }
        let read = |wanted: bool, name: &str| {
            let file = wanted.then(|| root.open_child(folder, name, READ).ok()).flatten();
            file.and_then(text)
        };
        let repository =
            present.git && rustix::fs::statat(folder, ".git", rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let texts = [
            read(present.ignore, ".ignore"),
            read(present.gitignore, ".gitignore"),
            read(repository, ".git/info/exclude"),
        ];
        self.with(relative, &texts, repository)
    }

    /// The rules in the folder `relative` given those above it and the texts of its own files, [`NAMES`] in order.
    pub(super) fn with(&self, relative: &str, texts: &[Option<String>; 3], repository: bool) -> Self {
        let base = format!("/{relative}");
        let own = texts.each_ref().map(|text| text.as_deref().map_or_else(Gitignore::empty, |text| parse(text, &base)));
        if !repository && own.iter().all(Gitignore::is_empty) {
            return self.clone();
        }
        Self(Some(Arc::new(Level { above: self.clone(), own, repository })))
    }

    /// The rules above the folder `relative`.
    pub(super) fn above(root: &Root, relative: &str) -> Self {
        let mut rules = Self::default();
        let ends = relative.match_indices('/').map(|(at, _)| at);
        let folders = std::iter::once(0).chain(ends).filter(|_| !relative.is_empty());
        for end in folders {
            let folder = relative.get(..end).unwrap_or_default();
            if let Ok(handle) = root.open_relative(folder, FOLDER, Links::Refuse) {
                rules = rules.enter(root, handle.as_fd(), folder, Present::UNKNOWN);
            }
        }
        rules
    }

    /// Whether `path`, from `/`, is left out. The nearest file that says anything decides; `.ignore` before git's.
    pub(super) fn leave_out(&self, path: &str, is_dir: bool) -> bool {
        let mut decided: [Option<bool>; 3] = [None; 3];
        let mut in_repository = true;
        let mut next = self.0.as_ref();
        while let Some(level) = next {
            for (index, (verdict, list)) in decided.iter_mut().zip(&level.own).enumerate() {
                if verdict.is_none() && (index == 0 || in_repository) {
                    *verdict = match list.matched(path, is_dir) {
                        Match::None => None,
                        Match::Ignore(_) => Some(true),
                        Match::Whitelist(_) => Some(false),
                    };
                }
            }
            in_repository = in_repository && !level.repository;
            next = level.above.0.as_ref();
        }
        decided.into_iter().flatten().next().unwrap_or(false)
    }
}

fn parse(text: &str, base: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(base);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no pattern is none for git either.
        if let Err(error) = builder.add_line(None, line) {
            tracing::debug!(%base, %error, "a line of an ignore file is not used");
        }
    }
    builder.build().unwrap_or_else(|error| {
        tracing::debug!(%base, %error, "an ignore file is not used");
        Gitignore::empty()
    })
}

fn text(file: OwnedFd) -> Option<String> {
    let stat = rustix::fs::fstat(&file).ok()?;
    if file_type(&stat) != rustix::fs::FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(file).take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
