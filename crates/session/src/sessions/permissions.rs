use bosun_backend::sandbox_trouble;
use bosun_harness::DeclaredCommands;
use bosun_protocol::{
    ApprovalMode, CommandPlace, Problem, ProjectId, ProjectMode, SandboxedProjects, SessionId, SessionMode,
};

use super::{CoreId, Sessions};
use crate::permissions::Place;
use crate::{Explain, SessionError, convert};

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

    /// The projects whose commands run in a sandbox.
    pub async fn sandboxed_projects(&self) -> Result<SandboxedProjects, SessionError> {
        let kept = self.permissions().kept().await?;
        let declared = self.declared().and_then(|agent| agent.backend.commands) == Some(DeclaredCommands::Sandbox);
        let projects = kept.sandboxed.into_iter().map(ProjectId::new).collect();
        Ok(SandboxedProjects { all: declared || self.permissions().are_all_sandboxed(), projects })
    }

    /// Where commands of a project run, from the next one on, in sessions at work too.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] for a sandbox that cannot be had here; it stays as it was then.
    pub async fn set_command_place(&self, project: &ProjectId, place: CommandPlace) -> Result<(), SessionError> {
        self.root_path(project.as_str()).await?;
        if place == CommandPlace::Sandbox {
            self.require_sandbox().await?;
        }
        let project = project.to_string();
        let change = move |kept: &mut crate::permissions::Kept| {
            match place {
                CommandPlace::Machine => kept.sandboxed.remove(&project),
                CommandPlace::Sandbox => kept.sandboxed.insert(project),
            };
            Ok(())
        };
        self.permissions().change(change).await?;
        Ok(())
    }

    /// Why commands cannot run in a sandbox here; `None` where they can.
    pub async fn sandbox_problem(&self) -> Option<Problem> {
        sandbox_trouble().await.map(|error| error.problem())
    }

    /// From here on commands of every project run in a sandbox in this process, whatever is chosen for one.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] for a sandbox that cannot be had here.
    pub async fn sandbox_commands(&self) -> Result<(), SessionError> {
        self.require_sandbox().await?;
        self.permissions().sandbox_all().await;
        Ok(())
    }

    async fn require_sandbox(&self) -> Result<(), SessionError> {
        match self.sandbox_problem().await {
            Some(problem) => Err(SessionError::invalid(problem)),
            None => Ok(()),
        }
    }

    /// The root session that a session belongs to, and its project.
    pub(super) async fn place(&self, session: &SessionId) -> Result<Place, SessionError> {
        let stored = self.root_session(&CoreId::new(session.as_str())).await?;
        Ok(Place { session: stored.id.as_str().to_owned(), project: stored.project })
    }
}
