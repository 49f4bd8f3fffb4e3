use std::time::Duration;

use bosun_backend::{Program, ProgramRun};
use tokio_util::sync::CancellationToken;

/// The program reads a file; a bus that does not answer must not hold a request up.
const LIMIT: Duration = Duration::from_secs(2);
/// Bytes of its output: some lines are expected.
const MOST_OUTPUT: usize = 64 << 10;

/// What GNOME's settings say of `schema` and the schemas below it, a line for each key. `None` where this is no such
/// desktop.
pub async fn gsettings(schema: &'static str) -> Option<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let program = Program {
        program: "gsettings".to_owned(),
        args: vec!["list-recursively".to_owned(), schema.to_owned()],
        // In no project: programs of the folder it starts in may be found.
        folder: "/".into(),
        // It finds the person's settings by the environment.
        pass_environment: names.collect(),
        set_environment: Vec::new(),
    };
    let run =
        ProgramRun { input: Vec::new(), timeout: LIMIT, cancel: CancellationToken::new(), most_output: MOST_OUTPUT };
    let answer = program.run(run).await.ok()?;
    let ended_well = answer.exit.is_some_and(|exit| exit.code == Some(0));
    ended_well.then(|| String::from_utf8_lossy(&answer.stdout).into_owned())
}
