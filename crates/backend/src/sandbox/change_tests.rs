use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::super::intercepted::intercepted;
use super::super::script::{REMOVE, REMOVE_TREE, WRITE};
use crate::{Backend, Expect, SandboxBackend, Script, Unwitnessed, VirtualPath};

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
