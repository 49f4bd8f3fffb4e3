use std::path::Path;
use std::time::Duration;

use bosun_agent::{AgentError, EntryBody, Halt, NoteAbout, NoteKind, TurnContext};
use bosun_backend::{Program, ProgramRun};
use bosun_mcp::{BroughtItem, TokenStore, VariableError};
use bosun_tools::StateUpdate;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Answer, Decision};
use super::{Hook, HookConfig, HookPoint, Hooks, OnFailure, event};

/// Bytes of an answer.
pub(super) const MOST_OUTPUT: usize = 256 * 1024;
/// Time for hooks at the end of a turn that a person stopped: they wait for the stop.
const AFTER_STOP: Duration = Duration::from_millis(400);

/// How one fails that the project brought and that has changed, or that is not trusted any more.
const NOT_VOUCHED_FOR: &str = "was not run, because it is of the project and is not what you trusted as this session began; review what the project brings, \
     or start a new session";

/// The fields that keep the last failure of each hook.
const FAILED_FIELD: &str = "hook_failed:";

/// A hook's no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// With the reason, as far as it gave one.
    Refused { hook: String, why: Option<String> },
    /// It failed, and may not.
    Failed { hook: String, how: String },
}

impl Denial {
    /// For the model.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Refused { hook, why: Some(why) } => format!("the hook '{hook}' refused it: {why}."),
            Self::Refused { hook, why: None } => format!("the hook '{hook}' refused it."),
            Self::Failed { hook, how } => failure(hook, how),
        }
    }

    /// For the person whose turn it ends. `message`: it is their message that it refused.
    pub(super) fn halt(self, message: bool) -> Halt {
        match self {
            Self::Refused { hook, why: Some(detail) } => Halt::HookRefusedFor { hook, detail, message },
            Self::Refused { hook, why: None } => Halt::HookRefused { hook, message },
            Self::Failed { hook, how } => Halt::HookRefusedFor { hook, detail: format!("it {how}"), message },
        }
    }
}

fn failure(hook: &str, how: &str) -> String {
    format!("The hook '{hook}' {how}.")
}

/// What all hooks of one moment say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The first that refused; no other ran after it.
    pub denied: Option<Denial>,
    /// Why a person has to be asked.
    pub asks: Option<String>,
    pub context: Vec<String>,
    /// Sentences about hooks that failed where that changes nothing.
    pub failures: Vec<String>,
}

impl Hooks {
    /// Runs the hooks of `point`, one after the other, until one refuses.
    pub(super) async fn run(
        &self,
        cx: &TurnContext,
        point: HookPoint,
        tool: Option<&str>,
        own: Value,
    ) -> Result<Outcome, AgentError> {
        let mut outcome = Outcome::default();
        let hooks = self.hooks_at(point, tool);
        if hooks.is_empty() {
            return Ok(outcome);
        }
        // A turn that waits for a hook does not wait for a person.
        let busy = cx.activity().enter();
        // A hook may do anything, so that what it is told of is in the journal before it hears of it.
        cx.log().save().await?;
        let event = event::whole(cx, point.word(), &self.folder.to_string_lossy(), own);
        let input = serde_json::to_vec(&event).unwrap_or_default();
        for hook in hooks {
            match self.run_one(cx, hook, input.clone()).await? {
                Ok(answer) => outcome.take(&hook.config, answer),
                Err(reason) => {
                    failed(cx, hook, reason.clone()).await?;
                    outcome.fail(&hook.config, reason);
                }
            }
            if outcome.denied.is_some() {
                break;
            }
        }
        drop(busy);
        Ok(outcome)
    }

    fn hooks_at(&self, point: HookPoint, tool: Option<&str>) -> Vec<&Hook> {
        self.hooks.iter().filter(|hook| hook.config.point == point && hook.config.is_for(tool)).collect()
    }

    /// The answer of one hook, or how it failed as half a sentence.
    async fn run_one(
        &self,
        cx: &TurnContext,
        Hook { config: hook, voucher }: &Hook,
        input: Vec<u8>,
    ) -> Result<Result<Answer, String>, AgentError> {
        let stopped = cx.cancel().is_cancelled();
        let _slot = tokio::select! {
            slot = self.slots.acquire() => slot.map_err(|_closed| AgentError::Cancelled)?,
            () = cx.cancel().cancelled(), if !stopped => return Err(AgentError::Cancelled),
        };
        if let Some(voucher) = voucher
            && !voucher.vouches(BroughtItem::Hook(&hook.name)).await
        {
            return Ok(Err(NOT_VOUCHED_FOR.to_owned()));
        }
        let limit = Duration::from_secs(hook.timeout);
        let run = ProgramRun {
            input,
            timeout: if stopped { limit.min(AFTER_STOP) } else { limit },
            cancel: if stopped { CancellationToken::new() } else { cx.cancel().child_token() },
            most_output: MOST_OUTPUT,
        };
        let program = match program(hook, &self.folder, self.tokens.as_ref()).await {
            Ok(program) => program,
            Err(error) => return Ok(Err(error.to_string())),
        };
        Ok(match program.run(run).await {
            Ok(answer) if answer.cancelled => return Err(AgentError::Cancelled),
            Ok(answer) => answer::read(hook, &answer).map_err(|how| self.tokens.masked(&how)),
            Err(error) => Err(format!("could not be started: {error}")),
        })
    }
}

/// What is started for `hook`.
pub(super) async fn program(hook: &HookConfig, folder: &Path, kept: &dyn TokenStore) -> Result<Program, VariableError> {
    Ok(Program {
        program: hook.command.clone(),
        args: hook.args.clone(),
        folder: folder.to_owned(),
        pass_environment: hook.pass_env.clone(),
        set_environment: hook.environment(kept).await?,
    })
}

impl Outcome {
    fn take(&mut self, hook: &HookConfig, answer: Answer) {
        let because = answer.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        match answer.decision {
            Decision::GoOn => {}
            Decision::Ask if self.asks.is_none() => self.asks = Some(format!("the hook '{}' asks{because}", hook.name)),
            Decision::Ask => {}
            Decision::Deny => {
                let why = because.trim_start_matches(": ").trim_end_matches(['.', ' ']);
                let why = (!why.is_empty()).then(|| why.to_owned());
                self.denied = Some(Denial::Refused { hook: hook.name.clone(), why });
            }
        }
        self.context.extend(answer.context);
    }

    fn fail(&mut self, hook: &HookConfig, how: String) {
        let sentence = failure(&hook.name, &how);
        match hook.failure() {
            OnFailure::GoOn => self.failures.push(sentence),
            OnFailure::Ask => self.asks = Some(self.asks.take().unwrap_or(sentence)),
            OnFailure::Deny => self.denied = Some(Denial::Failed { hook: hook.name.clone(), how }),
        }
    }
}

/// Says to the person that a hook failed, once a turn for one that fails the same way again and again.
async fn failed(cx: &TurnContext, Hook { config: hook, voucher }: &Hook, reason: String) -> Result<(), AgentError> {
    // A person's may have the name of one of the project's.
    let of_project = if voucher.is_some() { "project/" } else { "" };
    let field = format!("{FAILED_FIELD}{of_project}{}", hook.name);
    let turn = cx.log().with_state(|state| state.turns);
    let value = json!({ "turn": turn, "said": reason });
    if cx.log().with_state(|state| state.fields.get(&field) == Some(&value)) {
        return Ok(());
    }
    let update = StateUpdate { fields: vec![(field, value)], ..StateUpdate::default() };
    let about = NoteAbout::HookBroke { hook: hook.name.clone(), point: hook.point.word().to_owned(), detail: reason };
    let noted = EntryBody::noted(NoteKind::HookFailed, about);
    cx.log().record(vec![EntryBody::Updated { by: "Hooks".into(), update }, noted]).await?;
    Ok(())
}

pub(super) async fn record(cx: &TurnContext, update: StateUpdate) -> Result<(), AgentError> {
    cx.log().record(vec![EntryBody::Updated { by: "Hooks".into(), update }]).await?;
    Ok(())
}
