//! The person's own servers and hooks, changed one by one. They stay the text that they are; what goes into headers and
//! variables is kept where sign-ins are (`values`).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use bosun_harness::mcp::{McpServers, ServerConfig, ServerConfigs, Unkept, header_place, is_named_secret};
use bosun_harness::{Extras, ExtrasError, HookConfig, WrittenExtras};
use bosun_protocol::{
    AdditionChange, AdditionForms, AdditionKind, ErrorCode, HookForm, HookTrial, Problem, ProjectId, SecretField,
    ServerForm, ServerReach, ServerView,
};

use tokio_util::sync::CancellationToken;

use super::Sessions;
use super::additions::{parse, view};
use super::values::{Secret, Slot, Values, has_values, hook_places, server_places};
use crate::stream::locked;
use crate::{Explain, SessionError, convert};

/// What stands for a value that is not shown.
const HIDDEN: &str = "…";

/// What was removed in this run, until it is brought back.
#[derive(Default)]
pub(super) struct Removed {
    known: Mutex<HashMap<String, RemovedAddition>>,
    /// One change at a time: between reading the text and writing it a keyring may be waited for.
    pub(super) turn: tokio::sync::Mutex<()>,
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

/// What a change comes to.
struct Planned {
    text: String,
    /// `text` with the variables in it that were entered, for whoever says yes to what starts with them.
    shown: String,
    /// Values that are kept from now on.
    kept: Vec<Secret>,
    /// Places of values that nothing names any more.
    gone: Vec<String>,
}

impl Sessions {
    /// The person's own servers and hooks, as forms show them. For values that stand in the text the keyring is tried again
    /// behind it.
    pub async fn addition_forms(&self) -> Result<AdditionForms, SessionError> {
        let kept = self.additions().await?;
        if kept.problem.is_some() {
            return Ok(AdditionForms { problem: kept.problem, ..AdditionForms::default() });
        }
        let extras = parse(&kept.text)?;
        if has_values(&extras) {
            let sessions = self.clone();
            self.tasks().spawn(async move {
                if let Err(error) = sessions.move_values().await {
                    tracing::warn!(%error, "what servers and hooks are given stays in the settings");
                }
            });
        }
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
        begun(&before, &self.planned(change).await?.shown)
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
        let Planned { text, shown: whole, kept, gone } = self.planned(&change).await?;
        if begun(&before, &whole)? != shown {
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
        let tokens = self.sign_ins().tokens();
        let trial = hook.try_out(&folder, tokens.as_ref(), CancellationToken::new()).await;
        Ok(convert::hook_trial(&hook, trial))
    }

    async fn planned(&self, change: &AdditionChange) -> Result<Planned, SessionError> {
        let text = self.additions().await?.text;
        let known = parse(&text)?;
        let mut text = written(&text)?;
        let mut gone = Vec::new();
        match change {
            AdditionChange::Server { was, server } => {
                let old = match was {
                    Some(was) => Some((was.as_str(), known.mcp.get(was).ok_or_else(|| no_server(was))?)),
                    None => None,
                };
                return self.planned_server(text, old, server).await;
            }
            AdditionChange::Hook { was, hook } => {
                let old = match was {
                    Some(was) => Some(known.hooks.iter().find(|hook| hook.name == *was).ok_or_else(nothing)?),
                    None => None,
                };
                return self.planned_hook(text, old, hook).await;
            }
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
                gone = server_places(name, known.mcp.get(name).ok_or_else(|| no_server(name))?);
                text.remove_server(name);
            }
            AdditionChange::Remove { addition: AdditionKind::Hook, name } => {
                gone = hook_places(known.hooks.iter().find(|hook| hook.name == *name).ok_or_else(nothing)?);
                text.remove_hook(name);
            }
            AdditionChange::BringBack { .. } => {}
        }
        let text = text.to_string();
        Ok(Planned { shown: text.clone(), text, kept: Vec::new(), gone })
    }

    async fn planned_server(
        &self,
        text: WrittenExtras,
        old: Option<(&str, &ServerConfig)>,
        form: &ServerForm,
    ) -> Result<Planned, SessionError> {
        let name = form.name.trim();
        let wanted = convert::server_config(old.map(|(_, old)| old.clone()).unwrap_or_default(), form);
        // Said before any value is looked for: it names the field.
        wanted.check(name).map_err(|error| invalid(error.into()))?;
        let Values { open, secret, kept, entered } = match &form.reach {
            ServerReach::Program { env, .. } => {
                self.values(env, |name| variable_slot(old, (form, &wanted), name)).await?
            }
            ServerReach::Address { url, headers } => {
                let trimmed = headers.iter().map(|header| SecretField {
                    // A header that has no value is none.
                    value: header.value.as_deref().map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned),
                    ..header.clone()
                });
                let headers: Vec<SecretField> = trimmed.collect();
                self.values(&headers, |header| header_slot(old, name, url.trim(), header)).await?
            }
        };
        let is_program = matches!(form.reach, ServerReach::Program { .. });
        let of = |open: BTreeMap<String, String>, secret: Vec<String>| match is_program {
            true => ServerConfig { env: open, secret_env: secret, ..wanted.clone() },
            false => ServerConfig { headers: open, secret_headers: secret, ..wanted.clone() },
        };
        // What no header and no variable can hold is said as it is for one in the text.
        of(entered.clone(), Vec::new()).check(name).map_err(|error| invalid(error.into()))?;
        let stored = of(open.clone(), secret.clone());
        let whole = if is_program { of(shown(open, &entered), unentered(secret, &entered)) } else { stored.clone() };
        let put = |server: &ServerConfig| {
            let mut text = text.clone();
            text.put_server(old.map(|(was, _)| was), name, server).map_err(invalid)?;
            Ok::<_, SessionError>(text.to_string())
        };
        let stays = server_places(name, &stored);
        let mut gone = old.map(|(was, old)| server_places(was, old)).unwrap_or_default();
        gone.retain(|place| !stays.contains(place));
        Ok(Planned { text: put(&stored)?, shown: put(&whole)?, kept, gone })
    }

    async fn planned_hook(
        &self,
        text: WrittenExtras,
        old: Option<&HookConfig>,
        form: &HookForm,
    ) -> Result<Planned, SessionError> {
        let wanted = convert::hook_config(old.cloned(), form);
        let check = |hook: HookConfig| Extras { hooks: vec![hook], ..Extras::default() }.check().map_err(invalid);
        check(wanted.clone())?;
        let slot = |variable: &str| {
            Ok(Slot {
                place: wanted.variable_place(variable),
                was: old
                    .filter(|old| old.secret_env.iter().any(|known| known == variable))
                    .map(|old| old.variable_place(variable)),
                open: old.and_then(|old| old.env.get(variable).cloned()),
                missing: Problem::VariableMissing { variable: variable.to_owned() },
            })
        };
        let Values { open, secret, kept, entered } = self.values(&form.env, slot).await?;
        check(HookConfig { env: entered.clone(), ..wanted.clone() })?;
        let stored = HookConfig { env: open.clone(), secret_env: secret.clone(), ..wanted.clone() };
        let whole = HookConfig { env: shown(open, &entered), secret_env: unentered(secret, &entered), ..wanted };
        let put = |hook: &HookConfig| {
            let mut text = text.clone();
            text.put_hook(old.map(|old| old.name.as_str()), hook).map_err(invalid)?;
            Ok::<_, SessionError>(text.to_string())
        };
        let stays = hook_places(&stored);
        let mut gone = old.map(hook_places).unwrap_or_default();
        gone.retain(|place| !stays.contains(place));
        Ok(Planned { text: put(&stored)?, shown: put(&whole)?, kept, gone })
    }

    async fn replace_additions(&self, gone: &[String], text: &str) -> Result<(), SessionError> {
        self.forget_secrets(gone).await?;
        self.put_in_force(text).await
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
        self.put_in_force(&text).await?;
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

/// Where a header of a server is kept, before and from now on.
fn header_slot(
    old: Option<(&str, &ServerConfig)>,
    server: &str,
    url: &str,
    header: &str,
) -> Result<Slot, SessionError> {
    let missing = Problem::ServerHeaderMissing { header: header.to_owned() };
    let place = header_place(server, url, header).ok_or_else(|| SessionError::invalid(missing.clone()))?;
    let open = old.and_then(|(_, old)| {
        let same_host = header_place("", old.url.as_deref()?, "") == header_place("", url, "");
        let found = old.headers.iter().find(|(known, _)| same_host && known.eq_ignore_ascii_case(header));
        found.map(|(_, value)| value.clone())
    });
    // For the host that it was entered for and no other.
    let was = old.and_then(|(was, _)| header_place(was, url, header));
    Ok(Slot { place, was, open, missing })
}

/// Where a variable of a server's program is kept. It goes along when a person gives the program other arguments.
fn variable_slot(
    old: Option<(&str, &ServerConfig)>,
    (form, wanted): (&ServerForm, &ServerConfig),
    variable: &str,
) -> Result<Slot, SessionError> {
    let missing = Problem::VariableMissing { variable: variable.to_owned() };
    let place = wanted.variable_place(form.name.trim(), variable);
    let place = place.ok_or_else(|| SessionError::invalid(missing.clone()))?;
    let was = old.filter(|(_, old)| old.secret_env.iter().any(|known| known == variable));
    let was = was.and_then(|(was, old)| old.variable_place(was, variable));
    let open = old.and_then(|(_, old)| old.env.get(variable).cloned());
    Ok(Slot { place, was, open, missing })
}

/// The variables as somebody reads them who says yes to a start: what makes a program do something else is seen, and what
/// is plainly a key is not.
fn shown(open: BTreeMap<String, String>, entered: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let entered = entered.iter().map(|(name, value)| {
        let value = if is_named_secret(name) { HIDDEN.to_owned() } else { value.clone() };
        (name.clone(), value)
    });
    open.into_iter().chain(entered).collect()
}

fn unentered(secret: Vec<String>, entered: &BTreeMap<String, String>) -> Vec<String> {
    secret.into_iter().filter(|name| !entered.contains_key(name)).collect()
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
