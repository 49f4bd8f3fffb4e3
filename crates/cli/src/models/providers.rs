//! `bosun providers`: servers of the person's own, and headers that a gateway wants, as the window's settings have them.

use std::io::Write;
use std::sync::Arc;

use bosun_protocol::{ErrorCode, Problem};
use bosun_providers::{
    Account, AccountForm, EnvironmentKeys, Family, LONGEST_HEADER, MOST_HEADERS, WrongAccount, check_header,
    new_account_id,
};
use bosun_session::{Explain, SessionError};
use bosun_store::{Key, ProviderAccount};
use clap::{Args, Subcommand, ValueEnum};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use serde::Serialize;

use super::Models;
use super::keys::secret_line;
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
    /// Your own providers, and built-in ones that you moved or gave headers: where each is asked, in which format, and the
    /// names of its headers.
    List {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Add a provider: any server that speaks one of the formats. Prints its id, which stands in front of its models' names.
    Add {
        /// Its name for people; the id is made of it.
        #[arg(value_name = "NAME")]
        label: String,
        /// Its base URL.
        #[arg(value_name = "URL")]
        base_url: String,
        /// What it speaks, whatever the address ends with. Without it: Chat Completions, or OpenAI Responses where the address
        /// ends in /responses.
        #[arg(long, value_enum)]
        format: Option<Format>,
        /// A header for every request to it, kept in the system's keyring. Without a value it is typed unseen, or taken from
        /// standard input, a line for each. May be given several times.
        #[arg(long = "header", value_name = "NAME[=VALUE]")]
        headers: Vec<String>,
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
        ProvidersCommand::Add { label, base_url, format, headers } => {
            add(&label, &base_url, format, &headers, keys).await?
        }
        ProvidersCommand::Header { provider, header } => {
            let (models, stored) = opened(keys)?;
            let account = models.account(&provider).await?;
            if account.is_unnamed() {
                return Err(Failure::NoHostYet { provider: account.id });
            }
            let header = read(&header)?;
            keep(&models, &stored, &account, header).await?;
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
    let (kept, own) = (keyring(database), database.accounts().await?);
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
        let headers = if self.headers.is_empty() { String::new() } else { format!("  {}", self.headers.join(", ")) };
        let line = format!("{:<20}  {:<16}  {}{headers}", self.provider, self.format, self.base_url);
        one_line(&line)
    }
}

async fn add(
    label: &str,
    base_url: &str,
    format: Option<Format>,
    headers: &[String],
    keys: EnvironmentKeys,
) -> Result<(), Failure> {
    let (models, stored) = opened(keys)?;
    let family = format.map_or(Family::OpenAiChat, Format::family);
    let form = AccountForm { label, family, chosen: format.is_some(), base_url };
    let account = form.account(new_account_id(label, &models.accounts().await?)).map_err(wrong)?;
    // All of them before anything is kept.
    let headers = headers.iter().map(|header| read(header)).collect::<Result<Vec<_>, _>>()?;
    let saved = account.to_saved();
    let stored_account = ProviderAccount {
        id: saved.id,
        label: saved.label,
        family: saved.family,
        base_url: saved.base_url,
        chosen: saved.chosen,
    };
    stored.database.save_account(stored_account).await?;
    writeln!(std::io::stdout(), "{}", account.id)?;
    for header in headers {
        keep(&models, &stored, &account, header).await?;
    }
    tell(&format!(
        "requests go to {}; name a model of it with --model {}:NAME, and keep a key for it with bosun keys set {}",
        one_line(&account.host()),
        account.id,
        account.id
    ));
    Ok(())
}

fn wrong(wrong: WrongAccount) -> Failure {
    let problem = match wrong {
        WrongAccount::Label => Problem::ProviderLabel,
        WrongAccount::UrlTooLong => Problem::BaseUrlTooLong,
        WrongAccount::Url(error) => error.problem(),
        WrongAccount::Query(name) => Problem::BaseUrlQuery { name },
        WrongAccount::FamilyFixed => Problem::FamilyFixed,
    };
    SessionError::new(ErrorCode::Invalid, problem).into()
}

/// A header's name and value, as it is written or with its value asked for.
fn read(header: &str) -> Result<(String, Zeroizing<String>), Failure> {
    let (name, value) = match header.split_once('=') {
        Some((name, value)) => (name, Zeroizing::new(value.to_owned())),
        None => (header, secret_line(&format!("Value of the header {}", one_line(header)))?),
    };
    let (name, value) = (name.trim(), Zeroizing::new(value.trim().to_owned()));
    if value.is_empty() && !header.contains('=') {
        return Err(Failure::HeaderEmpty { header: name.to_owned() });
    }
    check_header(name, &value).map_err(SessionError::from)?;
    if value.len() > LONGEST_HEADER {
        return Err(too_much());
    }
    Ok((name.to_owned(), value))
}

fn too_much() -> Failure {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let problem = Problem::HeaderTooMuch { most: count(MOST_HEADERS), bytes: count(LONGEST_HEADER) };
    SessionError::new(ErrorCode::Invalid, problem).into()
}

async fn keep(
    models: &Models,
    stored: &Stored,
    account: &Account,
    (name, value): (String, Zeroizing<String>),
) -> Result<(), Failure> {
    let (kept, host) = (keyring(&stored.database), account.host());
    let known = kept.header_names(&account.id, &host).await?;
    let is_gone = value.is_empty();
    if !is_gone && known.len() >= MOST_HEADERS && !known.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
        return Err(too_much());
    }
    let value = SecretString::from(value.as_str());
    models.secrets.learn(&value);
    match kept.set_header(&account.id, &host, &name, value).await.map_err(SessionError::from)? {
        Key::InMemory { reason, .. } | Key::Locked { reason } => {
            Err(Failure::HeaderNotKept { header: name, provider: account.id.clone(), reason: reason.to_string() })
        }
        Key::InKeyring(_) | Key::Missing => {
            let (name, id, host) = (one_line(&name), &account.id, one_line(&host));
            tell(&match is_gone {
                true => format!("the header {name} of {id} for {host} is removed"),
                false => format!("the keyring has the header {name} of {id}, for {host}"),
            });
            Ok(())
        }
    }
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
