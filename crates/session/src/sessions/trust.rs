use std::sync::Arc;

use bosun_agent::NoteAbout;
use bosun_backend::{Backend, FilesystemBackend, FilesystemOptions};
use bosun_harness::Extras;
use bosun_protocol::{
    DecideTrust, Problem, ProjectId, ProjectTrust, TrustFile, TrustItem, TrustKind, TrustState, TrustText, TrustVerdict,
};
use bosun_store::Verdict;
use bosun_tools::{DiffLimits, file_diff};

use super::Sessions;
use crate::actor::Actor;
use crate::trust::{Brought, BroughtFile, BroughtItem, Standing, TrustBook, Trusted, brought, brought_config};
use crate::{SessionError, convert};

/// Most names in one sentence.
const NAMED: usize = 10;

/// What a person trusts of what their projects bring.
impl Sessions {
    /// Everything that a project brings for the agent to go by, and how each thing stands now.
    pub async fn project_trust(&self, project: &ProjectId) -> Result<ProjectTrust, SessionError> {
        let (trusted, found) = self.look_at(project).await?;
        let items: Vec<TrustItem> = found.items.iter().map(|item| shown(item, &trusted)).collect();
        let waits = |item: &&TrustItem| matches!(item.state, TrustState::New | TrustState::Changed);
        let undecided = u32::try_from(items.iter().filter(waits).count()).unwrap_or(u32::MAX);
        Ok(ProjectTrust { items, undecided })
    }

    /// The words of a file that a project brings and, where it was trusted with other words, what changed.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] for any other file.
    pub async fn trust_text(&self, project: &ProjectId, path: &str) -> Result<TrustText, SessionError> {
        let (trusted, found) = self.look_at(project).await?;
        let file = found.file(path).ok_or_else(|| not_brought(path))?;
        let text = std::str::from_utf8(&file.bytes).ok().filter(|text| !text.contains('\0')).map(str::to_owned);
        let kept = match trusted.standing(&file.path, &file.hash) {
            Standing::Changed | Standing::SetAside => trusted.kept(&file.path),
            Standing::New | Standing::Trusted => None,
        };
        let diff = kept
            .as_ref()
            .and_then(|kept| kept.content.as_deref())
            .map(|before| convert::diff(&file_diff(&file.path, Some(before), Some(&file.bytes), DiffLimits::PREVIEW)));
        Ok(TrustText { hash: file.hash.to_string(), text, diff })
    }

    /// Decides about contents as the person saw them; sessions of the project go by it from their next step on,
    /// but for hooks and servers that came or changed: those are the next session's. Servers that are not trusted any more
    /// are ended, hooks that run are the last.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] where one of them is something else by now: nothing is decided then.
    pub async fn decide_trust(&self, project: &ProjectId, decision: &DecideTrust) -> Result<(), SessionError> {
        let (_, found) = self.look_at(project).await?;
        let mut files: Vec<BroughtFile> = Vec::new();
        for seen in &decision.files {
            let file = found.file(&seen.path).ok_or_else(|| not_brought(&seen.path))?;
            if file.hash.as_str() != seen.hash {
                return Err(SessionError::invalid(Problem::SeenAnother { path: seen.path.clone() }));
            }
            files.push(file.clone());
        }
        let verdict = match decision.verdict {
            TrustVerdict::Trust => Verdict::Trusted,
            TrustVerdict::NotNow => Verdict::SetAside,
        };
        self.trust().decide(project.as_str(), verdict, &files).await?;
        self.rebuild(Some(project)).await;
        for actor in self.inner.actors.all().into_iter().filter(|actor| actor.tree.project == *project) {
            actor.end_untrusted();
        }
        Ok(())
    }

    /// Sessions whose next turn begins from now on say which of what their project brings is not used, and why. Whoever has no
    /// window learns it nowhere else.
    pub fn tell_of_untrusted(&self) {
        self.trust().tell();
    }

    async fn look_at(&self, project: &ProjectId) -> Result<(Arc<Trusted>, Brought), SessionError> {
        let backend = self.project_files(project).await?;
        Ok((self.trust().of(project.as_str()).await?, brought(&*backend).await))
    }

    /// The files of a project as they are on disk.
    pub(crate) async fn project_files(&self, project: &ProjectId) -> Result<Arc<dyn Backend>, SessionError> {
        let root = self.root_of(project).await?;
        Ok(Arc::new(FilesystemBackend::open(&root, FilesystemOptions::default())?))
    }

    pub(crate) fn trust(&self) -> &Arc<TrustBook> {
        &self.inner.trust
    }

    /// The next turn of every open session (of a project) goes by what is known now.
    pub(crate) async fn rebuild(&self, project: Option<&ProjectId>) {
        for actor in self.inner.actors.all() {
            if project.is_none_or(|project| actor.tree.project == *project) {
                actor.rebuild();
            }
        }
    }
}

impl Actor {
    /// What of what the project brings is not used, where sessions are to say so. What a person put off is no news to them.
    pub(crate) async fn unused(&self, files: &dyn Backend) -> Result<Vec<NoteAbout>, SessionError> {
        if !self.setting.trust.tells() {
            return Ok(Vec::new());
        }
        let trusted = self.setting.trust.of(self.tree.project.as_str()).await?;
        let items = brought(files).await.items;
        let mut notes = Vec::new();
        for kind in [TrustKind::Instructions, TrustKind::Skill, TrustKind::Subagent, TrustKind::Config] {
            let waits =
                |item: &&BroughtItem| matches!(trust_state(item, &trusted), TrustState::New | TrustState::Changed);
            let names: Vec<String> =
                items.iter().filter(|item| item.kind == kind).filter(waits).filter_map(place_of).collect();
            if !names.is_empty() {
                notes.push(NoteAbout::Untrusted { names: listed(&names) });
            }
        }
        let unusable = items.into_iter().filter_map(|item| Some((item.name, item.problem?)));
        notes.extend(unusable.map(|(name, problem)| match problem {
            Problem::BroughtTooLarge { path, megabytes } => NoteAbout::BroughtTooLarge { path, megabytes },
            other => NoteAbout::BroughtUnusable { name, detail: other.to_string() },
        }));
        Ok(notes)
    }

    /// The project's own hooks and servers of tools; `None` where it has none, or they are not trusted as they are now.
    pub(crate) async fn project_extras(&self) -> Result<Option<Extras>, SessionError> {
        let files = FilesystemBackend::open(&self.project_folder().root, FilesystemOptions::default())?;
        let trusted = self.setting.trust.of(self.tree.project.as_str()).await?;
        let config = brought_config(&files).await.filter(|config| trust_state(config, &trusted) == TrustState::Trusted);
        Ok(config.as_ref().and_then(BroughtItem::extras))
    }
}

/// Where it is: its file, or the folder of a skill.
fn place_of(item: &BroughtItem) -> Option<String> {
    let path = &item.files.first()?.path;
    let folder = path.parent().filter(|_| item.kind == TrustKind::Skill);
    Some(folder.as_ref().unwrap_or(path).to_string())
}

/// Some names as a sentence has them.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn shown(item: &BroughtItem, trusted: &Trusted) -> TrustItem {
    let file = |file: &BroughtFile| TrustFile {
        path: file.path.to_string(),
        state: told(trusted.standing(&file.path, &file.hash)),
        hash: file.hash.to_string(),
        size: file.bytes.len() as u64,
    };
    TrustItem {
        kind: item.kind,
        name: item.name.clone(),
        state: trust_state(item, trusted),
        files: item.files.iter().map(file).collect(),
        effects: item.effects.clone(),
        problem: item.problem.clone(),
    }
}

/// A thing is trusted where all of its files are. It waits for a decision while one of them does.
pub(crate) fn trust_state(item: &BroughtItem, trusted: &Trusted) -> TrustState {
    if item.problem.is_some() || item.files.is_empty() {
        return TrustState::Unusable;
    }
    let standings: Vec<Standing> = item.files.iter().map(|file| trusted.standing(&file.path, &file.hash)).collect();
    let has = |wanted: Standing| standings.contains(&wanted);
    if has(Standing::Changed) || (has(Standing::New) && has(Standing::Trusted)) {
        TrustState::Changed
    } else if has(Standing::New) {
        TrustState::New
    } else if has(Standing::SetAside) {
        TrustState::SetAside
    } else {
        TrustState::Trusted
    }
}

fn told(standing: Standing) -> TrustState {
    match standing {
        Standing::New => TrustState::New,
        Standing::Changed => TrustState::Changed,
        Standing::Trusted => TrustState::Trusted,
        Standing::SetAside => TrustState::SetAside,
    }
}

fn not_brought(path: &str) -> SessionError {
    SessionError::not_found(Problem::NotBrought { path: path.to_owned() })
}
