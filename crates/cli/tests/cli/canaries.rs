//! K01: keys in every place that Bosun takes keys from, then every feature, then a search for them everywhere else.

use std::process::Command;

use bosun_testkit::{Canaries, Order, Recorded, Reply, Rule, Wire};
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, ran};

/// Where keys stand in the environment.
const VARIABLES: [&str; 19] = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "DEEPSEEK_API_KEY",
    "DASHSCOPE_API_KEY",
    "DASHSCOPE_INTL_API_KEY",
    "MOONSHOT_API_KEY",
    "MOONSHOT_CN_API_KEY",
    "ZHIPUAI_API_KEY",
    "ZAI_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "OPENROUTER_API_KEY",
    "TOGETHER_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "CLOUDSDK_AUTH_ACCESS_TOKEN",
];

/// Wires, each with the variable whose key is sent on it.
const WIRES: [(Wire, &str); 7] = [
    (Wire::OpenAi, "OPENAI_API_KEY"),
    (Wire::OpenAiResponses, "OPENAI_API_KEY"),
    (Wire::Anthropic, "ANTHROPIC_API_KEY"),
    (Wire::Gemini, "GEMINI_API_KEY"),
    (Wire::Bedrock, "AWS_SESSION_TOKEN"),
    (Wire::Vertex, "CLOUDSDK_AUTH_ACCESS_TOKEN"),
    (Wire::VertexGemini, "CLOUDSDK_AUTH_ACCESS_TOKEN"),
];

/// What the child of a command could see of us.
const LOOK: &str = "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'";

/// A bench whose home has the files of clouds, with keys in them.
struct Aviary {
    bench: Bench,
    canaries: Canaries,
    found: Vec<String>,
}

impl Aviary {
    fn new() -> Self {
        let bench = Bench::new();
        let home = bench.data.path().join("home");
        std::fs::create_dir_all(home.join(".aws")).unwrap();
        std::fs::create_dir_all(home.join(".config/gcloud")).unwrap();
        let profile = format!(
            "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {}\n",
            Canaries::key("profile")
        );
        std::fs::write(home.join(".aws/credentials"), profile).unwrap();
        let person = json!({
            "type": "authorized_user", "client_id": "c", "client_secret": Canaries::key("client"),
            "refresh_token": Canaries::key("refresh"),
        });
        let place = home.join(".config/gcloud/application_default_credentials.json");
        std::fs::write(place, person.to_string()).unwrap();
        Self { bench, canaries: Canaries::default(), found: Vec::new() }
    }

    /// Runs `command` with all the variables and a log of everything, and searches what it says.
    fn run(&mut self, what: &str, command: &mut Command) -> Ran {
        for variable in VARIABLES {
            command.env(variable, Canaries::key(variable));
        }
        self.run_as_it_is(what, command.env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"))
    }

    fn run_as_it_is(&mut self, what: &str, command: &mut Command) -> Ran {
        let ran = ran(command.env("RUST_LOG", "trace"));
        self.search(&format!("standard output of {what}"), ran.out.as_bytes());
        self.search(&format!("standard error of {what}"), ran.err.as_bytes());
        ran
    }

    fn bosun(&mut self, arguments: &[&str]) -> Ran {
        let mut command = self.bench.bosun();
        self.run(&arguments.join(" "), command.args(arguments))
    }

    fn ask(&mut self, wire: Wire, arguments: &[&str]) -> Ran {
        self.bench.wire = wire;
        let mut command = self.bench.run_command(arguments);
        // A cloud is asked with the credentials that sign.
        self.run(&arguments.join(" "), command.env_remove("AWS_BEARER_TOKEN_BEDROCK"))
    }

    fn search(&mut self, place: &str, bytes: &[u8]) {
        let hits = self.canaries.found_in(bytes);
        self.found.extend(hits.into_iter().map(|hit| format!("{place}: {hit}")));
    }

    /// Everything that was sent, but for the one header that a key belongs into.
    fn search_requests(&mut self) {
        for (number, request) in self.bench.server.requests().into_iter().enumerate() {
            let own = ["authorization", "x-api-key", "x-goog-api-key", "x-amz-security-token"];
            let rest = request.headers.iter().filter(|(name, _)| !own.iter().any(|key| name.eq_ignore_ascii_case(key)));
            let head = format!("{} {:?}", request.path, rest.collect::<Vec<_>>());
            self.search(&format!("the head of request {number}"), head.as_bytes());
            self.search(&format!("the body of request {number}"), &request.body);
        }
    }
}

#[test]
fn twenty_canaries_turn_up_nowhere() {
    let mut aviary = Aviary::new();
    let server = &aviary.bench.server;
    let looking = Rule::turn("look").reply(Reply::call("execute", json!({ "command": LOOK }))).reply("looked");
    server.add(looking.order(Order::ByStep));
    server.add(Rule::turn("by profile").reply("signed"));
    for (_, variable) in WIRES {
        let key = Canaries::key(variable);
        let refusing = Reply::error(400, "invalid_request_error", &format!("no key {key} here"));
        server.add(Rule::turn(format!("echo {variable}")).reply(refusing).order(Order::RepeatLast));
        let breaking = Reply::text("a word").and_error("invalid_request_error", format!("with {key}"));
        server.add(Rule::turn(format!("break {variable}")).reply(breaking).order(Order::RepeatLast));
    }

    // Keys that are sent, echoed and refused, on each kind of wire; clouds sign with theirs, or lend them.
    assert_eq!(aviary.ask(Wire::OpenAi, &["--approve", "all", "--json", "look"]).code, Some(0));
    aviary.bench.server.believe_signatures();
    for (wire, variable) in WIRES {
        // It went there and came back, and was taken out: a server that refuses to hear it would prove nothing.
        let echoed = aviary.ask(wire, &[&format!("echo {variable}")]);
        assert!(echoed.err.contains("no key [redacted] here"), "{wire:?}: {}", echoed.err);
        aviary.ask(wire, &["--json", &format!("break {variable}")]);
    }
    let mut profile = aviary.bench.bosun();
    let url = aviary.bench.server.base_url(Wire::Bedrock);
    profile.args(["run", "--project", aviary.bench.project.root_str(), "--model", "bedrock:m", "--base-url", &url]);
    let before = aviary.bench.server.requests().len();
    aviary.run_as_it_is("a profile of AWS", profile.arg("by profile"));
    let signed = aviary.bench.server.requests().split_off(before);
    let by_profile = |request: &Recorded| request.header("authorization").is_some_and(|by| by.contains("AKIDEXAMPLE/"));
    assert!(!signed.is_empty() && signed.iter().all(by_profile), "the profile signed nothing: {signed:?}");

    // A proxy that nobody answers at, and an address with a password.
    let mut proxied = aviary.bench.bosun();
    let proxy = format!("http://me:{}@127.0.0.1:9", Canaries::key("proxy").replace('+', "%2B").replace('/', "%2F"));
    proxied.args(["run", "--project", aviary.bench.project.root_str(), "--model", "anthropic:m", "hello"]);
    let refused = aviary.run("a proxy", proxied.env("HTTPS_PROXY", &proxy).env("ALL_PROXY", &proxy));
    assert_ne!(refused.code, Some(0));

    // Servers of tools, with keys in their environment and headers.
    let config = aviary.bench.data.path().join("servers.toml");
    let (variable, header) = (Canaries::key("variable"), Canaries::key("header"));
    let text = format!(
        "[mcp.here]\ncommand = \"/bin/false\"\nenv = {{ TOKEN = \"{variable}\" }}\n\
         [mcp.there]\nurl = \"http://127.0.0.1:9/mcp\"\nheaders = {{ X-Key = \"{header}\" }}\n"
    );
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap().to_owned();
    aviary.bosun(&["mcp", "list", "--config", &config]);
    aviary.ask(Wire::OpenAi, &["--config", &config, "--approve", "all", "--json", "look"]);

    // Whatever looks back.
    let session = aviary.bench.last_session();
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "show", session.as_str()],
        &["sessions", "show", session.as_str(), "--format", "json"],
        &["sessions", "export", session.as_str()],
        &["sessions", "export", session.as_str(), "--format", "json"],
        &["usage"],
        &["usage", "--json"],
        &["models"],
        &["models", "--json"],
        &["memories", "list"],
        &["skills", "list"],
        &["trust", "list"],
        &["run", "--session", "none", "hello"],
    ] {
        aviary.bosun(arguments);
    }
    aviary.search_requests();
    let kept = aviary.canaries.found_below(&aviary.bench.data());
    let projects = aviary.canaries.found_below(aviary.bench.project.root());
    aviary.found.extend(kept.into_iter().chain(projects));
    assert!(aviary.found.is_empty(), "{} canaries:\n{}", aviary.found.len(), aviary.found.join("\n"));

    // They were there: each kind was sent in the header that it belongs into.
    let sent = format!("{:?}", aviary.bench.server.requests().iter().map(|one| &one.headers).collect::<Vec<_>>());
    for variable in
        ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_SESSION_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"]
    {
        assert!(sent.contains(&Canaries::key(variable)), "{variable} was never sent");
    }
    let looked: Value = serde_json::from_slice(&aviary.bench.server.requests()[1].body).unwrap();
    assert!(looked.to_string().contains("PATH="), "the command saw no environment: {looked}");
}

/// Some gateways want the key in the address. What they want beside it is kept, so that going on speaks to the same server.
#[test]
fn a_key_in_an_address_is_shown_and_kept_nowhere_and_the_version_beside_it_is() {
    let bench = Bench::new();
    let query = format!("api-version=2024-10-21&subscription-key={}", Canaries::key("query"));
    let refusal = format!("no access to /v1/chat/completions?{query}");
    bench.server.once(Reply::error(403, "forbidden", &refusal)).once("hello");
    let url = format!("{}?{query}", bench.server.base_url(Wire::OpenAi));
    let mut command = bench.bosun();
    command.args(["run", "--project", bench.project.root_str(), "--model", "openai:m", "--base-url", &url, "hello"]);
    let refused = ran(command.env("OPENAI_API_KEY", "sk-test"));
    assert!(refused.sentence().contains("no access to"), "{}", refused.err);
    let canaries = Canaries::default();
    let shown = [&refused.out, &refused.err].map(|text| canaries.found_in(text.as_bytes())).concat();
    assert_eq!((shown, canaries.found_below(&bench.data())), (vec![], vec![]));
    let done = bench.go_on(&bench.last_session(), &["again"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let paths: Vec<String> = bench.server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, [format!("/v1/chat/completions?{query}"), "/v1/chat/completions?api-version=2024-10-21".into()]);
}
