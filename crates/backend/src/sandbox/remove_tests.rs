use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::super::intercepted::intercepted;
use super::super::script;
use crate::{Backend, Expect, SandboxBackend, Script, Unwitnessed, VirtualPath};

/// A tree goes in one script, so that it goes whole: that one has time for all there is in it.
#[tokio::test]
async fn a_tree_has_time_for_what_is_in_it() {
    let top = tempfile::tempdir().unwrap();
    for (folder, files, size) in [("few", 1, 0), ("many", 40, 0), ("large", 1, 3 << 20)] {
        fs::create_dir(top.path().join(folder)).unwrap();
        for file in 0..files {
            fs::write(top.path().join(folder).join(file.to_string()), vec![b'x'; size]).unwrap();
        }
    }
    let given: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let times = Arc::clone(&given);
    let timed = intercepted(top.path(), move |Script { text, time, .. }| {
        if *text == script::REMOVE_TREE {
            times.lock().unwrap().push(*time);
        }
        Ok((*text).into())
    });
    let backend = SandboxBackend::open(timed).await;
    for folder in ["/few", "/many", "/large"] {
        let path = VirtualPath::parse(folder).unwrap();
        backend.deleter().unwrap().delete(&path, Expect::Anything, &Unwitnessed).await.unwrap();
    }
    let given = given.lock().unwrap();
    let over: Vec<Duration> = given.iter().map(|time| time.saturating_sub(script::TIME)).collect();
    assert_eq!(over, [50, 2_000, 3_050].map(Duration::from_millis));
    // What is deleted at most in one go.
    assert!(super::time_for(super::MAX_ENTRIES, 0) > Duration::from_secs(1_000));
}
