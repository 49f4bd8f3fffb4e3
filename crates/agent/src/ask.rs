use bosun_backend::{ContentHash, VirtualPath};
use bosun_model::{CallId, ToolCall};
use bosun_tools::{Preview, ToolKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How digests begin that are made as this version makes them. Another one stands for every change of what goes into them:
/// what an earlier version sealed is then asked anew, and nobody is told that it was altered.
const SEAL: &str = "2:";

/// A call that waits for a person, with everything that was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub call: ToolCall,
    pub kind: ToolKind,
    /// JSON Schema of the arguments.
    pub schema: Value,
    pub preview: Preview,
    pub reason: AskReason,
    pub allowed: Vec<DecisionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The sandbox the command would run in, in words; `None` where there is none, and for what is no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// What the files are part of that the call is about, where it is about files; of a command where it runs, where that is
    /// not this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<AskPlace>,
    /// Where the file is that would change, without links on the way, as it was when it was asked for (security.md A11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads: Option<VirtualPath>,
    /// The scripts that a command runs, as they were when it was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<AskedScript>,
    /// It may run more than these, which nobody checks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_scripts: bool,
    /// Why it is asked for again: it was approved, and the approval does not hold for what would run now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<AskedAgain>,
    /// The arguments are a person's own, from an answer to an earlier request for the same call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_edited: bool,
    /// What exactly is asked for: the version of the seal and BLAKE3 over all the rest of this ([`Self::sealed`]).
    pub digest: String,
}

/// A script and the content that was approved with the command that runs it (security.md A12).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedScript {
    pub path: VirtualPath,
    /// What it held; `None` where there was no file (one that comes to be there counts as changed) and where it was too
    /// large or no text.
    pub hash: Option<ContentHash>,
    /// What a file is compared by that is not compared by its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<ScriptFigures>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptFigures {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970, where the backend can tell.
    pub modified_ns: Option<i64>,
}

impl AskedScript {
    pub fn is_there(&self) -> bool {
        self.hash.is_some() || self.figures.is_some()
    }
}

/// Why a call that was approved is asked for again (security.md A12).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "again", rename_all = "snake_case")]
pub enum AskedAgain {
    /// A script that it runs is not as it was then.
    ScriptChanged { path: String },
    /// The person's own command runs a script that they were not shown.
    ScriptNamed { path: String },
    /// It was to run in a sandbox, and would run without one now.
    SandboxOff,
    /// It was to run on another machine or in another place than it would now.
    PlaceChanged,
    /// What is stored of it is not what was shown (security.md A10).
    RecordChanged,
}

impl Ask {
    /// With the digest of what it holds. A decision is good for this and nothing else.
    pub fn sealed(self) -> Self {
        let digest = self.digest_now();
        Self { digest, ..self }
    }

    /// Whether it fits its digest: stored ones pass through files that other programs can write. A digest has no key, so
    /// that whoever changes both is found out only where something else holds the one that was shown: the window, or the
    /// record of a decision.
    pub fn is_intact(&self) -> bool {
        self.digest == self.digest_now()
    }

    /// Over the form in which it is stored. A field that a later version adds is left out of that where it says nothing.
    fn digest_now(&self) -> String {
        let shown = Self { digest: String::new(), ..self.clone() };
        digest_of(&shown)
    }
}

fn digest_of(what: &impl Serialize) -> String {
    let stored = serde_json::to_vec(what).unwrap_or_default();
    format!("{SEAL}{}", blake3::hash(&stored).to_hex())
}

/// Whether a digest is made as this version makes it.
pub(crate) fn is_of_this_version(digest: &str) -> bool {
    digest.starts_with(SEAL)
}

/// What files are part of, for a person who is asked about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskPlace {
    Project,
    /// Kept with the session, and gone with it.
    Session,
    /// Kept for longer than the session.
    Memory,
    Skill,
    /// A folder of this machine that is not the project's.
    Outside,
    /// Of another machine, which is at `/`. Commands run there too.
    Machine,
    /// What is in a container, which is at `/`. Commands run there too.
    Container,
}

/// Why a call asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum AskReason {
    EditsAsk,
    /// For a day a command whose script had changed asked for a reason of its own.
    #[serde(alias = "script_changed")]
    CommandsAsk,
    DeletesAsk,
    /// The file's name is one that later runs code or holds configuration (security.md P33).
    ProtectedName {
        name: String,
    },
    Rule {
        rule: String,
    },
    /// A hook wants a person to look, or failed where it was to say whether one should. No rule and no mode answers that.
    Hook {
        /// What it says, as a sentence.
        rule: String,
        /// The protected name that the call would have asked for by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    Approve,
    Edit,
    Respond,
    Reject,
}

impl DecisionKind {
    pub const ALL: [Self; 4] = [Self::Approve, Self::Edit, Self::Respond, Self::Reject];

    pub fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Respond => "respond",
            Self::Reject => "reject",
        }
    }
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    Approve,
    Edit { args: Value },
    Respond { text: String },
    Reject { reason: Option<String> },
}

impl Decision {
    pub fn kind(&self) -> DecisionKind {
        match self {
            Self::Approve => DecisionKind::Approve,
            Self::Edit { .. } => DecisionKind::Edit,
            Self::Respond { .. } => DecisionKind::Respond,
            Self::Reject { .. } => DecisionKind::Reject,
        }
    }

    /// Whether the call does not run, whatever it is.
    pub(crate) fn runs_nothing(&self) -> bool {
        matches!(self, Self::Respond { .. } | Self::Reject { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    pub decision: Decision,
    pub by: DecisionSource,
    /// What was decided of what: as [`Ask::digest`], over that digest and the decision. Older journals have none, or that
    /// of the ask alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl DecisionRecord {
    /// `decision`, given for `ask`.
    pub fn new(ask: &Ask, decision: Decision, by: DecisionSource) -> Self {
        let digest = Some(Self::digest_for(ask, &decision));
        Self { decision, by, digest }
    }

    /// Whether it fits its digest as an answer to `ask`; as with [`Ask::is_intact`], whoever makes the digest anew passes.
    pub(crate) fn is_for(&self, ask: &Ask) -> bool {
        self.digest.as_ref().is_some_and(|digest| *digest == Self::digest_for(ask, &self.decision))
    }

    fn digest_for(ask: &Ask, decision: &Decision) -> String {
        digest_of(&(&ask.digest, decision))
    }

    /// Whether somebody said no, and not the clock or a rule in their place.
    pub(crate) fn is_refusal_of_a_person(&self) -> bool {
        matches!((&self.decision, &self.by), (Decision::Reject { .. }, DecisionSource::Person))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum DecisionSource {
    Person,
    Rule { rule: String },
}

/// A decision that was not taken. Nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    #[error("no call '{call_id}' is waiting for a decision; it has been decided already, or its turn was stopped")]
    NotPending { call_id: CallId },
    #[error("this request has changed since it was shown; look at it again")]
    Stale { call_id: CallId },
    #[error("what is stored of this request is not what was shown; nothing ran, and it is asked for again")]
    Altered { call_id: CallId },
    #[error("'{given}' is not allowed for {tool}; allowed: {allowed}")]
    NotAllowed { given: &'static str, tool: String, allowed: String },
    #[error("{reason}")]
    BadArguments { reason: String },
    #[error("an answer in place of the tool's result cannot be empty; enter some text")]
    EmptyResponse,
    #[error(transparent)]
    Journal(#[from] crate::JournalError),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A10: nothing that is shown can be another one and pass, and nothing is lost where it is stored.
    #[test]
    fn an_ask_is_intact_as_it_is_stored_and_not_with_any_part_changed() {
        let args = json!({"z": 0.1, "a": [1e-7, 2.2250738585072014e-308, 123456789.12345679], "n": u64::MAX});
        let ask = Ask {
            call: ToolCall { id: "c".into(), name: "edit_file".into(), args },
            kind: ToolKind::Edit,
            schema: json!({"type": "object"}),
            preview: Preview::Fields,
            reason: AskReason::EditsAsk,
            allowed: DecisionKind::ALL.to_vec(),
            description: Some("words".into()),
            sandbox: Some("bubblewrap".into()),
            place: Some(AskPlace::Outside),
            leads: Some(VirtualPath::root()),
            scripts: vec![AskedScript { path: VirtualPath::root(), hash: None, figures: None }],
            more_scripts: true,
            again: Some(AskedAgain::SandboxOff),
            is_edited: true,
            digest: String::new(),
        }
        .sealed();
        let stored = serde_json::to_value(&ask).unwrap();
        let read = |stored: &Value| serde_json::from_str::<Ask>(&stored.to_string()).unwrap();
        assert!(read(&stored).is_intact());
        for (at, _) in stored.as_object().unwrap() {
            let others = match at.as_str() {
                "call" => json!({"id": "c", "name": "edit_file", "args": {"z": 0.2}}),
                "kind" => json!("execute"),
                "preview" => json!({"preview": "delete", "path": "/", "files": 1, "counted_all": true, "is_dir": true}),
                "reason" => json!({"reason": "deletes_ask"}),
                "allowed" | "scripts" => json!([]),
                "place" => json!("project"),
                "more_scripts" | "is_edited" => json!(false),
                "again" => json!({"again": "place_changed"}),
                "leads" => json!("/elsewhere"),
                "schema" | "description" | "sandbox" | "digest" => json!("another"),
                new => panic!("{new} is not changed here"),
            };
            let mut changed = stored.clone();
            changed[at] = others;
            assert!(!read(&changed).is_intact(), "{at}");
        }
        let decisions = [
            json!({"decision": "approve"}),
            json!({"decision": "edit", "args": {"z": 0.1}}),
            json!({"decision": "edit", "args": {"z": 0.2}}),
            json!({"decision": "respond", "text": "no"}),
            json!({"decision": "reject", "reason": null}),
        ];
        for (at, decision) in decisions.iter().enumerate() {
            let of = |decision: &Value| serde_json::from_value::<Decision>(decision.clone()).unwrap();
            let record = DecisionRecord::new(&ask, of(decision), DecisionSource::Person);
            let stored = serde_json::to_value(&record).unwrap();
            let read = |stored: &Value| serde_json::from_str::<DecisionRecord>(&stored.to_string()).unwrap();
            assert!(read(&stored).is_for(&ask));
            assert!(!read(&stored).is_for(&Ask { is_edited: false, ..ask.clone() }.sealed()), "{at}");
            assert!(!DecisionRecord { digest: None, ..record.clone() }.is_for(&ask), "{at}");
            assert!(!DecisionRecord { digest: Some(ask.digest.clone()), ..record.clone() }.is_for(&ask), "{at}");
            for (other, decision) in decisions.iter().enumerate().filter(|(other, _)| *other != at) {
                let altered = DecisionRecord { decision: of(decision), ..record.clone() };
                assert!(!altered.is_for(&ask), "{at} {other}");
            }
        }
    }

    #[test]
    fn a_request_of_the_day_when_a_changed_script_was_a_reason_is_still_read() {
        let stored = serde_json::json!({ "reason": "script_changed", "path": "/x.sh" });
        assert_eq!(serde_json::from_value::<AskReason>(stored).ok(), Some(AskReason::CommandsAsk));
    }
}
