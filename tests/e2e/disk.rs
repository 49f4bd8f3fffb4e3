//! A disk that is full: the project's, and the one of Bosun's own data. Both are small disks in memory, which root alone
//! may bring up; elsewhere these tests say so and do nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bosun_testkit::{ModelServer, Reply, Rule};
use serde_json::json;

use crate::harness::Desk;
use crate::scene::{answer, ask, at_work, reopen, told};

/// A small disk in the place of a folder; gone with this value.
struct Disk(PathBuf);

impl Disk {
    /// `None` where nobody here may bring one up.
    fn over(folder: &Path, size: &str) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=0777"), "none"]).arg(folder);
        let is_there = rustix::process::geteuid().is_root() && mount.output().is_ok_and(|done| done.status.success());
        if !is_there {
            eprintln!("skipped: a disk cannot be brought up here");
        }
        is_there.then(|| Self(folder.to_owned()))
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut filler = fs::File::create(self.filler()).unwrap();
        let full = std::io::copy(&mut std::io::repeat(b'x'), &mut filler).unwrap_err();
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull, "{full}");
    }

    fn make_room(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.0.join(".filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // It goes when the last program has let go of it.
        drop(Command::new("umount").arg("--lazy").arg(&self.0).status());
    }
}

#[test]
fn a_file_for_which_the_disk_has_no_room_stays_as_it_was_and_is_written_once_there_is_some() {
    let desk = Desk::plan("full-project").set_up();
    let Some(disk) = Disk::over(&desk.project(), "256k") else { return };
    let server = ModelServer::start();
    let edit = json!({ "file_path": "/greet.py", "old_string": "Hello", "new_string": "Good day" });
    for (words, end) in [("write it", "There was no room."), ("once more", "It is written.")] {
        let look = Reply::call("read_file", json!({ "file_path": "/greet.py" }));
        server.add(Rule::turn(words).reply(look).reply(Reply::call("edit_file", edit.clone())).reply(end));
    }
    let window = at_work(&desk, &server);
    let file = desk.project().join("greet.py");
    let before = fs::read_to_string(&file).unwrap();
    disk.fill();
    ask(&window, "Please write it");
    answer(&window, "Approve");
    window.wait_for_text("There was no room.");
    window.wait_for_text("the disk is full");
    window.shot("full");
    assert!(told(&server).contains("the disk is full"), "the model is not told why");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let left: Vec<String> = fs::read_dir(desk.project())
        .unwrap()
        .map(|one| one.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left.len(), 3, "something half written is left: {left:?}");

    disk.make_room();
    ask(&window, "And once more");
    answer(&window, "Approve");
    window.wait_for_text("It is written.");
    assert_eq!(fs::read_to_string(&file).unwrap(), before.replace("Hello", "Good day"));
}

#[test]
fn a_turn_that_the_disk_has_no_room_for_is_halted_with_the_way_out_and_goes_on_afterwards() {
    let desk = Desk::plan("full-data").set_up();
    let Some(disk) = Disk::over(&desk.data(), "16m") else { return };
    let server = ModelServer::start();
    let reply = Reply::text("I begin").and_gate("half").and_text(" and I end.");
    server.add(Rule::turn("tell me").reply(reply));
    server.add(Rule::turn("and now").reply("All is well."));
    let window = at_work(&desk, &server);
    ask(&window, "tell me");
    window.wait_for_text("I begin");
    window.field("Message").write("and now?");
    disk.fill();
    server.gate("half").open();
    window.wait_for_text("The turn was halted because it cannot be recorded");
    window.wait_for_text("The disk is full, so this could not be saved; free some space, then continue");
    window.shot("halted");
    assert!(window.text().contains("tell me"), "the person's words are lost:\n{}", window.text());
    disk.make_room();
    window.button("Try again").click();
    window.wait_until("return document.querySelector('.chip.state')?.innerText.trim() === 'done'");
    window.shot("gone-on");
    // The reply was whole: nobody pays for it twice.
    assert!(window.text().contains("I begin and I end."), "{}", window.text());
    assert_eq!(server.requests().len(), 1);
    assert!(!window.text().contains("interrupted"), "the turn did not end:\n{}", window.text());
    assert_eq!(window.field("Message").value(), "and now?");
    window.button("Send").click();
    window.wait_for_text("All is well.");
    window.close();
    let window = reopen(&desk);
    window.wait_for_text("I begin and I end.");
    window.wait_for_text("All is well.");
}
