//! The tour, from the folder that was chosen to the approved change.

use bosun_testkit::Project;
use serde_json::{Value, json};

use crate::page::Page;

#[test]
fn the_tour_makes_a_folder_of_its_own_and_works_through_the_real_tools() {
    let (page, place) = (Page::open(), Project::new().file("bosun-tour/mine.txt", "mine"));
    assert_eq!(page.ok("start_tour", json!({})), Value::Null);
    *page.desk.picks.lock().unwrap() = Some(place.root().to_owned());
    let tour = page.ok("start_tour", json!({}));
    assert!(tour["project"]["path"].as_str().unwrap().ends_with("bosun-tour-2"), "{tour}");
    assert_eq!(place.read("bosun-tour/mine.txt"), "mine");
    let before = place.tree();
    assert_eq!(tour["session"]["model"]["provider"], "tour");

    let session = tour["session"]["id"].as_str().unwrap();
    page.subscribe(session, 7);
    page.ok("send_message", json!({ "message": { "session": session, "text": tour["task"] } }));
    let approval = page.wait_for_event(7, "approval_requested")["approval"].clone();
    assert_eq!(place.tree(), before, "the tour changed a file before it was allowed to");
    let (call, digest) = (&approval["call_id"], &approval["digest"]);
    let decision = json!({ "session": approval["session"], "call_id": call, "digest": digest, "decision": { "decision": "approve" } });
    page.ok("decide", json!({ "decisions": [decision] }));
    page.wait_for(7, |envelope| {
        let item = &envelope["event"]["item"]["body"];
        (item["call_id"] == *call && item["state"] == "done").then_some(())
    });
    page.ok("stop_turn", json!({ "session": session }));
}

#[test]
fn the_tour_speaks_the_language_of_the_window() {
    let (page, place) = (Page::open(), Project::new());
    *page.desk.picks.lock().unwrap() = Some(place.root().to_owned());
    let settings = json!({ "theme": "light", "language": "zh-CN", "model": null, "welcomed": false });
    page.ok("save_settings", json!({ "settings": settings }));
    let tour = page.ok("start_tour", json!({}));
    assert!(!tour["task"].as_str().unwrap().is_ascii(), "{tour}");
}

#[test]
fn a_place_where_nothing_can_be_made_is_named() {
    let (page, place) = (Page::open(), Project::new().file("file", "x"));
    *page.desk.picks.lock().unwrap() = Some(place.at("file"));
    let error = page.call("start_tour", json!({})).unwrap_err();
    let detail = "Not a directory (os error 20)";
    let problem = json!({ "problem": "sample_not_placed", "folder": place.at("file"), "detail": detail });
    assert_eq!((&error["code"], &error["problem"]), (&json!("project_unusable"), &problem));
}

#[test]
fn a_place_with_too_many_sample_projects_is_named_so_and_gets_no_other() {
    let (page, mut place) = (Page::open(), Project::new().dir("bosun-tour"));
    for number in 2..=999 {
        place = place.dir(&format!("bosun-tour-{number}"));
    }
    *page.desk.picks.lock().unwrap() = Some(place.root().to_owned());
    let error = page.call("start_tour", json!({})).unwrap_err();
    let problem = json!({ "problem": "sample_too_many", "most": 999 });
    assert_eq!((&error["code"], &error["problem"]), (&json!("project_unusable"), &problem));
    assert_eq!(std::fs::read_dir(place.root()).unwrap().count(), 999);
}
