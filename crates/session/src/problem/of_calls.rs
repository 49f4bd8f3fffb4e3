//! Calls to models, and the limits on them.

use bosun_agent::{Halt, NoteAbout};
use bosun_model::{ModelError, ModelTrouble};
use bosun_protocol::Problem;

use super::Explain;

impl Explain for ModelError {
    fn problem(&self) -> Problem {
        // The sentence names the host where it matters; the provider's id is nothing that people chose.
        let said = || Problem::Said { detail: self.message.clone() };
        self.trouble.clone().map_or_else(said, |trouble| of_call(*trouble))
    }
}

/// What stands in for a provider's words, said of its calls.
fn of_call(trouble: ModelTrouble) -> Problem {
    match trouble {
        ModelTrouble::KeyRefused { host, status } => Problem::KeyRefused { host, status },
        ModelTrouble::NothingAtAddress { host, status, address } => Problem::NothingAtAddress { host, status, address },
        ModelTrouble::NothingWithoutVersion { host, status, address } => {
            Problem::NothingWithoutVersion { host, status, address }
        }
        ModelTrouble::FewerRequests { host, status } => Problem::FewerRequests { host, status },
        ModelTrouble::PayFirst { host, status } => Problem::PayFirst { host, status },
        ModelTrouble::Overloaded { host, status } => Problem::Overloaded { host, status },
        ModelTrouble::RefusedSilently { host, status } => Problem::RefusedSilently { host, status },
        ModelTrouble::AddressWrong { detail, address } => Problem::AddressWrong { detail, address },
        ModelTrouble::AddressWithoutVersion { detail, address } => Problem::AddressWithoutVersion { detail, address },
        ModelTrouble::WithoutTools { detail } => Problem::WithoutTools { detail },
        ModelTrouble::ErrorWithoutWords { host } => Problem::ErrorWithoutWords { host },
        ModelTrouble::OtherJson { address } => Problem::OtherJson { address },
        ModelTrouble::OtherJsonWithoutVersion { address } => Problem::OtherJsonWithoutVersion { address },
        ModelTrouble::SomethingElse { address } => Problem::SomethingElse { address },
        ModelTrouble::SomethingElseWithoutVersion { address } => Problem::SomethingElseWithoutVersion { address },
        ModelTrouble::WebPage { address, title } => Problem::WebPage { address, title },
        ModelTrouble::WebPageWithoutVersion { address, title } => Problem::WebPageWithoutVersion { address, title },
        ModelTrouble::CertificateDate { host, detail } => Problem::CertificateDate { host, detail },
        ModelTrouble::Certificate { host, detail } => Problem::Certificate { host, detail },
        ModelTrouble::NotSecure { address, detail } => Problem::NotSecure { address, detail },
        ModelTrouble::NotAccepted { address } => Problem::NotAccepted { address },
        ModelTrouble::HostUnknown { host, detail } => Problem::HostUnknown { host, detail },
        ModelTrouble::NothingAnswers { address, detail } => Problem::NothingAnswers { address, detail },
        ModelTrouble::ProxyWantsPassword { host } => Problem::ProxyWantsPassword { host },
        ModelTrouble::ProxyRefused { host, detail } => Problem::ProxyRefused { host, detail },
        ModelTrouble::ProxyUnreached { host, detail } => Problem::ProxyUnreached { host, detail },
        ModelTrouble::ProxyScript { host, desktop, detail } => Problem::ProxyScript { host, desktop, detail },
        ModelTrouble::BrokeBeforeReply { address, detail } => Problem::BrokeBeforeReply { address, detail },
        ModelTrouble::OnlyPart { host, seconds } => Problem::OnlyPart { host, seconds },
        ModelTrouble::NoAnswer { host, seconds } => Problem::NoAnswer { host, seconds },
        ModelTrouble::StillSending { host, seconds } => Problem::StillSending { host, seconds },
        ModelTrouble::SentNothing { host, seconds } => Problem::SentNothing { host, seconds },
        ModelTrouble::SentNothingMore { host, seconds } => Problem::SentNothingMore { host, seconds },
        ModelTrouble::Redirected { address, to } => Problem::Redirected { address, to },
        ModelTrouble::ReplyCut { host } => Problem::ReplyCut { host },
        ModelTrouble::ReplyBroken { host, detail } => Problem::ReplyBroken { host, detail },
        ModelTrouble::ReplyUnfinished => Problem::ReplyUnfinished,
        ModelTrouble::BadFormat { host, detail } => Problem::BadFormat { host, detail },
        ModelTrouble::NetworkUnusable { detail } => Problem::NetworkUnusable { detail },
        ModelTrouble::KeyCharacters => Problem::KeyCharacters,
        ModelTrouble::NoKey => Problem::NoKey,
        ModelTrouble::ProviderLabel => Problem::ProviderLabel,
        ModelTrouble::FamilyFixed => Problem::FamilyFixed,
        ModelTrouble::HeaderName { name } => Problem::HeaderName { name },
        ModelTrouble::HeaderValue { name } => Problem::HeaderValue { name },
        ModelTrouble::HeaderReserved { name } => Problem::HeaderReserved { name },
        ModelTrouble::HeaderTooLong { most } => Problem::HeaderTooLong { most },
        ModelTrouble::HeadersFull { most } => Problem::HeadersFull { most },
        ModelTrouble::NoModelNamed => Problem::NoModelNamed,
        ModelTrouble::BaseUrlScheme { url, example } => Problem::BaseUrlScheme { url, example },
        ModelTrouble::BaseUrlUnreadable { url, detail, example } => Problem::BaseUrlUnreadable { url, detail, example },
        ModelTrouble::BaseUrlOther { url, scheme, example } => Problem::BaseUrlOther { url, scheme, example },
        ModelTrouble::BaseUrlHostless { url, example } => Problem::BaseUrlHostless { url, example },
        ModelTrouble::BaseUrlUnnamed { url, place } => Problem::BaseUrlUnnamed { url, place },
        ModelTrouble::BaseUrlSecret => Problem::BaseUrlSecret,
        ModelTrouble::BaseUrlTooLong => Problem::BaseUrlTooLong,
        ModelTrouble::BaseUrlQuery { name } => Problem::BaseUrlQuery { name },
        ModelTrouble::ProxyAddress { address } => Problem::ProxyAddress { address },
        ModelTrouble::ProxyScheme { scheme } => Problem::ProxyScheme { scheme },
        ModelTrouble::ProxySecret => Problem::ProxySecret,
        ModelTrouble::ProxyUnusable { address } => Problem::ProxyUnusable { address },
        ModelTrouble::CertificatesUnreadable => Problem::CertificatesUnreadable,
        ModelTrouble::CertificatesNone => Problem::CertificatesNone,
        ModelTrouble::AwsProfileSso { profile } => Problem::AwsProfileSso { profile },
        ModelTrouble::AwsProfileConsole { profile } => Problem::AwsProfileConsole { profile },
        ModelTrouble::AwsProfileProgram { profile, detail } => Problem::AwsProfileProgram { profile, detail },
        ModelTrouble::AwsProfileRole { profile } => Problem::AwsProfileRole { profile },
        ModelTrouble::AwsCliFailed { profile, detail } => Problem::AwsCliFailed { profile, detail },
        ModelTrouble::AwsLoginEnded { profile, command } => Problem::AwsLoginEnded { profile, command },
        ModelTrouble::AwsProfileEmpty { profile } => Problem::AwsProfileEmpty { profile },
        ModelTrouble::AwsNothing { profile } => Problem::AwsNothing { profile },
        ModelTrouble::AwsUnsigned => Problem::AwsUnsigned,
        ModelTrouble::GoogleFileUnreadable { path } => Problem::GoogleFileUnreadable { path },
        ModelTrouble::GoogleNothing => Problem::GoogleNothing,
        ModelTrouble::GoogleFileForeign { path } => Problem::GoogleFileForeign { path },
        ModelTrouble::GoogleFileKind { path, given } => Problem::GoogleFileKind { path, given },
        ModelTrouble::GoogleFileUnusable { path, given } => Problem::GoogleFileUnusable { path, given },
        ModelTrouble::GoogleNoToken { path } => Problem::GoogleNoToken { path },
        ModelTrouble::GoogleUnreached { path, detail } => Problem::GoogleUnreached { path, detail },
        ModelTrouble::GoogleRefused { path } => Problem::GoogleRefused { path },
        ModelTrouble::VertexNoProject => Problem::VertexNoProject,
        ModelTrouble::RequestUnwritable { detail } => Problem::RequestUnwritable { detail },
    }
}

pub(crate) fn of_halt(about: Halt) -> Problem {
    match about {
        Halt::LimitOfSteps { limit } => Problem::LimitOfSteps { limit },
        Halt::LimitOfTokens { limit } => Problem::LimitOfTokens { limit },
        Halt::LimitOfDollars { limit } => Problem::LimitOfDollars { limit },
        Halt::LimitOfSeconds { limit } => Problem::LimitOfSeconds { limit },
        Halt::SameFailures { tool, times } => Problem::SameFailures { tool, times },
        Halt::AnswerNotHandedIn => Problem::AnswerNotHandedIn,
        Halt::SessionBudget { limit, spent } => Problem::SessionBudget { limit, spent },
        Halt::DayBudget { limit, spent } => Problem::DayBudget { limit, spent },
        Halt::HookRefused { hook, message: _ } => Problem::HookRefused { hook },
        Halt::HookRefusedFor { hook, detail, message: _ } => Problem::HookRefusedFor { hook, detail },
        Halt::SpendingUnknown { detail } => Problem::SpendingUnknown { detail },
    }
}

pub(crate) fn of_note(about: NoteAbout) -> Problem {
    match about {
        NoteAbout::SessionCost { spent, limit } => Problem::SessionCost { spent, limit },
        NoteAbout::SessionCostStops { spent, limit, stop } => Problem::SessionCostStops { spent, limit, stop },
        NoteAbout::DayCost { spent, limit } => Problem::DayCost { spent, limit },
        NoteAbout::DayCostStops { spent, limit, stop } => Problem::DayCostStops { spent, limit, stop },
        NoteAbout::FellBack { from, to, detail } => Problem::FellBack { from, to, detail },
        NoteAbout::ThinkingUnseen { model, detail } => Problem::ThinkingUnseen { model, detail },
        NoteAbout::HookBroke { hook, point, detail } => Problem::HookBroke { hook, point, detail },
        NoteAbout::KeyInMessage { model } => Problem::KeyInMessage { model },
        NoteAbout::KeyInResult { tool, model } => Problem::KeyInResult { tool, model },
        NoteAbout::SkillWrong { detail } => Problem::SkillWrong { detail },
        NoteAbout::SubagentWrong { detail } => Problem::SubagentWrong { detail },
        NoteAbout::SubagentLacks { name, tools } => Problem::SubagentLacks { name, tools },
        NoteAbout::Untrusted { names } => Problem::Untrusted { names },
        NoteAbout::BroughtTooLarge { path, megabytes } => Problem::BroughtTooLarge { path, megabytes },
        NoteAbout::BroughtUnusable { name, detail } => Problem::BroughtUnusable { name, detail },
        NoteAbout::MemoryCut { path } => Problem::MemoryCut { path },
        NoteAbout::AgentLacks { tools } => Problem::AgentLacks { tools },
        NoteAbout::AskingUnknown { tools } => Problem::AskingUnknown { tools },
        NoteAbout::SubagentAskingUnknown { name, tools } => Problem::SubagentAskingUnknown { name, tools },
        NoteAbout::HookUnmatched { hook, tools } => Problem::HookUnmatched { hook, tools },
        NoteAbout::SecondMissing { model, detail } => Problem::SecondMissing { model, detail },
        NoteAbout::SmallMissing { model, detail } => Problem::SmallMissing { model, detail },
        NoteAbout::CostNotCounted { limit, model } => Problem::CostNotCounted { limit, model },
        NoteAbout::BudgetNotCounted { model } => Problem::BudgetNotCounted { model },
        NoteAbout::NotSummedUp { detail } => Problem::NotSummedUp { detail },
        NoteAbout::NotSummedUpEmpty => Problem::NotSummedUpEmpty,
        NoteAbout::NotSummedUpLonger => Problem::NotSummedUpLonger,
        NoteAbout::SummedUpAgain => Problem::SummedUpAgain,
    }
}
