//! What goes wrong around a session: a folder that vanishes, a disk without room, a message that is too long. Each has its
//! sentence and its way out.

use std::path::{Path, PathBuf};
use std::process::Command;

use bosun_testkit::{ModelServer, Project, Reply, Rule, Wire};
use serde_json::{Value, json};

use crate::page::Page;

fn approve(approval: &Value) -> Value {
    let (session, call, digest) = (&approval["session"], &approval["call_id"], &approval["digest"]);
    json!({ "decisions": [{ "session": session, "call_id": call, "digest": digest, "decision": { "decision": "approve" } }] })
}

#[test]
fn a_project_folder_that_vanishes_in_a_turn_is_not_made_again_and_the_session_goes_on_when_it_is_back() {
    let (page, project, server) = (Page::open(), Project::new().file("a.txt", "a\n"), ModelServer::start());
    let write = |name: &str| Reply::call("write_file", json!({ "file_path": name, "content": "new\n" }));
    server.add(Rule::turn("write it").reply(write("/new.txt")).reply("I could not."));
    server.add(Rule::turn("once more").reply(write("/again.txt")).reply("It is written."));
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    page.subscribe(&session, 7);
    page.ok("send_message", json!({ "message": { "session": session, "text": "write it" } }));
    let approval = page.wait_for_event(7, "approval_requested")["approval"].clone();
    let elsewhere = project.root().with_extension("moved");
    std::fs::rename(project.root(), &elsewhere).unwrap();
    page.ok("decide", approve(&approval));
    page.wait_for_event(7, "turn_ended");
    assert!(!project.root().exists(), "the folder was made again");
    let rows = page.subscribe(&session, 8)["items"].to_string();
    assert!(rows.contains("failed"), "the call has no error: {rows}");

    std::fs::rename(&elsewhere, project.root()).unwrap();
    page.ok("send_message", json!({ "message": { "session": session, "text": "once more" } }));
    let approval = page.wait_for_event(8, "approval_requested")["approval"].clone();
    page.ok("decide", approve(&approval));
    page.wait_for_event(8, "turn_ended");
    assert_eq!(project.read("again.txt"), "new\n");
}

#[test]
fn a_message_that_is_too_long_is_refused_with_the_way_out_and_a_long_one_is_taken() {
    let (page, project, server) = (Page::open(), Project::new(), ModelServer::start());
    server.add(Rule::any().reply("That was long."));
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    page.subscribe(&session, 7);
    let message = |letters: usize| json!({ "message": { "session": session, "text": "x".repeat(letters) } });
    let error = page.call("send_message", message(10 << 20)).unwrap_err();
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("file") || said.contains("shorter"), "no way out: {said}");
    assert_eq!(page.subscribe(&session, 8)["items"], json!([]), "nothing of it was taken");
    page.ok("send_message", message(3 << 20));
    page.wait_for_event(7, "turn_ended");
}

/// A disk of its own with little room; gone with this value.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` where this process may not mount one.
    fn mount(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={megabytes}m,mode=700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()).output();
        mounted.is_ok_and(|mounted| mounted.status.success()).then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(self.0.path()).output().ok();
    }
}

/// A small disk, or `None` where only root could have one.
fn small_disk() -> Option<SmallDisk> {
    let disk = SmallDisk::mount(12);
    if disk.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI=true: this process may not mount a small disk");
        eprintln!("left out: only root can mount the small disk that this test fills");
    }
    disk
}

/// Takes all the room that is left on `disk`; the file gives it back when it is removed.
fn fill(disk: &SmallDisk) -> PathBuf {
    let filler = disk.path().join("filler");
    std::fs::write(&filler, vec![1; 16 << 20]).unwrap_err();
    filler
}

/// Text that cannot be packed into much less, so that it needs room of its own.
fn dense(words: u32) -> String {
    (0..words).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761))).collect()
}

#[test]
fn a_full_disk_is_said_nothing_is_lost_and_it_goes_on_when_there_is_room() {
    let Some(disk) = small_disk() else { return };
    let (project, server) = (Project::new(), ModelServer::start());
    server.add(Rule::turn("first").reply("One."));
    server.add(Rule::turn("third").reply("Three."));
    let page = Page::plan().data(&disk.path().join("data")).open();
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    page.subscribe(&session, 7);
    page.ok("send_message", json!({ "message": { "session": session, "text": "first" } }));
    page.wait_for_event(7, "turn_ended");

    let filler = fill(&disk);
    let long = format!("words that hardly pack {}", dense(200_000));
    let error = page.call("send_message", json!({ "message": { "session": session, "text": long } })).unwrap_err();
    assert_eq!(error["code"], "storage_unavailable");
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("disk is full") && said.contains("free some space"), "{said}");

    std::fs::remove_file(&filler).unwrap();
    page.ok("send_message", json!({ "message": { "session": session, "text": "third" } }));
    page.wait_for(7, |envelope| envelope.to_string().contains("Three.").then_some(()));
    let rows = page.subscribe(&session, 8)["items"].to_string();
    assert!(rows.contains("One.") && !rows.contains("words that hardly pack"), "{rows}");
}

#[test]
fn a_disk_that_fills_up_in_the_middle_of_a_turn_ends_it_with_the_way_out_and_it_can_be_continued() {
    let Some(disk) = small_disk() else { return };
    let (project, server) = (Project::new(), ModelServer::start());
    let rest = format!("{} That is all.", dense(200_000));
    let reply = || Reply::text("I begin. ").and_gate("go").and_text(rest.clone()).delta_chars(20_000);
    server.add(Rule::turn("tell me").reply(reply()).reply(reply()));
    let page = Page::plan().data(&disk.path().join("data")).open();
    let session = page.session(project.root(), &server.base_url(Wire::OpenAi), "test-model");
    page.subscribe(&session, 7);
    page.ok("send_message", json!({ "message": { "session": session, "text": "tell me" } }));
    page.wait_for(7, |envelope| envelope.to_string().contains("I begin.").then_some(()));

    let filler = fill(&disk);
    server.gate("go").open();
    let notice = page.wait_for(7, |envelope| {
        let text = envelope.to_string();
        text.contains("not_recorded").then_some(text)
    });
    assert!(notice.contains("the disk is full") && notice.contains("continue"), "{notice}");
    let halted = page.subscribe(&session, 8);
    assert_eq!(halted["session"]["status"], "interrupted");
    assert!(halted["items"].to_string().contains("tell me"), "the person's words are lost: {halted}");

    std::fs::remove_file(&filler).unwrap();
    page.ok("continue_turn", json!({ "session": session }));
    page.wait_for(8, |envelope| envelope.to_string().contains("\"idle\"").then_some(()));
    let rows = page.subscribe(&session, 9)["items"].to_string();
    assert!(rows.contains("That is all."), "the turn did not go on");
}
