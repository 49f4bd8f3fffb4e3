//! Repositories: what of them makes git run something, or read its settings elsewhere. What they hold of contents,
//! branches and the like is data.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use super::placeholder::{Placeholder, Stand};
use super::{entries, is_top, link_above, look};
use crate::git_branch::plain;
use crate::root::{Mounts, READ, Root, file_type};

/// Parts of a repository that are run or obeyed later, and what stands for one that is missing. `commondir` says where
/// all the others are; what stands for it says that they are here. With it git passes over `core.bare` and
/// `core.worktree`, so that nothing stands for it where either is set: there a command can make it, which is told.
const PARTS: [(&str, Stand); 5] = [
    ("hooks", Stand::Folder),
    ("config", Stand::File("")),
    ("config.worktree", Stand::File("")),
    (COMMON, Stand::File(".\n")),
    ("info", Stand::Folder),
];
/// The same of a work tree's own folder in its repository.
const WORKTREE_PARTS: [(&str, Stand); 2] = [("config.worktree", Stand::File("")), (COMMON, Stand::File("../..\n"))];
/// The file that says where a repository's parts are.
const COMMON: &str = "commondir";
/// How deep submodules' repositories lie in `modules`, which is as deep as their paths.
const MAX_MODULE_DEPTH: usize = 8;
/// The setting that says where hooks are, in small letters.
const HOOKS: &str = "hookspath";
/// Other settings, and places of hooks, that the settings of one repository name.
const MAX_NAMED: usize = 32;
/// Other work trees of one repository that may have hooks of their own.
const MAX_WORKTREES: usize = 100;
/// Bytes of a file of git's that are read.
const MAX_FILE: u64 = 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    /// What a repository has of another work tree.
    Worktree,
}

#[derive(Debug)]
pub(super) struct Repository {
    pub(super) folder: PathBuf,
    pub(super) kind: Kind,
}

impl Repository {
    /// What is to be held of it, by path, and what stands for it where it is missing; `None` where it then needs nothing.
    /// With whether its settings name more than is looked at.
    pub(super) fn parts(&self, root: &Root) -> (Vec<(PathBuf, Option<Stand>)>, bool) {
        let at = |(name, stand): &(&str, Stand)| (self.folder.join(name), Some(*stand));
        let Named { paths, is_placed, cut } = self.named(root);
        let mut parts: Vec<_> = match self.kind {
            Kind::Worktree => WORKTREE_PARTS.iter().map(at).chain([(self.folder.join("gitdir"), None)]).collect(),
            Kind::Whole => PARTS.iter().map(at).collect(),
        };
        for (path, stand) in &mut parts {
            *stand = stand.filter(|_| !(is_placed && path.ends_with(COMMON)));
        }
        parts.extend(paths.into_iter().map(|path| (path, None)));
        (parts, cut)
    }

    /// What of it, and of what its settings name, a command may have made although nothing stood for it.
    pub(super) fn unheld(&self, root: &Root) -> Vec<PathBuf> {
        let Named { paths, is_placed, .. } = self.named(root);
        let common = self.folder.join(COMMON);
        // Nothing stands there for what a placed one lacks, whatever it looks like. What else is as small as what stands for
        // something leads nowhere.
        let common = if is_placed { met(root, &common) } else { is_there(root, &common).then_some(common) };
        let may_stand = |path: &PathBuf| look(root, path).is_ok_and(|found| Placeholder::is_one(root, path, &found));
        common
            .into_iter()
            .chain(paths.iter().filter(|path| !may_stand(path)).filter_map(|path| met(root, path)))
            .collect()
    }

    fn named(&self, root: &Root) -> Named {
        let folder = &self.folder;
        let own = folder.join("config.worktree");
        match self.kind {
            Kind::Whole => {
                let read = Settings::of(root, folder, vec![folder.join("config"), own]);
                let tree = read.tree.clone().unwrap_or_else(|| folder.parent().map(Path::to_owned));
                let bare = read.is_bare.then(|| folder.clone());
                let (others, cut) = worktrees(root, folder);
                let is_placed = read.tree.is_some() || read.is_bare;
                read.named(root, tree.into_iter().chain(bare).chain(others), is_placed, cut)
            }
            Kind::Worktree => Settings::of(root, folder, vec![own]).named(root, top_of(root, folder), false, false),
        }
    }
}

/// Whether there is something that does not stand for what is missing.
pub(super) fn is_there(root: &Root, path: &Path) -> bool {
    look(root, path).is_ok_and(|found| !Placeholder::is_one(root, path, &found))
}

/// What somebody meets who goes to `path`, where nothing ever stands for it: itself, or a link on the way to it.
pub(super) fn met(root: &Root, path: &Path) -> Option<PathBuf> {
    match look(root, path) {
        Err(Errno::NOENT | Errno::NOTDIR) => None,
        Err(Errno::LOOP) => Some(link_above(root, path)),
        Ok(_) | Err(_) => Some(path.to_owned()),
    }
}

/// A repository with those in it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) repositories: Vec<Repository>,
    /// Links where one, or a folder of them, would be.
    pub(super) links: Vec<PathBuf>,
    /// Folders that nobody can list, but whoever knows a name in them may go there.
    pub(super) closed: Vec<PathBuf>,
    /// There are more.
    pub(super) cut: bool,
    /// How many there may be.
    room: usize,
}

impl Found {
    /// Of those in it no more than there is `room` for.
    pub(super) fn at(root: &Root, folder: PathBuf, room: usize) -> Self {
        let mut found = Self { room, ..Self::default() };
        found.whole(root, folder, 0);
        found
    }

    /// The outermost first: where there is no room for all, it is what is in them that goes without.
    fn whole(&mut self, root: &Root, folder: PathBuf, depth: usize) {
        self.put(folder.clone(), Kind::Whole);
        self.modules(root, &folder.join("modules"), depth);
        for worktree in self.folders(root, &folder.join("worktrees")) {
            self.modules(root, &worktree.join("modules"), depth);
            self.put(worktree, Kind::Worktree);
        }
    }

    fn put(&mut self, folder: PathBuf, kind: Kind) {
        if self.repositories.len() < self.room {
            self.repositories.push(Repository { folder, kind });
        } else {
            self.cut = true;
        }
    }

    fn modules(&mut self, root: &Root, above: &Path, depth: usize) {
        for module in self.folders(root, above) {
            let has = |name: &str| look(root, &module.join(name)).is_ok_and(|found| is_file(&found));
            if depth >= MAX_MODULE_DEPTH || self.cut {
                self.cut = true;
            } else if has("HEAD") {
                self.whole(root, module, depth + 1);
            } else {
                self.modules(root, &module, depth + 1);
                // A command can take all else away, and give it back later.
                if has("config") {
                    self.whole(root, module, depth + 1);
                }
            }
        }
    }

    fn folders(&mut self, root: &Root, above: &Path) -> Vec<PathBuf> {
        let is_link = look(root, above).is_ok_and(|found| file_type(&found) == FileType::Symlink);
        self.links.extend(is_link.then(|| above.to_owned()));
        let mut folders = Vec::new();
        let Some(found) = entries(root, above) else {
            self.closed.push(above.to_owned());
            return folders;
        };
        for (name, kind) in found {
            match kind {
                FileType::Directory => folders.push(above.join(name)),
                FileType::Symlink => self.links.push(above.join(name)),
                _ => {}
            }
        }
        folders
    }
}

/// What the settings of a repository name in the project: its hooks, and more settings.
struct Named {
    paths: Vec<PathBuf>,
    /// They say where its work tree is, or that there is none.
    is_placed: bool,
    /// There is more than that.
    cut: bool,
}

/// What settings say that leads elsewhere.
#[derive(Default)]
struct Settings {
    /// More settings.
    files: Vec<PathBuf>,
    hooks: BTreeSet<String>,
    /// Where the work tree is, if they say so; in the project, if it is.
    tree: Option<Option<PathBuf>>,
    is_bare: bool,
    cut: bool,
}

impl Settings {
    /// Of `files` in a repository's folder, and of those that they name.
    fn of(root: &Root, folder: &Path, mut files: Vec<PathBuf>) -> Self {
        let (mut read, own) = (Self::default(), files.len());
        let mut at = 0;
        while let Some(file) = files.get(at).cloned() {
            at += 1;
            for (section, key, value) in text_of(root, &file).iter().flat_map(|text| settings(text)) {
                match (section.as_str(), key.as_str()) {
                    ("core", "worktree") => read.tree = Some(inside(root, folder, &value)),
                    ("core", "bare") => read.is_bare |= is_on(&value),
                    ("core", HOOKS) if read.hooks.len() < MAX_NAMED => drop(read.hooks.insert(value)),
                    ("core", HOOKS) => read.cut |= !read.hooks.contains(&value),
                    ("include" | "includeif", "path") => {
                        let above = file.parent().unwrap_or(Path::new(""));
                        let path = inside(root, above, &value).filter(|path| !files.contains(path));
                        if files.len() < own + MAX_NAMED {
                            files.extend(path);
                        } else {
                            read.cut |= path.is_some();
                        }
                    }
                    _ => {}
                }
            }
        }
        read.files = files.split_off(own);
        read
    }

    /// What they name, hooks from each of `tops`.
    fn named(self, root: &Root, tops: impl IntoIterator<Item = PathBuf>, is_placed: bool, cut: bool) -> Named {
        let mut paths = self.files;
        for top in tops {
            paths.extend(self.hooks.iter().filter_map(|value| inside(root, &top, value)));
        }
        Named { paths, is_placed, cut: self.cut || cut }
    }
}

/// Tops of the other work trees of a repository, as far as they are in the project. Each has its own hooks where these
/// are named from the top. With whether there are more than that.
fn worktrees(root: &Root, folder: &Path) -> (Vec<PathBuf>, bool) {
    let above = folder.join("worktrees");
    let mut found = entries(root, &above).unwrap_or_default();
    let cut = found.len() > MAX_WORKTREES;
    found.truncate(MAX_WORKTREES);
    (found.into_iter().filter_map(|(name, _)| top_of(root, &above.join(name))).collect(), cut)
}

/// The top of the work tree that a repository has this folder for, where it is in the project.
fn top_of(root: &Root, folder: &Path) -> Option<PathBuf> {
    let told = text_of(root, &folder.join("gitdir"))?;
    Some(inside(root, folder, told.trim())?.parent()?.to_owned())
}

/// The hooks in the project of a repository that is outside of it, as that of a work tree or a submodule that was opened by
/// itself. `pointer` says where it is.
pub(super) fn hooks_from_outside(root: &Root, pointer: &Path) -> Vec<PathBuf> {
    let top = pointer.parent().unwrap_or(Path::new(""));
    let found = || {
        let told = text_of(root, pointer)?;
        let folder = plain(&root.host().join(top).join(told.strip_prefix("gitdir:")?.trim()))?;
        if folder.starts_with(root.host()) || folder.starts_with(root.real()) {
            return None;
        }
        let own = Root::open(&folder, Mounts::Cross).ok()?;
        let common = text_of(&own, Path::new(COMMON)).and_then(|told| plain(&folder.join(told.trim())));
        let whole = common.and_then(|common| Root::open(&common, Mounts::Cross).ok());
        let texts =
            [text_of(whole.as_ref().unwrap_or(&own), Path::new("config")), text_of(&own, Path::new("config.worktree"))];
        let settings = texts.into_iter().flatten().flat_map(|text| settings(&text));
        let hooks = settings.filter(|(section, key, _)| section == "core" && key == HOOKS);
        Some(hooks.filter_map(|(_, _, value)| inside(root, top, &value)).collect())
    };
    found().unwrap_or_default()
}

/// Whether git takes a value for yes.
fn is_on(value: &str) -> bool {
    !["", "0", "false", "no", "off"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

/// Section, key and value of each line of git's settings; the names in small letters.
fn settings(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    while let Some(line) = lines.next() {
        let (mut whole, mut in_quotes) = (line.to_owned(), false);
        let mut added = line;
        while goes_on(added, &mut in_quotes)
            && let Some(next) = lines.next()
        {
            whole.pop();
            whole.push_str(next);
            added = next;
        }
        let mut line = whole.trim();
        while let Some(head) = line.strip_prefix('[') {
            let (name, rest) = head_and_rest(head);
            section = name.split(['"', '.', ' ', '\t']).next().unwrap_or_default().to_lowercase();
            line = rest.trim();
        }
        if line.is_empty() || is_comment(line) {
            continue;
        }
        // Without a value it is switched on.
        let (key, value) =
            line.split_once('=').map_or((line, None), |(key, value)| (key, Some(unquoted(value.trim()))));
        found.push((section.clone(), key.trim().to_lowercase(), value.unwrap_or_else(|| "true".to_owned())));
    }
    found
}

fn is_comment(line: &str) -> bool {
    line.starts_with(['#', ';'])
}

/// Whether a line goes on in the next: it ends with a backslash that is not in a comment, nor behind another one. Quotes
/// that it leaves open are open there.
fn goes_on(line: &str, in_quotes: &mut bool) -> bool {
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => *in_quotes = !*in_quotes,
            '#' | ';' if !*in_quotes => return false,
            '\\' if letters.next().is_none() => return true,
            _ => {}
        }
    }
    false
}

/// What stands in the brackets of a section, and behind them; a bracket in quotes is part of a name.
fn head_and_rest(line: &str) -> (&str, &str) {
    let mut in_quotes = false;
    let end = line.find(|letter| {
        in_quotes ^= letter == '"';
        letter == ']' && !in_quotes
    });
    end.and_then(|end| Some((line.get(..end)?, line.get(end + 1..)?))).unwrap_or((line, ""))
}

/// A value as it is meant: quotes may begin anywhere, and a comment ends what is not in them.
fn unquoted(value: &str) -> String {
    let (mut meant, mut in_quotes, mut letters) = (String::new(), false, value.chars());
    let mut kept = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => in_quotes = !in_quotes,
            '#' | ';' if !in_quotes => break,
            '\\' => meant.extend(letters.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            letter => meant.push(letter),
        }
        if in_quotes || !letter.is_whitespace() {
            kept = meant.len();
        }
    }
    meant.truncate(kept);
    meant
}

/// Where `path` leads from `folder`, as a path below the root; `None` outside of it and for the root itself. What begins in
/// somebody's home, or where git is installed, is outside.
fn inside(root: &Root, folder: &Path, path: &str) -> Option<PathBuf> {
    if path.starts_with('~') || path.starts_with("%(") {
        return None;
    }
    let whole = plain(&root.host().join(folder).join(path))?;
    let below = whole.strip_prefix(root.host()).or_else(|_| whole.strip_prefix(root.real())).ok()?;
    (!is_top(below)).then(|| below.to_owned())
}

/// What a rebase that has begun is still to run, with the file that says so.
pub(super) fn todo(root: &Root, folder: &Path) -> Option<(PathBuf, String)> {
    let path = folder.join("rebase-merge/git-rebase-todo");
    let is_link = |path: &Path| look(root, path).is_ok_and(|found| file_type(&found) == FileType::Symlink);
    if path.parent().is_some_and(is_link) || is_link(&path) {
        return Some((path, String::new()));
    }
    let text = text_of(root, &path)?;
    let runs = |line: &&str| matches!(line.split_whitespace().next(), Some("exec" | "x"));
    let lines: Vec<&str> = text.lines().filter(runs).collect();
    (!lines.is_empty()).then(|| (path, lines.join("\n")))
}

fn is_file(found: &Stat) -> bool {
    file_type(found) == FileType::RegularFile
}

/// The beginning of a regular file; nothing of what cannot be read.
fn text_of(root: &Root, path: &Path) -> Option<String> {
    let file = root.open_direct(path, READ | OFlags::NOFOLLOW).ok()?;
    let most = if is_file(&rustix::fs::fstat(&file).ok()?) { MAX_FILE } else { 0 };
    let mut bytes = Vec::new();
    File::from(file).take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{is_on, settings};

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "[core]\n\tbare = false ; no\n\thooksPath=\"my hooks\" # mine\n[Include] path = ../x\n\
                    [includeIf \"gitdir:/a]/\"]\n  PATH = y\n[branch \"a.b\"]\nremote = origin\n\
                    [core]\nworktree = \"a\"b/\\\n  c ; no\nbare\n\
                    editor = x ; see C:\\\nhooksPath = hk\nx = D:\\\\\ny = 1\n# a\\\nbare = False\n\
                    [x][core]z = 1\nlast = hk\\\n";
        let found: Vec<String> =
            settings(text).into_iter().map(|(section, key, value)| format!("{section}.{key}={value}")).collect();
        let expected = [
            "core.bare=false",
            "core.hookspath=my hooks",
            "include.path=../x",
            "includeif.path=y",
            "branch.remote=origin",
            "core.worktree=ab/  c",
            "core.bare=true",
            "core.editor=x",
            "core.hookspath=hk",
            "core.x=D:\\",
            "core.y=1",
            "core.bare=False",
            "core.z=1",
            "core.last=hk",
        ];
        assert_eq!(settings("\u{feff}[core]\na").len(), 1);
        assert_eq!(found, expected);
        assert_eq!(
            ["", "False", "OFF", "0", "true", "1", "yes"].map(is_on),
            [false, false, false, false, true, true, true]
        );
    }
}
