mod framing;

use std::borrow::Cow;
use std::time::Duration;

use bosun_backend::{ExecRequest, ExecResult, VirtualPath, is_protected};
use schemars::JsonSchema;
use serde::Deserialize;

pub use framing::{without_boundary, without_framing};

use crate::changed::commanded;
use crate::limits::{OUTPUT_CHARS, figure, head_and_tail};
use crate::{Artifact, Figure, Framing, Preview, PreviewFault, Tool, ToolContext, ToolError, ToolKind, ToolOutput};

/// Runs a command.
pub struct Execute {
    default_timeout: Duration,
    max_timeout: Duration,
    /// Where that is, where it is not the project's folder.
    folder: Option<String>,
}

impl Execute {
    /// `default_timeout` is the shell's own.
    pub fn new(default_timeout: Duration, max_timeout: Duration) -> Self {
        Self { default_timeout, max_timeout: max_timeout.max(default_timeout), folder: None }
    }

    /// In another place than the project's folder, which has this name for a person.
    #[must_use]
    pub fn running_in(self, folder: Option<String>) -> Self {
        Self { folder, ..self }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ExecuteInput {
    /// The command line, for /bin/sh. It starts in the project folder; write paths relative to it and quote those with
    /// spaces.
    command: String,
    /// Seconds until the command and everything it started is ended.
    timeout: Option<i64>,
}

/// Longest command line, in bytes: what the system takes as one argument.
const MAX_COMMAND: usize = 128 * 1024 - 1;
/// Files that are named of those a command left and that do more than lie there.
const MOST_NAMED: usize = 20;
/// The exit code of a command that reached its time limit, as `timeout(1)` has it.
const TIMED_OUT: i32 = 124;

impl Tool for Execute {
    const NAME: &'static str = "execute";
    type Input = ExecuteInput;

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn description(&self) -> Cow<'_, str> {
        let folder = self.folder.as_deref().unwrap_or("the project folder");
        format!(
            "Runs a shell command in {folder} and gives back its output and, as the last line, its exit code. \
             Join commands with && or ;. There is no terminal and no input, so nothing can ask. What a command leaves in the \
             background is ended with it: start a server and what needs it in one command. A command is ended after {} \
             seconds unless timeout gives it up to {}.",
            self.default_timeout.as_secs(),
            self.max_timeout.as_secs()
        )
        .into()
    }

    async fn call(&self, cx: &ToolContext, input: ExecuteInput) -> Result<ToolOutput, ToolError> {
        let Some(shell) = cx.backend.shell() else {
            return Err(ToolError::Model("Error: Execution not available: there is no shell here".into()));
        };
        let timeout = self.checked(&input).map_err(|fault| ToolError::Model(format!("Error: {}", reason(&fault))))?;
        let request = ExecRequest {
            timeout: Some(timeout),
            cancel: cx.cancel.clone(),
            held: cx.held,
            ..ExecRequest::new(input.command)
        };
        let result = shell.execute(request, &*cx.output).await?;
        Ok(reported(cx, result, timeout, self.max_timeout))
    }

    async fn preview(&self, cx: &ToolContext, input: &ExecuteInput) -> Preview {
        if cx.backend.shell().is_none() {
            return Preview::Problem { message: "there is no shell here".into(), fault: Some(PreviewFault::NoShell) };
        }
        match self.checked(input) {
            Ok(timeout) => Preview::Command {
                command: input.command.clone(),
                folder: self.folder.clone().unwrap_or_else(|| "/".into()),
                timeout_seconds: u32::try_from(timeout.as_secs()).ok(),
            },
            Err(fault) => Preview::Problem { message: reason(&fault), fault: Some(fault) },
        }
    }
}

impl Execute {
    /// The time limit of a call that may run.
    fn checked(&self, input: &ExecuteInput) -> Result<Duration, PreviewFault> {
        if input.command.trim().is_empty() {
            return Err(PreviewFault::CommandEmpty);
        }
        if input.command.contains('\0') {
            return Err(PreviewFault::CommandNul);
        }
        if input.command.len() > MAX_COMMAND {
            return Err(PreviewFault::CommandTooLong { bytes: input.command.len(), most: MAX_COMMAND });
        }
        let Some(seconds) = input.timeout else { return Ok(self.default_timeout) };
        let most = self.max_timeout.as_secs();
        match u64::try_from(seconds) {
            Ok(given) if (1..=most).contains(&given) => Ok(Duration::from_secs(given)),
            _ => Err(PreviewFault::BadTimeout { given: seconds, most }),
        }
    }
}

/// What the model is told of a call that cannot be.
fn reason(fault: &PreviewFault) -> String {
    match fault {
        PreviewFault::CommandEmpty => "the command is empty; give the command line to run".into(),
        PreviewFault::CommandNul => "the command contains a NUL byte, which no command line allows".into(),
        PreviewFault::CommandTooLong { bytes, most } => {
            format!("the command has {bytes} bytes, over the limit of {most}; put it into a file and run that")
        }
        PreviewFault::BadTimeout { given, most } => format!("a timeout of {given} s is not possible; use 1 to {most}"),
        _ => "it cannot be run".into(),
    }
}

/// Output, what is to be said about it, and the exit code as the last line: whatever a command prints stands before
/// the line that the operating system's own answer makes.
fn reported(cx: &ToolContext, result: ExecResult, timeout: Duration, max: Duration) -> ToolOutput {
    let code = match result.exit_code {
        Some(code) => Some(code),
        None if result.timed_out => Some(TIMED_OUT),
        None => result.signal.map(|signal| -signal),
    };
    let (shown, left_out) = head_and_tail(&result.output, OUTPUT_CHARS);
    let truncated = result.truncated || left_out > 0;
    let (before, output, mut behind) = framing::framed(&cx.call_id, shown);
    if !output.is_empty() && !output.ends_with('\n') {
        behind.insert(0, '\n');
    }
    let said = [unheld(&result).map(str::to_owned), left_behind(&result)].into_iter().flatten();
    let notes: String = said.map(|said| format!("\n{said}")).collect();
    if truncated {
        let total = result.total_bytes;
        behind.push_str(&format!("\n[Output was truncated: {total} bytes were written, head and tail are shown.]"));
    }
    behind.push_str(&notes);
    behind.push('\n');
    behind.push_str(&last_line(&result, code, timeout, max));
    let text = [before.as_str(), &output, &behind].concat();
    let framing = Framing { before, behind, notes };
    let ended = match (result.timed_out, result.cancelled, result.broke_off, result.signal) {
        (true, ..) => Some(Figure::TimedOut),
        // The signal that stopped it says nothing about the command.
        (_, true, ..) => None,
        (_, _, true, _) => Some(Figure::BrokeOff),
        (.., Some(signal)) => Some(Figure::Signal(signal)),
        (.., None) => code.map(Figure::ExitCode),
    };
    let mut figures: Vec<Figure> = ended.into_iter().collect();
    let changed = result.files.as_ref().map_or(0, |files| files.changes.len() + files.unkept.len() + files.more);
    if changed > 0 {
        figures.push(Figure::Files(figure(changed)));
    }
    ToolOutput {
        is_error: result.cancelled || result.broke_off,
        stopped: result.cancelled,
        artifact: Artifact {
            figures,
            exit_code: code,
            truncated,
            framing,
            ..commanded(result.files.unwrap_or_default())
        },
        full_output: result.full_output,
        ..ToolOutput::text(text)
    }
}

fn unheld(result: &ExecResult) -> Option<&'static str> {
    const SAID: &str = "[The project is too large for the sandbox to look through all of it: below its top, names that \
                        configure programs or are run later could be changed by this command. Look at what it changed]";
    result.unheld.then_some(SAID)
}

/// What it made or changed that does more than lie there (security.md, section 9, step 5).
fn left_behind(result: &ExecResult) -> Option<String> {
    let (changes, unkept) = result.files.as_ref().map_or((&[][..], &[][..]), |files| (&files.changes, &files.unkept));
    let changed = changes.iter().filter(|change| change.after.is_some()).map(|change| &change.path);
    let unkept = unkept.iter().filter(|change| change.after.is_some()).map(|change| &change.path);
    let mut left: Vec<&VirtualPath> = changed.chain(unkept).filter(|path| is_protected(path)).collect();
    // A folder is named by what is in it.
    let is_named = |armed: &&VirtualPath| left.iter().any(|path| path.starts_with(armed));
    let more: Vec<&VirtualPath> = result.armed.iter().filter(|armed| !is_named(armed)).collect();
    left.extend(more);
    let names: Vec<String> = left.iter().map(|path| format!("'{path}'")).collect();
    let (shown, more) = names.split_at(names.len().min(MOST_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    (!shown.is_empty()).then(|| {
        let shown = shown.join(", ");
        format!("[The command left files that configure programs or are run later by themselves: {shown}{more}]")
    })
}

fn last_line(result: &ExecResult, code: Option<i32>, timeout: Duration, max: Duration) -> String {
    let code = code.unwrap_or(-1);
    let all = if result.may_go_on {
        "; whether everything it had started has ended too could not be told where it ran, and some of it may go on"
    } else {
        " with everything it had started"
    };
    if result.cancelled {
        return format!("[Command was stopped by the user{all}; the output above is what it wrote until then]");
    }
    if result.broke_off {
        return "[The connection to where the command ran broke off, and its outcome is unknown: it may have run to its end, \
                stopped in the middle, or still be running; the output above is what came until then. Look at what it did \
                before running it again]"
            .into();
    }
    if result.timed_out {
        return format!(
            "[Command timed out after {} s and was ended{all}; the output above is what it wrote until then. Pass a \
             longer timeout, up to {}, if it needs one. Exit code {code}]",
            timeout.as_secs(),
            max.as_secs()
        );
    }
    match (result.signal, code) {
        (Some(signal), code) => format!("[Command was ended by signal {signal}; exit code {code}]"),
        (None, 0) => "[Command succeeded with exit code 0]".into(),
        (None, code) => format!("[Command failed with exit code {code}]"),
    }
}

#[cfg(test)]
#[path = "execute_tests.rs"]
mod tests;
