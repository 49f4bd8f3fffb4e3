use std::collections::BTreeSet;

use bosun_backend::{Backend, BackendError, ReadContent, ReadWindow, VirtualPath};

use super::builtin::{self, builtin_skills};
use super::skill::{PinnedSkill, Skill};
use super::{SkillSet, SkillSource, SkillsOptions, text};

/// Most skills of one source, and lines and characters of one file that are read.
const MOST_SKILLS: usize = 200;
const MOST_LINES: u64 = 2_000;
const MOST_CHARS: usize = 60_000;
const FILE: &str = "SKILL.md";

/// Skills and the texts behind them.
#[derive(Clone, Default)]
pub(super) struct Loaded {
    set: SkillSet,
    bodies: Vec<String>,
}

/// Everything that is found beside Bosun's `own`: of two skills of one name the later one, in the place of the earlier.
pub(super) async fn all(backend: &dyn Backend, options: &SkillsOptions, own: &Loaded) -> SkillSet {
    let Loaded { mut set, mut bodies } = own.clone();
    for source in &options.sources {
        from(backend, source, &options.off, &mut set, &mut bodies).await;
    }
    let is_missing = |name: &&String| set.skills.iter().all(|skill| skill.name != **name);
    let missing: BTreeSet<&String> = options.pinned.iter().filter(is_missing).collect();
    let said = missing.into_iter().map(|name| format!("there is no skill '{name}' to pin; it may be switched off"));
    set.warnings.extend(said);
    pin(options, set, &bodies)
}

/// What there is without looking anywhere.
pub(super) fn stock(options: &SkillsOptions, own: &Loaded) -> SkillSet {
    pin(options, own.set.clone(), &own.bodies)
}

/// Bosun's own.
pub(super) fn own(options: &SkillsOptions) -> Loaded {
    let Loaded { mut set, mut bodies } = Loaded::default();
    let folder = builtin::folder(options.builtin_at.as_ref());
    for skill in builtin_skills().into_iter().filter(|_| options.builtin) {
        let path = skill.path_in(&folder);
        if options.off.iter().any(|off| path.starts_with(off)) {
            continue;
        }
        match Skill::parse(skill.text, &path, skill.name, "Built-in") {
            Ok((found, body, _)) => take(&mut set, &mut bodies, found, body),
            Err(error) => set.problems.push(format!("{path}: {error}")),
        }
    }
    Loaded { set, bodies }
}

fn pin(options: &SkillsOptions, mut set: SkillSet, bodies: &[String]) -> SkillSet {
    for name in &options.pinned {
        let found = set.skills.iter().zip(bodies).find(|(skill, _)| skill.name == *name);
        let is_new = set.pinned.iter().all(|pinned| pinned.name != *name);
        if let Some((skill, body)) = found.filter(|_| is_new) {
            set.pinned.push(PinnedSkill { name: name.clone(), path: skill.path.clone(), text: body.clone() });
        }
    }
    set
}

async fn from(
    backend: &dyn Backend,
    source: &SkillSource,
    off: &[VirtualPath],
    set: &mut SkillSet,
    bodies: &mut Vec<String>,
) {
    let folders = match backend.ls(&source.path).await {
        Ok(entries) => entries.into_iter().filter(|entry| entry.is_dir).map(|entry| entry.path),
        Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => return,
        Err(error) => return set.problems.push(format!("{}: {error}", source.path)),
    };
    let label = text::label(source);
    for (count, folder) in folders.filter(|folder| !off.contains(folder)).enumerate() {
        if count == MOST_SKILLS {
            return set.problems.push(format!("{}: only the first {MOST_SKILLS} skills are loaded", source.path));
        }
        let Ok(path) = folder.join(FILE) else { continue };
        match read(backend, &path).await {
            Ok(None) => {}
            Ok(Some(text)) => match Skill::parse(&text, &path, folder.name().unwrap_or_default(), &label) {
                Ok((skill, body, warnings)) => {
                    set.warnings.extend(warnings.iter().map(|warning| format!("{path}: {warning}")));
                    take(set, bodies, skill, body);
                }
                Err(error) => set.problems.push(format!("{path}: {error}")),
            },
            Err(reason) => set.problems.push(format!("{path}: {reason}")),
        }
    }
}

async fn read(backend: &dyn Backend, path: &VirtualPath) -> Result<Option<String>, String> {
    match backend.read(path, ReadWindow { offset: 0, limit: MOST_LINES }).await {
        Ok(read) => match read.content {
            ReadContent::Text(page) => {
                let is_whole = !page.cut && page.lines.len() as u64 >= page.total_lines;
                let rest = if is_whole { String::new() } else { beginning(path.as_str()) };
                Ok(Some(page.lines.join("\n") + &rest))
            }
            ReadContent::Bytes { .. } => Err("it is no text".to_owned()),
        },
        Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// What stands behind the beginning of a file that is longer than is read.
fn beginning(path: &str) -> String {
    format!("\n[This is its beginning; the whole is in {path}.]")
}

fn take(set: &mut SkillSet, bodies: &mut Vec<String>, skill: Skill, body: &str) {
    let body = match body.trim().char_indices().nth(MOST_CHARS) {
        Some((cut, _)) => body.trim().get(..cut).unwrap_or_default().to_owned() + &beginning(&skill.path),
        None => body.trim().to_owned(),
    };
    match set.skills.iter().position(|known| known.name == skill.name) {
        Some(place) => {
            if let (Some(known), Some(kept)) = (set.skills.get_mut(place), bodies.get_mut(place)) {
                (*known, *kept) = (skill, body);
            }
        }
        None => {
            set.skills.push(skill);
            bodies.push(body);
        }
    }
}
