use bosun_agent::{Ask, Grave};
use bosun_protocol::{Decide, Decision, RuleDraft};
use bosun_tools::{Preview, ToolKind};
use serde_json::Value;

use super::Sessions;
use crate::SessionError;

/// A call that a decision would let run and that is grave.
#[derive(Clone, Debug, PartialEq)]
pub struct GraveCall {
    pub tool: String,
    pub kind: ToolKind,
    /// All of what would run: the command, the path, or the arguments. Nothing is cut or marked yet.
    pub payload: String,
    pub why: Vec<Grave>,
}

impl Sessions {
    /// Those of the calls that `decisions` would let run that have to be confirmed where no script can press. Calls like
    /// those of `drafts` run by themselves from then on.
    ///
    /// # Errors
    /// Where one of them does not wait any more, or was shown as something else.
    pub async fn grave_calls(
        &self,
        decisions: &[Decide],
        drafts: &[RuleDraft],
    ) -> Result<Vec<GraveCall>, SessionError> {
        // Whoever asks for this is about to decide, and goes no further where it fails.
        let grave = self.grave_of(decisions, drafts).await;
        self.or_ask_anew(grave, decisions).await
    }

    async fn grave_of(&self, decisions: &[Decide], drafts: &[RuleDraft]) -> Result<Vec<GraveCall>, SessionError> {
        let mut grave = Vec::new();
        for decide in decisions {
            if matches!(decide.decision, Decision::Respond { .. } | Decision::Reject { .. }) {
                continue;
            }
            let (ask, args) = self.ask_as_decided(decide).await?;
            let mut why = ask.grave(&args);
            if drafts.iter().any(|draft| draft.session == decide.session && draft.call_id == decide.call_id) {
                why.extend(ask.grave_as_rule());
            }
            if !why.is_empty() {
                grave.push(GraveCall {
                    tool: ask.call.name.clone(),
                    kind: ask.kind,
                    payload: payload(&ask, &args),
                    why,
                });
            }
        }
        Ok(grave)
    }
}

fn payload(ask: &Ask, args: &Value) -> String {
    let text = |name: &str| args.get(name).and_then(Value::as_str);
    match (ask.kind, &ask.preview) {
        (ToolKind::Execute, Preview::Command { folder, .. }) if text("command").is_some() => {
            // Below the project's own folder, which needs no words.
            let prompt = format!("{} $", folder.trim_matches('/'));
            format!("{} {}", prompt.trim_start(), text("command").unwrap_or_default())
        }
        (ToolKind::Execute, _) => text("command").unwrap_or_default().to_owned(),
        (ToolKind::Edit, _) if text("file_path").is_some() => text("file_path").unwrap_or_default().to_owned(),
        _ => serde_json::to_string_pretty(args).unwrap_or_default(),
    }
}
