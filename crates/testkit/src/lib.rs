//! Test support: a scripted model over real HTTP, a scripted model in process, project folders, an SSH server
//! and an image for a container, transcripts.
//!
//! **Owns** what several crates' tests share. **Must not** be needed by anything at run time, nor know how the adapters in
//! `providers` work: it speaks the vendors' wire formats from their documents, so that it can judge them. Start reading at
//! [`ModelServer`], then [`Rule`] and [`Reply`].
//!
//! # A model behind HTTP
//!
//! ```
//! use bosun_testkit::{ModelServer, Reply, Rule, Wire};
//! use serde_json::json;
//!
//! let server = ModelServer::start();
//! server.add(
//!     Rule::turn("tidy up")                                    // the turn that a message with these words began
//!         .reply(Reply::text("Looking.").and_call("ls", json!({ "path": "/" }))) // its first step
//!         .reply("All tidy."),                                 // its second
//! );
//! let base_url = server.base_url(Wire::OpenAi);                // http://127.0.0.1:PORT/v1
//! // … point the code under test at `base_url`, then question what it sent:
//! assert!(server.requests().is_empty());
//! ```
//!
//! * **Addresses**: `POST /v1/messages` (Anthropic), `POST /v1/chat/completions` and `/v1/responses` (OpenAI),
//!   `POST /v1beta/models/MODEL:streamGenerateContent` (Gemini), `POST /api/chat` (Ollama), Claude at Bedrock (whose
//!   signatures are computed again and judged) and on Vertex AI, Gemini there, and their lists of models. A request that asks for a stream is streamed, any other is answered whole.
//! * **Rules** are tried in order; the first that matches and is not spent answers. [`Rule::turn`] looks at the last human
//!   message and counts the model's replies after it, so it needs no memory; [`Rule::any`] and friends are spent one reply at
//!   a time unless [`Rule::order`] says otherwise.
//! * **No rule**: the request is answered with status 500, and the server panics with the body when it is dropped or
//!   [`ModelServer::verify`] is called. [`ModelServer::take_unmatched`] forgives.
//! * **Gates**: [`Reply::and_gate`] stops the stream at that point; everything before is on the wire.
//!   [`Gate::reached`] waits for the stream to get there, [`Gate::open`] lets it go on. No test needs to sleep.
//! * **Faults**: [`Ending`] cuts, hangs or ends early; [`Reply::error`], [`Reply::redirect`], [`Reply::html`] and
//!   [`Reply::http`] answer without a stream; [`Part::Raw`] and [`Part::Error`] spoil one from inside.
//! * **Log**: [`ModelServer::requests`] has method, path, headers, body and what became of each;
//!   [`ModelServer::saw_requests`] and [`ModelServer::outcome`] wait.
//!
//! # The same from another process
//!
//! `bosun-model-server [SCRIPT.json|-] [--port N]` prints its port and serves until its standard input closes; it exits with
//! 1 when a request met no rule. The script is a [`Script`] as JSON:
//!
//! ```
//! let script = bosun_testkit::Script::parse(r#"{
//!   "models": ["test-model"],
//!   "key": "sk-test",
//!   "log": "off",
//!   "rules": [
//!     { "when": { "last_human": { "contains": "tidy up" } },
//!       "order": "by_step",
//!       "replies": [
//!         { "parts": [ { "reasoning": { "text": "Hm.", "signature": "sig" } },
//!                      { "text": "Looking." },
//!                      { "gate": "before-call" },
//!                      { "call": { "name": "ls", "args": { "path": "/" }, "id": "call_a" } },
//!                      { "call": { "name": "grep", "args": { "pattern": "x" } } } ],
//!           "usage": { "input": 100, "output": 20, "cache_read": 60 } },
//!         "All tidy." ] },
//!     { "when": { "last_human": { "contains": "benchmark" } },
//!       "loop": { "steps": 400, "call": "read_file", "args": { "file_path": "/f{n}.txt" }, "text": "Next." },
//!       "replies": ["Done."] },
//!     { "when": { "last": { "is": "stream" } },
//!       "order": "repeat_last",
//!       "replies": [ { "parts": [ { "deltas": { "text": "word ", "count": 20000 } } ] } ] },
//!     { "replies": [
//!         { "http": { "status": 429, "body": { "error": { "type": "rate_limit_error", "message": "slow down" } } },
//!           "headers": [["retry-after", "3"], ["content-type", "application/json"]] },
//!         { "parts": [ { "call": { "name": "ls", "args": { "path": "/" } } } ], "ending": "cut_in_call" },
//!         { "parts": [ { "text": "half" } ], "ending": { "cut_after_bytes": 300 } },
//!         { "parts": [ { "text": "slow" }, { "pause_ms": 50 }, "ping", { "error": { "type": "overloaded_error", "message": "busy" } } ] },
//!         { "ending": "hang_before_headers" } ] }
//!   ]
//! }"#);
//! assert!(script.is_ok());
//! ```
//!
//! | key | values |
//! |---|---|
//! | `when` | all optional, all must hold: `wire` (`anthropic`, `open_ai`, `open_ai_responses`, `gemini`, `ollama`, `bedrock`, `vertex`, `vertex_gemini`), `model`, `last`, `last_human`, `system` (each `{"is": …}` or `{"contains": …}`), `tool_results` (how many since the last human message), `offers` (a tool's name) |
//! | `order` | `once` (default: each reply once), `repeat_last`, `by_step` (by the replies since the last human message) |
//! | `replies` | a string, or `parts`, `stop`, `usage`, `ending`, `delta_chars` (12), `headers`, `http` |
//! | `loop` | `steps` calls of `call` with `args` (`{n}` is the step's number), driven by the tool results in the request, then `replies[0]` |
//! | part | `text`, `deltas`, `reasoning`, `redacted_reasoning`, `call`, `raw_call` (its `json` as it is), `gate`, `pause_ms`, `"ping"`, `error`, `raw` |
//! | `ending` | `whole`, `cut_in_call`, `hang_before_headers`, or one of `cut_after_bytes`, `end_after_bytes`, `hang_after_bytes` with a number of body bytes |
//!
//! While it runs, `http://127.0.0.1:PORT/_control/` takes `GET requests`, `GET unmatched`, `POST rules` (one rule as
//! JSON, added at the end), `DELETE rules`, `GET gates/NAME` (`{"reached": n}`), `POST gates/NAME/open` and
//! `POST gates/NAME/close`.

#![allow(clippy::disallowed_methods, reason = "test support makes its own files, threads and clocks")]
#![allow(clippy::unwrap_used, reason = "a broken test rig must stop its test at once")]

mod asked;
#[cfg(unix)]
mod busybox;
mod canaries;
mod gate;
#[cfg(target_os = "linux")]
mod keyring;
mod office;
mod part;
mod project;
mod reply;
mod rule;
mod script;
mod scripted_model;
mod server;
#[cfg(unix)]
mod ssh_server;
mod transcript;
mod wire;

pub use asked::{Asked, AskedCall, Said, Speaker};
#[cfg(unix)]
pub use busybox::{PODMAN_SETTINGS, PODMAN_WORDS, busybox_image};
pub use canaries::Canaries;
pub use gate::Gate;
#[cfg(target_os = "linux")]
pub use keyring::{keyring_home, run_in_keyring};
pub use office::{OfficeRequest, ToolOffice};
pub use part::{is_here, missing, ran};
pub use project::Project;
pub use reply::{Ending, Http, Part, Reply};
pub use rule::{Loop, Order, Pattern, Predicate, Rule, When};
pub use script::{Log, Script};
pub use scripted_model::{DrivenCall, ModelDriver, Scripted, ScriptedModel};
pub use server::{
    AWS_ACCESS_KEY, AWS_SECRET_KEY, AWS_SESSION_TOKEN, GOOGLE_REFRESH_TOKEN, ModelServer, Outcome, Recorded,
};
#[cfg(unix)]
pub use ssh_server::SshServer;
pub use transcript::{events_of, message_of, transcript};
pub use wire::Wire;
