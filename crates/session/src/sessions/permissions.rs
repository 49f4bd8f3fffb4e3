use bosun_protocol::{ApprovalMode, ProjectId, ProjectMode, SessionId, SessionMode};

use super::{CoreId, Sessions};
use crate::permissions::Place;
use crate::{SessionError, convert};

/// How much is asked for.
impl Sessions {
    pub async fn mode(&self, session: &SessionId) -> Result<SessionMode, SessionError> {
        let place = self.place(session).await?;
        let kept = self.permissions().kept().await?;
        Ok(SessionMode {
            mode: convert::mode(kept.mode_of(&place)),
            project: convert::mode(kept.project_mode(&place.project)),
        })
    }

    /// Holds from the next call on, for the session's subagents too; what waits for a person keeps waiting.
    pub async fn set_mode(&self, session: &SessionId, mode: ApprovalMode) -> Result<(), SessionError> {
        let Place { session, .. } = self.place(session).await?;
        let mode = convert::core_mode(mode);
        let change = move |kept: &mut crate::permissions::Kept| {
            kept.sessions.insert(session, mode);
            Ok(())
        };
        self.permissions().change(change).await?;
        Ok(())
    }

    /// The projects whose sessions begin with something else than asking.
    pub async fn project_modes(&self) -> Result<Vec<ProjectMode>, SessionError> {
        let kept = self.permissions().kept().await?;
        let modes = kept.projects.into_iter();
        Ok(modes
            .map(|(project, mode)| ProjectMode { project: ProjectId::new(project), mode: convert::mode(mode) })
            .collect())
    }

    /// What sessions of a project have as long as nothing else is chosen for one.
    pub async fn set_project_mode(&self, project: &ProjectId, mode: ApprovalMode) -> Result<(), SessionError> {
        self.root_path(project.as_str()).await?;
        let (project, mode) = (project.to_string(), convert::core_mode(mode));
        let change = move |kept: &mut crate::permissions::Kept| {
            kept.projects.insert(project, mode);
            Ok(())
        };
        self.permissions().change(change).await?;
        Ok(())
    }

    /// The root session that a session belongs to, and its project.
    pub(super) async fn place(&self, session: &SessionId) -> Result<Place, SessionError> {
        let stored = self.root_session(&CoreId::new(session.as_str())).await?;
        Ok(Place { session: stored.id.as_str().to_owned(), project: stored.project })
    }
}
