//! The core's types as the protocol's. They are alike on purpose and apart on purpose: the journal's format and the
//! wire's change for different reasons.

mod additions;
mod attachment;
mod rules;

use bosun_agent::{
    AskReason, AskedAgain, Decision, DecisionKind, DecisionRecord, DecisionSource, Halt, NoteKind, PlannedTodo,
    ToolOutcome, TurnEnd,
};
use bosun_model::{Asked, Effort, MediaKind};
use bosun_protocol as wire;
use bosun_tools::{DiffLineKind, Figure, FileDiff, Preview, TodoStatus, ToolKind};

use crate::Explain;

pub(crate) use additions::{hook_config, hook_form, hook_trial, server_config, server_form};
pub(crate) use attachment::{attachment, said};
pub(crate) use rules::{core_mode, guard, mode, problem, rule, rule_kind, scope};

pub(crate) fn tool_kind(kind: ToolKind) -> wire::ToolKind {
    match kind {
        ToolKind::Read => wire::ToolKind::Read,
        ToolKind::Edit => wire::ToolKind::Edit,
        ToolKind::Execute => wire::ToolKind::Execute,
        ToolKind::Delegate => wire::ToolKind::Delegate,
        ToolKind::Plan => wire::ToolKind::Plan,
        ToolKind::Other => wire::ToolKind::Other,
    }
}

pub(crate) fn figure(figure: &Figure) -> wire::Figure {
    match *figure {
        Figure::Lines(n) => wire::Figure::Lines(n),
        Figure::Matches(n) => wire::Figure::Matches(n),
        Figure::Files(n) => wire::Figure::Files(n),
        Figure::Entries(n) => wire::Figure::Entries(n),
        Figure::Added(n) => wire::Figure::Added(n),
        Figure::Removed(n) => wire::Figure::Removed(n),
        Figure::ExitCode(code) => wire::Figure::ExitCode(code),
        Figure::Todos { done, total } => wire::Figure::Todos { done, total },
        Figure::Media { kind, size } => wire::Figure::Media { kind: media_kind(kind), size },
        Figure::TimedOut => wire::Figure::TimedOut,
        Figure::Signal(signal) => wire::Figure::Signal(signal),
        Figure::BrokeOff => wire::Figure::BrokeOff,
        Figure::Truncated => wire::Figure::Truncated,
        Figure::LinkBroken => wire::Figure::LinkBroken,
    }
}

fn media_kind(kind: MediaKind) -> wire::MediaKind {
    match kind {
        MediaKind::Image => wire::MediaKind::Image,
        MediaKind::Document => wire::MediaKind::Document,
        MediaKind::Audio => wire::MediaKind::Audio,
        MediaKind::Video => wire::MediaKind::Video,
    }
}

pub(crate) fn diff(diff: &FileDiff) -> wire::FileDiff {
    wire::FileDiff {
        path: diff.path.clone(),
        added: diff.added,
        removed: diff.removed,
        hunks: diff.hunks.iter().map(hunk).collect(),
        binary: diff.binary,
        truncated: diff.truncated,
        created: diff.created,
        deleted: diff.deleted,
    }
}

fn hunk(hunk: &bosun_tools::DiffHunk) -> wire::DiffHunk {
    wire::DiffHunk {
        old_start: hunk.old_start,
        old_lines: hunk.old_lines,
        new_start: hunk.new_start,
        new_lines: hunk.new_lines,
        heading: hunk.heading.clone(),
        lines: hunk.lines.iter().map(line).collect(),
    }
}

fn line(line: &bosun_tools::DiffLine) -> wire::DiffLine {
    let segment =
        |segment: &bosun_tools::DiffSegment| wire::DiffSegment { text: segment.text.clone(), changed: segment.changed };
    wire::DiffLine {
        kind: match line.kind {
            DiffLineKind::Context => wire::DiffLineKind::Context,
            DiffLineKind::Added => wire::DiffLineKind::Added,
            DiffLineKind::Removed => wire::DiffLineKind::Removed,
        },
        old: line.old,
        new: line.new,
        segments: line.segments.iter().map(segment).collect(),
        no_newline: line.no_newline,
    }
}

pub(crate) fn preview(preview: &Preview) -> wire::Preview {
    match preview {
        Preview::Diff { diff: file } => wire::Preview::Diff { diff: diff(file) },
        Preview::Command { command, folder, timeout_seconds } => wire::Preview::Command {
            command: command.clone(),
            folder: folder.clone(),
            timeout_seconds: *timeout_seconds,
        },
        Preview::Delete { path, files, counted_all, is_dir } => {
            wire::Preview::Delete { path: path.clone(), files: *files, counted_all: *counted_all, is_dir: *is_dir }
        }
        Preview::Fields => wire::Preview::Fields,
        Preview::Problem { message, fault } => {
            wire::Preview::Problem { message: message.clone(), problem: fault.as_ref().map(Explain::problem) }
        }
    }
}

pub(crate) fn reason(reason: &AskReason) -> wire::AskReason {
    match reason {
        AskReason::EditsAsk => wire::AskReason::EditsAsk,
        AskReason::CommandsAsk => wire::AskReason::CommandsAsk,
        AskReason::DeletesAsk => wire::AskReason::DeletesAsk,
        AskReason::ProtectedName { name } => wire::AskReason::ProtectedName { name: name.clone() },
        AskReason::Rule { rule } => wire::AskReason::Rule { rule: rule.clone() },
        AskReason::Hook { rule, name } => wire::AskReason::Hook { rule: rule.clone(), name: name.clone() },
    }
}

pub(crate) fn again(again: &AskedAgain) -> wire::AskedAgain {
    match again {
        AskedAgain::ScriptChanged { path } => wire::AskedAgain::ScriptChanged { path: path.clone() },
        AskedAgain::ScriptNamed { path } => wire::AskedAgain::ScriptNamed { path: path.clone() },
        AskedAgain::SandboxOff => wire::AskedAgain::SandboxOff,
        AskedAgain::PlaceChanged => wire::AskedAgain::PlaceChanged,
        AskedAgain::RecordChanged => wire::AskedAgain::RecordChanged,
    }
}

pub(crate) fn decision_kind(kind: DecisionKind) -> wire::DecisionKind {
    match kind {
        DecisionKind::Approve => wire::DecisionKind::Approve,
        DecisionKind::Edit => wire::DecisionKind::Edit,
        DecisionKind::Respond => wire::DecisionKind::Respond,
        DecisionKind::Reject => wire::DecisionKind::Reject,
    }
}

pub(crate) fn decision(decision: wire::Decision) -> Decision {
    match decision {
        wire::Decision::Approve => Decision::Approve,
        wire::Decision::Edit { args } => Decision::Edit { args },
        wire::Decision::Respond { text } => Decision::Respond { text },
        wire::Decision::Reject { reason } => Decision::Reject { reason },
    }
}

pub(crate) fn record(record: &DecisionRecord, at: i64) -> wire::DecisionRecord {
    wire::DecisionRecord {
        decision: match record.decision.clone() {
            Decision::Approve => wire::Decision::Approve,
            Decision::Edit { args } => wire::Decision::Edit { args },
            Decision::Respond { text } => wire::Decision::Respond { text },
            Decision::Reject { reason } => wire::Decision::Reject { reason },
        },
        by: match &record.by {
            DecisionSource::Person => wire::DecisionSource::Person,
            DecisionSource::Rule { rule } => wire::DecisionSource::Rule { rule: rule.clone() },
        },
        at,
    }
}

/// What the row keeps where a rule decided and nobody was asked.
pub(crate) fn by_rule(rule: &str, outcome: ToolOutcome, at: i64) -> wire::DecisionRecord {
    let decision = match outcome {
        ToolOutcome::Refused | ToolOutcome::Rejected => wire::Decision::Reject { reason: None },
        _ => wire::Decision::Approve,
    };
    wire::DecisionRecord { decision, by: wire::DecisionSource::Rule { rule: rule.to_owned() }, at }
}

pub(crate) fn todo(todo: &PlannedTodo) -> wire::Todo {
    wire::Todo {
        id: todo.id.clone(),
        content: todo.content.clone(),
        status: match todo.status {
            TodoStatus::Pending => wire::TodoStatus::Pending,
            TodoStatus::InProgress => wire::TodoStatus::InProgress,
            TodoStatus::Completed => wire::TodoStatus::Completed,
        },
    }
}

pub(crate) fn outcome(end: &TurnEnd) -> wire::TurnOutcome {
    match end {
        TurnEnd::Done | TurnEnd::Empty => wire::TurnOutcome::Done,
        TurnEnd::Stopped => wire::TurnOutcome::Stopped,
        TurnEnd::StepLimit { .. } => wire::TurnOutcome::StepLimit,
        TurnEnd::Failed { .. } => wire::TurnOutcome::Failed,
    }
}

pub(crate) fn model(asked: &Asked) -> wire::ModelRef {
    wire::ModelRef { provider: asked.provider.clone(), name: asked.model.clone() }
}

pub(crate) fn effort(effort: wire::Effort) -> Effort {
    match effort {
        wire::Effort::Off => Effort::Off,
        wire::Effort::Low => Effort::Low,
        wire::Effort::Medium => Effort::Medium,
        wire::Effort::High => Effort::High,
        wire::Effort::Max => Effort::Max,
    }
}

pub(crate) fn effort_view(effort: Effort) -> wire::Effort {
    match effort {
        Effort::Off => wire::Effort::Off,
        Effort::Low => wire::Effort::Low,
        Effort::Medium => wire::Effort::Medium,
        Effort::High => wire::Effort::High,
        Effort::Max => wire::Effort::Max,
    }
}

pub(crate) fn halt(halt: &Halt) -> wire::NoticeCode {
    match halt {
        Halt::SessionBudget { .. } | Halt::DayBudget { .. } => wire::NoticeCode::BudgetSpent,
        Halt::HookRefused { .. } | Halt::HookRefusedFor { .. } => wire::NoticeCode::HookRefused,
        Halt::SpendingUnknown { .. } | Halt::AnswerNotHandedIn => wire::NoticeCode::Failed,
        Halt::LimitOfSteps { .. }
        | Halt::LimitOfTokens { .. }
        | Halt::LimitOfDollars { .. }
        | Halt::LimitOfSeconds { .. }
        | Halt::SameFailures { .. } => wire::NoticeCode::LimitReached,
    }
}

pub(crate) fn note(kind: NoteKind) -> wire::NoticeCode {
    match kind {
        NoteKind::ModelFellBack => wire::NoticeCode::ModelFellBack,
        NoteKind::ThinkingUnseen => wire::NoticeCode::ThinkingUnseen,
        NoteKind::BudgetWarning => wire::NoticeCode::BudgetWarning,
        NoteKind::HookFailed => wire::NoticeCode::HookFailed,
        NoteKind::KeySeen => wire::NoticeCode::KeySeen,
        NoteKind::DefinitionWrong => wire::NoticeCode::DefinitionWrong,
        NoteKind::NotUsed => wire::NoticeCode::NotUsed,
        NoteKind::PriceUnknown => wire::NoticeCode::PriceUnknown,
        NoteKind::HelperMissing => wire::NoticeCode::HelperMissing,
        NoteKind::SummaryFailed => wire::NoticeCode::SummaryFailed,
        NoteKind::SummaryRemade => wire::NoticeCode::SummaryRemade,
    }
}

/// A path with the home folder as `~`.
pub(crate) fn short_path(path: &std::path::Path, home: Option<&std::path::Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".into(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
