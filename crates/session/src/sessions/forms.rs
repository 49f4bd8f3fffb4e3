//! The person's own servers and hooks, changed one by one. They stay the text that they are; what goes into a header is
//! kept where sign-ins are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bosun_harness::mcp::{McpServers, ServerConfig, ServerConfigs, TokenStoreError, Unkept, header_place};
use bosun_harness::{Extras, ExtrasError, WrittenExtras};
use bosun_protocol::{
    AdditionChange, AdditionForms, AdditionKind, ErrorCode, HeaderForm, HookForm, HookTrial, Problem, ProjectId,
    ServerForm, ServerReach, ServerView,
};

use tokio_util::sync::CancellationToken;

use super::Sessions;
use super::additions::{parse, view};
use crate::stream::locked;
use crate::{Explain, SessionError, convert};

/// What was removed in this run, until it is brought back.
#[derive(Default)]
pub(super) struct Removed {
    known: Mutex<HashMap<String, RemovedAddition>>,
    /// One change at a time: between reading the text and writing it a keyring may be waited for.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct RemovedAddition {
    /// The whole text as it was, and as it became.
    before: String,
    after: String,
    /// What went out of it.
    part: String,
    secrets: Vec<Secret>,
}

/// A value and where it is kept.
#[derive(Clone)]
struct Secret {
    place: String,
    value: String,
}

/// What a change comes to.
struct Planned {
    text: String,
    /// Values that are kept from now on.
    kept: Vec<Secret>,
    /// Places of values that nothing names any more.
    gone: Vec<String>,
}

impl Sessions {
    /// The person's own servers and hooks, as forms show them.
    pub async fn addition_forms(&self) -> Result<AdditionForms, SessionError> {
        let kept = self.additions().await?;
        if kept.problem.is_some() {
            return Ok(AdditionForms { problem: kept.problem, ..AdditionForms::default() });
        }
        let extras = parse(&kept.text)?;
        Ok(AdditionForms {
            servers: extras.mcp.iter().map(|(name, config)| convert::server_form(name, config)).collect(),
            hooks: extras.hooks.iter().map(convert::hook_form).collect(),
            problem: None,
        })
    }

    /// The servers and hooks that would be at work after `change` and are not now, as TOML; empty where there is none.
    ///
    /// # Errors
    /// As [`Sessions::change_additions`].
    pub async fn begun_by(&self, change: &AdditionChange) -> Result<String, SessionError> {
        if matches!(change, AdditionChange::BringBack { .. }) {
            // It was at work before.
            return Ok(String::new());
        }
        let before = self.additions().await?.text;
        begun(&before, &self.planned(change).await?.text)
    }

    /// Changes one server or hook. It holds for sessions that are opened from now on. What was removed is brought back by
    /// the id that this gives. `shown` is what [`Sessions::begun_by`] gave and a person said yes to.
    ///
    /// # Errors
    /// [`ErrorCode::Invalid`] with what does not fit, [`ErrorCode::NotFound`] where there is nothing of that name,
    /// [`ErrorCode::AlreadyDecided`] where something else would begin to work than was shown; nothing is changed then.
    /// [`ErrorCode::KeyringUnavailable`] where a value cannot be kept.
    pub async fn change_additions(&self, change: AdditionChange, shown: &str) -> Result<Option<String>, SessionError> {
        let _turn = self.inner.removed.turn.lock().await;
        if let AdditionChange::BringBack { id } = &change {
            return self.bring_back(id).await.map(|()| None);
        }
        let before = self.additions().await?.text;
        let Planned { text, kept, gone } = self.planned(&change).await?;
        if begun(&before, &text)? != shown {
            return Err(SessionError::new(ErrorCode::AlreadyDecided, Problem::AskChanged));
        }
        let secrets = self.secrets_at(&gone).await?;
        self.keep_secrets(kept).await?;
        // First: what is no longer declared has no way back to a value that stayed.
        if let Err(error) = self.replace_additions(&gone, &text).await {
            self.keep_secrets(secrets).await?;
            return Err(error);
        }
        let AdditionChange::Remove { addition, name } = change else { return Ok(None) };
        let part = match addition {
            AdditionKind::Server => written(&before)?.part(&[&name], &[]),
            AdditionKind::Hook => written(&before)?.part(&[], &[&name]),
        };
        let id = self.new_id();
        let removed = RemovedAddition { before, after: text, part, secrets };
        locked(&self.inner.removed.known).insert(id.clone(), removed);
        Ok(Some(id))
    }

    /// Starts one of the person's own servers for a moment, in a project's folder, and says how it is.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where there is none of that name that is on.
    pub async fn check_server(&self, project: Option<&ProjectId>, name: &str) -> Result<ServerView, SessionError> {
        let folder = match project {
            Some(project) => self.root_of(project).await?,
            None => std::env::temp_dir(),
        };
        let mut known = parse(&self.additions().await?.text)?.mcp;
        let gone = || SessionError::not_found(Problem::SignInUnknown { server: name.to_owned() });
        let config = known.remove(name).filter(|config| config.enabled).ok_or_else(gone)?;
        let configs = ServerConfigs::from([(name.to_owned(), config)]);
        let servers = McpServers::new(configs, &folder, Arc::new(Unkept::default()));
        let servers = servers.map_err(|error| SessionError::invalid(ExtrasError::from(error).problem()))?;
        let servers = servers.keeping(&self.sign_ins().tokens());
        servers.start().await;
        let found = servers.views().into_iter().next();
        servers.shut_down().await;
        let found = found.ok_or_else(gone)?;
        let signed_in = match &found.address {
            Some(address) => Some(self.is_signed_in(address).await),
            None => None,
        };
        Ok(view(found, signed_in, &[]))
    }

    /// Runs one of the person's own hooks once, in a project's folder, told of something that did not happen. No session
    /// hears of it. Only of those that are on: what they run was said yes to before.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] where there is none of that name that is on.
    pub async fn try_hook(&self, project: Option<&ProjectId>, name: &str) -> Result<HookTrial, SessionError> {
        let folder = match project {
            Some(project) => self.root_of(project).await?,
            None => std::env::temp_dir(),
        };
        let known = parse(&self.additions().await?.text)?.hooks;
        let hook = known.into_iter().find(|hook| hook.name == name && hook.enabled).ok_or_else(nothing)?;
        let trial = hook.try_out(&folder, CancellationToken::new()).await;
        Ok(convert::hook_trial(&hook, trial))
    }

    async fn planned(&self, change: &AdditionChange) -> Result<Planned, SessionError> {
        let text = self.additions().await?.text;
        let known = parse(&text)?;
        let mut text = written(&text)?;
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        match change {
            AdditionChange::Server { was, server } => {
                let old = match was {
                    Some(was) => Some((was.as_str(), known.mcp.get(was).ok_or_else(|| no_server(was))?)),
                    None => None,
                };
                text = put_server(text, old, server)?;
                kept = self.headers_of(old, server).await?;
                let now = parse(&text.to_string())?;
                let stays = now
                    .mcp
                    .get(server.name.trim())
                    .map(|now| header_places(server.name.trim(), now))
                    .unwrap_or_default();
                gone = old.map(|(was, old)| header_places(was, old)).unwrap_or_default();
                gone.retain(|place| !stays.contains(place));
            }
            AdditionChange::Hook { was, hook } => text = put_hook(text, &known, was.as_deref(), hook)?,
            AdditionChange::Switch { addition: AdditionKind::Server, name, on } => {
                let old = known.mcp.get(name).ok_or_else(|| no_server(name))?;
                let wanted = ServerConfig { enabled: *on, ..old.clone() };
                text.put_server(Some(name), name, &wanted).map_err(invalid)?;
            }
            AdditionChange::Switch { addition: AdditionKind::Hook, name, on } => {
                let mut wanted = known.hooks.iter().find(|hook| hook.name == *name).cloned().ok_or_else(nothing)?;
                wanted.enabled = *on;
                text.put_hook(Some(name), &wanted).map_err(invalid)?;
            }
            AdditionChange::Remove { addition: AdditionKind::Server, name } => {
                gone = header_places(name, known.mcp.get(name).ok_or_else(|| no_server(name))?);
                text.remove_server(name);
            }
            AdditionChange::Remove { addition: AdditionKind::Hook, name } => {
                known.hooks.iter().find(|hook| hook.name == *name).ok_or_else(nothing)?;
                text.remove_hook(name);
            }
            AdditionChange::BringBack { .. } => {}
        }
        Ok(Planned { text: text.to_string(), kept, gone })
    }

    /// The values that the headers of `form` begin to be kept with: those that were entered, those that stood in the text,
    /// and those of the server's name before.
    async fn headers_of(
        &self,
        old: Option<(&str, &ServerConfig)>,
        form: &ServerForm,
    ) -> Result<Vec<Secret>, SessionError> {
        let ServerReach::Address { url, headers } = &form.reach else { return Ok(Vec::new()) };
        let mut kept = Vec::new();
        for HeaderForm { name, value } in headers {
            let (server, name) = (form.name.trim(), name.trim());
            let missing = || SessionError::invalid(Problem::ServerHeaderMissing { header: name.to_owned() });
            let place = header_place(server, url.trim(), name).ok_or_else(missing)?;
            let in_text = old.and_then(|(_, old)| {
                let same_host = header_place("", old.url.as_deref()?, "") == header_place("", url.trim(), "");
                let found = old.headers.iter().find(|(known, _)| same_host && known.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value.clone())
            });
            let value = match (value.as_deref().map(str::trim).filter(|value| !value.is_empty()), in_text) {
                (Some(value), _) => value.to_owned(),
                (None, Some(value)) => value,
                (None, None) => {
                    let was = old.and_then(|(was, _)| header_place(was, url.trim(), name)).ok_or_else(missing)?;
                    self.sign_ins().tokens().load(&was).await.map_err(not_kept)?.ok_or_else(missing)?
                }
            };
            // What no header can hold is said as it is for one in the text.
            let trial = ServerConfig {
                url: Some(url.trim().to_owned()),
                headers: [(name.to_owned(), value.clone())].into(),
                ..ServerConfig::default()
            };
            trial.check(server).map_err(|error| invalid(error.into()))?;
            kept.push(Secret { place, value });
        }
        Ok(kept)
    }

    async fn secrets_at(&self, places: &[String]) -> Result<Vec<Secret>, SessionError> {
        let tokens = self.sign_ins().tokens();
        let mut secrets = Vec::new();
        for place in places {
            if let Some(value) = tokens.load(place).await.map_err(not_kept)? {
                secrets.push(Secret { place: place.clone(), value });
            }
        }
        Ok(secrets)
    }

    async fn replace_additions(&self, gone: &[String], text: &str) -> Result<(), SessionError> {
        for place in gone {
            self.sign_ins().tokens().remove(place).await.map_err(not_removed)?;
        }
        self.save_additions(text).await
    }

    async fn keep_secrets(&self, secrets: Vec<Secret>) -> Result<(), SessionError> {
        let tokens = self.sign_ins().tokens();
        for Secret { place, value } in secrets {
            tokens.save(&place, value).await.map_err(not_kept)?;
        }
        Ok(())
    }

    async fn bring_back(&self, id: &str) -> Result<(), SessionError> {
        let removed = locked(&self.inner.removed.known).get(id).cloned().ok_or_else(nothing)?;
        let now = self.additions().await?.text;
        let text = if now == removed.after {
            removed.before
        } else {
            let text = [now.trim_end(), &removed.part].map(str::to_owned).join("\n\n");
            text.trim_start().to_owned() + "\n"
        };
        parse(&text)?;
        self.keep_secrets(removed.secrets).await?;
        self.save_additions(&text).await?;
        // Only now: what could not be brought back can be tried again.
        locked(&self.inner.removed.known).remove(id);
        Ok(())
    }
}

/// The servers and hooks of `text` that are at work there and not in `before`, as TOML.
fn begun(before: &str, text: &str) -> Result<String, SessionError> {
    let (before, after) = (parse(before)?, parse(text)?);
    let is_new = |(name, server): &(&String, &ServerConfig)| server.enabled && before.mcp.get(*name) != Some(*server);
    let servers: Vec<&str> = after.mcp.iter().filter(is_new).map(|(name, _)| name.as_str()).collect();
    let hooks = after.hooks.iter().filter(|hook| hook.enabled && !before.hooks.contains(hook));
    let hooks: Vec<&str> = hooks.map(|hook| hook.name.as_str()).collect();
    Ok(written(text)?.part(&servers, &hooks))
}

fn put_server(
    mut text: WrittenExtras,
    old: Option<(&str, &ServerConfig)>,
    form: &ServerForm,
) -> Result<WrittenExtras, SessionError> {
    let config = old.map(|(_, old)| old.clone()).unwrap_or_default();
    let wanted = convert::server_config(config, form);
    let name = form.name.trim();
    // Said before the text is written: it names the field.
    wanted.check(name).map_err(|error| invalid(error.into()))?;
    text.put_server(old.map(|(was, _)| was), name, &wanted).map_err(invalid)?;
    Ok(text)
}

fn put_hook(
    mut text: WrittenExtras,
    known: &Extras,
    was: Option<&str>,
    form: &HookForm,
) -> Result<WrittenExtras, SessionError> {
    let old = match was {
        Some(was) => Some(known.hooks.iter().find(|hook| hook.name == was).cloned().ok_or_else(nothing)?),
        None => None,
    };
    let wanted = convert::hook_config(old, form);
    let alone = Extras { hooks: vec![wanted.clone()], ..Extras::default() };
    alone.check().map_err(invalid)?;
    text.put_hook(was, &wanted).map_err(invalid)?;
    Ok(text)
}

/// Where the values of a server's secret headers are.
pub(super) fn header_places(name: &str, config: &ServerConfig) -> Vec<String> {
    let Some(url) = config.url.as_deref() else { return Vec::new() };
    config.secret_headers.iter().filter_map(|header| header_place(name, url, header)).collect()
}

fn written(text: &str) -> Result<WrittenExtras, SessionError> {
    WrittenExtras::parse(text).map_err(invalid)
}

fn invalid(error: ExtrasError) -> SessionError {
    SessionError::invalid(error.problem())
}

fn nothing() -> SessionError {
    SessionError::not_found(Problem::NothingThere)
}

fn no_server(name: &str) -> SessionError {
    SessionError::not_found(Problem::SignInUnknown { server: name.to_owned() })
}

fn not_removed(error: TokenStoreError) -> SessionError {
    SessionError::new(ErrorCode::KeyringUnavailable, Problem::Said { detail: error.reason })
}

fn not_kept(error: TokenStoreError) -> SessionError {
    SessionError::new(ErrorCode::KeyringUnavailable, Problem::KeyringRefused { detail: error.reason })
}
