//! `bosun providers`: servers of the person's own, and headers that a gateway wants, as in the window's settings.

use std::io::Write;
use std::sync::Arc;

use bosun_providers::{Account, AccountChange, AccountForm, EnvironmentKeys, Family, SavedAccount, new_account_id};
use bosun_session::SessionError;
use bosun_store::{Key, Keys};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::headers::{self, OwnHeader};
use super::keys::{asked, tried};
use super::{Models, wrong};
use crate::core::{Stored, keyring};
use crate::failure::Failure;
use crate::line::write_line;
use crate::terminal::one_line;
use crate::{Exit, tell};

#[derive(Debug, Args)]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    command: ProvidersCommand,
}

#[derive(Debug, Subcommand)]
enum ProvidersCommand {
    /// Your own providers, and built-in ones that you moved or gave headers: where each is asked, in which format, and
    /// the names of its headers.
    List {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Add a provider: any server that speaks one of the formats. Prints its id, which stands in front of its models'
    /// names. A small call, which costs next to nothing, tells whether it answers.
    Add {
        /// Its name for people; the id is made of it.
        #[arg(value_name = "NAME")]
        label: String,
        /// Its base URL.
        #[arg(value_name = "URL")]
        base_url: String,
        /// What it speaks, whatever the address ends with. Without it: Chat Completions, or OpenAI Responses where the
        /// address ends in /responses.
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// A header for every request to it, kept in the system's keyring. Without a value it is typed unseen, or taken
        /// from standard input, a line for each. May be given several times.
        #[arg(long = "header", value_name = "NAME[=VALUE]")]
        headers: Vec<String>,
        #[command(flatten)]
        tried: Tried,
    },
    /// Change a provider: its name for people, its base URL, what it speaks. What is not named stays; its key and its headers
    /// stay as long as the host does.
    #[command(group = ArgGroup::new("change").required(true).multiple(true))]
    Edit {
        #[arg(value_name = "PROVIDER")]
        provider: String,
        /// Its name for people. Its id stays.
        #[arg(long = "name", value_name = "NAME", group = "change")]
        label: Option<String>,
        /// Its base URL.
        #[arg(long = "url", value_name = "URL", group = "change")]
        base_url: Option<String>,
        /// What it speaks, whatever the address ends with. Only one of your own can speak something else.
        #[arg(long, value_enum, group = "change")]
        format: Option<Format>,
        #[command(flatten)]
        tried: Tried,
    },
    /// Keep a header for every request to a provider, or take it away with an empty value.
    Header {
        #[arg(value_name = "PROVIDER")]
        provider: String,
        /// Without a value it is typed unseen, or taken from standard input.
        #[arg(value_name = "NAME[=VALUE]")]
        header: String,
    },
    /// Take a provider of yours away, or bring a built-in one back to how it came; its key and its headers go too.
    Remove {
        #[arg(value_name = "PROVIDER")]
        provider: String,
    },
}

/// What it is asked with, and whether it is.
#[derive(Clone, Copy, Debug, Args)]
struct Tried {
    /// Keep a key for it in the system's keyring: typed unseen, or the first line of standard input.
    #[arg(long)]
    key: bool,
    /// Leave the small call out that tells whether it answers.
    #[arg(long)]
    no_test: bool,
}

/// What a server may speak, as people call it.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
    Ollama,
}

impl Format {
    fn family(self) -> Family {
        match self {
            Self::Anthropic => Family::Anthropic,
            Self::OpenaiChat => Family::OpenAiChat,
            Self::OpenaiResponses => Family::OpenAiResponses,
            Self::Gemini => Family::Gemini,
            Self::Ollama => Family::Ollama,
        }
    }
}

/// A provider, as a line of JSON.
#[derive(Debug, Serialize)]
struct Row {
    provider: String,
    name: String,
    format: String,
    base_url: String,
    headers: Vec<String>,
}

pub(crate) async fn providers(args: ProvidersArgs, keys: EnvironmentKeys) -> Result<Exit, Failure> {
    match args.command {
        ProvidersCommand::List { json } => list(json, keys).await?,
        ProvidersCommand::Add { label, base_url, format, headers, tried } => {
            let form = AccountForm {
                label: &label,
                family: format.map_or(Family::OpenAiChat, Format::family),
                chosen: format.is_some(),
                base_url: &base_url,
            };
            add(form, &headers, tried, keys).await?
        }
        ProvidersCommand::Edit { provider, label, base_url, format, tried } => {
            let change = AccountChange {
                label: label.as_deref(),
                base_url: base_url.as_deref(),
                family: format.map(Format::family),
            };
            edit(&provider, change, tried, keys).await?
        }
        ProvidersCommand::Header { provider, header } => {
            let (models, stored) = opened(keys)?;
            let account = models.account(&provider).await?;
            if account.is_unnamed() {
                return Err(Failure::NoHostYet { provider: account.id });
            }
            set_header(&models, &stored, &account, headers::read(&header)?).await?;
        }
        ProvidersCommand::Remove { provider } => remove(&provider, keys).await?,
    }
    Ok(Exit::Done)
}

fn opened(keys: EnvironmentKeys) -> Result<(Models, Stored), Failure> {
    let stored = Stored::open()?;
    Ok((Models::new(Some(Arc::clone(&stored.database)), keys), stored))
}

async fn list(json: bool, keys: EnvironmentKeys) -> Result<(), Failure> {
    let models = Models::new(None, keys);
    let Some(database) = models.database().await? else { return Ok(()) };
    let kept = keyring(database);
    let own: Vec<SavedAccount> = database.accounts().await?;
    let mut out = std::io::stdout().lock();
    for account in models.accounts().await? {
        let headers = kept.header_names(&account.id, &account.host()).await?;
        if headers.is_empty() && !own.iter().any(|own| own.id == account.id) {
            continue;
        }
        let format = account.family.name().replace('_', "-");
        let row = Row { provider: account.id, name: account.label, format, base_url: account.base_url, headers };
        if json { write_line(&mut out, &row)? } else { writeln!(out, "{}", row.line())? }
    }
    Ok(())
}

impl Row {
    fn line(&self) -> String {
        // Each by itself: a line of all of them would lose the room between.
        let words = [&self.provider, &self.name, &self.format, &self.base_url].map(|word| one_line(word));
        let [provider, name, format, base_url] = words;
        let headers = one_line(&self.headers.join(", "));
        format!("{provider:<20}  {name:<20}  {format:<16}  {base_url}  {headers}").trim_end().to_owned()
    }
}

/// Adds a provider with all that it is given, or nothing of it. Whether it answers is told afterwards, and it stays also
/// where it does not: as in the window.
async fn add(
    form: AccountForm<'_>,
    headers: &[String],
    Tried { key, no_test }: Tried,
    keys: EnvironmentKeys,
) -> Result<(), Failure> {
    let (models, stored) = opened(keys)?;
    let account = form.account(new_account_id(form.label, &models.accounts().await?)).map_err(wrong)?;
    // All of them before anything is kept.
    let key = if key { Some(asked(&account)?) } else { None };
    let headers = headers.iter().map(|header| headers::read(header)).collect::<Result<Vec<_>, _>>()?;
    let added = async {
        let kept = keyring(&stored.database);
        if let Some(key) = key {
            models.secrets.learn(&key);
            let place = kept.set(&account.id, &account.host(), key).await.map_err(SessionError::from)?;
            let not_kept = |reason| Failure::NotAdded { what: "the key".to_owned(), reason };
            headers::refusal(&place).map_or(Ok(()), |reason| Err(not_kept(reason)))?;
        }
        for header in headers {
            let what = format!("the header {}", one_line(&header.name));
            let refused = headers::keep(&models, &kept, &account, header).await?;
            refused.map_or(Ok(()), |reason| Err(Failure::NotAdded { what, reason }))?;
        }
        Ok::<_, Failure>(stored.database.save_account(&account.id, &account.to_saved(&models.cloud())).await?)
    };
    if let Err(failure) = added.await {
        // Nobody could take it away later.
        if let Err(error) = keyring(&stored.database).let_go(&account.id, &account.host()).await {
            tell(&one_line(&format!("what was to go with it stays in the keyring: {error}")));
        }
        return Err(failure);
    }
    writeln!(std::io::stdout(), "{}", account.id)?;
    tell(&format!(
        "requests go to {}; name a model of it with --model {}:NAME, and keep a key for it with bosun keys set {}",
        one_line(&account.host()),
        account.id,
        account.id
    ));
    if no_test { Ok(()) } else { answers(&models, &stored, &account, "added").await }
}

/// Changes a provider by the rules of the window's form.
async fn edit(
    provider: &str,
    change: AccountChange<'_>,
    Tried { key, no_test }: Tried,
    keys: EnvironmentKeys,
) -> Result<(), Failure> {
    let (models, stored) = opened(keys)?;
    let before = models.account(provider).await?;
    let account = change.of(&before).map_err(wrong)?;
    let kept = keyring(&stored.database);
    if key && account.is_unnamed() {
        return Err(Failure::NoHostYet { provider: account.id });
    }
    let key = if key { Some(asked(&account)?) } else { None };
    let is_keyed = key.is_some();
    let was_kept = if is_keyed { kept.get(&account.id, &account.host()).await? } else { Key::Missing };
    let changed = async {
        if let Some(key) = key {
            models.secrets.learn(&key);
            let place = kept.set(&account.id, &account.host(), key).await.map_err(SessionError::from)?;
            headers::refusal(&place).map_or(Ok(()), |reason| Err(Failure::NotChanged { reason }))?;
        }
        if account.is_default(&models.cloud()) {
            stored.database.remove_account(&account.id).await?;
        } else {
            stored.database.save_account(&account.id, &account.to_saved(&models.cloud())).await?;
        }
        Ok::<_, Failure>(())
    };
    if let Err(failure) = changed.await {
        if is_keyed {
            put_back(&kept, &account, was_kept).await;
        }
        return Err(failure);
    }
    // Last: what a keyring does not let go of keeps no account where it is.
    if before.host() != account.host() {
        kept.let_go(&before.id, &before.host()).await.map_err(SessionError::from)?;
    }
    tell(&format!("requests to {} go to {}", one_line(&account.label), one_line(&account.host())));
    let is_asked_else = is_keyed
        || (&account.base_url, account.family, account.chosen) != (&before.base_url, before.family, before.chosen);
    if no_test || !is_asked_else { Ok(()) } else { answers(&models, &stored, &account, "changed").await }
}

/// Leaves no key for `account` but the one that was `kept` before.
async fn put_back(keys: &Keys, account: &Account, kept: Key) {
    let host = account.host();
    let done = match kept {
        Key::InKeyring(key) => keys.set(&account.id, &host, key).await.map(|place| headers::refusal(&place)),
        Key::Missing | Key::InMemory { .. } => keys.remove(&account.id, &host).await.map(|()| None),
        // What it has nobody knows: it may have opened meanwhile, and taken the new one.
        Key::Locked { reason } => Ok(Some(reason.to_string())),
    };
    if let Some(reason) = done.unwrap_or_else(|error| Some(error.to_string())) {
        tell(&one_line(&format!("the keyring may have the key for {host} all the same: {reason}")));
    }
}

/// Tells whether `account` answers, once it is what was `done` to it.
async fn answers(models: &Models, stored: &Stored, account: &Account, done: &'static str) -> Result<(), Failure> {
    let provider = account.id.clone();
    let reason = tried(models, account, stored).await?;
    reason.map_or(Ok(()), |reason| Err(Failure::ProviderFails { provider, done, reason }))
}

async fn set_header(models: &Models, stored: &Stored, account: &Account, header: OwnHeader) -> Result<(), Failure> {
    let (header_name, is_gone) = (header.name.clone(), header.value.is_empty());
    let provider = account.id.clone();
    if let Some(reason) = headers::keep(models, &keyring(&stored.database), account, header).await? {
        return Err(Failure::HeaderNotKept { header: header_name, provider, reason });
    }
    let (name, host) = (one_line(&header_name), one_line(&account.host()));
    tell(&match is_gone {
        true => format!("the header {name} of {provider} for {host} is removed"),
        false => format!("the keyring has the header {name} of {provider}, for {host}"),
    });
    Ok(())
}

async fn remove(provider: &str, keys: EnvironmentKeys) -> Result<(), Failure> {
    let (models, stored) = opened(keys)?;
    let account = models.account(provider).await?;
    let host = account.host();
    let has_headers = !keyring(&stored.database).header_names(&account.id, &host).await?.is_empty();
    if !stored.database.remove_account(&account.id).await? && !has_headers {
        return Err(Failure::NotOwnProvider { provider: account.id });
    }
    // Last: what a keyring does not let go of keeps no account.
    keyring(&stored.database).let_go(&account.id, &host).await.map_err(SessionError::from)?;
    tell(&format!("{} is removed", one_line(&account.label)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use bosun_store::{Database, MemorySecrets};
    use pretty_assertions::assert_eq;
    use secrecy::ExposeSecret;

    use super::*;

    #[tokio::test]
    async fn a_change_that_fails_leaves_the_key_that_was_there_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).unwrap();
        let keys = Keys::new(Arc::new(MemorySecrets::default()), Some(database));
        let account = Account::new("gate", "Gate", Family::OpenAiChat, "https://gate.example/v1");
        let kept = async || keys.get("gate", "gate.example").await.unwrap();
        let shown = |key: Key| key.secret().map(|key| key.expose_secret().to_owned());
        for before in [None, Some("the one before")] {
            if let Some(before) = before {
                keys.set("gate", "gate.example", before.into()).await.unwrap();
            }
            let was = kept().await;
            keys.set("gate", "gate.example", "the new one".into()).await.unwrap();
            put_back(&keys, &account, was).await;
            assert_eq!(shown(kept().await).as_deref(), before);
        }
    }
}
