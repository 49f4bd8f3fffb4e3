//! One connection to a server, from its start to its end.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bosun_backend::{Program, ProgramExit, RunningProgram};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, JsonObject,
    PaginatedRequestParams,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, RoleClient, RunningService, ServiceError, serve_client,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{AuthRequiredError, StreamableHttpError};
use rmcp::{ClientHandler, Peer};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::failure::{Ending, Failure};
use crate::guarded::{Guard, Guarded, LONGEST_MESSAGE};
use crate::listed::{MOST_TOOLS, ToolList};
use crate::words::LastWords;
use crate::{ServerConfig, TokenStore, http, text};

/// Pages of a list of tools that are asked for.
const MOST_PAGES: usize = 50;
/// Lists that one caller asks for of a server that says each time that they changed meanwhile.
const MOST_LISTINGS: usize = 3;
/// More notices than a server can give.
const NEVER: u64 = u64::MAX;
/// Time for a program whose pipe closed to be found ended.
const POST_MORTEM: Duration = Duration::from_millis(500);
/// Time for the last words of a program that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Characters of a server's own error message.
const LONGEST_MESSAGE_SHOWN: usize = 2_000;

/// A server that answers.
pub(crate) struct Connection {
    service: RunningService<RoleClient, Listener>,
    /// How often it said that its tools changed.
    notices: Arc<AtomicU64>,
    /// How often it had said so when the list was asked for that was taken last; [`NEVER`] before the first.
    heeded: AtomicU64,
    /// Held while the tools are listed, so that nobody goes by a list that is being asked for anew.
    listing: Mutex<()>,
    guard: Arc<Guard>,
    program: Option<Attached>,
}

/// The program behind a connection.
pub(crate) struct Attached {
    running: Mutex<Option<RunningProgram>>,
    guard: Arc<Guard>,
    words: LastWords,
    /// Reads what it writes to its standard error; ends with it.
    listening: Mutex<JoinSet<()>>,
}

/// What a server may ask of this client: nothing. It offers neither a model nor files nor questions to a person, so
/// those requests are refused.
struct Listener {
    notices: Arc<AtomicU64>,
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.notices.fetch_add(1, Ordering::AcqRel);
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("bosun", env!("CARGO_PKG_VERSION")))
    }
}

impl Connection {
    /// Starts `command` in `folder` with the variables of `environment` and shakes hands with it.
    ///
    /// # Errors
    /// [`Failure`] with what the program said last, where it said anything.
    pub(crate) async fn to_program(
        command: &str,
        config: &ServerConfig,
        environment: Vec<(String, String)>,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let program = Program {
            program: command.to_owned(),
            args: config.args.clone(),
            folder: folder.to_owned(),
            pass_environment: config.pass_env.clone(),
            set_environment: environment,
        };
        let (running, pipes) = program.start().map_err(|error| Failure::Start { reason: error.to_string() })?;
        let (guard, words) = (Arc::new(Guard::default()), LastWords::default());
        let mut listening = JoinSet::new();
        listening.spawn(words.clone().listen(pipes.stderr));
        let program = Attached {
            running: Mutex::new(Some(running)),
            guard: Arc::clone(&guard),
            words,
            listening: Mutex::new(listening),
        };
        let transport = AsyncRwTransport::new_client(Guarded::new(pipes.stdout, Arc::clone(&guard)), pipes.stdin)
            .with_max_line_length(usize::try_from(LONGEST_MESSAGE).unwrap_or(usize::MAX));
        let notices = Arc::<AtomicU64>::default();
        match serve_client(Listener { notices: Arc::clone(&notices) }, transport).await {
            Ok(service) => Ok(Self::of(service, notices, guard, Some(program))),
            Err(error) => {
                let ended = program.post_mortem().await;
                program.end().await;
                let spoken = || Failure::Start { reason: text::line(&error.to_string(), 300) };
                Err(ended.map_or_else(spoken, |end| Failure::StartEnded { end }))
            }
        }
    }

    /// Reaches `server` at `url` and shakes hands with it.
    ///
    /// # Errors
    /// [`Failure::SignIn`] where it wants somebody to sign in, else why it cannot be reached.
    pub(crate) async fn to_address(
        server: &str,
        url: &str,
        config: &ServerConfig,
        tokens: Arc<dyn TokenStore>,
    ) -> Result<Self, Failure> {
        let guard = Arc::<Guard>::default();
        let transport = http::transport(server, url, config, tokens, Arc::clone(&guard)).await?;
        let notices = Arc::<AtomicU64>::default();
        let served = tokio::select! {
            biased;
            end = guard.until_broken() => return Err(Failure::StartEnded { end }),
            served = serve_client(Listener { notices: Arc::clone(&notices) }, transport) => served,
        };
        match served {
            Ok(service) => Ok(Self::of(service, notices, guard, None)),
            Err(error) if error.is_authorization_required() => Err(Failure::SignIn),
            Err(ClientInitializeError::TransportError { error, .. }) => {
                Err(Failure::Start { reason: in_short(error.error.as_ref()) })
            }
            Err(error) => Err(Failure::Start { reason: in_short(&error) }),
        }
    }

    fn of(
        service: RunningService<RoleClient, Listener>,
        notices: Arc<AtomicU64>,
        guard: Arc<Guard>,
        program: Option<Attached>,
    ) -> Self {
        guard.answered();
        Self { service, notices, heeded: AtomicU64::new(NEVER), listing: Mutex::default(), guard, program }
    }

    /// Has `take` take its tools where it said that they changed, or where they were never listed; one caller at a time,
    /// and the others go by what that one took. The list is as doubtful as before until it was taken: a caller may be gone
    /// before that, and a notice may come after the list was asked for.
    pub(crate) async fn list(&self, server: &str, take: impl Fn(ToolList) + Send) -> Result<(), Failure> {
        let listing = self.listing.lock().await;
        for _ in 0..MOST_LISTINGS {
            if !self.is_stale() {
                break;
            }
            let told = self.notices.load(Ordering::Acquire);
            take(self.listed(server).await?);
            self.heeded.store(told, Ordering::Release);
        }
        drop(listing);
        Ok(())
    }

    /// All tools it lists, page by page.
    async fn listed(&self, server: &str) -> Result<ToolList, Failure> {
        if self.service.peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok(ToolList::default());
        }
        let (mut raw, mut cursor) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor;
            let page = self.answered(self.peer().list_tools(Some(params))).await?;
            raw.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || raw.len() > MOST_TOOLS {
                break;
            }
        }
        Ok(ToolList::of(server, &raw))
    }

    /// Calls `tool` with its own name. Dropping the future tells the server that nobody waits any more.
    pub(crate) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<CallToolResult, Failure> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.answered(self.service.call_tool(params)).await
    }

    /// Waits for an answer, or until what comes instead is too much.
    async fn answered<T>(&self, answer: impl Future<Output = Result<T, ServiceError>>) -> Result<T, Failure> {
        let answer = tokio::select! {
            biased;
            end = self.guard.until_broken() => return Err(Failure::Gone { end }),
            answer = answer => answer,
        };
        self.settled(answer).await
    }

    fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Whether its tools may not be what they were when they were listed.
    pub(crate) fn is_stale(&self) -> bool {
        self.notices.load(Ordering::Acquire) != self.heeded.load(Ordering::Acquire)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.peer().is_transport_closed() || self.guard.broken().is_some()
    }

    async fn settled<T>(&self, answer: Result<T, ServiceError>) -> Result<T, Failure> {
        let error = match answer {
            Ok(answer) => {
                self.guard.answered();
                return Ok(answer);
            }
            Err(error) => error,
        };
        Err(match error {
            ServiceError::McpError(error) => {
                Failure::Refused { reason: text::clean(&error.message, LONGEST_MESSAGE_SHOWN) }
            }
            ServiceError::UnexpectedResponse => Failure::Refused {
                reason: "it answered with something else than the result of a call, which is not supported".into(),
            },
            ServiceError::InputRequiredRoundsExceeded { .. } => {
                Failure::Refused { reason: "it kept asking for input, which nobody can give here".into() }
            }
            ServiceError::TransportSend(error) if wants_sign_in(&error) => Failure::SignIn,
            error => Failure::Gone { end: self.end_of_it(&error).await },
        })
    }

    /// Why the connection broke.
    async fn end_of_it(&self, error: &ServiceError) -> Ending {
        match (&self.program, error) {
            (Some(program), _) => program.post_mortem().await.unwrap_or(Ending::Pipes),
            (None, ServiceError::TransportSend(error)) => {
                Ending::Unreachable { reason: in_short(error.error.as_ref()) }
            }
            (None, error) => Ending::Unreachable { reason: in_short(error) },
        }
    }

    /// Has whoever waits for an answer hear that nobody vouches for the server any more.
    pub(crate) fn disown(&self) {
        self.guard.disown();
    }

    /// Says goodbye and ends the program with everything it started.
    pub(crate) async fn end(&self) {
        self.service.cancellation_token().cancel();
        if let Some(program) = &self.program {
            program.end().await;
        }
    }
}

/// The innermost reason, which names the cause instead of the layers around it.
fn in_short(error: &(dyn std::error::Error + 'static)) -> String {
    // The transport does not name its client's error as its source.
    let error = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(inner)) => inner,
        _ => error,
    };
    let innermost = std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error);
    text::line(&innermost.to_string(), 300)
}

/// Whether the server refused because nobody has signed in, or no longer is.
fn wants_sign_in(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| {
        error.is::<AuthRequiredError>()
            || matches!(
                error.downcast_ref::<AuthError>(),
                Some(AuthError::AuthorizationRequired | AuthError::TokenExpired | AuthError::TokenRefreshRejected(_))
            )
    })
}

impl Attached {
    /// How the program ended, and its last words; `None` where it has not ended.
    async fn post_mortem(&self) -> Option<Ending> {
        if let Some(end) = self.guard.broken() {
            return Some(end);
        }
        let mut running = self.running.lock().await;
        let exit = match running.as_mut() {
            Some(running) => tokio::time::timeout(POST_MORTEM, running.wait()).await.ok()?.ok()?,
            None => ProgramExit { code: None, signal: None },
        };
        let heard = async { self.listening.lock().await.join_next().await };
        if tokio::time::timeout(LAST_WORDS, heard).await.is_err() {
            tracing::debug!("something a server started still holds its standard error");
        }
        Some(Ending::Program { code: exit.code, signal: exit.signal, words: self.words.get() })
    }

    async fn end(&self) {
        if let Some(running) = self.running.lock().await.take() {
            running.end().await;
        }
    }
}
