use bosun_harness::Extras;
use bosun_harness::mcp::{ChangedTool, Health, ServerView as CoreServer};
use bosun_protocol::{Additions, ChangedServerTool, Problem, ServerHealth, ServerView, SessionId};

use super::Sessions;
use super::values::{has_values, places};
use crate::{Explain, SessionError};

/// The setting with the servers, hooks and places that the person wrote, as TOML.
const SETTING: &str = "additions";
/// More text is no list of a few of each.
const LONGEST: usize = 256 * 1024;

/// The person's own servers of tools, hooks and places, as text in the settings.
impl Sessions {
    /// Puts what is kept in force. What cannot be used any more is left out; [`Sessions::additions`] says why. Tools that
    /// changed are on again where their mark is among `accepted`.
    pub async fn load_additions(&self, accepted: Vec<String>) -> Result<(), SessionError> {
        let Additions { text, problem } = self.additions().await?;
        if problem.is_some() || text.trim().is_empty() {
            return Ok(());
        }
        self.add(parse(&text)?, accepted).await
    }

    pub async fn additions(&self) -> Result<Additions, SessionError> {
        let text = self.database().setting::<String>(SETTING).await?.unwrap_or_default();
        let problem = parse(&text).err().map(|error| error.problem);
        Ok(Additions { text, problem })
    }

    /// Says what is wrong with `text`; starts and keeps nothing.
    pub fn check_additions(&self, text: &str) -> Option<Problem> {
        parse(text).err().map(|error| error.problem)
    }

    /// Keeps `text`. It holds for sessions that are opened from now on; those at work keep what they began with.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] with the place where it is not as it should be; nothing is kept then.
    /// [`ErrorCode::KeyringUnavailable`] where a value that was kept can neither be carried over nor forgotten.
    pub async fn save_additions(&self, text: &str) -> Result<(), SessionError> {
        let _turn = self.inner.removed.turn.lock().await;
        let before = self.additions().await?;
        let before = if before.problem.is_none() { parse(&before.text)? } else { Extras::default() };
        let after = parse(text)?;
        self.keep_secrets(self.carried(&before, &after).await?).await?;
        let stays = places(&after);
        let gone: Vec<String> = places(&before).into_iter().filter(|place| !stays.contains(place)).collect();
        self.forget_secrets(&gone).await?;
        self.put_in_force(text).await
    }

    /// Moves values of headers and variables that stand in the text to the keyring, as far as it takes them.
    pub async fn move_values(&self) -> Result<(), SessionError> {
        // Whoever changes something moves them, too.
        let Ok(_turn) = self.inner.removed.turn.try_lock() else { return Ok(()) };
        let Additions { text, problem } = self.additions().await?;
        if problem.is_some() || !has_values(&parse(&text)?) {
            return Ok(());
        }
        let bare = self.without_values(&text).await?;
        if bare == text { Ok(()) } else { self.store_additions(&bare).await }
    }

    /// Keeps `text`, in which of values that the keyring takes only the names are.
    pub(super) async fn put_in_force(&self, text: &str) -> Result<(), SessionError> {
        self.store_additions(&self.without_values(text).await?).await
    }

    async fn store_additions(&self, text: &str) -> Result<(), SessionError> {
        let extras = parse(text)?;
        self.database().overwrite_setting(SETTING, &text.to_owned()).await?;
        if extras.is_empty() {
            self.forget_added();
            return Ok(());
        }
        self.add(extras, Vec::new()).await
    }

    /// How the servers of a session are, with the tools that are off until somebody looks at them.
    pub async fn server_views(&self, session: &SessionId) -> Result<Vec<ServerView>, SessionError> {
        let changed = self.changed_tools(session).await?;
        let mut views = Vec::new();
        for server in self.servers(session).await? {
            let signed_in = match &server.address {
                Some(address) => Some(self.is_signed_in(address).await),
                None => None,
            };
            views.push(view(server, signed_in, &changed));
        }
        Ok(views)
    }

    /// A person has looked at the changed tool with this hash.
    pub async fn accept_changed(&self, session: &SessionId, hash: &str) -> Result<(), SessionError> {
        let changed = self.changed_tools(session).await?;
        let gone = || SessionError::not_found(Problem::ToolChangedAgain);
        let tool = changed.iter().find(|tool| tool.hash == hash).ok_or_else(gone)?;
        self.accept_tool(session, tool).await
    }
}

pub(super) fn parse(text: &str) -> Result<Extras, SessionError> {
    if text.len() > LONGEST {
        return Err(SessionError::invalid(Problem::AdditionsTooLong));
    }
    Extras::parse(text).map_err(|error| SessionError::invalid(error.problem()))
}

pub(super) fn view(server: CoreServer, signed_in: Option<bool>, changed: &[ChangedTool]) -> ServerView {
    let mine = changed.iter().filter(|tool| tool.server == server.name);
    ServerView {
        health: match server.health {
            Health::Stopped => ServerHealth::Stopped,
            Health::Starting => ServerHealth::Starting,
            Health::Ready { tools } => ServerHealth::Ready { tools: u32::try_from(tools).unwrap_or(u32::MAX) },
            Health::NeedsSignIn => ServerHealth::NeedsSignIn,
            Health::Failed { failure } => ServerHealth::Failed { why: failure.problem() },
        },
        changed: mine
            .map(|tool| ChangedServerTool {
                tool: tool.tool.clone(),
                description: tool.description.clone(),
                schema: serde_json::to_string_pretty(&tool.schema).unwrap_or_default(),
                hash: tool.hash.clone(),
            })
            .collect(),
        left_out: server.left_out.iter().map(Explain::problem).collect(),
        signed_in,
        name: server.name,
    }
}
