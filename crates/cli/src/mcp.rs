//! `bosun mcp`: the person's own servers of tools, and signing in at them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosun_providers::EnvironmentKeys;
use bosun_session::{Limits, Policy, SIGN_INS, Sessions};
use bosun_store::{Key, Keys};
use clap::{Args, Subcommand};

use crate::core::{Stored, keyring, open_sessions};
use crate::failure::Failure;
use crate::models::Models;
use crate::terminal::one_line;
use crate::{Exit, run, tell};

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: McpCommand,
    /// The file that names the servers, as `bosun run` takes it; left out: those of Bosun's settings.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    /// The servers, where they are, and whether you are signed in at them. Starts none.
    List,
    /// Sign in at a server, in a browser of this machine.
    SignIn {
        #[arg(value_name = "NAME")]
        server: String,
    },
    /// Forget the sign-in at a server.
    SignOut {
        #[arg(value_name = "NAME")]
        server: String,
    },
}

pub(crate) async fn mcp(args: McpArgs) -> Result<Exit, Failure> {
    let extras = args.config.as_deref().map(run::config::read).transpose()?;
    let stored = Stored::open()?;
    let models = Arc::new(Models::new(Some(Arc::clone(&stored.database)), EnvironmentKeys::default()));
    let sessions = open_sessions(Some(&stored), models, Policy::default(), Limits::default()).await?;
    let keys = keyring(&stored.database);
    sessions.keep_sign_ins(Arc::clone(&keys));
    match extras {
        Some(extras) => sessions.add(extras, Vec::new()).await?,
        None => sessions.load_additions(Vec::new()).await?,
    }
    let exit = match &args.command {
        McpCommand::List => list(&sessions).await,
        McpCommand::SignIn { server } => sign_in(&sessions, &keys, server).await,
        McpCommand::SignOut { server } => {
            sessions.sign_out(None, server).await?;
            tell(&format!("signed out at {}", one_line(server)));
            Ok(Exit::Done)
        }
    };
    sessions.shut_down().await;
    exit
}

async fn list(sessions: &Sessions) -> Result<Exit, Failure> {
    let mut out = std::io::stdout().lock();
    let servers = sessions.own_servers().await?;
    if servers.is_empty() {
        writeln!(out, "There are no servers of tools here yet.")?;
    }
    for server in servers {
        let (place, standing) = match &server.address {
            Some(address) if sessions.is_signed_in(address).await => (address.as_str(), "signed in"),
            Some(address) => (address.as_str(), "not signed in"),
            None => ("a program of this machine", ""),
        };
        writeln!(out, "{}", format!("{:<20}  {}  {standing}", server.name, one_line(place)).trim_end())?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The page's address goes to standard output, so that a script can open it.
async fn sign_in(sessions: &Sessions, keys: &Keys, server: &str) -> Result<Exit, Failure> {
    let page = sessions.begin_sign_in(None, server).await?;
    tell(&format!("Sign in at {} in a browser of this machine; Ctrl-C gives up:", one_line(&page.host)));
    let mut out = std::io::stdout();
    writeln!(out, "{}", one_line(&page.url))?;
    out.flush()?;
    tokio::select! {
        finished = sessions.finish_sign_in(&page.id) => finished?,
        interrupt = tokio::signal::ctrl_c() => {
            interrupt?;
            sessions.cancel_sign_in(&page.id);
            return Ok(Exit::Interrupted);
        }
    }
    let servers = sessions.own_servers().await?;
    let address = servers.into_iter().find(|known| known.name == server).and_then(|known| known.address);
    if let Key::InMemory { reason, .. } = keys.get(SIGN_INS, address.as_deref().unwrap_or_default()).await? {
        return Err(Failure::SignInNotKept { reason: reason.to_string() });
    }
    tell(&format!("signed in at {}", one_line(server)));
    Ok(Exit::Done)
}

/// The command that signs in at `server`, for a person to copy.
pub(crate) fn sign_in_with(server: &str, config: Option<&Path>) -> String {
    let config = config.map(|path| format!(" --config {}", one_line(&path.to_string_lossy()))).unwrap_or_default();
    format!("bosun mcp sign-in {server}{config}")
}
