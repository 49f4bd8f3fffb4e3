use bosun_testkit::{Reply, Rule};
use serde_json::json;

use crate::bench::{Bench, of};

/// The whole way: a real program, a real file, what the system notices, and what the model's server is sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_saved_while_the_model_thinks_is_told_with_the_next_step() {
    let mut bench = Bench::new();
    bench.project = bench.project.file("a.txt", "one\n").file("b.txt", "two\n");
    let read = |name: &str| Reply::new().and_call("read_file", json!({ "file_path": name }));
    let ls = || Reply::new().and_call("ls", json!({ "path": "/" }));
    let steps = Rule::turn("look")
        .reply(read("/a.txt").and_call("read_file", json!({ "file_path": "/b.txt" })))
        .reply(ls().and_gate("thinking"))
        .reply(ls())
        .reply(read("/a.txt"))
        .reply("Done.");
    bench.server.add(steps);
    let child = bench.run_command(&["look around"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let gate = bench.server.gate("thinking");
    tokio::time::timeout(std::time::Duration::from_secs(120), gate.reached()).await.unwrap();
    bench.project.write("a.txt", "saved by somebody else\n");
    bench.project.write("c.txt", "nobody has read this\n");
    // What the system notices it notices at once; a busy machine is given a moment.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    gate.open();
    let ran = of(tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let told: Vec<usize> = bench
        .server
        .requests()
        .iter()
        .filter(|request| request.path.contains("completions"))
        .map(|request| String::from_utf8_lossy(&request.body).matches("<files_changed>").count())
        .collect();
    assert_eq!(told, [0, 0, 1, 1, 1], "with the next step, and once");
    let last = bench.server.requests().pop().unwrap();
    let said = String::from_utf8_lossy(&last.body).into_owned();
    assert!(said.contains("- /a.txt\\n") && !said.contains("- /b.txt") && !said.contains("- /c.txt"), "{said}");
}
