//! Routes to places that something else leads to, as an agent's file and the settings have them: with real ones.

use std::fs;

use bosun_testkit::{PODMAN_SETTINGS, Reply, Rule, SshServer, busybox_image, is_here, missing};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::bench::{Bench, ran};

/// The files that an agent writes and reads below `/there`, and what came of the reading.
fn played(bench: &Bench, option: &str, text: &str, environment: &[(&str, &str)]) -> String {
    let write = json!({ "file_path": "/there/deep/new.txt", "content": "from the agent\n" });
    let read = json!({ "file_path": "/there/kept.txt" });
    let calls = Reply::new().and_call("write_file", write).and_call("read_file", read);
    bench.server.add(Rule::turn("go there").reply(calls).reply("There and back."));
    let file = bench.data.path().join("places.toml");
    fs::write(&file, text).unwrap();
    let arguments = [option, file.to_str().unwrap(), "--approve", "all", "go there"];
    let came = ran(bench.run_command(&arguments).envs(environment.iter().copied()));
    assert_eq!((came.code, came.out.as_str()), (Some(0), "There and back.\n"), "{}", came.err);
    assert_eq!(bench.project.tree(), Vec::<String>::new(), "the project is not touched");
    bench.server.requests().last().unwrap().asked().last().to_owned()
}

/// A folder with a file in it that was there before.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kept.txt"), "there before\n").unwrap();
    folder
}

#[test]
fn another_machine_is_a_folder_of_the_settings() {
    let Some(server) = SshServer::start() else { return };
    fs::write(server.root().join("kept.txt"), "there before\n").unwrap();
    let bench = Bench::new();
    let (root, config) = (server.root(), server.config());
    let route = format!(
        "[[routes]]\nprefix = '/there'\nkind = 'ssh'\nhost = 'there'\nfolder = '{}'\nconfig = '{}'\n",
        root.display(),
        config.display()
    );
    let read = played(&bench, "--config", &route, &[]);
    assert!(read.contains("there before"), "{read}");
    assert_eq!(fs::read_to_string(root.join("deep/new.txt")).unwrap(), "from the agent\n");
    let prompt = bench.server.requests().last().unwrap().asked().system;
    assert!(prompt.contains("- `/there/`: a folder of another machine"), "{prompt}");
}

#[test]
fn a_sandbox_is_a_folder_of_a_declared_agent() {
    if !is_here("bwrap") {
        missing::<()>("bubblewrap", "apt-get install bubblewrap");
        return;
    }
    let (bench, folder) = (Bench::new(), folder());
    let route =
        format!("[[backend.routes]]\nprefix = '/there'\nkind = 'sandbox'\nfolder = '{}'\n", folder.path().display());
    let read = played(&bench, "--agent", &route, &[]);
    assert!(read.contains("there before"), "{read}");
    assert_eq!(fs::read_to_string(folder.path().join("deep/new.txt")).unwrap(), "from the agent\n");
}

#[test]
fn a_container_is_a_folder_of_a_declared_agent_and_a_copy_goes_with_it() {
    let Some(image) = busybox_image() else { return };
    let kept = tempfile::tempdir().unwrap();
    let settings = kept.path().join("containers.conf");
    fs::write(&settings, PODMAN_SETTINGS).unwrap();
    let podman = [("CONTAINERS_CONF", settings.to_str().unwrap())];
    for (kind, stays) in [("container", true), ("container-copy", false)] {
        let (bench, folder) = (Bench::new(), folder());
        let route = format!(
            "[[backend.routes]]\nprefix = '/there'\nkind = '{kind}'\ncontainer = '{image}'\nfolder = '{}'\n",
            folder.path().display()
        );
        let read = played(&bench, "--agent", &route, &podman);
        assert!(read.contains("there before"), "{kind}: {read}");
        assert_eq!(folder.path().join("deep/new.txt").exists(), stays, "{kind}");
    }
}

/// What an agent does at `/`, where a place stands for the project: it runs a command, and changes what that found.
fn worked(bench: &Bench, option: &str, text: &str, environment: &[(&str, &str)]) -> String {
    let command = json!({ "command": "cat kept.txt && echo by a command > made.txt" });
    let edit = json!({ "file_path": "/kept.txt", "old_string": "before", "new_string": "and changed" });
    let replies = Rule::turn("work there")
        .reply(Reply::new().and_call("execute", command).and_call("read_file", json!({ "file_path": "/kept.txt" })))
        .reply(Reply::new().and_call("edit_file", edit))
        .reply("Worked there.");
    bench.server.add(replies);
    let file = bench.data.path().join("places.toml");
    fs::write(&file, text).unwrap();
    let arguments = [option, file.to_str().unwrap(), "--approve", "all", "work there"];
    let came = ran(bench.run_command(&arguments).envs(environment.iter().copied()));
    assert_eq!((came.code, came.out.as_str()), (Some(0), "Worked there.\n"), "{}", came.err);
    assert_eq!(bench.project.tree(), Vec::<String>::new(), "the project is not touched");
    bench.server.requests().last().unwrap().asked().system
}

#[test]
fn commands_run_on_another_machine_that_is_at_the_root() {
    let Some(server) = SshServer::start() else { return };
    fs::write(server.root().join("kept.txt"), "there before\n").unwrap();
    let (root, config) = (server.root(), server.config());
    let routes = |table: &str| {
        format!(
            "[[{table}]]\nprefix = '/'\nkind = 'ssh'\nhost = 'there'\nfolder = '{}'\nconfig = '{}'\n",
            root.display(),
            config.display()
        )
    };
    for (option, table) in [("--config", "routes"), ("--agent", "backend.routes")] {
        fs::write(root.join("kept.txt"), "there before\n").unwrap();
        fs::remove_file(root.join("made.txt")).ok();
        let prompt = worked(&Bench::new(), option, &routes(table), &[]);
        assert_eq!(fs::read_to_string(root.join("kept.txt")).unwrap(), "there and changed\n", "{option}");
        assert_eq!(fs::read_to_string(root.join("made.txt")).unwrap(), "by a command\n", "{option}");
        assert!(prompt.contains("a folder of another machine, `there:"), "{prompt}");
    }
}

#[test]
fn commands_run_in_a_container_that_is_at_the_root() {
    let Some(image) = busybox_image() else { return };
    let kept = tempfile::tempdir().unwrap();
    let settings = kept.path().join("containers.conf");
    fs::write(&settings, PODMAN_SETTINGS).unwrap();
    let podman = [("CONTAINERS_CONF", settings.to_str().unwrap())];
    for (kind, text) in [("container", "there and changed\n"), ("container-copy", "there before\n")] {
        let folder = folder();
        let route = format!(
            "[[routes]]\nprefix = '/'\nkind = '{kind}'\ncontainer = '{image}'\nfolder = '{}'\n",
            folder.path().display()
        );
        let prompt = worked(&Bench::new(), "--config", &route, &podman);
        assert_eq!(fs::read_to_string(folder.path().join("kept.txt")).unwrap(), text, "{kind}");
        assert_eq!(folder.path().join("made.txt").exists(), kind == "container");
        assert!(prompt.contains("the work folder of a container"), "{prompt}");
    }
}

/// Whoever named it, no agent gets a home folder or Bosun's own through a sandbox or a container either.
#[test]
fn a_folder_that_no_agent_may_have_is_none_in_a_container_either() {
    let bench = Bench::new();
    fs::create_dir_all(bench.data.path().join("home")).unwrap();
    let home = bench.data.path().join("home");
    for kind in ["kind = 'sandbox'", "kind = 'container'\ncontainer = 'busybox'"] {
        let file = bench.data.path().join("agent.toml");
        let route = format!("[[backend.routes]]\nprefix = '/there'\n{kind}\nfolder = '{}'\n", home.display());
        fs::write(&file, route).unwrap();
        let refused = bench.run(&["--agent", file.to_str().unwrap(), "hello"]);
        let said = refused.sentence();
        assert!(said.contains("'/there' cannot be opened") && said.contains("home folder"), "{said}");
    }
    assert_eq!(bench.server.requests().len(), 0);
}
