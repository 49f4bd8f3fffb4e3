use std::path::PathBuf;

use bosun_protocol::{ErrorCode, Problem, TourStart};
use bosun_providers::tour::{self, Language};

use crate::core::Core;
use crate::error::Failure;
use crate::language::Spoken;
use crate::{providers, sample};

/// Puts the sample project into a new folder in `parent`, opens it and begins a session with the scripted model.
pub(crate) async fn begin(core: &Core, parent: PathBuf, spoken: Spoken) -> Result<TourStart, Failure> {
    let language = match spoken {
        Spoken::English => Language::English,
        Spoken::Chinese => Language::SimplifiedChinese,
    };
    let shown = parent.display().to_string();
    let files = tour::sample_project(language).iter().copied();
    let placed = tokio::task::spawn_blocking(move || sample::place(&parent, files)).await;
    let folder = placed.map_err(|error| error.to_string()).and_then(|placed| placed.map_err(|error| error.to_string()));
    let folder = folder.map_err(|detail| {
        Failure::new(ErrorCode::ProjectUnusable, Problem::SampleNotPlaced { folder: shown, detail })
    })?;
    let project = core.sessions.open_project(&folder).await?;
    let session = core.sessions.create(&project.id, Some(providers::tour_ref(language))).await?;
    Ok(TourStart { project, session, task: tour::task(language).to_owned() })
}
