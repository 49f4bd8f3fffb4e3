use std::path::PathBuf;

use bosun_backend::PlaceWatch;
use bosun_protocol::{ProjectId, ProjectProblem, ProjectView};
use tokio::sync::watch;

use super::Sessions;
use crate::SessionError;

/// The folders of the listed projects, followed for someone who looks at the list: they go and come back while nobody asks.
pub struct ProjectsWatch {
    sessions: Sessions,
    /// The list itself became another.
    listed: watch::Receiver<()>,
    /// What is wrong with each, as it was told last.
    told: Vec<(ProjectId, Option<ProjectProblem>)>,
}

impl Sessions {
    /// The projects, last opened first, and the list again whenever the folder of one goes or comes back.
    pub async fn watch_projects(&self) -> Result<(Vec<ProjectView>, ProjectsWatch), SessionError> {
        // What becomes of the list from here on is heard.
        let listed = self.inner.listed.subscribe();
        let projects = self.projects().await?;
        let watch = ProjectsWatch { sessions: self.clone(), listed, told: problems(&projects) };
        Ok((projects, watch))
    }

    /// Another list of projects is followed from now on.
    pub(super) fn tell_listed(&self) {
        self.inner.listed.send_replace(());
    }
}

impl ProjectsWatch {
    /// Waits until the folder of a project went or came back. `None` where nothing of this machine's folders is told. Losing
    /// this future loses no change.
    pub async fn next(&mut self) -> Option<Vec<ProjectView>> {
        loop {
            self.listed.mark_unchanged();
            let mut places = self.follow().await?;
            // First followed, then looked at: what happens in between is told or seen.
            match self.sessions.projects().await {
                Ok(projects) => {
                    if self.learn(&projects) {
                        return Some(projects);
                    }
                }
                Err(error) => tracing::warn!(%error, "the list of projects cannot be read"),
            }
            tokio::select! {
                () = places.changed() => {}
                changed = self.listed.changed() => changed.ok()?,
            }
        }
    }

    async fn follow(&self) -> Option<PlaceWatch> {
        let stored = self.sessions.inner.database.projects().await.unwrap_or_default();
        let places: Vec<PathBuf> = stored.into_iter().map(|stored| PathBuf::from(stored.path)).collect();
        let watch = tokio::task::spawn_blocking(move || PlaceWatch::open(&places)).await.ok()?;
        watch.inspect_err(|error| tracing::debug!(%error, "folders of projects are not followed")).ok()
    }

    /// Whether something else is wrong with one than is known.
    fn learn(&mut self, projects: &[ProjectView]) -> bool {
        let now = problems(projects);
        let is_news = now.iter().any(|(id, problem)| {
            // Who opened another one since found it there.
            let before = self.told.iter().find(|(known, _)| known == id).and_then(|(_, before)| *before);
            before != *problem
        });
        self.told = now;
        is_news
    }
}

fn problems(projects: &[ProjectView]) -> Vec<(ProjectId, Option<ProjectProblem>)> {
    projects.iter().map(|project| (project.id.clone(), project.problem)).collect()
}
