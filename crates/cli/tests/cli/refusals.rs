//! Bad input: each gets one sentence that names the thing and the way out, and nothing is made or lost.

use std::path::Path;
use std::process::Stdio;

use bosun_store::Database;
use bosun_testkit::{ModelServer, Reply, Rule, Script, Wire};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, Ran, ran};

fn in_project(bench: &Bench, project: &Path) -> Ran {
    let mut command = bench.bosun();
    command.args(["run", "--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--project"]);
    ran(command.arg(project).arg("hello"))
}

#[test]
fn a_folder_that_can_be_no_project_is_named_with_the_reason() {
    let bench = Bench::new();
    bench.project.write("file.txt", "x");
    let home = bench.data.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(bench.data()).unwrap();
    for (folder, words) in [
        (bench.project.at("missing"), "does not exist; choose another, or create it first"),
        (bench.project.at("file.txt"), "is a file, not a folder; choose the folder it is in"),
        (home.clone(), "is your home folder, with your keys and settings in it; choose or create a folder inside it"),
        ("/".into(), "is the whole machine; choose a folder with one project in it"),
        (bench.data(), "which no agent may change; choose a folder with one project in it"),
    ] {
        let ran = in_project(&bench, &folder);
        let sentence = ran.sentence();
        assert!(sentence.contains(words) && sentence.contains(folder.to_str().unwrap()), "{sentence}");
    }
    assert!(!bench.data().join("bosun.db").exists(), "nothing is made for a project that cannot be");
    let tools = ran(bench.bosun().args(["tools", "--project", "/"]));
    assert!(tools.sentence().contains("whole machine"));
}

#[test]
fn a_wrong_key_fails_in_the_providers_words() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let mut bench = Bench::on(wire);
        bench.server = ModelServer::with(Script { key: Some("sk-right".into()), ..Script::default() });
        let ran = bench.run(&["hello"]);
        let sentence = ran.sentence();
        assert!(sentence.to_lowercase().contains("key"), "{sentence}");
        let variable = if wire == Wire::OpenAi { "OPENAI_API_KEY" } else { "ANTHROPIC_API_KEY" };
        assert!(sentence.ends_with(&format!("(the key is that of {variable}; set another there)")), "{sentence}");
        let (said, way_on) = ran.err.trim_end().rsplit_once('\n').unwrap();
        assert!(said.ends_with(sentence) && way_on.starts_with("go on with: "), "{}", ran.err);
        assert!(!ran.err.contains("sk-test"), "{}", ran.err);
        assert!(ran.err.contains("go on with: bosun run --session"), "{}", ran.err);
    }
}

#[test]
fn a_base_url_that_is_no_model_server_is_named() {
    let bench = Bench::new();
    bench.server.once(Reply::html("<html><body>Sign in to the guest network</body></html>"));
    let page = bench.run(&["hello"]);
    let sentence = page.sentence();
    assert!(sentence.contains(&bench.server.url()) && sentence.contains("check the base URL"), "{}", page.err);
}

/// Azure has an address for each account, and nothing is asked before it is named.
#[test]
fn an_address_that_lacks_the_account_s_name_is_not_asked() {
    let bench = Bench::new();
    let mut command = bench.bosun();
    command.args(["run", "--project", bench.project.root_str(), "--model", "azure:gpt-4.1", "hello"]);
    let ran = ran(command.env("AZURE_OPENAI_API_KEY", "sk-test"));
    assert!(ran.sentence().contains("put it in place of your_resource"), "{}", ran.err);
}

/// What a model asks for wrongly is told to it, and the turn goes on.
#[test]
fn wrong_arguments_and_a_binary_file_are_results_for_the_model() {
    let bench = Bench::new();
    bench.project.write("a.bin", b"\x00\x01\x02\xff\xfe");
    let calls =
        Reply::call("read_file", json!({ "path": "/a.bin" })).and_call("read_file", json!({ "file_path": "/a.bin" }));
    let edit = Reply::call("edit_file", json!({ "file_path": "/a.bin", "old_string": "a", "new_string": "b" }));
    bench.server.add(Rule::turn("look").reply(calls).reply(edit).reply("seen"));
    let run = bench.run(&["--approve", "all", "look"]);
    assert_eq!((run.code, run.out.trim()), (Some(0), "seen"), "{}", run.err);
    let asked = bench.server.requests()[2].json();
    let results = asked["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    let results: Vec<&str> = results.map(|message| message["content"].as_str().unwrap()).collect();
    let [arguments, binary, edit] = results[..] else { panic!("{results:?}") };
    assert!(arguments.contains("'file_path' is missing ('path' is not an argument here)"), "{arguments}");
    assert!(binary.contains("'/a.bin'") && binary.contains("not UTF-8 text"), "{binary}");
    assert!(edit.contains("'/a.bin' is binary") && edit.contains("use a program made for its format"), "{edit}");
    assert_eq!(std::fs::read(bench.project.at("a.bin")).unwrap(), b"\x00\x01\x02\xff\xfe");
}

#[test]
fn an_unreachable_server_is_named() {
    let bench = Bench::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let mut command = bench.bosun();
    command.args(["run", "--project", bench.project.root_str(), "--model", "openai:m"]);
    let ran = ran(command.args(["--base-url", &format!("http://{address}/v1"), "hello"]));
    assert!(ran.sentence().contains(&address), "{}", ran.err);
}

#[test]
fn a_base_url_that_is_none_is_refused_before_anything_is_stored() {
    let bench = Bench::new();
    for url in ["localhost:11434", "file:///etc/passwd", "https://user:secret@host/v1"] {
        let mut command = bench.bosun();
        command.args(["run", "--project", bench.project.root_str(), "--model", "openai:m", "--base-url", url, "hello"]);
        let ran = ran(&mut command);
        assert!(ran.sentence().contains("base URL") && !ran.err.contains("secret"), "{}", ran.err);
        assert!(ran.sentence().starts_with("bosun: --base-url cannot be used: the base URL"), "{}", ran.err);
    }
    assert!(bench.sessions().is_empty());
}

#[test]
fn models_and_keys_that_are_missing_say_how_to_give_them() {
    let bench = Bench::new();
    let run = |arguments: &[&str]| {
        let mut command = bench.bosun();
        ran(command.args(["run", "--project", bench.project.root_str(), "hello"]).args(arguments))
    };
    for (arguments, words) in [
        (&[][..], "--model"),
        (&["--no-store"][..], "--model"),
        (&["--model", "gpt"][..], "\"gpt\" names no model"),
        (&["--model", "nobody:x"][..], "no provider \"nobody\""),
        (&["--model", "anthropic:x"][..], "ANTHROPIC_API_KEY"),
        (&["--model", "openai:x"][..], "OPENAI_API_KEY"),
    ] {
        let ran = run(arguments);
        assert!(ran.sentence().contains(words), "{}", ran.err);
    }
    assert!(bench.sessions().is_empty());
}

#[test]
fn arguments_that_are_wrong_never_look_like_a_missing_approval() {
    let bench = Bench::new();
    for arguments in [
        &["run", "hello"][..],
        &["run", "--project", "."],
        &["run", "--project", ".", "--approve", "maybe", "hello"],
        &["run", "--project", ".", "--max-steps", "0", "hello"],
        &["run", "--project", ".", "--max-tokens", "0", "hello"],
        &["run", "--project", ".", "--max-cost", "free", "hello"],
        &["run", "--project", ".", "--max-time", "soon", "hello"],
        &["run", "--no-store", "--session", "x"],
        &["nonsense"],
        &[],
    ] {
        let ran = ran(bench.bosun().args(arguments));
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(!ran.err.is_empty());
    }
    let empty = ran(bench.bosun().args(["run", "--project", bench.project.root_str(), " "]));
    assert!(empty.sentence().contains("write a task"));
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        assert_eq!(ran(bench.bosun().args(arguments)).code, Some(0));
    }
}

#[test]
fn sessions_that_are_not_there_are_named() {
    let bench = Bench::new();
    for arguments in [
        &["sessions", "show", "nope"][..],
        &["sessions", "export", "nope"],
        &["sessions", "compact", "nope"],
        &["sessions", "summary", "nope"],
        &["sessions", "undo-summary", "nope"],
    ] {
        let ran = ran(bench.bosun().args(arguments));
        assert!(ran.sentence().contains("there is no session nope"), "{}", ran.err);
        assert!(!bench.data().exists(), "looking makes nothing");
    }
    assert!(bench.go_on(&"nope".into(), &[]).sentence().contains("there is no session nope"));
}

#[test]
fn a_session_stays_in_its_project() {
    let bench = Bench::new();
    bench.server.once("one");
    assert_eq!(bench.run(&["first"]).code, Some(0));
    let other = bosun_testkit::Project::new();
    let session = bench.last_session();
    let ran = bench.go_on(&session, &["--project", other.root_str(), "second"]);
    assert!(ran.sentence().contains(bench.project.root_str()), "{}", ran.err);
}

#[test]
fn a_project_that_went_away_is_named_when_going_on() {
    let mut bench = Bench::new();
    bench.server.once("one");
    assert_eq!(bench.run(&["first"]).code, Some(0));
    let session = bench.last_session();
    let gone = std::mem::take(&mut bench.project);
    let path = gone.root_str().to_owned();
    gone.close();
    let ran = bench.go_on(&session, &["second"]);
    assert!(ran.sentence().contains(&path) && ran.err.contains("does not exist"), "{}", ran.err);
}

#[test]
fn a_data_folder_that_cannot_be_used_is_left_as_it_is() {
    let bench = Bench::new();
    std::fs::create_dir(bench.data()).unwrap();
    let file = bench.data().join("bosun.db");
    std::fs::write(&file, "not a database, but somebody's").unwrap();
    for arguments in
        [&["sessions", "list"][..], &["run", "--project", bench.project.root_str(), "--model", "tour:en", "x"]]
    {
        let ran = ran(bench.bosun().args(arguments));
        assert!(ran.sentence().contains("is not a database"), "{}", ran.err);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not a database, but somebody's");
}

#[test]
fn a_data_folder_that_cannot_be_had_is_not_called_empty() {
    let bench = Bench::new();
    let around = tempfile::tempdir().unwrap();
    let file = around.path().join("file.txt");
    std::fs::write(&file, "x").unwrap();
    let closed = around.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
    let mut cases = vec![
        (file.clone(), "a file is in its place"),
        (file.join("below"), "a file is in its place"),
        // Nothing can be made there, not even by root.
        ("/proc/bosun".into(), "it does not exist and could not be created"),
    ];
    // Root may write wherever it likes.
    if std::fs::write(closed.join("probe"), "").is_err() {
        cases.push((closed.join("data"), "you have no permission to write there"));
        cases.push((closed, "you have no permission to write there"));
    }
    let run = ["run", "--project", bench.project.root_str(), "--model", "tour:en", "x"];
    for (folder, reason) in cases {
        for arguments in [&["sessions", "list"][..], &["sessions", "show", "x"], &["usage"], &run] {
            let ran = ran(bench.bosun().args(arguments).env("BOSUN_DATA_DIR", &folder));
            let said = format!("the data folder {} cannot be used: {reason}", folder.display());
            assert!(ran.sentence().contains(&said) && ran.err.contains("Choose another"), "{arguments:?}: {}", ran.err);
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
}

#[test]
fn a_database_of_a_newer_version_is_left_as_it_is() {
    let bench = Bench::new();
    drop(Database::open(&bench.data()).unwrap());
    let file = bench.data().join("bosun.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // SQLite keeps the number of the format in its header.
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    std::fs::write(&file, &bytes).unwrap();
    for ran in [bench.run(&["hello"]), ran(bench.bosun().args(["sessions", "list"]))] {
        let sentence = ran.sentence();
        assert!(
            sentence.contains("written by a newer Bosun (format 999") && sentence.contains("update Bosun"),
            "{sentence}"
        );
    }
    assert_eq!(std::fs::read(&file).unwrap(), bytes, "the file was written to");
}

#[test]
fn a_database_that_another_program_locks_is_said_and_a_turn_goes_on_afterwards() {
    let bench = Bench::new();
    bench
        .server
        .add(Rule::turn("go").reply(Reply::text("I begin").and_gate("half").and_text(" and I end.")).reply("Done."));
    let mut command = bench.run_command(&["go"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while bench.server.requests().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let other = rusqlite::Connection::open(bench.data().join("bosun.db")).unwrap();
    other.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.server.gate("half").open();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("database is locked by another program; close that program, then continue"), "{err}");
    assert!(err.contains("go on with: bosun run --session"), "{err}");

    let locked = bench.run(&["another"]);
    assert!(locked.sentence().contains("is locked by another program"), "{}", locked.err);
    other.execute_batch("ROLLBACK").unwrap();
    let again = bench.go_on(&bench.last_session(), &[]);
    assert_eq!(again.code, Some(0), "{}", again.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_project_folder_that_cannot_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let closed = bench.project.at("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = bench.bosun_of_a_person();
    command.args(["run", "--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "hello", "--project"]);
    let ran = ran(command.arg(&closed));
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
    let sentence = ran.sentence();
    assert!(sentence.contains("have no permission to read the folder"), "{sentence}");
}
