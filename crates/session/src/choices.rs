use std::collections::{BTreeMap, BTreeSet};

use bosun_backend::VirtualPath;
use bosun_protocol::{SkillOrigin, SkillRef, SubagentOrigin, SubagentRef};
use bosun_store::Database;
use serde::{Deserialize, Serialize};

use crate::SessionError;
use crate::space::Places;
use crate::trust::SKILLS;

const CHOICES: &str = "knowledge";

/// What a person chose about skills and subagents, whoever's they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Choices {
    /// Keys of what is switched off.
    pub off: BTreeSet<String>,
    /// Names of the pinned skills, by key.
    pub pinned: BTreeMap<String, String>,
    pub subagents_off: BTreeSet<String>,
}

impl Choices {
    pub(crate) async fn read(database: &Database) -> Result<Self, SessionError> {
        Ok(database.setting(CHOICES).await?.unwrap_or_default())
    }

    pub(crate) async fn change(
        database: &Database,
        change: impl FnOnce(&mut Self) + Send + 'static,
    ) -> Result<(), SessionError> {
        let changed = database.change_setting(CHOICES, |choices: &mut Self| -> Result<(), std::convert::Infallible> {
            change(choices);
            Ok(())
        });
        match changed.await? {
            Ok(_) => Ok(()),
            Err(never) => match never {},
        }
    }

    /// A project is none any more, and what was chosen about what is its own goes.
    pub(crate) fn give_way(&mut self, project: &str) {
        let stays = |key: &str| key.split(':').nth(1) != Some(project);
        self.off.retain(|key| stays(key));
        self.pinned.retain(|key, _| stays(key));
        self.subagents_off.retain(|key| stays(key));
    }

    /// Folders of skills that are left out in a session of `project`.
    pub(crate) fn off_in(&self, project: &str, places: &Places) -> Vec<VirtualPath> {
        let folder = |key: &String| folder_of(key, project, places);
        self.off.iter().filter_map(folder).collect()
    }

    /// Names of skills that are pinned in a session of `project`.
    pub(crate) fn pinned_in(&self, project: &str, places: &Places) -> Vec<String> {
        let here = |(key, name): (&String, &String)| folder_of(key, project, places).map(|_| name.clone());
        self.pinned.iter().filter_map(here).collect()
    }
}

/// What a skill is called in the choices.
pub(crate) fn skill_key(skill: &SkillRef) -> String {
    let origin = match skill.origin {
        SkillOrigin::Builtin => "builtin",
        SkillOrigin::User => "user",
        SkillOrigin::Home => "home",
        SkillOrigin::ProjectAgents => "agents",
        SkillOrigin::Project => "bosun",
    };
    let project = skill.project.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{origin}:{project}:{}", skill.folder)
}

/// What a subagent is called in the choices.
pub(crate) fn subagent_key(subagent: &SubagentRef) -> String {
    let project = subagent.project.as_ref().map(ToString::to_string).unwrap_or_default();
    match subagent.origin {
        SubagentOrigin::Builtin => format!("builtin::{}", subagent.name),
        SubagentOrigin::User => format!("user::{}", subagent.name),
        SubagentOrigin::Project => format!("project:{project}:{}", subagent.name),
    }
}

/// A skill's folder in the paths of a session; `None` where it is not there.
fn folder_of(key: &str, project: &str, places: &Places) -> Option<VirtualPath> {
    let (origin, rest) = key.split_once(':')?;
    let (owner, folder) = rest.split_once(':')?;
    if !owner.is_empty() && owner != project {
        return None;
    }
    let [agents, bosun] = SKILLS;
    let root = match origin {
        "builtin" => places.builtin_skills.clone()?,
        "user" => places.skills.as_ref()?.join("user").ok()?,
        "home" => places.home_skills.clone()?,
        "agents" => VirtualPath::parse(agents).ok()?,
        "bosun" => VirtualPath::parse(bosun).ok()?,
        _ => return None,
    };
    root.join(folder).ok()
}
