//! Folders that are no project, and a data folder that cannot be used.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use bosun_protocol::{Language, Theme};
use bosun_testkit::{Ending, ModelServer, Reply, Rule};

use crate::harness::{Desk, Window};
use crate::scene::{LOOK, ask, at_work, pane, project, seed};

/// Lets the person pick `folder` and waits for the sentence that refuses it.
fn refused(desk: &Desk, window: &Window<'_>, folder: &Path, sentence: &str) {
    desk.pick(folder);
    window.press("Control+o");
    window.wait_for_text(sentence);
}

#[test]
fn what_is_no_project_folder_is_refused_with_the_way_out() {
    let desk = Desk::plan("folders").set_up();
    let server = ModelServer::start();
    let window = at_work(&desk, &server);
    let here = desk.project();
    refused(&desk, &window, &here.join("gone"), "does not exist; choose another");
    refused(&desk, &window, &here.join("greet.py"), "is a file, not a folder");
    refused(&desk, &window, &desk.home(), "is your home folder");
    refused(&desk, &window, Path::new("/"), "is the whole machine");
    window.shot("refused");
    let closed = here.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    refused(&desk, &window, &closed, "have no permission to read the folder");
    window.shot("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(window.text().contains("What should be done?"), "the project that was open is left");
}

#[test]
fn what_goes_wrong_is_said_in_chinese() {
    let desk = Desk::plan("folders-zh").without_keyring().language("zh-CN").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("开始").reply(Reply::text("好").ending(Ending::CutAfterBytes(300))));
    seed(&desk, &server, (Theme::Dark, Language::SimplifiedChinese));
    project(&desk.project());
    let window = crate::scene::reopen(&desk);
    window.wait_for_text("要做什么？");
    let here = desk.project();
    refused(&desk, &window, &here.join("gone"), "不存在；请另选一个，或先创建它");
    refused(&desk, &window, Path::new("/"), "是整台机器；请选择只含一个项目的文件夹");
    window.shot("refused");
    window.field("消息").write("开始");
    window.button("发送").click();
    window.wait_for_text("的回复在完成之前就中断");
    window.wait_for_text("；请重试");
    window.shot("cut");
}

#[test]
fn a_folder_is_chosen_in_the_dialog_of_the_system() {
    const DIALOG: &str = "Choose a project folder";
    // It is on the screen before it takes keys, and says nothing of when it does: they are given again.
    let until_gone = |desk: &Desk, keys: &dyn Fn(&str)| {
        for _ in 0..10 {
            keys(&desk.wait_for_window(DIALOG));
            if desk.is_gone_within(DIALOG, Duration::from_secs(2)) {
                return;
            }
        }
        panic!("the dialog takes no keys");
    };
    let desk = Desk::plan("native-folder").without_keyring().env("BOSUN_PICK_FOLDER", "").set_up();
    let server = ModelServer::start();
    let window = at_work(&desk, &server);
    let garden = desk.home().join("garden");
    fs::create_dir(&garden).unwrap();
    window.press("Control+o");
    until_gone(&desk, &|dialog| desk.press_in(dialog, "Escape"));
    assert!(!window.text().contains("garden"), "nothing was chosen");

    window.press("Control+o");
    until_gone(&desk, &|dialog| {
        // A slash begins a path there; what an earlier try left of one is typed over.
        desk.press_in(dialog, "ctrl+a");
        desk.type_in(dialog, &garden.to_string_lossy());
        desk.picture("typed");
        desk.press_in(dialog, "Return");
    });
    window.wait_for_text("garden");
    window.shot("chosen");
}

#[test]
fn a_project_that_is_gone_is_listed_with_its_reason_and_comes_back_with_it() {
    let desk = Desk::plan("gone").set_up();
    let server = ModelServer::start();
    at_work(&desk, &server).close();
    let elsewhere = desk.home().join("moved");
    fs::rename(desk.project(), &elsewhere).unwrap();
    let window = desk.open();
    window.wait_for_text("No project open");
    window.by_css("button.project").click();
    window.wait_for_text("The folder is gone.");
    window.shot("gone");
    window.press("Escape");
    desk.pick(&elsewhere);
    window.press("Control+o");
    window.wait_for_text("What should be done?");
    window.shot("found");
}

#[test]
fn a_project_that_was_moved_is_found_where_it_is_now_with_its_sessions() {
    let desk = Desk::plan("moved").set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("Say hello").reply("Hello from the old place."));
    server.add(Rule::turn("And again").reply("Hello from the new one."));
    let window = at_work(&desk, &server);
    ask(&window, "Say hello");
    window.wait_for_text("Hello from the old place.");
    window.close();
    let elsewhere = desk.home().join("renamed");
    fs::rename(desk.project(), &elsewhere).unwrap();

    let window = desk.open();
    window.wait_for_text("No project open");
    // A folder that is none is refused, with the way to choose once more.
    desk.pick(&desk.home().join("nowhere"));
    window.by_css("button.project").click();
    window.by_css(".menu-item.moved").click();
    window.wait_for_text("does not exist; choose another");
    window.shot("refused");
    desk.pick(&elsewhere);
    window.button("It moved: choose its folder…").click();
    window.wait_for_text("Hello from the old place.");
    window.wait_for_text("renamed");
    window.shot("moved");
    ask(&window, "And again");
    window.wait_for_text("Hello from the new one.");
}

#[test]
fn a_data_folder_that_cannot_be_used_says_why_and_is_tried_again() {
    let desk = Desk::plan("storage").set_up();
    let server = ModelServer::start();
    seed(&desk, &server, LOOK);
    project(&desk.project());
    let database = desk.data().join("bosun.db");
    let file = fs::File::options().read(true).write(true).open(&database).unwrap();
    // The version of the format, in the header of every SQLite file.
    let mut version = [0; 4];
    file.read_exact_at(&mut version, 60).unwrap();
    file.write_all_at(&[0, 0, 3, 0xe7], 60).unwrap();
    let before = fs::read(&database).unwrap();
    let window = desk.open();
    window.wait_for_text("was written by a newer Bosun (format 999");
    window.shot("newer");
    assert_eq!(fs::read(&database).unwrap(), before, "the file was touched");
    file.write_all_at(&version, 60).unwrap();
    window.button("Try again").click();
    window.wait_for_text("Open a folder to begin");
    window.shot("open");
}

/// No WebDriver reaches a page that keeps nothing; what the window says then is tried on an unusable database above.
#[test]
fn a_file_in_the_data_folders_place_is_left_alone_and_the_window_opens() {
    let desk = Desk::plan("data-file").set_up();
    fs::remove_dir_all(desk.data()).unwrap();
    fs::write(desk.data(), "my notes").unwrap();
    let mut app = desk.start(&[]);
    desk.wait_for_window("Bosun");
    std::thread::sleep(std::time::Duration::from_secs(3));
    desk.picture("said");
    assert_eq!(app.try_wait().unwrap(), None, "it ended: {}", desk.said());
    assert!(desk.ask_to_close());
    assert!(app.wait().unwrap().success());
    assert_eq!(fs::read_to_string(desk.data()).unwrap(), "my notes");
}

#[test]
fn a_locked_database_names_itself() {
    let desk = Desk::plan("locked").set_up();
    let server = ModelServer::start();
    seed(&desk, &server, LOOK);
    let database = desk.data().join("bosun.db");
    let file = fs::File::options().read(true).write(true).open(&database).unwrap();
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let window = desk.open();
    window.wait_for_text("is locked by another program");
    window.shot("locked");
    drop(file);
    window.button("Try again").click();
    window.wait_for_text("Open a folder to begin");
}

#[test]
fn a_folder_that_moves_while_it_is_looked_at_is_told_at_once_and_its_files_go_along() {
    const MOVED: &str = "It moved: choose its folder…";
    let desk = Desk::plan("gone-open").without_keyring().set_up();
    let server = ModelServer::start();
    server.add(Rule::turn("hello").reply("Hello yourself."));
    let window = at_work(&desk, &server);
    ask(&window, "Say hello");
    window.wait_for_text("Hello yourself.");
    pane(&window, "Files");
    let rows = |name: &str| {
        let has =
            "return [...document.querySelectorAll('[role=treeitem]')].some((row) => row.innerText.includes('NAME'))";
        window.wait_until(&has.replace("NAME", name));
    };
    rows("README.md");

    // Nobody did anything in the window: the row, the composer and the pane say so, each with the way out.
    let elsewhere = desk.home().join("moved");
    fs::rename(desk.project(), &elsewhere).unwrap();
    window.wait_until("return document.querySelectorAll('.strip').length === 2");
    window.wait_until("return document.querySelector('button.project').innerText.includes('The folder is gone.')");
    assert_eq!(window.text().matches(MOVED).count(), 2, "{}", window.text());
    window.shot("gone");

    // Back at its place it is as it was.
    fs::rename(&elsewhere, desk.project()).unwrap();
    window.wait_until_gone("The folder is gone.");
    rows("README.md");
    fs::write(desk.project().join("while-back.txt"), "x").unwrap();
    rows("while-back.txt");

    // Chosen where it is now, it is followed there.
    fs::rename(desk.project(), &elsewhere).unwrap();
    window.wait_for_text("The folder is gone.");
    desk.pick(&elsewhere);
    window.button(MOVED).click();
    window.wait_until_gone("The folder is gone.");
    rows("README.md");
    fs::write(elsewhere.join("at-the-new-place.txt"), "x").unwrap();
    rows("at-the-new-place.txt");
    window.shot("followed");
    window.close();
}
