use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosun_agent::EntryBody;
use bosun_backend::{
    Backend, Bundle, ContentHash, FilesystemBackend, FilesystemOptions, StoreScope, VirtualPath, mount_point,
};
use bosun_harness::{Skill, SkillWarning, builtin_skills, read_skill};
use bosun_protocol::{
    DeletedSkill, Imported, Problem, ProjectId, SaveSkillFile, SkillDetails, SkillEntry, SkillFile, SkillFileEntry,
    SkillHidden, SkillList, SkillOrigin, SkillRef,
};

use super::Sessions;
use super::bundles::ImportFrom;
use super::memories::KEPT_MS;
use crate::choices::{Choices, skill_key};
use crate::stored::{StoredFiles, path_of, shown};
use crate::trust::{BroughtFile, SKILLS, Trusted, files_of};
use crate::{Explain, SessionError};

const FILE: &str = "SKILL.md";
/// Most reads of one skill that are counted.
const MOST_USES: u32 = 1_000;
/// Longest name of a skill, in characters.
const LONGEST_NAME: usize = 64;

/// The skills of one place.
struct Place {
    origin: SkillOrigin,
    project: Option<ProjectId>,
    backend: Arc<dyn Backend>,
    /// The folder of skills in `backend`, and as the agent names it.
    root: VirtualPath,
    agent_root: String,
    trusted: Option<Arc<Trusted>>,
}

/// Skills: Bosun's own, the person's, and the projects'.
impl Sessions {
    /// All skills, those of a project where one is named.
    pub async fn skills(&self, project: Option<&ProjectId>) -> Result<SkillList, SessionError> {
        self.inner.database.purge_values(self.inner.clock.now_ms() - KEPT_MS).await?;
        let choices = Choices::read(&self.inner.database).await?;
        let mut entries = Vec::new();
        let folder = self.builtin_folder(project).await?;
        for builtin in builtin_skills() {
            let path = builtin.path_in(&folder);
            let read = read_skill(builtin.text, builtin.name).map_err(|error| error.problem());
            entries.push(entry(builtin_ref(builtin.name), read, path.to_string()));
        }
        for place in self.skill_places(project).await? {
            entries.extend(place.entries().await?);
        }
        for entry in &mut entries {
            let key = skill_key(&entry.skill);
            if choices.off.contains(&key) {
                entry.hidden = Some(SkillHidden::Off);
            }
            entry.pinned = choices.pinned.contains_key(&key);
            (entry.uses, entry.used_at) = self.uses(entry).await?;
        }
        hide_replaced(&mut entries);
        let deleted = deleted(&self.own_skills()?).await?;
        Ok(SkillList { entries, deleted })
    }

    /// A skill with the files it consists of.
    pub async fn skill(&self, skill: &SkillRef) -> Result<SkillDetails, SessionError> {
        let list = self.skills(skill.project.as_ref()).await?;
        let entry = list.entries.into_iter().find(|entry| entry.skill == *skill).ok_or_else(gone)?;
        let files = self.skill_files(skill).await?;
        let text = files.iter().find(|(path, _)| path == FILE).and_then(|(_, bytes)| std::str::from_utf8(bytes).ok());
        let read = text.and_then(|text| read_skill(text, &skill.folder).ok()).map(|(read, _)| read).unwrap_or_default();
        Ok(SkillDetails {
            entry,
            files: files
                .iter()
                .map(|(path, bytes)| SkillFileEntry { path: path.clone(), size: bytes.len() as u64 })
                .collect(),
            license: read.license,
            compatibility: read.compatibility,
            allowed_tools: read.allowed_tools,
            editable: skill.origin == SkillOrigin::User,
        })
    }

    /// One file of a skill, whole.
    pub async fn skill_file(&self, skill: &SkillRef, path: &str) -> Result<SkillFile, SessionError> {
        let files = self.skill_files(skill).await?;
        let (_, bytes) = files.into_iter().find(|(known, _)| known == path).ok_or_else(gone)?;
        let versions = match skill.origin {
            SkillOrigin::User => self.own_skills()?.versions(&own_path(&skill.folder, path)?).await?,
            _ => Vec::new(),
        };
        let revision = ContentHash::of(&bytes).to_string();
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        Ok(SkillFile { path: path.to_owned(), text, revision, versions: shown(&versions) })
    }

    /// Makes a skill of the person's from a template.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] for a name that no skill can have, or one that is taken.
    pub async fn create_skill(&self, name: &str, description: &str) -> Result<SkillDetails, SessionError> {
        check_name(name)?;
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        if description.is_empty() {
            return Err(invalid(Problem::SkillPurpose));
        }
        let description = serde_json::to_string(&description).unwrap_or_default();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n1. \n");
        let files = self.own_skills()?;
        if files.all().await?.iter().any(|file| file.path.as_str().starts_with(&format!("/{name}/"))) {
            return Err(invalid(Problem::SkillTaken { name: name.to_owned() }));
        }
        files.save(&own_path(name, FILE)?, text.into_bytes(), None).await?;
        self.rebuild(None).await;
        self.skill(&own_ref(name)).await
    }

    /// Keeps a file of one of the person's skills. A `SKILL.md` that would be no skill is refused.
    pub async fn save_skill_file(&self, save: &SaveSkillFile) -> Result<SkillFile, SessionError> {
        let path = own_path(&save.folder, &save.path)?;
        if save.path == FILE {
            read_skill(&save.text, &save.folder)
                .map_err(|error| invalid(Problem::NoSkill { why: Box::new(error.problem()) }))?;
        }
        self.own_skills()?.save(&path, save.text.clone().into_bytes(), save.base.as_deref()).await?;
        self.rebuild(None).await;
        self.skill_file(&own_ref(&save.folder), &save.path).await
    }

    /// Deletes a file beside `SKILL.md`; the number of the version with which [`Self::restore_skill_file`] brings it
    /// back.
    pub async fn delete_skill_file(&self, folder: &str, path: &str) -> Result<i64, SessionError> {
        if path == FILE {
            return Err(invalid(Problem::SkillFileNeeded));
        }
        let (files, path) = (self.own_skills()?, own_path(folder, path)?);
        files.delete(&path).await?;
        let last = files.versions(&path).await?.into_iter().next();
        last.map(|version| version.number).ok_or_else(|| SessionError::not_found(Problem::VersionGone))
    }

    /// The text of an earlier version of a file of one of the person's skills.
    pub async fn skill_version(&self, folder: &str, path: &str, number: i64) -> Result<Option<String>, SessionError> {
        self.own_skills()?.version_text(&own_path(folder, path)?, number).await
    }

    /// Puts an earlier version of a file of one of the person's skills in place.
    pub async fn restore_skill_file(&self, folder: &str, path: &str, number: i64) -> Result<SkillFile, SessionError> {
        self.own_skills()?.restore(&own_path(folder, path)?, number).await?;
        self.rebuild(None).await;
        self.skill_file(&own_ref(folder), path).await
    }

    /// Deletes one of the person's skills with all its files; for 30 days [`Self::restore_skill`] brings it back.
    pub async fn delete_skill(&self, folder: &str) -> Result<(), SessionError> {
        let files = self.own_skills()?;
        let prefix = format!("{}/", own_path(folder, "")?);
        let now = self.inner.clock.now_ms();
        let deleted = self.inner.database.delete_values(files.namespace(), &prefix, now).await?;
        self.rebuild(None).await;
        if deleted == 0 { Err(gone()) } else { Ok(()) }
    }

    /// Brings back a deleted skill with the files that were deleted with it.
    pub async fn restore_skill(&self, folder: &str) -> Result<SkillDetails, SessionError> {
        let files = self.own_skills()?;
        let prefix = format!("{}/", own_path(folder, "")?);
        let deleted = files.deleted().await?;
        let of_it = || deleted.iter().filter(|(path, _)| path.as_str().starts_with(&prefix));
        let last = of_it().map(|(_, version)| version.ended_at).max().ok_or_else(gone)?;
        for (path, version) in of_it().filter(|(_, version)| version.ended_at == last) {
            files.restore(path, version.number).await?;
        }
        self.rebuild(None).await;
        self.skill(&own_ref(folder)).await
    }

    /// Switches a skill on or off, whoever's it is.
    pub async fn switch_skill(&self, skill: &SkillRef, off: bool) -> Result<(), SessionError> {
        let key = skill_key(skill);
        Choices::change(&self.inner.database, move |choices| {
            if off {
                choices.off.insert(key)
            } else {
                choices.off.remove(&key)
            };
        })
        .await?;
        self.rebuild(skill.project.as_ref()).await;
        Ok(())
    }

    /// Pins a skill: its whole text stands in the prompt from the beginning.
    pub async fn pin_skill(&self, skill: &SkillRef, pinned: bool) -> Result<(), SessionError> {
        let (key, name) = (skill_key(skill), self.skill(skill).await?.entry.name);
        Choices::change(&self.inner.database, move |choices| {
            if pinned {
                choices.pinned.insert(key, name)
            } else {
                choices.pinned.remove(&key)
            };
        })
        .await?;
        self.rebuild(skill.project.as_ref()).await;
        Ok(())
    }

    /// Writes a skill's files into a new folder in `folder`; gives its path.
    pub async fn export_skill(&self, skill: &SkillRef, folder: &Path) -> Result<PathBuf, SessionError> {
        let files = self.skill_files(skill).await?;
        super::bundles::write(folder, &skill.folder, Bundle { files }).await
    }

    /// Brings in every skill that a folder or zip archive holds.
    pub async fn import_skills(&self, from: ImportFrom) -> Result<Imported, SessionError> {
        let bundle = super::bundles::read(from).await?;
        let files = self.own_skills()?;
        let there = files.all().await?;
        let mut imported = Imported::default();
        for (root, text) in roots(&bundle) {
            let folder_name = root.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let skill = match read_skill(&text, folder_name) {
                Ok((skill, _)) => skill,
                Err(error) => {
                    let why = Box::new(Problem::NoSkill { why: Box::new(error.problem()) });
                    imported.left_out.push(Problem::SkillFileUnusable { path: format!("{root}{FILE}"), why });
                    continue;
                }
            };
            if let Err(error) = check_name(&skill.name) {
                let why = Box::new(error.problem);
                imported.left_out.push(Problem::SkillFileUnusable { path: format!("{root}{FILE}"), why });
                continue;
            }
            let prefix = format!("/{}/", skill.name);
            let known = there.iter().any(|file| file.path.as_str().starts_with(&prefix));
            for (path, bytes) in bundle.files.iter().filter(|(path, _)| belongs(path, &root, &bundle)) {
                let within = path.strip_prefix(root.as_str()).unwrap_or(path);
                files.replace(&own_path(&skill.name, within)?, bytes.clone()).await?;
            }
            if known { imported.replaced.push(skill.name) } else { imported.added.push(skill.name) }
        }
        if imported == Imported::default() {
            return Err(invalid(Problem::NoSkillInIt));
        }
        self.rebuild(None).await;
        Ok(imported)
    }

    fn own_skills(&self) -> Result<StoredFiles, SessionError> {
        self.stored_files(&StoreScope::User, "skills")
    }

    /// The files of a skill by their path within its folder, `SKILL.md` first.
    async fn skill_files(&self, skill: &SkillRef) -> Result<Vec<(String, Vec<u8>)>, SessionError> {
        if skill.origin == SkillOrigin::Builtin {
            let builtin = builtin_skills().into_iter().find(|builtin| builtin.name == skill.folder).ok_or_else(gone)?;
            return Ok(vec![(FILE.to_owned(), builtin.text.as_bytes().to_vec())]);
        }
        let places = self.skill_places(skill.project.as_ref()).await?;
        let place = places.into_iter().find(|place| place.origin == skill.origin).ok_or_else(gone)?;
        let folder = place.root.join(&skill.folder).map_err(|error| invalid(error.problem()))?;
        let files = files_of(&*place.backend, &folder).await.map_err(invalid)?;
        let within = |file: BroughtFile| {
            let path = file.path.as_str().strip_prefix(folder.as_str())?.trim_start_matches('/').to_owned();
            Some((path, file.bytes))
        };
        Ok(files.into_iter().filter_map(within).collect())
    }

    async fn skill_places(&self, project: Option<&ProjectId>) -> Result<Vec<Place>, SessionError> {
        let root = VirtualPath::root;
        let place = |origin, backend, agent_root: String| Place {
            origin,
            project: None,
            backend,
            root: root(),
            agent_root,
            trusted: None,
        };
        let files = match project {
            Some(project) => Some(self.project_files(project).await?),
            None => None,
        };
        let skills = skills_mount(files.as_deref()).await?;
        let own: Arc<dyn Backend> = Arc::new(self.own_skills()?.backend());
        let mut places = vec![place(SkillOrigin::User, own, format!("{skills}/user"))];
        if let Some(home) = std::env::home_dir()
            && let Ok(backend) = FilesystemBackend::open(&home.join(".agents/skills"), FilesystemOptions::default())
        {
            places.push(place(SkillOrigin::Home, Arc::new(backend), format!("{skills}/home")));
        }
        if let (Some(project), Some(files)) = (project, files) {
            let trusted = self.trust().of(project.as_str()).await?;
            for (origin, folder) in [SkillOrigin::ProjectAgents, SkillOrigin::Project].into_iter().zip(SKILLS) {
                places.push(Place {
                    origin,
                    project: Some(project.clone()),
                    backend: Arc::clone(&files),
                    root: VirtualPath::parse(folder).map_err(|error| invalid(error.problem()))?,
                    agent_root: folder.to_owned(),
                    trusted: Some(Arc::clone(&trusted)),
                });
            }
        }
        Ok(places)
    }

    /// Where agents find Bosun's own skills.
    async fn builtin_folder(&self, project: Option<&ProjectId>) -> Result<VirtualPath, SessionError> {
        let files = match project {
            Some(project) => Some(self.project_files(project).await?),
            None => None,
        };
        skills_mount(files.as_deref()).await?.join("builtin").map_err(|error| invalid(error.problem()))
    }

    /// How often agents read a skill, and when last.
    async fn uses(&self, entry: &SkillEntry) -> Result<(u32, Option<i64>), SessionError> {
        let project = entry.skill.project.as_ref().map(ProjectId::as_str);
        let found = self.inner.database.search_entries(&entry.agent_path, project, MOST_USES).await?;
        let reads = found.iter().filter(|found| reads(&found.recorded.entry.body, &entry.agent_path));
        let times: Vec<i64> = reads.map(|found| found.recorded.entry.at).collect();
        Ok((u32::try_from(times.len()).unwrap_or(u32::MAX), times.into_iter().max()))
    }
}

/// Where skills are mounted over a project, or where no project has a folder of that name.
async fn skills_mount(project: Option<&dyn Backend>) -> Result<VirtualPath, SessionError> {
    match project {
        Some(project) => Ok(mount_point(&project.ls(&VirtualPath::root()).await?, "skills")?),
        None => VirtualPath::parse("/skills").map_err(|error| invalid(error.problem())),
    }
}

impl Place {
    async fn entries(&self) -> Result<Vec<SkillEntry>, SessionError> {
        let mut entries = Vec::new();
        for folder in self.backend.ls(&self.root).await.unwrap_or_default() {
            let Some(name) = folder.path.name().filter(|_| folder.is_dir) else { continue };
            let skill = SkillRef { origin: self.origin, project: self.project.clone(), folder: name.to_owned() };
            let files = files_of(&*self.backend, &folder.path).await;
            let read = files.as_ref().map_err(Clone::clone).and_then(|files| {
                let file = files.iter().find(|file| file.path.as_str() == format!("{}/{FILE}", folder.path));
                let file = file.ok_or(Problem::NoSkillInIt)?;
                let text = std::str::from_utf8(&file.bytes).map_err(|_| Problem::NotText { path: FILE.to_owned() })?;
                read_skill(text, name).map_err(|error| error.problem())
            });
            let mut entry = entry(skill, read, format!("{}/{name}/{FILE}", self.agent_root));
            if let (Some(trusted), Ok(files)) = (&self.trusted, &files)
                && !files.iter().all(|file| trusted.allows(&file.path, &file.hash))
            {
                entry.hidden = entry.hidden.or(Some(SkillHidden::Untrusted));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}

fn entry(skill: SkillRef, read: Result<(Skill, Vec<SkillWarning>), Problem>, agent_path: String) -> SkillEntry {
    let (read, warnings, problem) = match read {
        Ok((read, warnings)) => (read, warnings, None),
        Err(problem) => (Skill { name: skill.folder.clone(), ..Skill::default() }, Vec::new(), Some(problem)),
    };
    SkillEntry {
        skill,
        name: read.name,
        description: read.description,
        agent_path,
        hidden: problem.is_some().then_some(SkillHidden::Broken),
        pinned: false,
        warnings: warnings.iter().map(Explain::problem).collect(),
        problem,
        uses: 0,
        used_at: None,
    }
}

/// Of several with one name, the last that is offered counts.
fn hide_replaced(entries: &mut [SkillEntry]) {
    let mut last: HashMap<String, usize> = HashMap::new();
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.hidden.is_none()) {
        last.insert(entry.name.clone(), index);
    }
    for (index, entry) in entries.iter_mut().enumerate().filter(|(_, entry)| entry.hidden.is_none()) {
        if last.get(&entry.name) != Some(&index) {
            entry.hidden = Some(SkillHidden::Replaced);
        }
    }
}

/// Whether a reply of the model reads the file at `path`.
fn reads(body: &EntryBody, path: &str) -> bool {
    let EntryBody::Ai { message, .. } = body else { return false };
    message.tool_calls.iter().any(|call| call.args.get("file_path").and_then(|path| path.as_str()) == Some(path))
}

/// The deleted skills of which nothing is there any more, the last first.
async fn deleted(files: &StoredFiles) -> Result<Vec<DeletedSkill>, SessionError> {
    let there = files.all().await?;
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    for (path, version) in files.deleted().await? {
        let Some(folder) = path.segments().next().map(str::to_owned) else { continue };
        let at = last.entry(folder).or_default();
        *at = (*at).max(version.ended_at);
    }
    last.retain(|folder, _| !there.iter().any(|file| file.path.segments().next() == Some(folder.as_str())));
    let mut deleted: Vec<DeletedSkill> =
        last.into_iter().map(|(folder, deleted_at)| DeletedSkill { folder, deleted_at }).collect();
    deleted.sort_by_key(|skill| std::cmp::Reverse(skill.deleted_at));
    Ok(deleted)
}

/// The folders of a bundle that hold a `SKILL.md`, each ending in `/` or empty, with its text.
fn roots(bundle: &Bundle) -> Vec<(String, String)> {
    let root = |(path, bytes): &(String, Vec<u8>)| {
        let root = path.strip_suffix(FILE).filter(|root| root.is_empty() || root.ends_with('/'))?;
        Some((root.to_owned(), String::from_utf8_lossy(bytes).into_owned()))
    };
    bundle.files.iter().filter_map(root).collect()
}

/// Whether a file belongs to the skill at `root`, and not to one within it.
fn belongs(path: &str, root: &str, bundle: &Bundle) -> bool {
    let longest = roots(bundle).into_iter().map(|(root, _)| root).filter(|root| path.starts_with(root.as_str()));
    longest.max_by_key(String::len).as_deref() == Some(root)
}

fn builtin_ref(name: &str) -> SkillRef {
    SkillRef { origin: SkillOrigin::Builtin, project: None, folder: name.to_owned() }
}

fn own_ref(folder: &str) -> SkillRef {
    SkillRef { origin: SkillOrigin::User, project: None, folder: folder.to_owned() }
}

/// A file of one of the person's skills; the folder itself where `path` is empty.
fn own_path(folder: &str, path: &str) -> Result<VirtualPath, SessionError> {
    if folder.is_empty() || folder.contains('/') {
        return Err(invalid(Problem::SkillFolder));
    }
    path_of(&format!("/{folder}/{path}"))
}

fn check_name(name: &str) -> Result<(), SessionError> {
    let is_word = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_numeric() || (c.is_alphabetic() && !c.is_uppercase()))
    };
    if name.split('-').all(is_word) && name.chars().count() <= LONGEST_NAME {
        return Ok(());
    }
    let most = u32::try_from(LONGEST_NAME).unwrap_or(u32::MAX);
    Err(invalid(Problem::SkillName { name: name.to_owned(), most }))
}

fn invalid(problem: Problem) -> SessionError {
    SessionError::invalid(problem)
}

fn gone() -> SessionError {
    SessionError::not_found(Problem::SkillGone)
}
