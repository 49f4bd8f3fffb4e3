//! A scripted model and a scratch project: what a headless figure runs against.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Bench;
use super::measure::{Sample, Usage, cpu_of, measured};
use super::tools;

/// The lengths of the scripted turns.
pub const STEPS: [u32; 2] = [100, 400];
/// A turn so long that its notes must be short to fit into the model's window.
pub const MANY_STEPS: u32 = 2_000;
/// Subagents that are sent out at once.
pub const SUBAGENTS: u32 = 200;
/// The words by which they are sent, and those that make every request take half a second.
pub const CREW: &str = "whole crew";
pub const SLOW_CREW: &str = "slow crew";
/// Text deltas of the scripted stream.
pub const DELTAS: u32 = 100_000;
/// So many of them are one in the coarse stream of the same text.
const COARSE: u32 = 5;

/// Bytes of each note the scripted turns read. Four hundred of them must fit into the window of a model nobody knows, so
/// that nothing is summed up on the way.
const NOTE_BYTES: usize = 1_000;
/// Lines of what a failed run said that are told.
const LAST_WORDS: usize = 5;

/// A server, a project and a data folder. Ends the server and removes the folders when dropped.
pub struct Desk {
    bosun: PathBuf,
    folder: PathBuf,
    server: Child,
    port: u16,
}

impl Desk {
    pub fn set_up(bench: &Bench, name: &str) -> Result<Self> {
        let folder = bench.place.target.join("bench").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("could not empty {}", folder.display()))?;
        }
        let notes = folder.join("project/notes");
        std::fs::create_dir_all(&notes).with_context(|| format!("could not make {}", notes.display()))?;
        for number in 0..=MANY_STEPS {
            std::fs::write(notes.join(format!("{number}.txt")), note(number))?;
        }
        let script = folder.join("script.json");
        std::fs::write(&script, rules())?;
        let mut command = Command::new(&bench.server);
        let mut server = command.arg(&script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = server.stdout.take().context("the model server has no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let Ok(port) = line.trim().parse() else { bail!("the model server told no port but {line:?}") };
        Ok(Self { bosun: bench.bosun.clone(), folder, server, port })
    }

    /// Runs `bosun run` of `task` in this project and tells what it used. What it said is told when it fails.
    pub fn run(&self, task: &str) -> Result<Usage> {
        self.run_with(task, &[])
    }

    /// The same without the usual limits of steps and of subagents at once.
    pub fn run_unlimited(&self, task: &str) -> Result<Usage> {
        let file = self.folder.join("agent.toml");
        std::fs::write(&file, format!("[limits]\nmax_steps = {}\nmax_subagents = {SUBAGENTS}\n", 2 * MANY_STEPS))?;
        self.run_with(task, &["--agent".as_ref(), file.as_os_str()])
    }

    fn run_with(&self, task: &str, more: &[&OsStr]) -> Result<Usage> {
        let url = self.base_url();
        let said = self.folder.join("said.txt");
        let mut command = run(&self.bosun, &self.folder, &url, task);
        command.args(more);
        let told = || {
            let all = std::fs::read_to_string(&said).unwrap_or_default();
            let lines: Vec<&str> = all.lines().collect();
            lines.get(lines.len().saturating_sub(LAST_WORDS)..).unwrap_or_default().join("\n")
        };
        measured(&command, File::create(&said)?.into()).with_context(|| format!("`bosun run {task:?}`: {}", told()))
    }

    /// Milliseconds of CPU that the reference takes per call of the same turn.
    pub fn reference(&self, bench: &Bench, task: &str, calls: u32, rounds: usize) -> Result<Sample> {
        let once = |_| {
            let mut command = tools::reference(&bench.place, "turn.py")?;
            command.arg(self.project()).arg(task).arg(calls.to_string()).arg(self.base_url());
            let said = command.output()?;
            if !said.status.success() {
                bail!("the reference did not end its turn: {}", String::from_utf8_lossy(&said.stderr));
            }
            let text = String::from_utf8_lossy(&said.stdout);
            text.trim().parse().with_context(|| format!("the reference told no number but {text:?}"))
        };
        (0..rounds).map(once).collect::<Result<Vec<f64>>>().map(Sample::from)
    }

    /// CPU time that the model server took so far; nothing where the system does not tell.
    pub fn server_cpu(&self) -> Duration {
        cpu_of(self.server.id())
    }

    /// A fresh start: sessions and settings of earlier runs are gone.
    pub fn forget(&self) -> Result<()> {
        let data = self.data();
        if data.exists() {
            std::fs::remove_dir_all(&data).with_context(|| format!("could not remove {}", data.display()))?;
        }
        Ok(())
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Where the scripted model speaks Chat Completions.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn project(&self) -> PathBuf {
        self.folder.join("project")
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // Nothing to do about a server that is already gone or a folder that stays.
        self.server.kill().ok();
        self.server.wait().ok();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// `bosun run` with nothing of the person's own environment.
pub fn run(bosun: &Path, folder: &Path, url: &str, task: &str) -> Command {
    let mut command = bare(bosun, folder);
    command.args(["run", "--model", "openai:bench", "--base-url", url, "--approve", "all", "--project"]);
    command.arg(folder.join("project")).arg(task).env("OPENAI_API_KEY", "sk-bench");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A program that sees this folder as its home.
pub fn bare(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", folder).env("BOSUN_DATA_DIR", folder.join("data")).current_dir(folder);
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
}

/// Lines of a plausible length; every note is different.
fn note(number: u32) -> String {
    let mut text = String::with_capacity(NOTE_BYTES + 80);
    let mut line = 0;
    while text.len() < NOTE_BYTES {
        line += 1;
        text.push_str(&format!("note {number}, line {line}: the watch changes at eight bells, all hands stand by\n"));
    }
    text
}

fn rules() -> String {
    let turn = |steps: u32, more: &str| {
        format!(
            r#"{{"when":{{"last_human":{{"contains":"read {steps} notes"}}}},"loop":{{"steps":{steps},"call":"read_file","args":{{"file_path":"/notes/{{n}}.txt"{more}}},"text":"Reading on."}},"replies":["All read."]}}"#
        )
    };
    let [short, long] = STEPS.map(|steps| turn(steps, ""));
    let longest = turn(MANY_STEPS, r#","limit":1"#);
    let [crew, slow] = [crew(CREW, 0), crew(SLOW_CREW, 500)];
    format!(
        r#"{{"models":["bench"],"log":"off","rules":[{short},{long},{longest},{crew},{slow},
{{"when":{{"last_human":{{"contains":"stream"}}}},"order":"repeat_last","replies":[{{"parts":[{{"deltas":{{"text":"word ","count":{DELTAS}}}}}]}}]}},
{{"when":{{"last_human":{{"contains":"flow"}}}},"order":"repeat_last","replies":[{{"parts":[{{"deltas":{{"text":"{}","count":{}}}}}]}}]}},
{{"when":{{"last_human":{{"contains":"answer"}}}},"order":"repeat_last","replies":["Aye."]}}]}}"#,
        "word ".repeat(COARSE as usize),
        DELTAS / COARSE
    )
}

/// The rules of a session that sends out subagents, and of each of these; every request takes `pause` milliseconds.
fn crew(words: &str, pause: u32) -> String {
    let call = |name: &str, args: String| format!(r#"{{"call":{{"name":"{name}","args":{args}}}}}"#);
    let send = |number| {
        let args = format!(r#"{{"description":"hand {number} of the {words}","subagent_type":"general-purpose"}}"#);
        call("task", args)
    };
    let read = |number: u32| call("read_file", format!(r#"{{"file_path":"/notes/{number}.txt"}}"#));
    let reply = |parts: &str| format!(r#"{{"parts":[{{"pause_ms":{pause}}},{parts}]}}"#);
    let rule = |whom: &str, replies: &[String]| {
        let replies = replies.join(",");
        format!(
            r#"{{"when":{{"last_human":{{"contains":"{whom} the {words}"}}}},"order":"by_step","replies":[{replies}]}}"#
        )
    };
    let all = (0..SUBAGENTS).map(send).collect::<Vec<_>>().join(",");
    let say = |text: &str| reply(&format!(r#"{{"text":"{text}"}}"#));
    let hand: Vec<String> = (1..=3).map(|number| reply(&read(number))).chain([say("Read.")]).collect();
    format!("{},{}", rule("send", &[reply(&all), say("All back.")]), rule("of", &hand))
}

/// The task that makes the scripted model call a tool this many times.
pub fn task_of(steps: u32) -> String {
    format!("read {steps} notes")
}

/// The task it answers at once.
pub const ANSWER: &str = "answer me";

/// The task it answers with a long stream.
pub const STREAM: &str = "stream to me";

/// The task it answers with the same text in fewer, longer deltas.
pub const COARSE_STREAM: &str = "flow to me";
