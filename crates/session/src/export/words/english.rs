use bosun_protocol::{Decision, DecisionSource, Figure, MediaKind, NoticeCode, SessionStatus};

use super::{DiffWords, Words};

pub static ENGLISH: Words = Words {
    tag: "en",
    untitled: "A session",
    file: "session",
    session: "Session: ",
    project: "Project: ",
    model: "Model: ",
    status_is: "Status: ",
    begun: "Begun: ",
    unknown_time: "at an unknown time",
    tokens: |received, sent| format!("Tokens: {received} in, {sent} out"),
    person: "You",
    agent: "Agent",
    subagent: |name, session| format!("Subagent {name} ({session})"),
    thinking: "Thinking",
    file_of: |name, mime, bytes| format!("{name} ({mime}, {bytes} bytes)"),
    attached: "Attached: ",
    goes_on: "(the output goes on; its middle is left out here)",
    plan: "Plan",
    changed_files: "Changed files",
    waiting: "Waiting for an approval",
    comma: ", ",
    rejected: "rejected",
    answered: "answered by you",
    stopped: "stopped",
    cancelled: "cancelled",
    unknown: "outcome unknown",
    figure,
    decided,
    diff: DiffWords {
        new_file: "(new file)",
        deleted: "(deleted)",
        binary: "(not text; there is nothing to show line by line)",
        no_newline: "\\ No newline at end of file",
        goes_on: |added, removed| {
            format!("(the diff goes on: +{added} -{removed} lines in all, not all of them shown)")
        },
    },
    status,
    notice,
    problem: ToString::to_string,
    of_model: |sentence, model| format!("{} ({model})", sentence.trim_end_matches('.')),
    with_detail: |sentence, detail| format!("{}: {detail}", sentence.trim_end_matches('.')),
};

fn figure(figure: &Figure) -> String {
    match figure {
        Figure::Lines(n) => count(*n, "line", "lines"),
        Figure::Matches(n) => count(*n, "match", "matches"),
        Figure::Files(n) => count(*n, "file", "files"),
        Figure::Entries(n) => count(*n, "entry", "entries"),
        Figure::Added(n) => format!("+{n}"),
        Figure::Removed(n) => format!("-{n}"),
        Figure::ExitCode(code) => format!("exit {code}"),
        Figure::Todos { done, total } => format!("{done} of {total} done"),
        Figure::Media { kind, size } => format!("{} of {}", media(*kind), count(*size, "byte", "bytes")),
        Figure::TimedOut => "timed out".to_owned(),
        Figure::Signal(signal) => format!("ended by signal {signal}"),
        Figure::BrokeOff => "the connection broke off, outcome unknown".to_owned(),
        Figure::Truncated => "cut".to_owned(),
        Figure::LinkBroken => "hard link broken".to_owned(),
    }
}

fn media(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Document => "PDF",
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
    }
}

fn count(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn decided(decision: &Decision, by: &DecisionSource) -> String {
    let by = match by {
        DecisionSource::Person => "by you".to_owned(),
        DecisionSource::Rule { rule } => format!("by the rule {rule}"),
    };
    match decision {
        Decision::Approve => format!("Approved {by}."),
        Decision::Edit { .. } => format!("Approved {by} with other arguments:"),
        Decision::Respond { text } => format!("Answered {by}: {text}"),
        Decision::Reject { reason: Some(reason) } => format!("Rejected {by}: {reason}"),
        Decision::Reject { reason: None } => format!("Rejected {by}."),
    }
}

fn status(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Idle => "done",
        SessionStatus::Running => "running",
        SessionStatus::Waiting => "waiting",
        SessionStatus::Failed => "failed",
        SessionStatus::Stopped => "stopped",
        SessionStatus::Interrupted => "interrupted",
    }
}

fn notice(code: NoticeCode) -> &'static str {
    match code {
        NoticeCode::ModelFailed => "The model did not answer.",
        NoticeCode::KeyRefused => "The provider did not accept the key.",
        NoticeCode::StreamCut => "The reply was cut off; nothing in it was carried out.",
        NoticeCode::Stopped => "You stopped the turn.",
        NoticeCode::StepLimit => "The turn reached its step limit.",
        NoticeCode::Interrupted => "Bosun was closed in the middle of the turn.",
        NoticeCode::Failed => "The turn ended because of an error inside Bosun.",
        NoticeCode::NotRecorded => "The turn was halted because it could not be recorded.",
        NoticeCode::LimitReached => "The turn reached one of its limits.",
        NoticeCode::HookRefused => "One of your hooks ended the turn.",
        NoticeCode::BudgetSpent => "The budget is used up, so the turn stopped.",
        NoticeCode::EmptyReply => "The model sent an empty reply.",
        NoticeCode::OutputLimit => "The reply was cut at the model's output limit.",
        NoticeCode::ModelRefused => "The model declined to answer.",
        NoticeCode::ReplyEnded => "The provider ended the reply early.",
        NoticeCode::AsksAgain => "The model will be asked again shortly.",
        NoticeCode::BudgetWaits => "Waiting for another call that counts towards the same budget.",
        NoticeCode::ModelFellBack => "Another model answered the rest of the turn.",
        NoticeCode::ThinkingUnseen => "The thinking cannot be shown.",
        NoticeCode::BudgetWarning => "The cost has reached an amount you set.",
        NoticeCode::HookFailed => "A hook failed.",
        NoticeCode::KeySeen => "This may be a key.",
        NoticeCode::DefinitionWrong => "The definition of a skill or subagent has errors.",
        NoticeCode::NotUsed => "Not used here.",
        NoticeCode::PriceUnknown => "Some costs are unknown.",
        NoticeCode::HelperMissing => "A helper model is missing.",
        NoticeCode::SummaryFailed => "No summary could be made.",
        NoticeCode::SummaryRemade => "The summary was made again.",
        NoticeCode::FilesChanged => "Files were changed after the agent had read them, and it was told.",
        NoticeCode::Summarized => {
            "The beginning of the conversation is sent as a summary from here on (tokens before and after)."
        }
    }
}
