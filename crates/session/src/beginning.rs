//! What a new session begins with where nobody says otherwise.

use bosun_protocol::{Effort, ModelRef, ProjectId, Settings};

/// The model of new sessions of `project`: its own, else that of all.
pub fn default_model(settings: &Settings, project: Option<&ProjectId>) -> Option<ModelRef> {
    let own = project.and_then(|project| settings.projects.get(project.as_str()));
    own.map(|own| &own.model).or(settings.model.as_ref()).cloned()
}

/// How much `model` thinks in new sessions of `project`; `None` is as the settings of models have it. What is set for the
/// project's model is for no other.
pub fn default_effort(settings: &Settings, project: &ProjectId, model: &ModelRef) -> Option<Effort> {
    settings.projects.get(project.as_str()).filter(|own| own.model == *model).and_then(|own| own.effort)
}

#[cfg(test)]
mod tests {
    use bosun_protocol::ProjectModel;
    use pretty_assertions::assert_eq;

    use super::*;

    fn model(name: &str) -> ModelRef {
        ModelRef { provider: "p".into(), name: name.into() }
    }

    #[test]
    fn a_project_has_its_own_model_and_effort() {
        let own = ProjectModel { model: model("own"), effort: Some(Effort::High) };
        let projects = [("mine".to_owned(), own)].into();
        let settings = Settings { model: Some(model("usual")), projects, ..Settings::default() };
        let (mine, other) = (ProjectId::new("mine"), ProjectId::new("other"));
        assert_eq!(default_model(&settings, Some(&mine)), Some(model("own")));
        assert_eq!(default_model(&settings, Some(&other)), Some(model("usual")));
        assert_eq!(default_model(&settings, None), Some(model("usual")));
        assert_eq!(default_model(&Settings::default(), Some(&mine)), None);
        assert_eq!(default_effort(&settings, &mine, &model("own")), Some(Effort::High));
        assert_eq!(default_effort(&settings, &mine, &model("usual")), None);
        assert_eq!(default_effort(&settings, &other, &model("own")), None);
    }
}
