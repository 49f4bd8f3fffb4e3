//! The only HTTP to models: one adapter per wire format, one driver for all, and the tour.
//!
//! **Owns** everything between a [`bosun_model::ChatRequest`] and the bytes on the wire: encoding, framing, decoding, limits,
//! errors in the provider's words, redaction of keys, the catalogue. **Must not** retry, fall back, count money or touch a
//! file (but read those where clouds keep credentials, in `cloud`, and the one where KDE keeps its proxy, in `desktop`): those are middleware and other rooms, and they go by [`bosun_model::ModelError::is_retryable`] and `retry_after`.
//!
//! Start reading at [`connect`] and [`ProviderConfig`]; then `driver`, whose table says what happens to every reply that is
//! not as it should be; then one adapter (`anthropic`, `openai_chat`, `openai_responses`, `gemini`,
//! `ollama`), each an encoder and a decoder without IO. What is known of vendors beforehand are rows in `preset` and `catalogue.json`.
//!
//! # Invariants
//!
//! * The sequence of events of a reply does not depend on how its bytes were split, and `Finished` comes only when the
//!   provider said so. A call from an incomplete reply is not possible.
//! * No error, log line or event holds the key, a configured header's value or what may be a key in the query of the base URL
//!   (`redact`, `query`; every error is made by `Origin`).
//! * A key goes to the host of its base URL and nowhere else, a cloud's credentials to its own hosts: redirects are errors, loopback hosts never use a proxy. Which
//!   key belongs to which host is the caller's to check, with [`host_of`].
//! * What a provider signs or seals goes back in the order in which it came, calls among it
//!   ([`bosun_model::AiMessage::parts`]): Anthropic wants the sequence of its thoughts unchanged, Responses each thought before
//!   the item that came of it, Gemini each signature at its part. Chat Completions and Ollama have one field for text, one for
//!   thoughts and one for calls, so that there is no order between them to keep.
//! * Memory for a reply is bounded by its limits, whatever the server sends, compressed or not.
//! * Dropping a [`bosun_model::ModelStream`] closes the connection (HTTP/1) or resets the stream (HTTP/2).
//!
//! # Cost of a client
//!
//! Measured on two cores of a virtual machine, without optimisation (`client::tests::cost_of_a_client`): the first client
//! for plain `http` takes 0.4 ms, most of it `ring` and the empty root store; a second one 0.02 ms; one for `https` 31 ms,
//! nearly all of it reading and parsing the system's certificates. Hence one client per kind of address for the whole
//! process, made with the first request, and no certificates for `http`. The same build decodes about 170,000 (Anthropic)
//! and 140,000 (Chat Completions) text deltas a second on one core (`driver::tests::throughput`).

#![allow(clippy::disallowed_methods, reason = "providers is the room of HTTP to models")]

#[cfg(test)]
mod abilities;
mod account;
mod adapter;
mod anthropic;
mod bedrock;
mod body;
mod catalogue;
mod client;
mod cloud;
mod config;
mod connection;
mod desktop;
mod discovery;
mod driver;
mod endpoint;
mod environment;
mod event_stream;
mod failure;
mod form;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod gemini;
mod http_model;
mod known_secrets;
mod lenient;
mod levels;
mod limits;
mod lines;
mod listed;
mod listing;
mod media;
mod network;
mod ollama;
mod openai_chat;
mod openai_responses;
#[cfg(test)]
mod order_tests;
mod origin;
mod preferences;
mod preset;
mod query;
mod redact;
mod reply;
mod saved;
mod sse;
mod summaries;
#[cfg(test)]
mod testing;
pub mod tour;
mod unsupported;
mod vertex;

pub use account::{Trial, test_call, test_model, try_out};
pub use catalogue::catalogue_source;
pub use cloud::{Cloud, CredentialAnswer};
pub use config::{Family, KnownModel, ProviderConfig};
pub use desktop::{DesktopSettings, ProxySource};
pub use discovery::{LocalServer, find_local_servers, look_at, usual_local_accounts};
pub use endpoint::host_of;
pub use environment::EnvironmentKeys;
pub use form::{AccountChange, AccountForm, check_own_header, checked_key, new_account_id};
pub use http_model::{connect, connect_within, known_model};
pub use known_secrets::{KnownSecrets, Redacting};
pub use levels::effort_levels;
pub use limits::Limits;
pub use listed::{ListedModels, NoNews, Onward};
pub use listing::{HeardOf, ListedModel, RunBy, Said, ask_about, ask_again, list_models};
pub use network::{Network, NetworkOptions, login_secrets, proxy_login};
pub use openai_chat::always_thinks;
pub use preferences::Preferences;
pub use preset::{
    DocumentPart, EffortField, Elsewhere, Forced, LimitField, PRESETS, Preset, PriceList, Quirks, SchemaField,
    ThoughtsBack, UsageReport, key_variables, preset,
};
pub use query::{query_secrets, secret_in_query, without_query_secrets};
pub use saved::{Account, SavedAccount};
