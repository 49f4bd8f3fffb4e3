//! Where keys come from, and who does not get one: what stands between Bosun and a provider, and other programs of this machine.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

#[cfg(target_os = "linux")]
use bosun_store::{Database, KeyringSecrets, Keys};
#[cfg(target_os = "linux")]
use bosun_testkit::{ModelServer, Order, Reply, Rule, Script, Wire, keyring_home, run_in_keyring};
use pretty_assertions::assert_eq;
#[cfg(target_os = "linux")]
use secrecy::SecretString;
#[cfg(target_os = "linux")]
use serde_json::json;

use crate::bench::{Bench, ran};

/// N11: a proxy of the environment is asked for a way to the provider, and `NO_PROXY` counts.
#[test]
fn the_proxy_of_the_environment_is_asked_for_a_way_and_gets_no_key() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(String::new()));
    let ears = Arc::clone(&heard);
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).unwrap_or(0);
            ears.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
            // The client may have left.
            stream.write_all(refusal.as_bytes()).ok();
        }
    });
    let bench = Bench::new();
    let call = |except: &str| {
        let mut command = bench.bosun();
        command.args(["run", "--project", bench.project.root_str(), "--model", "openai:m", "--no-store"]);
        command
            .args(["--base-url", "https://models.invalid/v1", "hello"])
            .env("OPENAI_API_KEY", "sk-canary-0123456789");
        ran(command.env("HTTPS_PROXY", &proxy).env("NO_PROXY", except))
    };
    let refused = call("");
    assert!(refused.sentence().contains("models.invalid"), "{}", refused.err);
    let told = std::mem::take(&mut *heard.lock().unwrap());
    assert!(told.starts_with("CONNECT models.invalid:443 "), "{told}");
    assert!(!told.contains("canary") && !refused.err.contains("canary"), "{told}{}", refused.err);
    call("models.invalid").sentence();
    assert_eq!(*heard.lock().unwrap(), "");
}

/// A key that was entered in the window is found, goes to the host it was entered for, and is shown nowhere.
#[cfg(target_os = "linux")]
#[test]
fn a_key_of_the_keyring_is_used_for_its_host_alone() {
    run_in_keyring("keys::inside_a_keyring");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "runs on a bus of its own, started by the test above"]
fn inside_a_keyring() {
    if keyring_home().is_none() {
        return;
    }
    let bench = Bench::new();
    let host = bench.server.url().trim_start_matches("http://").to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = Database::open(&bench.data()).unwrap();
        let keys = Keys::new(Arc::new(KeyringSecrets), Some(database));
        keys.set("openai", &host, SecretString::from("sk-canary-0123456789".to_owned())).await.unwrap();
    });
    let command = |server: &ModelServer| {
        let mut command = bench.bosun();
        command.args(["run", "--project", bench.project.root_str(), "--model", "openai:m"]);
        command.args(["--base-url", &server.base_url(Wire::OpenAi), "hello"]);
        command.envs(std::env::var_os("DBUS_SESSION_BUS_ADDRESS").map(|bus| ("DBUS_SESSION_BUS_ADDRESS", bus)));
        command
    };
    bench.server.once("hello");
    let answered = ran(&mut command(&bench.server));
    assert_eq!((answered.code, answered.out.trim()), (Some(0), "hello"), "{}", answered.err);
    let sent = |server: &ModelServer| server.requests()[0].header("authorization").map(str::to_owned);
    assert_eq!(sent(&bench.server).as_deref(), Some("Bearer sk-canary-0123456789"));

    // What the person saved goes before a variable, which the shell may have from anywhere.
    bench.server.once("hello");
    let both = ran(command(&bench.server).env("OPENAI_API_KEY", "sk-of-the-shell-000"));
    assert_eq!(both.code, Some(0), "{}", both.err);
    assert_eq!(bench.server.requests()[1].header("authorization"), Some("Bearer sk-canary-0123456789"));

    let other = ModelServer::start();
    other.once("hello");
    let elsewhere = ran(&mut command(&other));
    assert!(other.requests().is_empty() || sent(&other).is_none(), "{}", elsewhere.err);
    assert!(!elsewhere.err.contains("canary") && !elsewhere.out.contains("canary"), "{}", elsewhere.err);
}

/// K08: no other program of the person's, the agent's commands among them, looks into Bosun's memory.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_is_nobody_elses_to_read() {
    let bench = Bench::new();
    let look = "for p in $PPID $(ps -o ppid= -p $PPID); do cat /proc/$p/maps /proc/$p/environ; done 2>&1 | sort -u";
    bench.server.add(Rule::turn("look").reply(Reply::call("execute", json!({ "command": look }))).reply("looked"));
    let run = bench.run_command(&["--approve", "all", "look"]);
    // Where root runs the tests, as somebody who may not look into everything.
    let mut command = std::process::Command::new("setpriv");
    if std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        command.args(["--bounding-set", "-all", "--inh-caps", "-all"]);
    }
    command.arg("--").arg(run.get_program()).args(run.get_args()).env_clear().stdin(std::process::Stdio::null());
    command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = ran(&mut command);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "looked\n"), "{}", ran.err);
    let seen = bench.server.requests()[1].asked();
    assert!(seen.last().contains("Permission denied") && !seen.last().contains("[heap]"), "{}", seen.last());
}

/// What the server of the test takes.
#[cfg(target_os = "linux")]
const KEY: &str = "sk-canary-0123456789";

/// What the window's key form does, for whoever has no window.
#[cfg(target_os = "linux")]
#[test]
fn a_key_is_put_into_the_keyring_listed_and_removed_without_a_window() {
    run_in_keyring("keys::by_commands");
}

/// Runs `command` with what a person types, on the bus of this test; no secret of the tests is in what it says.
#[cfg(target_os = "linux")]
fn in_keyring(mut command: std::process::Command, typed: &str) -> crate::bench::Ran {
    command.envs(std::env::var_os("DBUS_SESSION_BUS_ADDRESS").map(|bus| ("DBUS_SESSION_BUS_ADDRESS", bus)));
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let ran = crate::bench::of(child.wait_with_output().unwrap());
    assert!(!ran.out.contains("canary") && !ran.err.contains("canary"), "{}{}", ran.out, ran.err);
    ran
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "runs on a bus of its own, started by the test above"]
fn by_commands() {
    if keyring_home().is_none() {
        return;
    }
    let bench = Bench::new();
    let keys = |arguments: &[&str], typed: &str| {
        let mut command = bench.bosun();
        command.arg("keys").args(arguments).env("GROQ_API_KEY", "gsk-canary-0123456789");
        in_keyring(command, typed)
    };
    let source = |provider: &str| {
        let listed = keys(&["list", "--json"], "").out;
        let rows = listed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        rows.into_iter().find(|row| row["provider"] == provider).unwrap()["key"].clone()
    };
    assert_eq!(source("openai"), json!({ "source": "missing" }));
    assert_eq!(source("groq"), json!({ "source": "environment", "variable": "GROQ_API_KEY" }));
    let set = keys(&["set", "openai", "--no-test"], "sk-canary-0123456789\nanother line\n");
    assert_eq!((set.code, set.out.as_str()), (Some(0), ""), "{}", set.err);
    assert!(set.err.contains("openai, for api.openai.com"), "{}", set.err);
    assert_eq!(source("openai"), json!({ "source": "keyring" }));
    // At another host it is not there.
    let elsewhere = keys(&["remove", "openai", "--base-url", "https://gate.example/v1"], "");
    assert!(elsewhere.sentence().contains("no key of openai for gate.example"), "{}", elsewhere.err);
    assert_eq!(keys(&["remove", "openai"], "").code, Some(0));
    assert_eq!(source("openai"), json!({ "source": "missing" }));

    // A call tells whether it works, counts, and shows the provider's own words where it does not.
    let server = ModelServer::with(Script { models: vec!["m".into()], key: Some(KEY.into()), ..Script::default() });
    server.add(Rule::any().reply("ready").order(Order::RepeatLast));
    let url = server.base_url(Wire::OpenAi);
    let works = keys(&["set", "openai", "--base-url", &url], KEY);
    assert_eq!(works.code, Some(0), "{}", works.err);
    assert!(works.err.contains("it works: m answers"), "{}", works.err);
    let used = ran(bench.bosun().args(["usage", "--json"])).out;
    let used: serde_json::Value = serde_json::from_str(&used).unwrap();
    assert_eq!(used["total"]["calls"], 1, "{used}");
    let fails = keys(&["set", "openai", "--base-url", &url], "sk-canary-another-0123");
    assert_ne!(fails.code, Some(0));
    let told = fails.err.lines().last().unwrap_or_default();
    assert!(told.contains("is kept, but a call with it failed: invalid x-api-key"), "{}", fails.err);
    let calls = server.requests().len();
    assert_eq!(keys(&["set", "openai", "--base-url", &url, "--no-test"], KEY).code, Some(0));
    assert_eq!(server.requests().len(), calls, "nobody was called");

    assert!(keys(&["set", "openai"], "two canary words\n").sentence().contains("this is not a key"));
    assert!(keys(&["set", "openai"], "").sentence().contains("no key came"));
    assert!(keys(&["set", "azure"], "canary-0123456789\n").sentence().contains("azure has no address yet"));
    assert!(keys(&["set", "nobody"], "canary\n").sentence().contains("there is no provider \"nobody\""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_header_is_put_into_the_keyring_sent_and_removed_without_a_window() {
    run_in_keyring("keys::inside_a_keyring_with_a_header");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "runs on a bus of its own, started by the test above"]
fn inside_a_keyring_with_a_header() {
    if keyring_home().is_none() {
        return;
    }
    let bench = Bench::new();
    let bosun = |arguments: &[&str], typed: &str| {
        let mut command = bench.bosun();
        command.args(arguments);
        in_keyring(command, typed)
    };
    let url = bench.server.base_url(Wire::OpenAi);
    let given = ["--header", "X-Team", "--header", "X-Trace=on", "--header", "X-Key"];
    let add = [&["providers", "add", "Gate", &url, "--no-test", "--key"][..], &given].concat();
    let added = bosun(&add, "sk-canary-0123456789\nred-canary-0123456789\nblue-canary-0123456789\n");
    assert_eq!((added.code, added.out.as_str()), (Some(0), "gate\n"), "{}", added.err);
    assert!(bosun(&["providers", "list"], "").out.contains("X-Team, X-Trace, X-Key"));
    let sent = || {
        bench.server.once("hello");
        let run = ["run", "--project", bench.project.root_str(), "--model", "gate:m", "hello"];
        let answered = bosun(&run, "");
        assert_eq!(answered.code, Some(0), "{}", answered.err);
        let last = bench.server.requests().pop().unwrap();
        ["x-team", "x-trace", "x-key"].map(|name| last.header(name).map(str::to_owned))
    };
    let value = |text: &str| Some(text.to_owned());
    assert_eq!(sent(), [value("red-canary-0123456789"), value("on"), value("blue-canary-0123456789")]);
    assert_eq!(bosun(&["providers", "header", "gate", "x-trace="], "").code, Some(0));
    assert_eq!(bosun(&["providers", "header", "gate", "X-Key"], "green-canary-0123456789\n").code, Some(0));
    assert_eq!(sent(), [value("red-canary-0123456789"), None, value("green-canary-0123456789")]);
    let last = bench.server.requests().pop().unwrap();
    assert_eq!(last.header("authorization"), Some("Bearer sk-canary-0123456789"));
    // What they were entered for is no more where it was.
    assert_eq!(
        bosun(&["providers", "edit", "gate", "--url", "https://gate.example/v1", "--no-test"], "").code,
        Some(0)
    );
    assert!(!bosun(&["providers", "list"], "").out.contains("X-Team"));
    assert_eq!(bosun(&["providers", "remove", "gate"], "").code, Some(0));
    assert_eq!(bosun(&["providers", "list"], "").out, "");
}

/// A line that is too long is not cut into two secrets.
#[cfg(target_os = "linux")]
#[test]
fn a_line_that_is_too_long_for_a_secret_is_refused_whole() {
    let bench = Bench::new();
    let mut command = bench.bosun();
    command.args(["providers", "add", "Gate", "https://gate.example/v1", "--header", "X-A", "--header", "X-B"]);
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    let line = format!("red-canary{}blue-canary\n", " ".repeat(9_000));
    // It may have gone before all of it was taken.
    child.stdin.take().unwrap().write_all(line.as_bytes()).ok();
    let ran = crate::bench::of(child.wait_with_output().unwrap());
    let told = ran.sentence();
    assert!(told.contains("longer than 8192 bytes") && !told.contains("canary"), "{told}");
}

/// A provider without the secrets that it was to have is not added.
#[cfg(target_os = "linux")]
#[test]
fn a_provider_whose_key_or_header_no_keyring_takes_is_not_added() {
    let bench = Bench::new();
    for (arguments, what) in [(&["--key"][..], "the key"), (&["--header", "X-Team"], "the header X-Team")] {
        let mut command = bench.bosun();
        command.args(["providers", "add", "Gate", "https://gate.example/v1"]).args(arguments);
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
        let piped = std::process::Stdio::piped;
        let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"sk-canary-0123456789\n").unwrap();
        let refused = crate::bench::of(child.wait_with_output().unwrap());
        let told = refused.sentence();
        assert!(told.contains(&format!("nothing was added, because {what} is not kept: ")), "{told}");
        assert!(!told.contains("canary"), "{told}");
        let listed = ran(bench.bosun().args(["providers", "list"]));
        assert_eq!((listed.code, listed.out.as_str()), (Some(0), ""));
    }
}

/// Neither a header nor a key is said to be there that no keyring took.
#[cfg(target_os = "linux")]
#[test]
fn what_no_keyring_takes_changes_nothing_of_a_provider() {
    let bench = Bench::new();
    let without_keyring = |arguments: &[&str]| {
        let mut command = bench.bosun();
        command.arg("providers").args(arguments).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
        let piped = std::process::Stdio::piped;
        let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"sk-canary-0123456789\n").unwrap();
        crate::bench::of(child.wait_with_output().unwrap())
    };
    let list = || ran(bench.bosun().args(["providers", "list"])).out;
    let add = ["providers", "add", "Gate", "https://gate.example/v1", "--no-test"];
    assert_eq!(ran(bench.bosun().args(add)).code, Some(0));
    let before = list();
    for (arguments, words) in [
        (&["header", "gate", "X-Team"][..], "the header X-Team of gate is not kept: "),
        (&["edit", "gate", "--url", "https://new.example/v1", "--key"], "nothing was changed, because the key"),
    ] {
        let refused = without_keyring(arguments);
        let told = refused.sentence();
        assert!(told.contains(words) && !refused.err.contains("canary"), "{}", refused.err);
        assert_eq!(list(), before, "{arguments:?}");
    }
}

/// Where no keyring answers, nothing is kept and nobody is told otherwise.
#[cfg(target_os = "linux")]
#[test]
fn a_key_that_no_keyring_takes_is_not_said_to_be_kept() {
    let bench = Bench::new();
    let mut command = bench.bosun();
    command.args(["keys", "set", "openai"]).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"sk-canary-0123456789\n").unwrap();
    let ran = crate::bench::of(child.wait_with_output().unwrap());
    let told = ran.sentence();
    assert!(told.contains("the key is not kept: ") && !told.contains("canary"), "{told}");
}
