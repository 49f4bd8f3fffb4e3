//! The tour: a model whose replies were written down beforehand (`tour/en.json`, `tour/zh.json`), for people without a key.
//!
//! It goes through the real loop: its calls are carried out by the real tools on a real copy of [`sample_project`], and what
//! asks for approval asks. So it must live with whatever the person answers. It keeps no memory: where in its story it is,
//! and what became of the last call, it reads from the conversation each time (`place`), so that it survives a restart, a
//! stop in the middle, an edited, answered or rejected call, and words that no script can foresee.

use std::time::Duration;

use bosun_model::{Abilities, BoxFuture, ChatModel, ChatRequest, ModelError, ModelInfo, ModelStream, Stays};
use serde::{Deserialize, Serialize};

mod place;
mod play;
mod story;

use story::{Story, story};

/// The provider's id.
pub const PROVIDER: &str = "tour";

/// The languages the tour was written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh-CN")]
    SimplifiedChinese,
}

impl Language {
    /// From a BCP 47 tag; English for every other language.
    pub fn of_tag(tag: &str) -> Self {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("zh") { Self::SimplifiedChinese } else { Self::English }
    }
}

/// The scripted model.
#[derive(Debug)]
pub struct Tour {
    info: ModelInfo,
    story: &'static Story,
    pause: Duration,
}

/// Between two words, so that a person sees it work.
const PAUSE: Duration = Duration::from_millis(24);

impl Tour {
    pub fn new(language: Language) -> Self {
        let name = match language {
            Language::English => "en",
            Language::SimplifiedChinese => "zh",
        };
        let info = ModelInfo {
            provider: PROVIDER.into(),
            name: name.into(),
            context_window: None,
            max_output: None,
            abilities: Abilities::default(),
            price: None,
            steps: Vec::new(),
            scripted: true,
            stays: Stays::Yes,
        };
        Self { info, story: story(language), pause: PAUSE }
    }

    /// With another pause between two words; none for tests.
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

impl ChatModel for Tour {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ChatRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let cue = place::cue(self.story, &request);
        Box::pin(async move { Ok(play::play(&cue, self.pause)) })
    }
}

/// The first message, for the composer. Any other works too; the tour says that it keeps to its script.
pub fn task(language: Language) -> &'static str {
    &story(language).task
}

/// The sample project: paths below the folder it is copied to, and contents.
pub fn sample_project(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::English => &[
            ("README.md", include_str!("../tour/sample/en/README.md")),
            ("guests.txt", include_str!("../tour/sample/en/guests.txt")),
            ("shopping.csv", include_str!("../tour/sample/en/shopping.csv")),
            ("total.sh", include_str!("../tour/sample/en/total.sh")),
        ],
        Language::SimplifiedChinese => &[
            ("README.md", include_str!("../tour/sample/zh/README.md")),
            ("guests.txt", include_str!("../tour/sample/zh/guests.txt")),
            ("shopping.csv", include_str!("../tour/sample/zh/shopping.csv")),
            ("total.sh", include_str!("../tour/sample/zh/total.sh")),
        ],
    }
}

#[cfg(test)]
#[path = "tour_tests.rs"]
mod tests;
