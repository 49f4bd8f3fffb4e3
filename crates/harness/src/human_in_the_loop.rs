mod options;
mod scripts;
mod steering;
mod time_out;

use std::sync::Arc;

use bosun_agent::{
    AgentError, Ask, AskPlace, AskReason, AskedAgain, BoxFuture, CallFacts, Decision, DecisionKind, InterruptConfig,
    Middleware, NextTool, OpenCall, Policy, TurnContext, Verdict,
};
use bosun_backend::{Backend, VirtualPath};
use bosun_model::{ContentBlock, ToolCall};
use bosun_tools::{DynTool, ToolKind, ToolOutput};
use serde_json::Value;

use crate::PathMode;
use crate::permissions::{named_by, refusal};
pub use options::{Gate, GateRequest, HumanInTheLoopOptions, InterruptOn};
use scripts::Scripts;

/// The rule by which what was refused once is not asked again before the person speaks (security.md A25).
const REFUSED_BEFORE: &str = "refused before";

/// Asks a person before a call runs, where the policy says so. Innermost for tools: nothing may rewrite a call after
/// it was approved.
///
/// An ask is a journal entry. Waiting here is only a short cut: if the turn is dropped, the next run finds the ask
/// (shown again as it was) or the decision (acted upon without asking) in the state.
#[derive(Default)]
pub struct HumanInTheLoop {
    options: Arc<HumanInTheLoopOptions>,
}

impl HumanInTheLoop {
    pub fn new(options: Arc<HumanInTheLoopOptions>) -> Self {
        Self { options }
    }
}

impl Middleware for HumanInTheLoop {
    fn name(&self) -> &'static str {
        "HumanInTheLoop"
    }

    fn wrap_tool_call<'a>(
        &'a self,
        cx: &'a TurnContext,
        call: ToolCall,
        next: NextTool<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, AgentError>> {
        Box::pin(gate(&self.options, cx, call, next))
    }
}

async fn gate(
    options: &HumanInTheLoopOptions,
    cx: &TurnContext,
    call: ToolCall,
    next: NextTool<'_>,
) -> Result<ToolOutput, AgentError> {
    let (asked, is_as_shown, again) = cx.log().with_state(|state| {
        let open = state.open_call(&call.id).filter(|open| open.ask.is_some());
        let again = open.filter(|open| open.is_of_this_version()).map(|_| AskedAgain::RecordChanged);
        (open.is_some(), open.is_none_or(OpenCall::is_as_shown), again)
    });
    if !asked || !is_as_shown {
        // Nobody is asked about what may not be done in any case.
        if let Some((operation, path)) = named_by(&call.name, &call.args, &*cx.agent().backend)
            && options.paths.mode(operation, &path) == PathMode::Deny
        {
            return Ok(ToolOutput::error(refusal(operation, &path)));
        }
        let held = sandbox(&*cx.agent().backend, next.tool().kind()).is_some();
        let mut verdict = judge(options, cx, &call, next.tool(), held);
        if matches!(verdict, Verdict::Allow { .. }) && next.tool().kind() == ToolKind::Edit {
            // The commands before it may make the way there another one.
            cx.after_earlier(&call.id, ToolKind::Edit).await?;
            verdict = judge(options, cx, &call, next.tool(), held);
        }
        let verdict = match verdict {
            // It was asked for, and is no more allowed for what became of the record.
            Verdict::Allow { .. } if asked => by_kind(next.tool().kind()),
            verdict => verdict,
        };
        match verdict {
            Verdict::Allow { rule } => {
                if held {
                    cx.hold(&call.id);
                }
                if let Some(rule) = rule {
                    cx.note_rule(&call.id, rule);
                }
                return next.run(call).await;
            }
            Verdict::Reject { rule } => {
                let text = format!(
                    "Error: {} was not run: it is refused by the rule '{rule}'. Do not try it again; go on without it \
                     or end with what is missing.",
                    call.name
                );
                cx.note_rejection(&call.id, rule);
                return Ok(ToolOutput::error(text));
            }
            Verdict::Ask { .. } if cx.log().with_state(|state| state.was_refused(&call)) => {
                cx.note_rejection(&call.id, REFUSED_BEFORE.to_owned());
                return Ok(ToolOutput::error(format!(
                    "Error: {} was not run: the user refused exactly this call before and was not asked again. Go on \
                     another way, or end and say what is missing.",
                    call.name
                )));
            }
            Verdict::Ask { reason, config } => {
                let description = options.description(cx, &call, config.description);
                let config = InterruptConfig { description, ..config };
                let place = options.place(cx, &call, next.tool());
                ask(cx, &call, next.tool(), place, (reason, config), again).await?;
            }
        }
    }
    loop {
        let record = tokio::select! {
            biased;
            () = cx.cancel().cancelled() => return Err(AgentError::Cancelled),
            record = cx.log().decision(&call.id) => record,
            record = time_out::after(options.timeout(&call.name), cx, &call) => record,
        };
        let place = options.place(cx, &call, next.tool());
        if !scripts::ask_again(cx, &call.id, &record.decision, next.tool(), place).await? {
            // It was shown as one that a sandbox holds.
            if cx.log().with_state(|state| state.open_call(&call.id)?.ask.as_ref()?.sandbox.clone()).is_some() {
                cx.hold(&call.id);
            }
            // What was shown runs, and not what a member around this one makes of the call today.
            let ask = cx.log().with_state(|state| state.open_call(&call.id).and_then(|open| open.ask.clone()));
            if let Some(ask) = &ask
                && let Some(refusal) = elsewhere(cx, ask, &record.decision, next.tool()).await?
            {
                return Ok(ToolOutput::error(refusal));
            }
            return decide(record.decision, ask.map_or(call, |ask| ask.call), next).await;
        }
    }
}

fn judge(
    options: &HumanInTheLoopOptions,
    cx: &TurnContext,
    call: &ToolCall,
    tool: &Arc<dyn DynTool>,
    held: bool,
) -> Verdict {
    let mutates = tool.mutates(&cx.tool_context(&call.id), &call.args);
    let steers = |path: &VirtualPath| options.started.contains(path) || steering::guards(cx, &options.steering, path);
    let direct = mutates.as_ref().map(|path| cx.agent().backend.direct(path));
    let judged_by = |policy: &Policy, gate: Option<&Gate>| {
        let judged = |mutates: Option<&VirtualPath>| {
            let steers = mutates.is_some_and(steers);
            let beside = mutates.is_some_and(|path| options.is_beside(path));
            let (tool, kind, args) = (&*call.name, tool.kind(), &call.args);
            let facts = CallFacts { tool, kind, mutates, beside, args, held, steers };
            policy.judge(&facts)
        };
        // What may be done under a link's name has to be allowed where it leads, too.
        let verdict = match judged(mutates.as_ref()) {
            Verdict::Allow { .. } if direct != mutates => judged(direct.as_ref()),
            verdict => verdict,
        };
        match verdict {
            // No predicate lets a file pass that later runs code.
            ask @ Verdict::Ask { reason: AskReason::ProtectedName { .. }, .. } => ask,
            Verdict::Ask { .. } if gate.is_some_and(|gate| !gate.applies(cx, call, mutates.as_ref())) => {
                Verdict::Allow { rule: Some(format!("{} asks only in other cases", call.name)) }
            }
            verdict => verdict,
        }
    };
    let policy = cx.agent().policy();
    let in_addition = options.in_addition.iter().filter_map(|gates| gates.get(&call.name));
    let verdict = in_addition.fold(judged_by(&policy, options.gates.get(&call.name)), |above, gate| {
        let mut own = (*policy).clone();
        own.interrupt_on.insert(call.name.clone(), Some(gate.config()));
        stricter(above, judged_by(&own, Some(gate)))
    });
    let path_asks = || {
        let pattern = options.paths.asks(&call.name, &call.args, &*cx.agent().backend)?;
        Some(format!("{pattern} asks"))
    };
    // A hook, or a rule about paths, may be stricter than the rules about tools, never laxer.
    match (verdict, cx.required_ask(&call.id)) {
        (Verdict::Allow { .. }, Some(rule)) => {
            Verdict::Ask { reason: AskReason::Hook { rule, name: None }, config: InterruptConfig::default() }
        }
        (Verdict::Ask { reason, config }, Some(rule)) => {
            let name = match reason {
                AskReason::ProtectedName { name } => Some(name),
                _ => None,
            };
            Verdict::Ask { reason: AskReason::Hook { rule, name }, config }
        }
        (verdict @ Verdict::Allow { .. }, None) => match path_asks() {
            Some(rule) => Verdict::Ask { reason: AskReason::Rule { rule }, config: InterruptConfig::default() },
            None => verdict,
        },
        (verdict, _) => verdict,
    }
}

/// That it asks, whatever allows it.
fn by_kind(kind: ToolKind) -> Verdict {
    let reason = match kind {
        ToolKind::Execute | ToolKind::Other => AskReason::CommandsAsk,
        ToolKind::Read | ToolKind::Edit | ToolKind::Plan | ToolKind::Delegate => AskReason::EditsAsk,
    };
    Verdict::Ask { reason, config: InterruptConfig::default() }
}

/// What both say: a subagent can be given less than its sender may, never more.
fn stricter(above: Verdict, own: Verdict) -> Verdict {
    match (above, own) {
        (reject @ Verdict::Reject { .. }, _) | (_, reject @ Verdict::Reject { .. }) => reject,
        (Verdict::Ask { reason, config }, Verdict::Ask { config: own, .. }) => {
            Verdict::Ask { reason, config: narrowed(config, own) }
        }
        (ask @ Verdict::Ask { .. }, _) | (Verdict::Allow { .. }, ask @ Verdict::Ask { .. }) => ask,
        (allow @ Verdict::Allow { .. }, Verdict::Allow { .. }) => allow,
    }
}

/// The decisions that both allow. Where there are none a person can refuse: something must be open to them.
fn narrowed(above: InterruptConfig, own: InterruptConfig) -> InterruptConfig {
    let both: Vec<_> = above.allowed.iter().copied().filter(|kind| own.allowed.contains(kind)).collect();
    InterruptConfig {
        allowed: if both.is_empty() { vec![DecisionKind::Reject] } else { both },
        description: own.description.or(above.description),
    }
}

async fn ask(
    cx: &TurnContext,
    call: &ToolCall,
    tool: &Arc<dyn DynTool>,
    place: Option<AskPlace>,
    (reason, config): (AskReason, InterruptConfig),
    again: Option<AskedAgain>,
) -> Result<(), AgentError> {
    let busy = cx.activity().enter();
    let preview = tool.preview(&cx.tool_context(&call.id), &call.args).await;
    let backend = &*cx.agent().backend;
    let Scripts { named: scripts, has_more: more_scripts } = scripts::named_by(backend, call, tool.kind()).await;
    let sandbox = sandbox(backend, tool.kind());
    let ask = Ask {
        call: call.clone(),
        kind: tool.kind(),
        schema: tool.spec().schema.clone(),
        preview,
        reason,
        allowed: config.allowed,
        description: config.description,
        sandbox,
        place,
        leads: leads(cx, call, tool),
        scripts,
        more_scripts,
        again,
        is_edited: false,
        digest: String::new(),
    };
    cx.record_ask(ask.sealed()).await?;
    drop(busy);
    Ok(())
}

/// Where the file is that the call changes, whatever links lead there now.
fn leads(cx: &TurnContext, call: &ToolCall, tool: &Arc<dyn DynTool>) -> Option<VirtualPath> {
    let path = tool.mutates(&cx.tool_context(&call.id), &call.args)?;
    (tool.kind() == ToolKind::Edit).then(|| cx.agent().backend.direct(&path))
}

/// What the model is told of a change that was approved and is not made, as its path leads by now where nobody approved one
/// (security.md A11).
async fn elsewhere(
    cx: &TurnContext,
    ask: &Ask,
    decision: &Decision,
    tool: &Arc<dyn DynTool>,
) -> Result<Option<String>, AgentError> {
    let args = match decision {
        Decision::Approve => &ask.call.args,
        Decision::Edit { args } => args,
        Decision::Respond { .. } | Decision::Reject { .. } => return Ok(None),
    };
    if tool.kind() != ToolKind::Edit {
        return Ok(None);
    }
    cx.after_earlier(&ask.call.id, ToolKind::Edit).await?;
    let tool_cx = cx.tool_context(&ask.call.id);
    let path = tool.mutates(&tool_cx, args);
    let by_now = path.as_ref().map(|path| cx.agent().backend.direct(path));
    let (approved, since) = if path == tool.mutates(&tool_cx, &ask.call.args) {
        (&ask.leads, "since it was approved, its path has come to lead elsewhere through a link")
    } else {
        // A person's own path: where it leads was recorded by nobody, so it has to be the file's own.
        (&path, "the path that the user put in the place of yours leads elsewhere through a link")
    };
    Ok((by_now != *approved).then(|| {
        format!(
            "Error: {} was not run: {since}, and nobody approved a change there. Nothing was changed. Look at the path, \
             and call it again if it is still right.",
            ask.call.name
        )
    }))
}

/// What holds commands back now, in words. Tools of other programs run where those do.
fn sandbox(backend: &dyn Backend, kind: ToolKind) -> Option<String> {
    backend.shell().filter(|_| kind == ToolKind::Execute).and_then(|shell| shell.sandbox()).map(str::to_owned)
}

async fn decide(decision: Decision, call: ToolCall, next: NextTool<'_>) -> Result<ToolOutput, AgentError> {
    match decision {
        Decision::Approve => next.run(call).await,
        Decision::Edit { args } => {
            let name = call.name.clone();
            let output = next.run(ToolCall { args: args.clone(), ..call }).await?;
            Ok(edited(output, &name, &args))
        }
        Decision::Respond { text } => Ok(ToolOutput::text(text)),
        Decision::Reject { reason } => Ok(ToolOutput::error(rejection(&call, reason.as_deref()))),
    }
}

/// The model's message keeps the call it made, so the result says what really ran (behaviour.md A14).
fn edited(mut output: ToolOutput, name: &str, args: &Value) -> ToolOutput {
    let note = format!("The user changed this call before it ran. What ran: {name} {args}");
    output.content.insert(0, ContentBlock::text(note));
    output
}

fn rejection(call: &ToolCall, reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The user rejected this call; it was not run. Their reason: {reason}"),
        None => format!(
            "The user rejected the call {} ({}); it was not run. Do not try it again unless they ask for it.",
            call.name, call.id
        ),
    }
}
