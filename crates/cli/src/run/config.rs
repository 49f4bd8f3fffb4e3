//! What a person adds to a run with `--config`: servers of tools, hooks, and places beside the project.

use std::path::Path;

use bosun_protocol::SessionId;
use bosun_session::mcp::Health;
use bosun_session::{Extras, Sessions};

use crate::failure::Failure;
use crate::tell;
use crate::terminal::visible;

/// Characters by which a changed tool is named: enough of the hash of what it says of itself.
const MARK: usize = 16;

/// Reads and checks the file.
pub(crate) fn read(path: &Path) -> Result<Extras, Failure> {
    let wrong = |reason: String| Failure::Config { path: path.to_owned(), reason };
    let text = bosun_backend::settings_text(path).map_err(|error| wrong(error.to_string()))?;
    Extras::parse(&text).map_err(|error| wrong(error.to_string()))
}

/// Says which servers did not come up, and which of their tools are off until somebody has looked at them.
pub(super) async fn tell_of_servers(
    sessions: &Sessions,
    session: &SessionId,
    config: Option<&Path>,
) -> Result<(), Failure> {
    sessions.servers_waited_for(session).await?;
    for server in sessions.servers(session).await? {
        let name = &server.name;
        match &server.health {
            Health::Failed { failure } => {
                let reason = failure.to_string();
                tell(&format!("bosun: the server '{name}' {}; this run goes on without it", visible(&reason)));
            }
            Health::NeedsSignIn => tell(&format!(
                "bosun: the server '{name}' needs someone to sign in first; this run goes on without it. Do it with: \
                 {}",
                crate::mcp::sign_in_with(name, config)
            )),
            Health::Stopped | Health::Starting | Health::Ready { .. } => {}
        }
        for left_out in &server.left_out {
            tell(&format!("bosun: a tool of the server '{name}' is left out: {}", visible(&left_out.to_string())));
        }
    }
    for changed in sessions.changed_tools(session).await? {
        let (server, tool) = (&changed.server, visible(&changed.tool));
        let mark: String = changed.hash.chars().take(MARK).collect();
        tell(&format!(
            "bosun: the tool {tool} of the server '{server}' changed what it says of itself and is off. It says now:"
        ));
        tell(&format!("  {}", visible(&changed.description)));
        tell(&format!("  {}", visible(&changed.schema.to_string())));
        tell(&format!("switch it on as it is shown here with: --accept-tool {mark}"));
    }
    Ok(())
}
