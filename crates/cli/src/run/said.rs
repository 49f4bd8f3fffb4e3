//! What is said of a notice as soon as it comes.

use bosun_protocol::{Notice, NoticeCode};

use crate::terminal;

/// The line about a notice that ends no turn: a reply that is not as it should be, a hook that failed, a file of a skill
/// that cannot be used. `None` for one that ends it, which is said when the turn is over.
pub(super) fn at_once(notice: &Notice) -> Option<String> {
    let words = match notice.code {
        // These are sentences of their own.
        NoticeCode::PriceUnknown
        | NoticeCode::HelperMissing
        | NoticeCode::SummaryFailed
        | NoticeCode::SummaryRemade
        | NoticeCode::HookFailed
        | NoticeCode::DefinitionWrong
        | NoticeCode::NotUsed
        | NoticeCode::ModelFellBack
        | NoticeCode::ThinkingUnseen
        | NoticeCode::BudgetWarning
        | NoticeCode::KeySeen => return Some(terminal::one_line(&notice.detail)),
        NoticeCode::EmptyReply => "the model sent an empty reply",
        NoticeCode::OutputLimit => "the reply was cut at the model's output limit; say \"go on\" to get the rest",
        NoticeCode::ModelRefused => "the model declined to answer",
        NoticeCode::ReplyEnded => "the provider ended the reply early",
        NoticeCode::FilesChanged => "files changed after the agent had read them, and it was told",
        NoticeCode::Summarized => "the beginning of the conversation is sent as a summary from here on, in tokens",
        // The first is said when the wait begins, the others at the end.
        NoticeCode::AsksAgain
        | NoticeCode::BudgetWaits
        | NoticeCode::ModelFailed
        | NoticeCode::KeyRefused
        | NoticeCode::StreamCut
        | NoticeCode::Stopped
        | NoticeCode::StepLimit
        | NoticeCode::Interrupted
        | NoticeCode::Failed
        | NoticeCode::NotRecorded
        | NoticeCode::LimitReached
        | NoticeCode::BudgetSpent
        | NoticeCode::HookRefused => return None,
    };
    let detail = terminal::one_line(&notice.detail);
    Some(if detail.is_empty() { words.to_owned() } else { format!("{words}: {detail}") })
}
