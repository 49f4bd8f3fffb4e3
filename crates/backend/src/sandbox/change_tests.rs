use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;

use super::super::intercepted::intercepted;
use super::super::script::{REMOVE, REMOVE_TREE, WRITE};
use crate::{
    Backend, BackendError, BoxFuture, ExecRequest, ExecResult, Executor, Expect, Finished, LocalExecutorOptions,
    OnDrop, OutputSink, SandboxBackend, Script, Unwitnessed, VirtualPath, local_process,
};

/// All below a folder, folders with a slash and files with what they hold.
fn state(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.push(format!("{}/", path.display()));
            found.extend(state(&path));
        } else {
            found.push(format!("{}: {}", path.display(), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// What is done where a link takes the place of a file or of a folder.
#[derive(Clone, Copy, Debug)]
enum Done {
    Write(&'static str),
    Delete(&'static str),
}

/// P13: a link that leads out takes the place of `swapped` before `program` whenever a script runs that, for as long as it
/// runs or for good. Nothing outside is made, changed or taken away.
async fn nothing_is_led_out(program: &str, swapped: &str, target: &str, done: Done) {
    for back in ["true", "command rm -f $at; command mv $at.kept $at 2>/dev/null"] {
        let top = tempfile::tempdir().unwrap();
        let (project, out) = (top.path().join("proj"), top.path().join("out"));
        for folder in [project.join("dir/sub"), out.join("sub"), out.join("new/deep")] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in ["proj/own", "proj/dir/f", "proj/dir/sub/f", "out/f", "out/sub/f"] {
            fs::write(top.path().join(file), "as it was").unwrap();
        }
        let before = format!(
            "{program}() {{ at={}; [ -L $at ] || {{ command mv $at $at.kept; command ln -s {target} $at; }}; \
             command {program} \"$@\"; s=$?; {back}; return $s; }}",
            project.join(swapped).display()
        );
        let meddled = intercepted(&project, move |Script { text, .. }| match *text {
            WRITE | REMOVE | REMOVE_TREE => Ok(format!("{before}\n{text}").into()),
            _ => Ok((*text).into()),
        });
        let backend = SandboxBackend::open(meddled).await;
        let was = state(&out);
        let path = |name| VirtualPath::parse(name).unwrap();
        let ended = match done {
            Done::Write(name) => {
                backend.write(&path(name), b"new".to_vec(), Expect::Anything, &Unwitnessed).await.map(drop)
            }
            Done::Delete(name) => {
                backend.deleter().unwrap().delete(&path(name), Expect::Anything, &Unwitnessed).await.map(drop)
            }
        };
        assert_eq!(state(&out), was, "{program} {swapped} {target} {done:?} {back}: {ended:?}");
    }
}

/// Somebody who holds the lock of a folder for ever keeps nobody for longer than somebody here waits.
#[tokio::test]
async fn a_lock_that_nobody_lets_go_ends_no_change() {
    let top = tempfile::tempdir().unwrap();
    for name in ["own", "gone", "dir/f", "dir/sub/f"] {
        let path = top.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "as it was").unwrap();
    }
    let folders = ["", "dir", "dir/sub"].map(|name| fs::File::open(top.path().join(name)).unwrap());
    for folder in &folders {
        folder.lock().unwrap();
    }
    let impatient = intercepted(top.path(), |Script { text, .. }| {
        assert!(!text.contains("hold\n") || text.contains("$V -lt 200"), "{text}");
        Ok(text.replace("$V -lt 200", "$V -lt 2").into())
    });
    let backend = SandboxBackend::open(impatient).await;
    let path = |name| VirtualPath::parse(name).unwrap();
    backend.write(&path("/own"), b"new".to_vec(), Expect::Anything, &Unwitnessed).await.unwrap();
    for name in ["/gone", "/dir"] {
        backend.deleter().unwrap().delete(&path(name), Expect::Anything, &Unwitnessed).await.unwrap();
    }
    assert_eq!(state(top.path()), [format!("{}: new", top.path().join("own").display())]);
}

/// An executor that has no time for changes.
struct Hurried(Arc<dyn Executor>);

impl Executor for Hurried {
    fn root(&self) -> &str {
        self.0.root()
    }

    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        let is_change = script.on_drop == OnDrop::Finish;
        let time = if is_change { Duration::from_millis(300) } else { script.time };
        Box::pin(async move {
            let text = if is_change { "sleep 60" } else { script.text };
            self.0.run(Script { text, time, ..script }).await
        })
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        self.0.execute(request, sink)
    }

    fn default_timeout(&self) -> Duration {
        self.0.default_timeout()
    }

    fn sandbox(&self) -> Option<&str> {
        self.0.sandbox()
    }
}

/// What was begun may come to its end after nobody waits for it any more.
#[tokio::test]
async fn a_change_that_takes_too_long_may_be_made_or_not() {
    let top = tempfile::tempdir().unwrap();
    for name in ["own", "dir/f"] {
        let path = top.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "as it was").unwrap();
    }
    let inner = local_process(top.path(), LocalExecutorOptions::default()).unwrap();
    let backend = SandboxBackend::open(Arc::new(Hurried(inner))).await;
    let path = |name| VirtualPath::parse(name).unwrap();
    let deleter = backend.deleter().unwrap();
    let refused = [
        backend.write(&path("/own"), b"new".to_vec(), Expect::Anything, &Unwitnessed).await.map(drop).unwrap_err(),
        deleter.delete(&path("/own"), Expect::Anything, &Unwitnessed).await.map(drop).unwrap_err(),
        deleter.delete(&path("/dir"), Expect::Anything, &Unwitnessed).await.map(drop).unwrap_err(),
    ];
    let said = refused.map(|error| error.to_string());
    let expected = ["/own", "/own", "/dir"].map(|name| {
        format!(
            "'{name}' may be changed or not: it took too long there, and may go on; look at it before changing it again"
        )
    });
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_link_that_comes_in_between_leads_no_write_out() {
    for program in ["chmod", "cksum", "cat", "cp", "ln", "ls", "mkdir", "mv", "pwd", "rm", "rmdir", "sync", "wc"] {
        nothing_is_led_out(program, "own", "../out/f", Done::Write("/own")).await;
        nothing_is_led_out(program, "own", "../out/sub", Done::Write("/own")).await;
        for name in ["/dir/f", "/dir/absent", "/dir/new/deep/absent"] {
            nothing_is_led_out(program, "dir", "../out", Done::Write(name)).await;
        }
    }
}

#[tokio::test]
async fn a_link_that_comes_in_between_leads_no_delete_out() {
    for program in ["cat", "pwd", "rm", "rmdir", "sha256sum", "sync", "xargs"] {
        nothing_is_led_out(program, "own", "../out/f", Done::Delete("/own")).await;
        for name in ["/dir", "/dir/f", "/dir/sub"] {
            nothing_is_led_out(program, "dir", "../out", Done::Delete(name)).await;
        }
    }
}
