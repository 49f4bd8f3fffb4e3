use std::time::Duration;

use bosun_backend::{Program, ProgramRun};
use tokio_util::sync::CancellationToken;

/// Bytes kept of each output: a few lines are expected.
const MOST_OUTPUT: usize = 64 << 10;

/// Runs a program that the person's own settings outside of Bosun name (such as one that gives out credentials), as their
/// terminal would: with all of the app's environment, which has none of the app's keys. Gives what it
/// printed where it ended well, and else what it said.
///
/// # Errors
/// It could not be started.
pub async fn run_own_program(
    program: String,
    args: Vec<String>,
    timeout: Duration,
) -> std::io::Result<Result<Vec<u8>, String>> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let program = Program {
        program,
        args,
        // In no project, and where nobody else may put a program: those of the folder it starts in may be found.
        folder: if cfg!(windows) { std::env::temp_dir() } else { "/".into() },
        pass_environment: names.collect(),
        set_environment: Vec::new(),
    };
    let cancel = CancellationToken::new();
    let run = ProgramRun { input: Vec::new(), timeout, cancel, most_output: MOST_OUTPUT };
    let answer = program.run(run).await.map_err(std::io::Error::other)?;
    Ok(match answer.exit {
        Some(exit) if exit.code == Some(0) => Ok(answer.stdout),
        Some(_) => Err(String::from_utf8_lossy(&answer.stderr).into_owned()),
        None => Err("it did not end in time".to_owned()),
    })
}

/// The program reads a file; a bus that does not answer must not hold a request up.
const GSETTINGS_LIMIT: Duration = Duration::from_secs(2);

/// What GNOME's settings say of `schema` and the schemas below it, a line for each key. `None` where this is no such
/// desktop.
pub async fn gsettings(schema: &'static str) -> Option<String> {
    let args = vec!["list-recursively".to_owned(), schema.to_owned()];
    let printed = run_own_program("gsettings".to_owned(), args, GSETTINGS_LIMIT).await.ok()?.ok()?;
    Some(String::from_utf8_lossy(&printed).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_program_says_comes_back_and_one_that_does_not_end_is_ended() {
        let sh = |line: &str, seconds| {
            run_own_program("sh".into(), vec!["-c".into(), line.into()], Duration::from_secs(seconds))
        };
        assert_eq!(sh("test -n \"$PATH\" && echo out; echo err >&2", 60).await.unwrap(), Ok(b"out\n".to_vec()));
        assert_eq!(sh("echo out; echo err >&2; exit 3", 60).await.unwrap(), Err("err\n".to_owned()));
        assert_eq!(sh("sleep 600", 0).await.unwrap(), Err("it did not end in time".to_owned()));
        assert!(run_own_program("no-such-program".into(), vec![], Duration::from_secs(1)).await.is_err());
    }
}
