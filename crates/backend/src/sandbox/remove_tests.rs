use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::super::script;
use crate::{
    Backend, BackendError, BoxFuture, ExecRequest, ExecResult, Executor, Expect, Finished, LocalExecutorOptions,
    OutputSink, SandboxBackend, Script, Unwitnessed, VirtualPath, local_process,
};

/// This machine, with the time that each script was given for what `text` does.
struct Timed {
    inner: Arc<dyn Executor>,
    text: &'static str,
    times: Mutex<Vec<Duration>>,
}

impl Executor for Timed {
    fn root(&self) -> &str {
        self.inner.root()
    }

    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        if script.text == self.text {
            self.times.lock().unwrap().push(script.time);
        }
        self.inner.run(script)
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        self.inner.execute(request, sink)
    }

    fn default_timeout(&self) -> Duration {
        self.inner.default_timeout()
    }

    fn sandbox(&self) -> Option<&str> {
        self.inner.sandbox()
    }
}

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
    let inner = local_process(top.path(), LocalExecutorOptions::default()).unwrap();
    let timed = Arc::new(Timed { inner, text: script::REMOVE_TREE, times: Mutex::default() });
    let backend = SandboxBackend::open(Arc::clone(&timed) as Arc<dyn Executor>).await;
    for folder in ["/few", "/many", "/large"] {
        let path = VirtualPath::parse(folder).unwrap();
        backend.deleter().unwrap().delete(&path, Expect::Anything, &Unwitnessed).await.unwrap();
    }
    let times = timed.times.lock().unwrap();
    let over: Vec<Duration> = times.iter().map(|time| time.saturating_sub(script::TIME)).collect();
    assert_eq!(over, [50, 2_000, 3_050].map(Duration::from_millis));
    // What is deleted at most in one go.
    assert!(super::time_for(super::MAX_ENTRIES, 0) > Duration::from_secs(1_000));
}
