//! What a command in the sandbox can do to repositories, asked of a real git by somebody outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bosun_testkit::missing;
use pretty_assertions::assert_eq;

use super::{LocalExecutorOptions, SandboxBackend, bubblewrap};
use crate::{Backend, BackendError, ExecRequest, ExecResult, OutputSink, VirtualPath};

struct Deaf;

impl OutputSink for Deaf {
    fn output(&self, _bytes: &[u8]) {}
}

/// A project beside `ran`, a file that is there once git has run what a command left.
struct Scene {
    top: tempfile::TempDir,
    proj: PathBuf,
    backend: SandboxBackend,
}

impl Scene {
    /// `None` where there is no sandbox or no git, which CI has to have.
    async fn new() -> Option<Self> {
        let top = tempfile::tempdir().unwrap();
        let proj = top.path().join("proj");
        fs::create_dir(&proj).unwrap();
        let executor = match bubblewrap(&proj, LocalExecutorOptions::default()).await {
            Ok(executor) => executor,
            Err(error) => return missing(&error.to_string(), "apt-get install bubblewrap"),
        };
        if Command::new("git").arg("version").output().is_err() {
            return missing("git", "apt-get install git");
        }
        Some(Self { backend: SandboxBackend::open(executor).await, top, proj })
    }

    async fn try_run(&self, command: &str) -> Result<ExecResult, BackendError> {
        self.backend.shell().unwrap().execute(ExecRequest::new(command), &Deaf).await
    }

    async fn run(&self, command: &str) -> ExecResult {
        self.try_run(command).await.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// What a command made that runs later.
    async fn armed(&self, command: &str) -> Vec<String> {
        self.run(command).await.armed.iter().map(VirtualPath::to_string).collect()
    }

    /// Outside, in a folder of the project.
    fn outside(&self, folder: &str, program: &str, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(program);
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            command.env_remove(name);
        }
        let settings = [("user.name", "a"), ("user.email", "a@b"), ("protocol.file.allow", "always")];
        command.env("GIT_CONFIG_COUNT", settings.len().to_string()).env("GIT_CEILING_DIRECTORIES", self.top.path());
        for (number, (key, value)) in settings.into_iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        let output = command.args(args).current_dir(self.proj.join(folder)).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    fn git(&self, folder: &str, line: &str) {
        let (done, said) = self.outside(folder, "git", &line.split(' ').collect::<Vec<_>>());
        assert!(done, "git {line}: {said}");
    }

    /// What a shell's prompt asks, and whether git found something to run by that.
    fn is_armed(&self, folder: &str) -> bool {
        self.outside(folder, "git", &["status"]);
        self.outside(folder, "git", &["config", "--get", "core.fsmonitor"]).0 || self.top.path().join("ran").exists()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(self.proj.join(folder)).unwrap().map(name).collect();
        names.sort_unstable();
        names
    }
}

/// Every kind of repository that a project can have, with a commit each: its folder of git's, and where git is asked.
const REPOSITORIES: [(&str, &str); 5] = [
    (".git", "."),
    (".git/modules/deep/lib", "lib"),
    (".git/worktrees/tree", "tree"),
    ("sub/.git", "sub"),
    ("store.git", "store.git"),
];

/// The one of them that says that it has no work tree.
const BARE: &str = "store.git";

fn with_repositories(scene: &Scene) {
    scene.git("", "init -q .");
    fs::create_dir_all(scene.proj.join(".git/modules/deep")).unwrap();
    scene.git("", "commit -q --allow-empty -m one");
    scene.git("", "init -q --separate-git-dir .git/modules/deep/lib lib");
    scene.git("", "worktree add -q tree");
    scene.git("", "init -q sub");
    scene.git("", "init -q --bare store.git");
    for folder in ["", "lib", "sub", "store.git"] {
        scene.git(folder, "config extensions.worktreeConfig true");
    }
}

/// Git reads settings and hooks from wherever `commondir` says, and more settings from `config.worktree`.
#[tokio::test]
async fn no_file_of_a_repository_leads_git_to_other_settings() {
    let Some(scene) = Scene::new().await else { return };
    with_repositories(&scene);
    let evil = "cp -r .git evil && git config -f evil/config core.fsmonitor 'touch ../ran; false'";
    scene.run(evil).await;
    let attempts = |git: &str| {
        [
            format!("echo \"$PWD/evil\" > {git}/commondir"),
            format!("rm -f {git}/commondir; echo \"$PWD/evil\" > {git}/commondir"),
            format!("echo \"$PWD/evil\" > made; mv -T made {git}/commondir"),
            format!("cp evil/config {git}/config.worktree"),
            format!("ln -sf \"$PWD/evil/config\" {git}/config.worktree"),
            format!("mv {git} {git}.old && cp -r evil {git}"),
        ]
    };
    for (git, asked) in REPOSITORIES.into_iter().filter(|(git, _)| *git != BARE) {
        for attempt in attempts(git) {
            let ran = scene.run(&attempt).await;
            assert_ne!(ran.exit_code, Some(0), "{attempt}");
            assert!(!scene.is_armed(asked), "{attempt}: {}", ran.output);
        }
        let made = ["commondir", "config.worktree"].map(|name| scene.proj.join(git).join(name));
        let own = git.contains("worktrees");
        assert_eq!(made.map(|name| name.exists()), [own, false], "{git}: no placeholder stays");
    }
    // Where nothing holds it, it is as dangerous as that.
    assert!(scene.outside("", "sh", &["-c", &attempts(".git")[0]]).0 && scene.is_armed("."));
}

/// What the settings name is as much a part of them.
#[tokio::test]
async fn hooks_and_settings_that_a_repository_has_elsewhere_are_held() {
    let Some(scene) = Scene::new().await else { return };
    with_repositories(&scene);
    for folder in ["hooks", "tools/hooks", "settings"] {
        fs::create_dir_all(scene.proj.join(folder)).unwrap();
    }
    scene.git("", "config core.hooksPath tools/hooks");
    scene.git("", "config include.path ../settings/git");
    scene.git("sub", "config core.hooksPath hooks/deep/er");
    fs::write(scene.proj.join("settings/git"), "[include]\n\tpath = more\n").unwrap();
    for attempt in ["echo x > tools/hooks/post-commit", "mv tools other", "echo x >> settings/git"] {
        let ran = scene.run(attempt).await;
        assert_ne!(ran.exit_code, Some(0), "{attempt}");
    }
    assert_eq!((scene.names("tools/hooks"), scene.names("settings")), (vec![], vec!["git".to_owned()]));
    assert_eq!(scene.run("echo x > hooks/mine").await.exit_code, Some(0));
    // Of what is not there nothing is made up: that it came to be is told, and by then it is held.
    assert_eq!(scene.armed("git config -f settings/more core.fsmonitor x").await, ["/settings/more"]);
    assert_ne!(scene.run("echo x >> settings/more").await.exit_code, Some(0));
    let made = "mkdir -p sub/hooks/deep/er; echo x > sub/hooks/deep/er/post-commit";
    assert_eq!(scene.armed(made).await, ["/sub/hooks/deep/er"]);
    assert_ne!(scene.run("echo x > sub/hooks/deep/er/pre-push").await.exit_code, Some(0));
}

/// Where git is told that there is no work tree, or where it is, what stands for missing files would have it forget that.
#[tokio::test]
async fn a_repository_that_says_where_its_work_tree_is_keeps_to_it() {
    let Some(scene) = Scene::new().await else { return };
    scene.git("", "init -q --bare .git");
    scene.git("", "init -q placed");
    fs::create_dir(scene.proj.join("tree")).unwrap();
    scene.git("placed", "config core.worktree ../../tree");
    scene.git("placed", "config core.hooksPath ~/.githooks");
    scene.git("placed", "config include.path ../.gitconfig");
    let bare = scene.run("git add -A").await;
    assert!(bare.output.contains("must be run in a work tree"), "{}", bare.output);
    let placed = scene
        .run("cd placed && ls -A . .git; cd ../tree; git --git-dir ../placed/.git rev-parse --show-toplevel")
        .await;
    assert!(placed.output.contains("/proj/tree") && !placed.output.contains('~'), "{}", placed.output);
    assert!(!placed.output.contains("gitconfig") && !placed.output.contains("commondir"), "{}", placed.output);
    assert_eq!(scene.armed("echo ../evil > .git/commondir").await, ["/.git/commondir"], "what comes of it is told");
    fs::remove_file(scene.proj.join(".git/commondir")).unwrap();
    assert_eq!(scene.armed("echo > placed/.gitconfig").await, ["/placed/.gitconfig"]);
    // Also one that looks as if it stood for what is missing.
    let dressed = "printf ../../e > placed/.git/commondir; chmod 1444 placed/.git/commondir";
    assert_eq!(scene.armed(dressed).await, ["/placed/.git/commondir"]);
    assert_ne!(scene.run("rm -f placed/.git/commondir").await.exit_code, Some(0), "by then it is held");
}

/// However many repositories there are, the one at the top is held.
#[tokio::test]
async fn many_repositories_do_not_crowd_out_the_one_at_the_top() {
    let Some(scene) = Scene::new().await else { return };
    scene.git("", "init -q .");
    let many = scene.run("mkdir .git/worktrees; for n in $(seq 500); do mkdir .git/worktrees/$n; done").await;
    assert_eq!(many.exit_code, Some(0));
    let more = scene.run("true").await;
    assert!(more.unheld, "that there are more than are held is told");
    for attempt in ["git config core.fsmonitor x", "echo x > .git/hooks/post-commit", "echo x > .git/commondir"] {
        assert_ne!(scene.run(attempt).await.exit_code, Some(0), "{attempt}");
    }
}

/// Git takes hooks that are named from the top from that of the work tree it is asked in.
#[tokio::test]
async fn every_work_tree_has_its_hooks_held_and_told() {
    let Some(scene) = Scene::new().await else { return };
    scene.git("", "init -q .");
    scene.git("", "commit -q --allow-empty -m one");
    scene.git("", "worktree add -q tree");
    scene.git("", "init -q --bare store.git");
    scene.git("", "config core.hooksPath hk");
    scene.git("store.git", "config core.hooksPath hk");
    fs::create_dir(scene.proj.join("hk")).unwrap();
    assert_ne!(scene.run("echo x > hk/post-commit").await.exit_code, Some(0));
    for folder in ["tree", "store.git"] {
        let made = format!("mkdir {folder}/hk; echo x > {folder}/hk/post-commit");
        assert_eq!(scene.armed(&made).await, [format!("/{folder}/hk")]);
        assert_ne!(scene.run(&format!("echo x > {folder}/hk/post-commit")).await.exit_code, Some(0), "{folder}");
    }
    // One work tree may have settings, and hooks, of its own.
    scene.git("", "config extensions.worktreeConfig true");
    scene.git("tree", "config --worktree core.hooksPath own");
    assert_eq!(scene.armed("mkdir tree/own; echo x > tree/own/post-commit").await, ["/tree/own"]);
    // What stands for a missing name while a command runs is nobody's doing.
    scene.git("", "config core.hooksPath .husky");
    assert_eq!(scene.armed("true").await, [""; 0]);
    // A link on the way to what is not there is as good as that.
    scene.git("", "config core.hooksPath tools/hk");
    assert_eq!(scene.armed("mkdir -p evil/hk; ln -s evil tools").await, ["/tools"]);
    fs::remove_file(scene.proj.join("tools")).unwrap();
    // The settings may be outside of the project, where it has but a work tree.
    scene.git("..", "init -q whole");
    scene.git("../whole", "commit -q --allow-empty -m one");
    scene.git("../whole", "config core.hooksPath my/hk");
    scene.git("../whole", "worktree add -q ../proj/own");
    assert_eq!(scene.armed("mkdir -p own/my/hk; echo x > own/my/hk/post-commit").await, ["/own/my/hk"]);
    assert_ne!(scene.run("echo x > own/my/hk/post-commit").await.exit_code, Some(0));
}

/// What stands for the missing parts disturbs git neither inside nor beside the command.
#[tokio::test]
async fn git_works_in_the_sandbox_and_beside_it() {
    let Some(scene) = Scene::new().await else { return };
    with_repositories(&scene);
    let settings = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; set -e; ";
    for work in [
        "echo 1 > a; git add a; git commit -qm two; git checkout -qb other; git stash list; git gc -q; git fsck",
        "git worktree list; git worktree add -q --detach again; git -C again status; git worktree remove again",
        "cd sub; echo 1 > a; git add a; git commit -qm one; git status",
        "cd lib; echo 1 > a; git add a; git commit -qm one; git rebase -q --root -x true; git status",
        "cd tree; echo 1 > a; git add a; git commit -qm one; git log",
        "git clone -q sub scratch; cd scratch; git log",
    ] {
        let ran = scene.run(&format!("{settings}{work}")).await;
        assert_eq!(ran.exit_code, Some(0), "{work}: {}", ran.output);
    }
    let long = scene.run("echo > started; while [ ! -e go ]; do sleep 0.05; done");
    let beside = async {
        while !scene.proj.join("started").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        for (git, folder) in REPOSITORIES {
            assert_eq!(scene.proj.join(git).join("commondir").exists(), git != BARE, "{git} is held");
            scene.git(folder, "rev-parse --git-dir");
            scene.git(folder, "log --all");
        }
        scene.git("", "status");
        scene.git("lib", "status");
        fs::write(scene.proj.join("go"), "").unwrap();
    };
    tokio::join!(long, beside);
}

/// A repository at the top would be git's for every prompt in the project.
#[tokio::test]
async fn a_project_that_is_no_repository_is_made_none() {
    let Some(scene) = Scene::new().await else { return };
    fs::write(scene.proj.join("a"), "a").unwrap();
    let set = "git config core.fsmonitor 'touch ../ran; false'";
    for attempt in [
        format!("git init -q . && {set}"),
        format!("git init -q made && cd made && {set} && mv -T .git ../.git"),
        "rm -rf .git; mkdir .git && echo x > .git/config".to_owned(),
        "echo 'gitdir: made/.git' > .git".to_owned(),
        "ln -sfT made/.git .git".to_owned(),
        "GIT_DIR=made git init -q; echo 'gitdir: made' > x; mv -T x .git".to_owned(),
    ] {
        let ran = scene.run(&attempt).await;
        assert_ne!(ran.exit_code, Some(0), "{attempt}");
        assert!(!scene.is_armed("."), "{attempt}: {}", ran.output);
        assert!(!scene.proj.join(".git").exists(), "{attempt}: no placeholder stays");
    }
    // One that a crash left behind goes with the next command.
    fs::create_dir(scene.proj.join(".git")).unwrap();
    fs::set_permissions(scene.proj.join(".git"), std::os::unix::fs::PermissionsExt::from_mode(0o1555)).unwrap();
    assert_ne!(scene.run("echo x > .git/config").await.exit_code, Some(0));
    assert!(!scene.proj.join(".git").exists());
}

/// Elsewhere a command can make what runs later; it is told, whatever ignore files say.
#[tokio::test]
async fn what_a_command_made_that_runs_later_is_told_once() {
    let Some(scene) = Scene::new().await else { return };
    fs::write(scene.proj.join(".gitignore"), "ignored/\n").unwrap();
    for (command, told) in [
        ("git init -q sub; git init -q sub/ignored/deep", &["/sub/.git/config", "/sub/ignored/deep/.git/config"][..]),
        ("cd sub && git status", &[]),
        ("git init -q --bare store.git", &["/store.git/config"]),
        (
            "mkdir bare && echo 'ref: refs/heads/x' > bare/HEAD && echo ../store.git > bare/commondir",
            &["/bare", "/bare/commondir"],
        ),
        ("git init -q --bare tmp && mv tmp/* .", &["/config"]),
        ("echo 'gitdir: ../store.git' > bare/.git", &["/bare/.git"]),
        ("mkdir -p sub/.git/modules/m && echo x > sub/.git/modules/m/HEAD", &["/sub/.git/modules/m"]),
        ("mkdir ignored; echo x > ignored/.envrc; ln -s x ignored/.vscode", &["/ignored/.envrc", "/ignored/.vscode"]),
        ("mkdir -p vendor/.git", &["/vendor/.git"]),
        ("mkdir -p src/target/.vscode", &["/src/target/.vscode"]),
        // What is in these is run by whoever starts what was installed or built.
        ("mkdir -p node_modules/x/.vscode target/.idea; echo x > target/CACHEDIR.TAG", &[]),
        ("mkdir -p sub/.git/rebase-merge; echo 'pick 1' > sub/.git/rebase-merge/git-rebase-todo", &[]),
        ("echo 'exec touch x' > sub/.git/rebase-merge/git-rebase-todo", &["/sub/.git/rebase-merge/git-rebase-todo"]),
        ("true", &[]),
        ("echo 'x touch y' > sub/.git/rebase-merge/git-rebase-todo", &["/sub/.git/rebase-merge/git-rebase-todo"]),
    ] {
        assert_eq!(scene.armed(command).await, told, "{command}");
    }
    assert_ne!(scene.run("echo x >> sub/.git/config").await.exit_code, Some(0), "by then it is held");
    for link in ["sub/ignored/.git", "sub/.git/modules/other", "ignored/.git"] {
        let path = VirtualPath::parse(&format!("/{link}")).unwrap();
        let made = scene.armed(&format!("ln -s {} {link}", scene.proj.join("store.git").display())).await;
        assert_eq!(made, [path.as_str()]);
        assert_eq!(scene.try_run("true").await.unwrap_err(), BackendError::GuardIsLink { path });
        fs::remove_file(scene.proj.join(link)).unwrap();
    }
}

/// Also where a person works in a part of a repository.
#[tokio::test]
async fn a_part_of_a_repository_stays_one() {
    let Some(scene) = Scene::new().await else { return };
    let above = scene.top.path();
    let status = |folder: &Path| Command::new("git").arg("status").current_dir(folder).output().unwrap().status;
    assert!(Command::new("git").args(["init", "-q"]).current_dir(above).status().unwrap().success());
    let long = scene.run("echo > started; while [ ! -e go ]; do sleep 0.05; done");
    let beside = async {
        while !scene.proj.join("started").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(status(&scene.proj).success() && status(above).success());
        fs::write(scene.proj.join("go"), "").unwrap();
    };
    tokio::join!(long, beside);
}
