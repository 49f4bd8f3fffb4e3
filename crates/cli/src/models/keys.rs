//! `bosun keys`: which keys there are and where they come from; putting one into the keyring, and taking it out.

use std::io::{BufRead, IsTerminal, Read, Write};

use bosun_protocol::KeySource;
use bosun_providers::{Account, EnvironmentKeys, Trial, checked_key, try_out};
use bosun_session::{Explain, SessionError, counted_as_test};
use bosun_store::{Key, key_from_environment};
use clap::{Args, Subcommand};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use serde::Serialize;

use super::{Address, Models, Named, wrong};
use crate::core::{Stored, keyring};
use crate::failure::Failure;
use crate::line::write_line;
use crate::terminal::one_line;
use crate::{Exit, tell};

/// Bytes of a line of standard input: twice those of a key, with the blanks around it.
const LONGEST_LINE: usize = 8_192;

#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Every provider, the host its key is for, and where the key comes from. Shows none.
    List {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Put a key into the system's keyring: typed unseen, or the first line of standard input. A small call, which costs
    /// next to nothing, tells whether it works.
    Set {
        #[arg(value_name = "PROVIDER")]
        provider: String,
        /// For this address instead of the provider's own.
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
        /// Leave the call out.
        #[arg(long)]
        no_test: bool,
    },
    /// Take a key out of the system's keyring.
    Remove {
        #[arg(value_name = "PROVIDER")]
        provider: String,
        /// The one for this address instead of the provider's own.
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
    },
}

/// A provider and its key, as a line of JSON.
#[derive(Debug, Serialize)]
struct Row {
    provider: String,
    host: String,
    key: KeySource,
}

pub(crate) async fn keys(args: KeysArgs, keys: EnvironmentKeys) -> Result<Exit, Failure> {
    match args.command {
        KeysCommand::List { json } => list(json, keys).await?,
        KeysCommand::Set { provider, base_url, no_test } => {
            let (models, account, stored) = set(&provider, base_url, keys).await?;
            let reason = if no_test { None } else { tried(&models, &account, &stored).await? };
            if let Some(reason) = reason {
                return Err(Failure::KeyFails { provider: one_line(&account.id), reason });
            }
        }
        KeysCommand::Remove { provider, base_url } => remove(&provider, base_url, keys).await?,
    }
    Ok(Exit::Done)
}

async fn list(json: bool, keys: EnvironmentKeys) -> Result<(), Failure> {
    let models = Models::new(None, keys);
    let mut out = std::io::stdout().lock();
    for account in models.accounts().await? {
        let key = models.key_source(&account).await?;
        let row = Row { host: account.host(), provider: account.id, key };
        if json { write_line(&mut out, &row)? } else { writeln!(out, "{}", row.line())? }
    }
    Ok(())
}

impl Row {
    fn line(&self) -> String {
        let source = match &self.key {
            KeySource::Keyring => "the keyring".to_owned(),
            KeySource::Environment { variable } => variable.clone(),
            KeySource::Cloud { from } => one_line(from),
            KeySource::Locked { why } | KeySource::Memory { why } => format!("stored, but could not be read: {why}"),
            KeySource::Missing => "none".to_owned(),
        };
        format!("{:<12}  {:<40}  {source}", one_line(&self.provider), one_line(&self.host))
    }
}

async fn set(
    provider: &str,
    base_url: Option<String>,
    keys: EnvironmentKeys,
) -> Result<(Models, Account, Stored), Failure> {
    let (models, account, stored) = known(provider, base_url, keys).await?;
    let key = asked(&account)?;
    models.secrets.learn(&key);
    match keyring(&stored.database).set(&account.id, &account.host(), key).await.map_err(SessionError::from)? {
        Key::InMemory { reason, .. } | Key::Locked { reason } => {
            return Err(Failure::KeyNotKept { reason: reason.to_string() });
        }
        Key::InKeyring(_) | Key::Missing => {}
    }
    tell(&format!("the keyring has the key of {}, for {}", one_line(provider), one_line(&account.host())));
    Ok((models, account, stored))
}

/// A small call with what is kept by now, which is told where it works; the reason, in the provider's own words, where it
/// does not.
pub(super) async fn tried(models: &Models, account: &Account, stored: &Stored) -> Result<Option<String>, Failure> {
    let config = match models.config(account).await {
        Ok(config) => config,
        Err(error) => return Ok(Some(one_line(&error.to_string()))),
    };
    let counted = |model| counted_as_test(model, std::sync::Arc::clone(&stored.database));
    let Trial { model, outcome, .. } = try_out(&config, None, counted).await;
    Ok(match outcome {
        Ok(_) => {
            let answers = model.map_or_else(|| "its list of models".to_owned(), |model| one_line(&model));
            tell(&format!("it works: {answers} answers"));
            None
        }
        Err(error) => Some(one_line(&models.secrets.redact(&error.message))),
    })
}

async fn remove(provider: &str, base_url: Option<String>, keys: EnvironmentKeys) -> Result<(), Failure> {
    let (_, account, stored) = known(provider, base_url, keys).await?;
    let (keyring, host) = (keyring(&stored.database), account.host());
    if matches!(keyring.get(&account.id, &host).await?, Key::Missing) {
        return Err(Failure::NoKeyKept { provider: account.id, host });
    }
    keyring.remove(&account.id, &host).await.map_err(SessionError::from)?;
    tell(&format!("the key of {} for {} is removed", one_line(provider), one_line(&host)));
    Ok(())
}

/// The account whose key is meant, at the host that it is bound to.
async fn known(
    provider: &str,
    base_url: Option<String>,
    keys: EnvironmentKeys,
) -> Result<(Models, Account, Stored), Failure> {
    let stored = Stored::open()?;
    let models = Models::new(Some(std::sync::Arc::clone(&stored.database)), keys);
    models.ask_at(base_url.map(|url| Address { provider: provider.to_owned(), url, named: Named::Now }));
    let account = models.account(provider).await?;
    // Also says what is wrong with an address.
    bosun_providers::host_of(&account.base_url).map_err(SessionError::from)?;
    if account.is_unnamed() {
        return Err(Failure::NoHostYet { provider: account.id });
    }
    Ok((models, account, stored))
}

/// The key as it is typed or given, which is shown and logged nowhere.
pub(super) fn asked(account: &Account) -> Result<SecretString, Failure> {
    let line = secret_line(&format!("Key of {} for {}", one_line(&account.id), one_line(&account.host())))?;
    if line.trim().is_empty() {
        return Err(Failure::KeyEmpty);
    }
    checked_key(&line).map_err(wrong)
}

/// `what`, asked for on a terminal and typed unseen, or the next line of standard input. Wiped when it goes.
pub(super) fn secret_line(what: &str) -> Result<Zeroizing<String>, Failure> {
    if std::io::stdin().is_terminal() {
        tell(&format!("{what} (it is not shown):"));
        return Ok(Zeroizing::new(console::Term::stderr().read_secure_line()?));
    }
    let mut line = Zeroizing::new(String::with_capacity(LONGEST_LINE));
    std::io::stdin().lock().take(LONGEST_LINE as u64).read_line(&mut line)?;
    // The rest of it would be taken for the next secret.
    if line.len() == LONGEST_LINE && !line.ends_with('\n') {
        return Err(Failure::LineTooLong { what: what.to_owned(), most: LONGEST_LINE });
    }
    Ok(line)
}

impl Models {
    /// Where the key of `account` comes from, in the order in which a call looks for it.
    async fn key_source(&self, account: &Account) -> Result<KeySource, SessionError> {
        let kept = match self.database().await? {
            Some(database) => keyring(database).get(&account.id, &account.host()).await?,
            None => Key::Missing,
        };
        if let Key::InKeyring(_) = kept {
            return Ok(KeySource::Keyring);
        }
        if let Some((variable, _)) = key_from_environment(account.variables(), |name| self.keys.get(name)) {
            return Ok(KeySource::Environment { variable: variable.to_owned() });
        }
        if let Key::Locked { reason } = kept {
            return Ok(KeySource::Locked { why: reason.problem() });
        }
        Ok(self.cloud().source(account).map_or(KeySource::Missing, |from| KeySource::Cloud { from }))
    }
}
