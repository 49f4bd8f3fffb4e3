use std::path::Path;
use std::sync::Arc;

use bosun_agent::SessionId;
use bosun_protocol::{ErrorCode, Problem, ProjectId, ProjectView};
use bosun_store::{APP_SETTINGS, ProjectMove, StoredSession};
use serde_json::Value;

use super::Sessions;
use super::lists::summary_of;
use crate::SessionError;
use crate::actor::Actor;
use crate::choices::Choices;
use crate::stream::locked;

/// A project whose folder a person moved or renamed.
impl Sessions {
    /// Gives a project another folder. Its sessions, memories, rules and settings hang on its id and go with it, and so
    /// does what was trusted, which holds for contents: what is another content there is asked about.
    ///
    /// Another project that is there already gives way where nothing is in it but what was deleted: that can be brought back
    /// in this one. What a person chose for it is chosen no more: this one is as it was set up itself.
    ///
    /// # Errors
    /// [`ErrorCode::ProjectUnusable`] for a folder that is no project, or that is the folder of another one with
    /// something of its own, and where the project's own folder is still there; [`ErrorCode::Invalid`] while somebody works
    /// in it. Nothing is changed then.
    pub async fn move_project(&self, project: &ProjectId, folder: &Path) -> Result<ProjectView, SessionError> {
        let found = self.usable(folder)?;
        let _alone = self.inner.moving.write().await;
        let before = self.root_path(project.as_str()).await?;
        if before != found.path && self.usable(&before).is_ok() {
            let still = Problem::ProjectStillThere { path: before.display().to_string() };
            return Err(SessionError::new(ErrorCode::ProjectUnusable, still));
        }
        self.refuse_open_elsewhere(project).await?;
        let mut actors = self.inner.actors.all();
        actors.retain(|actor| actor.tree.project == *project);
        // Everyone who holds several turns takes them in this order.
        actors.sort_by(|a, b| a.log.session().cmp(b.log.session()));
        let mut turns = Vec::with_capacity(actors.len());
        for actor in &actors {
            let turn = actor.turn().await;
            if !turn.is_resting() || actor.log.background().count() > 0 {
                return Err(SessionError::invalid(Problem::ProjectAtWork { session: title_of(actor) }));
            }
            turns.push(turn);
        }
        let moved = self.stored(project.to_string(), &found.path);
        let deleted = self.deleted_at(project, &moved.path).await?;
        let moved = match self.inner.database.move_project(moved, deleted.clone()).await? {
            ProjectMove::Done { project: moved, gone } => {
                self.close(&deleted).await;
                if let Some(gone) = gone
                    && let Err(error) = self.forget_choices(&gone, project).await
                {
                    // They are of a project that nobody meets again.
                    tracing::warn!(%error, "what was chosen for a project that is none any more stays stored");
                }
                moved
            }
            ProjectMove::Taken { by } => {
                let taken = Problem::ProjectTaken { path: by.path, name: by.name };
                return Err(SessionError::new(ErrorCode::ProjectUnusable, taken));
            }
        };
        self.follow(project, &before, &found.path, found.called.into_iter().collect(), &actors).await?;
        drop(turns);
        self.tell_listed();
        Ok(self.view_of(moved))
    }

    /// The deleted sessions of another project at `path`, if it has no others.
    async fn deleted_at(&self, project: &ProjectId, path: &str) -> Result<Vec<SessionId>, SessionError> {
        let there = self.inner.database.project_at(path).await?.filter(|there| there.id != project.as_str());
        let Some(there) = there else { return Ok(Vec::new()) };
        let stored = self.inner.database.sessions(&there.id).await?;
        if !stored.iter().all(|session| self.is_deleted(session)) {
            return Ok(Vec::new());
        }
        self.refuse_open_elsewhere(&ProjectId::new(there.id)).await?;
        Ok(stored.into_iter().map(|session| session.id).collect())
    }

    /// Closes sessions that are another project's by now, to be opened as such.
    async fn close(&self, sessions: &[SessionId]) {
        for actor in sessions.iter().filter_map(|id| self.inner.actors.get(id)) {
            self.inner.actors.forget(actor.log.session());
            actor.let_go().await;
        }
    }

    fn is_deleted(&self, session: &StoredSession) -> bool {
        let deleted_at = match self.inner.actors.get(&session.id) {
            Some(actor) => actor.stream.read(|projection| projection.view().session.deleted_at),
            None => summary_of(session.summary.clone()).and_then(|summary| summary.deleted_at),
        };
        deleted_at.is_some()
    }

    /// A project gave way to `heir`: nothing stays of what a person chose for it.
    async fn forget_choices(&self, gone: &str, heir: &ProjectId) -> Result<(), SessionError> {
        self.permissions().give_way(gone, heir.as_str()).await?;
        let project = gone.to_owned();
        Choices::change(&self.inner.database, move |choices| choices.give_way(&project)).await?;
        let project = gone.to_owned();
        // As text: some other version of Bosun may have written the rest.
        let model = move |settings: &mut Value| {
            let models = settings.get_mut("projects").and_then(Value::as_object_mut);
            models.and_then(|models| models.remove(&project)).map(drop).ok_or(NoModel)
        };
        let (Ok(_) | Err(NoModel)) = self.inner.database.change_setting(APP_SETTINGS, model).await?;
        locked(&self.inner.called).remove(gone);
        self.forget_names(gone);
        Ok(())
    }

    /// What is at work, or was remembered, of the old folder is of the new one.
    async fn follow(
        &self,
        project: &ProjectId,
        before: &Path,
        now: &Path,
        called: std::collections::BTreeSet<std::path::PathBuf>,
        actors: &[Arc<Actor>],
    ) -> Result<(), SessionError> {
        locked(&self.inner.called).insert(project.to_string(), called);
        self.forget_names(project.as_str());
        self.inner.paths.forget();
        if let Some(blobs) = self.inner.blobs.as_ref().filter(|_| before != now) {
            self.inner.sightings.moved(before, now, blobs);
        }
        for actor in actors {
            actor.move_to(self.folder_of(project.as_str()).await?).await;
        }
        Ok(())
    }

    /// A session that another process has open would go on in the old folder.
    async fn refuse_open_elsewhere(&self, project: &ProjectId) -> Result<(), SessionError> {
        for stored in self.inner.database.sessions(project.as_str()).await? {
            if self.inner.actors.get(&stored.id).is_none() && self.inner.database.is_claimed(&stored.id) {
                let title = summary_of(stored.summary).map(|summary| summary.title).unwrap_or_default();
                let session = named(title, stored.id.as_str());
                return Err(SessionError::invalid(Problem::ProjectOpenElsewhere { session }));
            }
        }
        Ok(())
    }
}

/// New sessions of the project began with the model of all.
struct NoModel;

fn title_of(actor: &Actor) -> String {
    let title = actor.stream.read(|projection| projection.view().session.title.clone());
    named(title, actor.log.session().as_str())
}

/// What a session is called; one in which nothing was said yet has its id alone.
fn named(title: String, id: &str) -> String {
    if title.is_empty() { id.to_owned() } else { title }
}
