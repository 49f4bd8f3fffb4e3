//! Servers of the Model Context Protocol as tools.
//!
//! **Owns** how a server is configured ([`ServerConfig`]), reached (over the pipes of a program or over HTTP), watched
//! ([`Health`]), bounded and restarted, and how its tools become [`bosun_tools::DynTool`]s. Its transports are the one
//! place besides `providers` that speaks HTTP.
//! **Must not** trust a server: what it says of itself decides nothing, its texts are cleaned and cut, its tools ask
//! like any command, and one whose description changed is off until a person has looked at it again ([`ToolPins`]).
//! It decides no approval and stores nothing: pins are kept by whoever implements [`PinStore`].
//!
//! Start reading at [`McpServers`], then `server` (one server's life), then `connection`.
#![allow(clippy::disallowed_methods, reason = "the room of HTTP to servers of tools")]

mod config;
mod connection;
mod counted;
mod failure;
mod guarded;
mod health;
mod http;
mod left_out;
mod listed;
mod name;
mod pins;
mod result;
mod schema;
mod server;
mod servers;
mod sign_in;
mod text;
mod tokens;
mod tool;
mod voucher;
mod words;

pub use config::{Approval, ConfigError, ConfigFault, Reach, ServerConfig, ServerConfigs};
pub use failure::{Ending, Failure};
pub use health::Health;
pub use left_out::{LeftOut, ToolFault};
pub use name::tool_name;
pub use pins::{PinStore, ToolPins, Unkept};
pub use servers::{ChangedTool, McpServers, ServerView};
pub use sign_in::{SignIn, SignInError};
pub use text::clean as cleaned;
pub use tokens::{
    KeptFor, TokenStore, TokenStoreError, UnkeptTokens, VariableError, environment, header_place, is_named_secret,
    secrets_in, variable_place,
};
pub use tool::McpTool;
pub use voucher::{BroughtItem, Voucher};

/// A boxed future that may borrow from its maker.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;
