//! The words a model speaks: messages, requests, events, errors, and the one trait every chat model implements.
//!
//! **Owns** the types that cross between the agent loop and a provider. **Must not** do IO, know a wire format, or
//! name a provider. Start reading at [`ChatModel`], then [`Message`] and [`ModelEvent`]; [`MessageBuilder`] is the one
//! place where events become a finished message.

mod builder;
mod chat_model;
mod content;
mod error;
mod event;
mod ids;
mod message;
mod messages;
mod request;
mod trouble;
mod usage;

pub use builder::{MOST_CALLS, MessageBuilder};
pub use chat_model::{Abilities, ChatModel, ModelInfo, ModelStream, Price, PriceStep, Stays, whole_reply};
pub use content::{ContentBlock, Kept, Media, MediaKind, Origin, Reasoning, text_of};
pub use error::{ModelError, ModelErrorKind};
pub use event::{ModelEvent, StopReason};
pub use ids::{CallId, MessageId};
pub use message::{
    AiMessage, Asked, HumanMessage, InvalidToolCall, Message, ReplyCall, ReplyPart, SystemMessage, ToolCall,
    ToolMessage, ToolStatus,
};
pub use messages::Messages;
pub use request::{
    CacheLifetime, CacheMarks, Caller, ChatRequest, Effort, OutputSchema, SystemBlock, ToolChoice, ToolSpec,
};
pub use trouble::ModelTrouble;
pub use usage::{Dropped, Usage};

/// A boxed future that may borrow from its maker; the currency of every `dyn` seam.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;
