//! Signing in at servers of tools: in a browser, with what it leaves kept in the keyring under the server's address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bosun_harness::mcp::{
    KeptFor, McpServers, ServerView, SignInError, TokenStore, TokenStoreError, Unkept, UnkeptTokens, secrets_in,
};
use bosun_harness::{Extras, ExtrasError};
use bosun_protocol::{ErrorCode, Problem, SessionId, SignInPage};
use bosun_store::{Key, Keys};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::stream::locked;
use crate::{ModelSource, SessionError, Sessions};

/// The account of the keyring that sign-ins are kept under, each for its server's address.
pub const SIGN_INS: &str = "mcp";

/// The sign-ins of all sessions: where they are kept, and those that are under way.
pub(crate) struct SignIns {
    tokens: Mutex<Arc<dyn TokenStore>>,
    models: Arc<dyn ModelSource>,
    under_way: Mutex<HashMap<String, UnderWay>>,
}

struct UnderWay {
    address: String,
    cancel: CancellationToken,
    /// Taken by whoever waits for the end of it.
    outcome: Option<oneshot::Receiver<Result<(), SignInError>>>,
}

impl SignIns {
    /// Keeps them no longer than it lives. What passes through is known to `models` as a secret from then on.
    pub(crate) fn new(models: Arc<dyn ModelSource>) -> Self {
        Self { tokens: Mutex::new(Arc::new(UnkeptTokens::default())), models, under_way: Mutex::default() }
    }

    pub(crate) fn tokens(&self) -> Arc<dyn TokenStore> {
        Arc::new(Learning { store: Arc::clone(&locked(&self.tokens)), models: Arc::clone(&self.models) })
    }

    /// Gives up all that are under way, so that no port of this machine listens for them any more.
    pub(crate) fn give_up(&self) {
        locked(&self.under_way).drain().for_each(|(_, one)| one.cancel.cancel());
    }

    /// One server has one sign-in under way: a new one ends the one before.
    fn begin(&self, id: String, one: UnderWay) {
        let mut under_way = locked(&self.under_way);
        under_way.retain(|_, known| {
            let stays = known.address != one.address;
            if !stays {
                known.cancel.cancel();
            }
            stays
        });
        under_way.insert(id, one);
    }
}

impl Sessions {
    /// Keeps what sign-ins at servers of tools leave in `keys`. Without this they are good for this run.
    pub fn keep_sign_ins(&self, keys: Arc<Keys>) {
        *locked(&self.sign_ins().tokens) = Arc::new(KeptTokens { keys });
    }

    /// Begins a sign-in at a server of `session`, or at one that the person set up themselves where none is named. The
    /// page it gives is to be opened in a browser of this machine; [`Sessions::finish_sign_in`] waits for the rest.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where there is no such server, [`ErrorCode::Invalid`] where nobody can sign in at it.
    pub async fn begin_sign_in(&self, session: Option<&SessionId>, server: &str) -> Result<SignInPage, SessionError> {
        let sign_in = self.servers_of(session).await?.sign_in(server).await.map_err(refusal)?;
        let page = SignInPage { id: self.new_id(), url: sign_in.url.clone(), host: sign_in.host() };
        let (told, outcome) = oneshot::channel();
        let (address, cancel) = (sign_in.address().to_owned(), CancellationToken::new());
        let one = UnderWay { address: address.clone(), cancel: cancel.clone(), outcome: Some(outcome) };
        self.sign_ins().begin(page.id.clone(), one);
        let (sessions, id) = (self.clone(), page.id.clone());
        self.tasks().spawn(async move {
            let Some(outcome) = cancel.run_until_cancelled(sign_in.finished()).await else { return };
            if outcome.is_ok() {
                sessions.reconnect(&address).await;
            }
            // Nobody has to wait for it: then it is seen in how the server is.
            if told.send(outcome).is_err() {
                locked(&sessions.sign_ins().under_way).remove(&id);
            }
        });
        Ok(page)
    }

    /// Waits until the person has signed in; the sessions at work have the server's tools from their next turn on.
    ///
    /// # Errors
    /// Why nobody is signed in; [`ErrorCode::NotFound`] where this sign-in was given up.
    pub async fn finish_sign_in(&self, id: &str) -> Result<(), SessionError> {
        let waiting = locked(&self.sign_ins().under_way).get_mut(id).and_then(|one| one.outcome.take());
        let given_up = || SessionError::not_found(Problem::SignInGivenUp);
        let outcome = waiting.ok_or_else(given_up)?.await;
        locked(&self.sign_ins().under_way).remove(id);
        outcome.map_err(|_| given_up())?.map_err(refusal)
    }

    /// Gives a sign-in up; one that is over or never was is fine.
    pub fn cancel_sign_in(&self, id: &str) {
        if let Some(one) = locked(&self.sign_ins().under_way).remove(id) {
            one.cancel.cancel();
        }
    }

    /// Forgets the sign-in at a server, in all sessions.
    ///
    /// # Errors
    /// As [`Sessions::begin_sign_in`]; [`ErrorCode::Invalid`] where it could not be forgotten.
    pub async fn sign_out(&self, session: Option<&SessionId>, server: &str) -> Result<(), SessionError> {
        let servers = self.servers_of(session).await?;
        let view = servers.views().into_iter().find(|view| view.name == server);
        servers.forget_sign_in(server).await.map_err(refusal)?;
        if let Some(address) = view.and_then(|view| view.address) {
            self.reconnect(&address).await;
        }
        Ok(())
    }

    /// The servers that the person set up themselves, none of which is started for this.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] where they are not written as they should be.
    pub async fn own_servers(&self) -> Result<Vec<ServerView>, SessionError> {
        Ok(self.servers_of(None).await?.views())
    }

    /// Whether somebody is signed in at `address`, as far as the keyring says.
    pub async fn is_signed_in(&self, address: &str) -> bool {
        match self.sign_ins().tokens().load(address).await {
            Ok(kept) => kept.is_some(),
            Err(error) => {
                tracing::warn!(%error, "the sign-ins at servers could not be read");
                false
            }
        }
    }

    /// The servers by themselves, without anything started: a session's, or the person's own.
    async fn servers_of(&self, session: Option<&SessionId>) -> Result<McpServers, SessionError> {
        let (servers, folder) = match session {
            Some(session) => {
                let actor = self.actor(session).await?;
                let servers = actor.own_extras().servers_with(actor.project_extras().await?.as_ref());
                (servers, actor.project_folder().root)
            }
            None => (self.own_extras().mcp, std::path::PathBuf::new()),
        };
        let servers = McpServers::new(servers, &folder, Arc::new(Unkept::default()));
        let servers = servers.map_err(|error| SessionError::of(ErrorCode::Invalid, &ExtrasError::from(error)))?;
        Ok(servers.keeping(&self.sign_ins().tokens()))
    }

    /// Lets all sessions at work meet the server at `address` anew.
    async fn reconnect(&self, address: &str) {
        for actor in self.open_actors() {
            if let Some(extras) = actor.extras().get()
                && extras.servers.anew_at(address).await
            {
                actor.rebuild();
            }
        }
    }

    fn own_extras(&self) -> Extras {
        self.added().map(|added| added.extras().clone()).unwrap_or_default()
    }
}

fn refusal(error: SignInError) -> SessionError {
    let code = match error {
        SignInError::Unknown { .. } => ErrorCode::NotFound,
        SignInError::NotKept { .. } | SignInError::NotForgotten { .. } => ErrorCode::KeyringUnavailable,
        _ => ErrorCode::Invalid,
    };
    SessionError::of(code, &error)
}

/// Tokens in the keyring, or in memory for this run where no keyring takes them.
struct KeptTokens {
    keys: Arc<Keys>,
}

fn failed(error: impl std::fmt::Display) -> TokenStoreError {
    TokenStoreError { reason: error.to_string() }
}

impl TokenStore for KeptTokens {
    fn load<'a>(&'a self, server: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            match self.keys.get(SIGN_INS, server).await.map_err(failed)? {
                Key::Locked { reason } => Err(failed(reason)),
                key => Ok(key.secret().map(|secret| secret.expose_secret().to_owned())),
            }
        })
    }

    fn save<'a>(&'a self, server: &'a str, secret: String) -> Answer<'a, KeptFor> {
        Box::pin(async move {
            let kept = self.keys.set(SIGN_INS, server, SecretString::from(secret)).await.map_err(failed)?;
            let Key::InMemory { reason, .. } = kept else { return Ok(KeptFor::Good) };
            tracing::warn!(server, %reason, "what is kept for a server is good for this run only");
            Ok(KeptFor::ThisRun)
        })
    }

    fn remove<'a>(&'a self, server: &'a str) -> Answer<'a, ()> {
        Box::pin(async move { self.keys.remove(SIGN_INS, server).await.map_err(failed) })
    }
}

/// Tells whoever takes secrets out of texts of each that is read or kept.
struct Learning {
    store: Arc<dyn TokenStore>,
    models: Arc<dyn ModelSource>,
}

impl Learning {
    fn learn(&self, place: &str, kept: &str) {
        secrets_in(place, kept).into_iter().for_each(|secret| self.models.learn(&SecretString::from(secret)));
    }
}

impl TokenStore for Learning {
    fn load<'a>(&'a self, server: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let kept = self.store.load(server).await?;
            kept.iter().for_each(|kept| self.learn(server, kept));
            Ok(kept)
        })
    }

    fn save<'a>(&'a self, server: &'a str, secret: String) -> Answer<'a, KeptFor> {
        self.learn(server, &secret);
        self.store.save(server, secret)
    }

    fn remove<'a>(&'a self, server: &'a str) -> Answer<'a, ()> {
        self.store.remove(server)
    }

    fn masked(&self, text: &str) -> String {
        self.models.redacted(text)
    }
}

type Answer<'a, T> = bosun_agent::BoxFuture<'a, Result<T, TokenStoreError>>;
