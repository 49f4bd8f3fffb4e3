use std::collections::BTreeMap;

use bosun_agent::State;
use bosun_backend::VirtualPath;
use bosun_model::CallId;
use bosun_tools::{Reducer, StateUpdate};
use serde::{Deserialize, Serialize};

/// The state field with the results that are kept in files: call id to [`KeptResult`].
const FIELD: &str = "kept_results";

/// Where a result is of which the conversation has only a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptResult {
    pub path: VirtualPath,
    #[serde(default, skip_serializing_if = "KeptPart::is_whole")]
    pub part: KeptPart,
}

/// What of a result can be read where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeptPart {
    #[default]
    Whole,
    /// Its beginning and its end.
    Ends,
    /// The file that was read, as it is by then.
    Source,
}

impl KeptPart {
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

impl KeptResult {
    /// What can be read there, as a sentence.
    pub(crate) fn told(&self) -> String {
        let what = match self.part {
            KeptPart::Whole => "The whole is",
            KeptPart::Ends => "The beginning and the end of it are",
            KeptPart::Source => "It can be read again",
        };
        format!("{what} in {}.", self.path)
    }

    /// Adds to `update` where the results of these calls are.
    pub(crate) fn note_all(kept: &BTreeMap<CallId, Self>, update: &mut StateUpdate) {
        if kept.is_empty() {
            return;
        }
        update.fields.push((FIELD.into(), serde_json::to_value(kept).unwrap_or_default()));
        update.reducers.insert(FIELD.into(), Reducer::Merge);
    }
}

/// The results of a session that are kept in files.
pub(crate) fn kept_results(state: &State) -> BTreeMap<CallId, KeptResult> {
    let kept = state.fields.get(FIELD).and_then(|kept| kept.as_object()).into_iter().flatten();
    let read = |value: &serde_json::Value| serde_json::from_value(value.clone()).ok();
    kept.filter_map(|(call, value)| Some((CallId::new(call.as_str()), read(value)?))).collect()
}
