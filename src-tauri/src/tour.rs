use std::path::PathBuf;

use bosun_protocol::{ErrorCode, Problem, TourStart};
use bosun_providers::tour::{self, Language};

use crate::core::Core;
use crate::error::Failure;
use crate::language::Spoken;
use crate::providers;
use crate::sample::{self, SampleError};

/// Puts the sample project into a new folder in `parent`, opens it and begins a session with the scripted model.
pub(crate) async fn begin(core: &Core, parent: PathBuf, spoken: Spoken) -> Result<TourStart, Failure> {
    let language = match spoken {
        Spoken::English => Language::English,
        Spoken::Chinese => Language::SimplifiedChinese,
    };
    let shown = parent.display().to_string();
    let files = tour::sample_project(language).iter().copied();
    let placed = tokio::task::spawn_blocking(move || sample::place(&parent, files)).await;
    let not_placed = |detail: String| Problem::SampleNotPlaced { folder: shown.clone(), detail };
    let folder = match placed {
        Ok(placed) => placed.map_err(|error| match error {
            SampleError::TooMany { most } => Problem::SampleTooMany { most },
            SampleError::System(error) => not_placed(error.to_string()),
        }),
        Err(panicked) => Err(not_placed(panicked.to_string())),
    };
    let folder = folder.map_err(|problem| Failure::new(ErrorCode::ProjectUnusable, problem))?;
    let project = core.sessions.open_project(&folder).await?;
    let session = core.sessions.create(&project.id, Some(providers::tour_ref(language))).await?;
    Ok(TourStart { project, session, task: tour::task(language).to_owned() })
}
