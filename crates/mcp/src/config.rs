use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{name, variable_place};

/// Servers by name, as in settings: a table per server.
pub type ServerConfigs = BTreeMap<String, ServerConfig>;

const LONGEST_WAIT: u64 = 3_600;

/// One server, as a person writes it. Exactly one of `command` and `url` says how it is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// A program that speaks over its pipes: a path or a name in the search path.
    pub command: Option<String>,
    pub args: Vec<String>,
    /// Variables it gets with these values.
    pub env: BTreeMap<String, String>,
    /// Names of variables whose values are kept where sign-ins are, each for this program and its arguments
    /// ([`ServerConfig::variable_place`]).
    pub secret_env: Vec<String>,
    /// Names of variables it gets from the app's own environment, besides the usual few (`PATH`, `HOME`, the language).
    pub pass_env: Vec<String>,
    /// Where it listens, for a server that is reached over HTTP.
    pub url: Option<String>,
    /// Headers of every request to `url`.
    pub headers: BTreeMap<String, String>,
    /// Names of headers whose values are kept where sign-ins are, each for the host of `url` ([`crate::header_place`]).
    pub secret_headers: Vec<String>,
    pub enabled: bool,
    /// Seconds for it to come up and tell its tools.
    pub start_timeout: u64,
    /// Seconds for one call.
    pub call_timeout: u64,
    /// What happens to calls of its tools that `tools` does not name.
    pub approval: Approval,
    /// Per tool, by the server's own name for it.
    pub tools: BTreeMap<String, Approval>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            secret_env: Vec::new(),
            pass_env: Vec::new(),
            url: None,
            headers: BTreeMap::new(),
            secret_headers: Vec::new(),
            enabled: true,
            start_timeout: 30,
            call_timeout: 120,
            approval: Approval::Ask,
            tools: BTreeMap::new(),
        }
    }
}

/// What happens before a tool runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// As the session's rules for commands say, which ask by default.
    #[default]
    Ask,
    /// Runs without asking.
    Allow,
    /// Is not offered at all.
    Off,
}

/// A server that cannot be used as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("'{name}' cannot be the name of a server: {reason}")]
    Name { name: String, reason: ConfigFault },
    #[error("two servers are called '{name}'; rename one of them")]
    Twice { name: String },
    #[error("the server '{server}' needs either a command or a url; give one of them")]
    NoReach { server: String },
    #[error("the server '{server}' has both a command and a url; leave one out")]
    TwoReaches { server: String },
    #[error("'{field}' of the server '{server}' is for servers with a {with}; leave it out")]
    Misplaced { server: String, field: &'static str, with: &'static str },
    #[error("the url of the server '{server}' cannot be used: {reason}")]
    Url { server: String, reason: ConfigFault },
    #[error("'{field}' of the server '{server}' cannot be \"{given}\": {reason}")]
    Value { server: String, field: &'static str, given: String, reason: ConfigFault },
    #[error("'{field}' of the server '{server}' is {given} seconds; use 1 to {most}")]
    Seconds { server: String, field: &'static str, given: u64, most: u64 },
}

/// What is wrong with one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFault {
    #[error("a name starts with a letter or digit and contains only letters, digits, - and single _")]
    NameLetters,
    #[error("a name has at most {most} characters")]
    NameLong { most: usize },
    #[error("name a program")]
    NoProgram,
    #[error("it contains a NUL byte, which no program accepts")]
    Nul,
    #[error("this is not the name of a variable")]
    NoVariable,
    #[error("this is not the name of a header")]
    NoHeader,
    #[error("it is not a valid address")]
    NoAddress,
    #[error("put credentials into headers, not into the address")]
    SecretInAddress,
    #[error("to another machine, only https is safe")]
    NotSafe,
    #[error("it starts with neither https: nor http:")]
    OtherScheme,
}

/// How a server is reached, once its configuration was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Program { command: String },
    Http { url: String },
}

impl ServerConfig {
    /// Checks everything that can be known without starting it.
    ///
    /// # Errors
    /// [`ConfigError`] for the first thing that does not fit.
    pub fn check(&self, server: &str) -> Result<Reach, ConfigError> {
        if let Some(reason) = name::server_problem(server) {
            return Err(ConfigError::Name { name: crate::text::line(server, 60), reason });
        }
        let server = || server.to_owned();
        for (field, given) in [("start_timeout", self.start_timeout), ("call_timeout", self.call_timeout)] {
            if given == 0 || given > LONGEST_WAIT {
                return Err(ConfigError::Seconds { server: server(), field, given, most: LONGEST_WAIT });
            }
        }
        match (&self.command, &self.url) {
            (None, None) => Err(ConfigError::NoReach { server: server() }),
            (Some(_), Some(_)) => Err(ConfigError::TwoReaches { server: server() }),
            (Some(command), None) => {
                self.check_program(&server, command)?;
                Ok(Reach::Program { command: command.clone() })
            }
            (None, Some(url)) => {
                self.check_http(&server, url)?;
                Ok(Reach::Http { url: url.clone() })
            }
        }
    }

    fn check_program(&self, server: &impl Fn() -> String, command: &str) -> Result<(), ConfigError> {
        let wrong = |field, given: &str, reason| {
            Err(ConfigError::Value { server: server(), field, given: crate::text::line(given, 60), reason })
        };
        for (field, is_set) in
            [("headers", !self.headers.is_empty()), ("secret_headers", !self.secret_headers.is_empty())]
        {
            if is_set {
                return Err(ConfigError::Misplaced { server: server(), field, with: "url" });
            }
        }
        if command.trim().is_empty() || command.contains('\0') {
            return wrong("command", command, ConfigFault::NoProgram);
        }
        if let Some(argument) = self.args.iter().find(|argument| argument.contains('\0')) {
            return wrong("args", argument, ConfigFault::Nul);
        }
        let secret = self.secret_env.iter().map(|name| (name, ""));
        for (name, value) in self.env.iter().map(|(name, value)| (name, value.as_str())).chain(secret) {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return wrong("env", name, ConfigFault::NoVariable);
            }
        }
        Ok(())
    }

    fn check_http(&self, server: &impl Fn() -> String, url: &str) -> Result<(), ConfigError> {
        let wrong = |reason| Err(ConfigError::Url { server: server(), reason });
        for (field, is_set) in [
            ("args", !self.args.is_empty()),
            ("env", !self.env.is_empty()),
            ("secret_env", !self.secret_env.is_empty()),
            ("pass_env", !self.pass_env.is_empty()),
        ] {
            if is_set {
                return Err(ConfigError::Misplaced { server: server(), field, with: "command" });
            }
        }
        let Ok(parsed) = reqwest::Url::parse(url) else { return wrong(ConfigFault::NoAddress) };
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return wrong(ConfigFault::SecretInAddress);
        }
        match parsed.scheme() {
            "https" => {}
            "http" if parsed.host_str().is_some_and(is_this_machine) => {}
            "http" => return wrong(ConfigFault::NotSafe),
            _ => return wrong(ConfigFault::OtherScheme),
        }
        let secret = self.secret_headers.iter().map(|name| (name, ""));
        for (name, value) in self.headers.iter().map(|(name, value)| (name, value.as_str())).chain(secret) {
            let name_fits = reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_ok();
            if !name_fits || reqwest::header::HeaderValue::from_str(value).is_err() {
                let (field, given) = ("headers", crate::text::line(name, 60));
                return Err(ConfigError::Value { server: server(), field, given, reason: ConfigFault::NoHeader });
            }
        }
        Ok(())
    }

    /// Where the value of one of its variables is kept: for the program and the arguments that it was entered for. `None`
    /// where it is no program.
    pub fn variable_place(&self, server: &str, variable: &str) -> Option<String> {
        Some(variable_place(server, self.command.as_deref()?, &self.args, variable))
    }

    /// What happens to calls of `tool`, by the server's own name for it.
    pub fn approval_of(&self, tool: &str) -> Approval {
        self.tools.get(tool).copied().unwrap_or(self.approval)
    }

    pub(crate) fn start_limit(&self) -> Duration {
        Duration::from_secs(self.start_timeout)
    }

    pub(crate) fn call_limit(&self) -> Duration {
        Duration::from_secs(self.call_timeout)
    }
}

pub(crate) fn is_this_machine(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Approval, Reach, ServerConfig, ServerConfigs};

    fn read(text: &str) -> ServerConfig {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_server_is_a_table_of_settings() {
        let configs: ServerConfigs = toml::from_str(
            "[files]\ncommand = \"mcp-files\"\nargs = [\"/tmp\"]\n[files.tools]\nread_file = \"allow\"\nmove_file = \"off\"\n\
             [web]\nurl = \"https://mcp.example.com/mcp\"\ncall_timeout = 5\n",
        )
        .unwrap();
        let files = configs.get("files").unwrap();
        assert_eq!(files.check("files"), Ok(Reach::Program { command: "mcp-files".into() }));
        let approvals = ["read_file", "move_file", "write_file"].map(|tool| files.approval_of(tool));
        assert_eq!(approvals, [Approval::Allow, Approval::Off, Approval::Ask]);
        let reach = configs.get("web").unwrap().check("web");
        assert_eq!(reach, Ok(Reach::Http { url: "https://mcp.example.com/mcp".into() }));
        assert!(toml::from_str::<ServerConfig>("comand = \"x\"").is_err());
    }

    #[test]
    fn what_cannot_work_is_refused_with_the_way_out() {
        let table = [
            ("", "needs either a command or a url"),
            ("command = \"a\"\nurl = \"https://b\"", "leave one out"),
            ("command = \" \"", "name a program"),
            ("command = \"a\"\nheaders = { a = \"b\" }", "'headers'"),
            ("command = \"a\"\nsecret_headers = [\"a\"]", "'secret_headers'"),
            ("url = \"https://a\"\nsecret_headers = [\"a b\"]", "not the name of a header"),
            ("command = \"a\"\nenv = { \"A=B\" = \"c\" }", "not the name of a variable"),
            ("command = \"a\"\nsecret_env = [\"A=B\"]", "not the name of a variable"),
            ("url = \"https://a\"\nsecret_env = [\"A\"]", "'secret_env'"),
            ("command = \"a\"\ncall_timeout = 0", "use 1 to 3600"),
            ("command = \"a\"\nstart_timeout = 99999", "use 1 to 3600"),
            ("url = \"nowhere\"", "not a valid address"),
            ("url = \"ftp://a\"", "starts with neither"),
            ("url = \"http://example.com\"", "only https"),
            ("url = \"https://me:pw@example.com\"", "into headers"),
            ("url = \"https://a\"\nargs = [\"x\"]", "'args'"),
            ("url = \"https://a\"\nheaders = { \"a b\" = \"c\" }", "not the name of a header"),
        ];
        for (text, expected) in table {
            let message = read(text).check("web").unwrap_err().to_string();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
        assert!(read("url = \"http://localhost:3000/mcp\"").check("web").is_ok());
        assert!(read("command = \"a\"").check("a__b").unwrap_err().to_string().contains("a__b"));
    }
}
