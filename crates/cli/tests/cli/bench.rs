//! A project, a data folder of its own and a scripted model, with `bosun` run among them.

use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::cargo_bin;
use bosun_protocol::{Envelope, SessionEvent, SessionId, SessionSummary, TurnOutcome};
use bosun_testkit::{ModelServer, Project, Wire};
use tempfile::TempDir;

pub struct Bench {
    pub project: Project,
    pub server: ModelServer,
    pub data: TempDir,
    pub wire: Wire,
}

/// What a run of `bosun` came to.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> Self {
        Self::on(Wire::OpenAi)
    }

    pub fn on(wire: Wire) -> Self {
        let data = tempfile::tempdir().unwrap();
        Self { project: Project::new(), server: ModelServer::start(), data, wire }
    }

    /// `bosun` with nothing of this machine's own settings, keys or sessions.
    pub fn bosun(&self) -> Command {
        let mut command = Command::new(cargo_bin("bosun"));
        command.env_clear().env("HOME", self.data.path().join("home")).env("BOSUN_DATA_DIR", self.data());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.stdin(Stdio::null());
        command
    }

    /// The same with no more rights over files than a person has, also where root runs the tests.
    #[cfg(target_os = "linux")]
    pub fn bosun_of_a_person(&self) -> Command {
        let own = self.bosun();
        let without = "-dac_override,-dac_read_search";
        let mut command = Command::new("setpriv");
        if std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            command.args(["--bounding-set", without, "--inh-caps", without]);
        }
        command.arg("--").arg(own.get_program()).env_clear().stdin(Stdio::null());
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    pub fn data(&self) -> std::path::PathBuf {
        self.data.path().join("data")
    }

    /// `bosun run` in the project with the model, and further arguments.
    pub fn run_command(&self, arguments: &[&str]) -> Command {
        let (provider, variable) = match self.wire {
            Wire::Anthropic => ("anthropic", "ANTHROPIC_API_KEY"),
            Wire::OpenAi | Wire::OpenAiResponses => ("openai", "OPENAI_API_KEY"),
            Wire::Gemini => ("google", "GEMINI_API_KEY"),
            Wire::Ollama => ("ollama", "OLLAMA_API_KEY"),
            Wire::Bedrock => ("bedrock", "AWS_BEARER_TOKEN_BEDROCK"),
            Wire::Vertex | Wire::VertexGemini => ("vertex", "CLOUDSDK_AUTH_ACCESS_TOKEN"),
        };
        let mut command = self.bosun();
        command.args(["run", "--project", self.project.root_str(), "--model", &format!("{provider}:test-model")]);
        command.args(["--base-url", &self.server.base_url(self.wire)]).args(arguments).env(variable, "sk-test");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.run_command(arguments))
    }

    /// `bosun run --session` and nothing else: the address is remembered. The key is none of that address's any more.
    pub fn go_on(&self, session: &SessionId, arguments: &[&str]) -> Ran {
        let mut command = self.bosun();
        command.args(["run", "--session", session.as_str()]).args(arguments);
        ran(command.env("OPENAI_API_KEY", "sk-test").env("ANTHROPIC_API_KEY", "sk-test"))
    }

    /// The stored sessions, last changed first.
    pub fn sessions(&self) -> Vec<SessionSummary> {
        let listed = ran(self.bosun().args(["sessions", "list", "--format", "json"]));
        assert_eq!(listed.code, Some(0), "{}", listed.err);
        serde_json::from_str(&listed.out).unwrap()
    }

    pub fn last_session(&self) -> SessionId {
        self.sessions().first().expect("a session").id.clone()
    }
}

impl Ran {
    /// The events of a run with `--json`; every line is one.
    pub fn events(&self) -> Vec<SessionEvent> {
        let envelopes: Vec<Envelope> = self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let numbers: Vec<u32> = envelopes.iter().map(|envelope| envelope.seq).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        envelopes.into_iter().map(|envelope| envelope.event).collect()
    }

    pub fn outcome(&self) -> Option<TurnOutcome> {
        self.events().iter().rev().find_map(|event| match event {
            SessionEvent::TurnEnded { outcome, .. } => Some(*outcome),
            _ => None,
        })
    }

    /// The one sentence that says what went wrong.
    #[track_caller]
    pub fn sentence(&self) -> &str {
        assert_eq!(self.code, Some(1), "{}{}", self.out, self.err);
        let lines: Vec<&str> = self.err.lines().filter(|line| line.starts_with("bosun: ")).collect();
        assert_eq!(lines.len(), 1, "{}", self.err);
        lines[0]
    }
}

pub fn ran(command: &mut Command) -> Ran {
    of(command.output().unwrap())
}

pub fn of(output: Output) -> Ran {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
