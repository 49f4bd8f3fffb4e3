use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// Why a limit ended a turn: one of Bosun's own or one that the person set. Everything is kept, and the turn can be
/// continued. The [`std::fmt::Display`] form is the English sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "halt", rename_all = "snake_case")]
pub enum Halt {
    #[error(
        "the turn reached its limit of {limit} model calls, subagents included; everything so far is kept: continue \
         the turn to go on with the same limit again"
    )]
    LimitOfSteps { limit: String },
    #[error(
        "the turn reached its limit of {limit} tokens, subagents included; everything so far is kept: continue the \
         turn to go on with the same limit again"
    )]
    LimitOfTokens { limit: String },
    #[error(
        "the turn reached its limit of {limit} US dollars, subagents included; everything so far is kept: continue the \
         turn to go on with the same limit again"
    )]
    LimitOfDollars { limit: String },
    #[error(
        "the turn reached its limit of {limit} seconds of work; everything so far is kept: continue the turn to go on \
         with the same limit again"
    )]
    LimitOfSeconds { limit: String },
    #[error(
        "the model made the same call of {tool} {times} times, and it failed each time, so the turn was ended; say \
         what it should do instead, or continue the turn"
    )]
    SameFailures { tool: String, times: String },
    #[error(
        "the model did not give its answer in the required form, even when made to; what it said instead is kept: try \
         again, or tell it what to do"
    )]
    AnswerNotHandedIn,
    #[error(
        "the budget of ${limit} for this session is used up (${spent} spent); everything so far is kept: raise it in \
         Settings, Models, and continue the turn"
    )]
    SessionBudget { limit: String, spent: String },
    #[error(
        "the budget of ${limit} for today is used up (${spent} spent); everything so far is kept: raise it in \
         Settings, Models, and continue the turn"
    )]
    DayBudget { limit: String, spent: String },
    #[error("the hook '{hook}' refused it")]
    HookRefused {
        hook: String,
        /// What it refused is the message that the turn began with: no model reads it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        message: bool,
    },
    #[error("the hook '{hook}' refused it: {detail}")]
    HookRefusedFor {
        hook: String,
        detail: String,
        /// As in [`Self::HookRefused`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        message: bool,
    },
    #[error(
        "the amount spent so far cannot be read, so the budget cannot be checked: {detail}; check that the data folder \
         can be read, then continue the turn"
    )]
    SpendingUnknown { detail: String },
}

impl Halt {
    /// Whether a hook refused the message that the turn began with.
    pub(crate) fn is_of_message(&self) -> bool {
        matches!(self, Self::HookRefused { message: true, .. } | Self::HookRefusedFor { message: true, .. })
    }

    /// Whether it is a limit of the whole tree: whoever raises or renews it wants everybody below to go on, too.
    pub fn is_of_tree(&self) -> bool {
        match self {
            Self::LimitOfSteps { .. }
            | Self::LimitOfTokens { .. }
            | Self::LimitOfDollars { .. }
            | Self::LimitOfSeconds { .. }
            | Self::SessionBudget { .. }
            | Self::DayBudget { .. }
            | Self::SpendingUnknown { .. } => true,
            Self::SameFailures { .. }
            | Self::AnswerNotHandedIn
            | Self::HookRefused { .. }
            | Self::HookRefusedFor { .. } => false,
        }
    }
}

/// What a note tells. The [`std::fmt::Display`] form is the English sentence; `detail` is what others said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum NoteAbout {
    #[error("This session has cost ${spent}; you asked to be told at ${limit}")]
    SessionCost { spent: String, limit: String },
    #[error("This session has cost ${spent}; you asked to be told at ${limit}. It stops at ${stop}")]
    SessionCostStops { spent: String, limit: String, stop: String },
    #[error("Today has cost ${spent}; you asked to be told at ${limit}")]
    DayCost { spent: String, limit: String },
    #[error("Today has cost ${spent}; you asked to be told at ${limit}. It stops at ${stop}")]
    DayCostStops { spent: String, limit: String, stop: String },
    #[error("{from} is overloaded ({detail}); {to} answers the rest of this turn")]
    FellBack { from: String, to: String, detail: String },
    #[error("{model} thinks without showing it: the provider gives no summaries of its thinking ({detail})")]
    ThinkingUnseen { model: String, detail: String },
    #[error("The hook '{hook}' {detail}. It runs at {point}")]
    HookBroke { hook: String, point: String, detail: String },
    #[error(
        "Your message contains what looks like a key. It goes to {model} and stays in this session; if it is a real \
         one, replace it where you got it"
    )]
    KeyInMessage { model: String },
    #[error(
        "A result of {tool} contains what looks like a key. It goes to {model} and stays in this session; if it is a \
         real one, replace it where you got it"
    )]
    KeyInResult { tool: String, model: String },
    #[error("Skills: {detail}")]
    SkillWrong { detail: String },
    #[error("Subagents: {detail}")]
    SubagentWrong { detail: String },
    #[error("Subagents: '{name}' works without tools that are not available here: {tools}")]
    SubagentLacks { name: String, tools: String },
    #[error("The agent works without tools of builtin_tools that are not available here: {tools}")]
    AgentLacks { tools: String },
    #[error(
        "Approvals: something is set for {tools}, but no tool here is called that, so it has no effect. Correct the \
         name, or add the server whose tool it is"
    )]
    AskingUnknown { tools: String },
    #[error(
        "Subagents: '{name}' sets how {tools} asks, but no tool here is called that, so it has no effect. Correct the \
         name, or add the server whose tool it is"
    )]
    SubagentAskingUnknown { name: String, tools: String },
    #[error(
        "The hook '{hook}' is for calls of {tools}, but no tool here is called that, so it does not run for them. \
         Correct the name, or add the server whose tool it is"
    )]
    HookUnmatched { hook: String, tools: String },
    #[error(
        "This project brings {names}, which nobody has trusted as it is now, so it is not used; `bosun trust list` shows it"
    )]
    Untrusted { names: String },
    #[error("{path} is larger than {megabytes} MB, so it is not used; make it smaller")]
    BroughtTooLarge { path: String, megabytes: u32 },
    #[error("This project brings {name}, which cannot be used: {detail}")]
    BroughtUnusable { name: String, detail: String },
    #[error(
        "{path} is too long for the prompt, so only its beginning is in it; the agent reads the rest when it needs it"
    )]
    MemoryCut { path: String },
    #[error(
        "A turn may cost ${limit}, but the price of {model} is not known, so its cost is not counted. Enter the price \
         in Settings, Models, or set a limit of tokens"
    )]
    CostNotCounted { limit: String, model: String },
    #[error(
        "There is a budget, but the price of {model} is not known, so its cost does not count towards it. Enter the price in \
         Settings, Models"
    )]
    BudgetNotCounted { model: String },
    #[error(
        "The conversation is due for a summary, but writing it failed ({detail}), so all of it is sent. Choose another \
         model for summaries in Settings, Models, or summarise the conversation yourself"
    )]
    NotSummedUp { detail: String },
    #[error(
        "The conversation is due for a summary, but the model gave none, so all of it is sent. Choose another model \
         for summaries in Settings, Models, or summarise the conversation yourself"
    )]
    NotSummedUpEmpty,
    #[error(
        "The conversation is due for a summary, but the summary was longer than the text it would have replaced, so \
         all of it is sent. Choose another model for summaries in Settings, Models, or summarise the conversation \
         yourself"
    )]
    NotSummedUpLonger,
    #[error(
        "The conversation no longer fits the context window of this model, so the summary you undid was made again. To \
         have all of it sent, choose a model with a larger window, or start a new session"
    )]
    SummedUpAgain,
    #[error(
        "{model}, which should answer when the session's model is overloaded, is not available ({detail}). Until then \
         no other model takes over; fix it or choose another in Settings, Models"
    )]
    SecondMissing { model: String, detail: String },
    #[error(
        "{model}, which should write titles and summaries, is not available ({detail}). The session's own model writes \
         the summaries, and sessions get no titles; fix it or choose another in Settings, Models"
    )]
    SmallMissing { model: String, detail: String },
}

/// As it was stored; what a newer Bosun had to say is left to the sentence beside it.
pub(crate) fn known<'de, T: DeserializeOwned, D: Deserializer<'de>>(stored: D) -> Result<Option<T>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(stored)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}
