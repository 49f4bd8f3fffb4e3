//! What of servers and hooks is kept where sign-ins are: the values of headers and variables. In the text are their names,
//! and of values those that no keyring took.

use std::collections::BTreeMap;

use bosun_harness::mcp::{KeptFor, ServerConfig, TokenStoreError, header_place};
use bosun_harness::{Extras, HookConfig, WrittenExtras};
use bosun_protocol::{ErrorCode, Problem, SecretField};

use super::Sessions;
use super::additions::parse;
use crate::{Explain, SessionError};

/// A value and where it is kept.
#[derive(Clone)]
pub(super) struct Secret {
    pub place: String,
    pub value: String,
}

/// What becomes of the values of a form.
#[derive(Default)]
pub(super) struct Values {
    /// Those that stay in the text: empty ones, and those that stood there already.
    pub open: BTreeMap<String, String>,
    /// The names of the others.
    pub secret: Vec<String>,
    /// Those that begin to be kept, or are kept elsewhere from now on.
    pub kept: Vec<Secret>,
    /// Those that a person entered just now.
    pub entered: BTreeMap<String, String>,
}

/// One value before a form was saved, and where it is from then on.
pub(super) struct Slot {
    pub place: String,
    pub was: Option<String>,
    pub open: Option<String>,
    /// What is said where there is none.
    pub missing: Problem,
}

impl Sessions {
    pub(super) async fn values(
        &self,
        fields: &[SecretField],
        slot: impl Fn(&str) -> Result<Slot, SessionError>,
    ) -> Result<Values, SessionError> {
        let mut values = Values::default();
        for SecretField { name, value, .. } in fields {
            let name = name.trim();
            let Slot { place, was, open, missing } = slot(name)?;
            // Of two of one name the last counts.
            values.open.remove(name);
            values.secret.retain(|known| known != name);
            match (value, open) {
                (Some(value), _) if !value.trim().is_empty() => {
                    values.entered.insert(name.to_owned(), value.clone());
                    values.kept.push(Secret { place, value: value.clone() });
                }
                (Some(value), _) => {
                    values.open.insert(name.to_owned(), value.clone());
                    continue;
                }
                (None, Some(open)) => {
                    values.open.insert(name.to_owned(), open);
                    continue;
                }
                (None, None) => {
                    let missing = || SessionError::invalid(missing);
                    let Some(was) = was else { return Err(missing()) };
                    let value = self.sign_ins().tokens().load(&was).await.map_err(not_kept)?.ok_or_else(missing)?;
                    if was != place {
                        values.kept.push(Secret { place, value });
                    }
                }
            }
            values.secret.push(name.to_owned());
        }
        Ok(values)
    }

    pub(super) async fn secrets_at(&self, places: &[String]) -> Result<Vec<Secret>, SessionError> {
        let tokens = self.sign_ins().tokens();
        let mut secrets = Vec::new();
        for place in places {
            if let Some(value) = tokens.load(place).await.map_err(not_kept)? {
                secrets.push(Secret { place: place.clone(), value });
            }
        }
        Ok(secrets)
    }

    pub(super) async fn keep_secrets(&self, secrets: Vec<Secret>) -> Result<(), SessionError> {
        let tokens = self.sign_ins().tokens();
        for Secret { place, value } in secrets {
            tokens.save(&place, value).await.map_err(not_kept)?;
        }
        Ok(())
    }

    pub(super) async fn forget_secrets(&self, places: &[String]) -> Result<(), SessionError> {
        for place in places {
            self.sign_ins().tokens().remove(place).await.map_err(not_removed)?;
        }
        Ok(())
    }

    /// The values of variables whose program has other arguments in `after` than in `before`, under their new places.
    pub(super) async fn carried(&self, before: &Extras, after: &Extras) -> Result<Vec<Secret>, SessionError> {
        let (tokens, mut carried) = (self.sign_ins().tokens(), Vec::new());
        let was = variables(before);
        for (owner, place) in variables(after) {
            let Some(was) = was.get(&owner).filter(|was| **was != place) else { continue };
            if let Some(value) = tokens.load(was).await.map_err(not_kept)? {
                carried.push(Secret { place, value });
            }
        }
        Ok(carried)
    }

    /// `text` with the names alone of the values that the keyring takes. After the first that it does not take none is
    /// tried: one that hangs would be waited for each time.
    pub(super) async fn without_values(&self, text: &str) -> Result<String, SessionError> {
        let Extras { mcp, hooks, .. } = parse(text)?;
        let (mut written, mut takes) = (WrittenExtras::parse(text).map_err(invalid)?, true);
        for (name, server) in mcp {
            let mut bare = server.clone();
            let place = |header: &str| header_place(&name, server.url.as_deref()?, header);
            self.take(&mut bare.headers, &mut bare.secret_headers, &mut takes, place).await;
            let place = |variable: &str| server.variable_place(&name, variable);
            self.take(&mut bare.env, &mut bare.secret_env, &mut takes, place).await;
            if bare != server {
                written.put_server(Some(&name), &name, &bare).map_err(invalid)?;
            }
        }
        for hook in hooks {
            let mut bare = hook.clone();
            self.take(&mut bare.env, &mut bare.secret_env, &mut takes, |name| Some(hook.variable_place(name))).await;
            if bare != hook {
                written.put_hook(Some(&hook.name), &bare).map_err(invalid)?;
            }
        }
        Ok(written.to_string())
    }

    async fn take(
        &self,
        open: &mut BTreeMap<String, String>,
        secret: &mut Vec<String>,
        takes: &mut bool,
        place: impl Fn(&str) -> Option<String>,
    ) {
        let tokens = self.sign_ins().tokens();
        for (name, value) in std::mem::take(open) {
            let place = place(&name).filter(|_| *takes && !value.trim().is_empty());
            let Some(place) = place else {
                open.insert(name, value);
                continue;
            };
            *takes = matches!(tokens.save(&place, value.clone()).await, Ok(KeptFor::Good));
            if *takes {
                secret.retain(|known| *known != name);
                secret.push(name);
                continue;
            }
            tracing::info!("values of servers and hooks stay in the settings: no keyring takes them");
            if let Err(error) = tokens.remove(&place).await {
                tracing::debug!(%error, "a value stays in memory as well");
            }
            open.insert(name, value);
        }
    }
}

/// Where the values of a server's headers and variables are.
pub(super) fn server_places(name: &str, config: &ServerConfig) -> Vec<String> {
    let header = |header: &String| header_place(name, config.url.as_deref()?, header);
    let headers = config.secret_headers.iter().filter_map(header);
    headers.chain(config.secret_env.iter().filter_map(|variable| config.variable_place(name, variable))).collect()
}

/// Where the values of a hook's variables are.
pub(super) fn hook_places(hook: &HookConfig) -> Vec<String> {
    hook.secret_env.iter().map(|variable| hook.variable_place(variable)).collect()
}

pub(super) fn places(extras: &Extras) -> Vec<String> {
    let servers = extras.mcp.iter().flat_map(|(name, config)| server_places(name, config));
    servers.chain(extras.hooks.iter().flat_map(hook_places)).collect()
}

/// Whether values stand in the text that a keyring may take.
pub(super) fn has_values(extras: &Extras) -> bool {
    let of_servers = extras.mcp.values().flat_map(|server| server.headers.values().chain(server.env.values()));
    let mut values = of_servers.chain(extras.hooks.iter().flat_map(|hook| hook.env.values()));
    values.any(|value| !value.trim().is_empty())
}

/// The places of variables, by whose they are.
fn variables(extras: &Extras) -> BTreeMap<(bool, &str, &str), String> {
    let mut variables = BTreeMap::new();
    for (name, config) in &extras.mcp {
        for variable in &config.secret_env {
            variables.extend(
                config.variable_place(name, variable).map(|place| ((true, name.as_str(), variable.as_str()), place)),
            );
        }
    }
    for hook in &extras.hooks {
        for variable in &hook.secret_env {
            variables.insert((false, hook.name.as_str(), variable.as_str()), hook.variable_place(variable));
        }
    }
    variables
}

fn invalid(error: bosun_harness::ExtrasError) -> SessionError {
    SessionError::invalid(error.problem())
}

fn not_removed(error: TokenStoreError) -> SessionError {
    SessionError::new(ErrorCode::KeyringUnavailable, Problem::Said { detail: error.reason })
}

fn not_kept(error: TokenStoreError) -> SessionError {
    SessionError::new(ErrorCode::KeyringUnavailable, Problem::KeyringRefused { detail: error.reason })
}
