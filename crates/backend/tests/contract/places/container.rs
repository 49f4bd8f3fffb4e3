use std::fs;
use std::os::unix::fs::symlink;

use bosun_backend::{ContainerOptions, ProjectIn, SandboxBackend, container as open};

use super::{is_here, missing, ran};

const IMAGE: &str = "localhost/bosun-test-busybox";

/// A container of a busybox image with a folder of its own as the project; both go with this.
pub struct Container {
    pub folder: tempfile::TempDir,
    pub backend: SandboxBackend,
}

/// What makes Podman work where there is neither systemd nor room for its usual limits.
fn options() -> ContainerOptions {
    let words = |text: &str| text.split_whitespace().map(Into::into).collect();
    ContainerOptions {
        engine: Some("/usr/bin/podman".into()),
        engine_args: words("--runtime runc --cgroup-manager=cgroupfs"),
        run_args: words("--ulimit nofile=1024:1024 --ulimit nproc=1000:1000"),
        ..ContainerOptions::default()
    }
}

pub async fn container() -> Option<Container> {
    let all = ["/usr/bin/podman", "runc", "busybox"].into_iter().all(is_here);
    if !all {
        return missing("Podman with runc and a busybox", "apt-get install podman runc busybox-static");
    }
    make_image();
    let folder = tempfile::tempdir().unwrap();
    let executor = open(IMAGE, Some(folder.path()), options()).await.unwrap();
    Some(Container { folder, backend: SandboxBackend::new(executor) })
}

/// As [`container`], with a copy of a project that has one file.
pub async fn container_with_a_copy() -> Option<Container> {
    // Makes the image, and says what is missing.
    drop(container().await?);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/a.txt"), "from here\n").unwrap();
    let copied = ContainerOptions { project: ProjectIn::Copied, ..options() };
    let executor = open(IMAGE, Some(folder.path()), copied).await.unwrap();
    Some(Container { folder, backend: SandboxBackend::new(executor) })
}

/// A container that somebody else made and that goes with this, and a backend that came to it by its name.
pub struct Existing {
    name: String,
}

impl Existing {
    pub async fn backend(&self) -> SandboxBackend {
        SandboxBackend::new(open(&self.name, None, options()).await.unwrap())
    }

    /// What a program in it says, asked past Bosun.
    pub fn says(&self, program: &[&str]) -> String {
        let words = ["--runtime", "runc", "--cgroup-manager=cgroupfs", "exec", &self.name];
        ran("/usr/bin/podman", &[&words, program].concat())
    }
}

impl Drop for Existing {
    fn drop(&mut self) {
        ran("/usr/bin/podman", &["rm", "--force", "--time", "0", &self.name]);
    }
}

pub async fn existing() -> Option<Existing> {
    // Makes the image, and says what is missing.
    drop(container().await?);
    let name = format!("bosun-test-{}", std::process::id());
    let mut args = vec!["--runtime", "runc", "--cgroup-manager=cgroupfs", "run", "--detach", "--network", "none"];
    args.extend(["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--workdir", "/tmp", "--name", &name]);
    ran("/usr/bin/podman", &[&args[..], &[IMAGE, "/bin/sleep", "600"]].concat());
    Some(Existing { name })
}

/// What is said of an image that is nowhere.
pub async fn no_such_image() -> Option<String> {
    // Says what is missing.
    drop(container().await?);
    let refused = open("localhost:1/bosun-test-nowhere", None, options()).await.err();
    Some(refused.map(|refused| refused.to_string()).unwrap_or_default())
}

/// One static busybox under all its names. Tests that come at the same time make the same image.
fn make_image() {
    let is_made = || {
        let asked = std::process::Command::new("/usr/bin/podman").args(["image", "exists", IMAGE]).status();
        asked.is_ok_and(|status| status.success())
    };
    if is_made() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("root/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(folder.path().join("root/tmp")).unwrap();
    let program = ran("/bin/sh", &["-c", "command -v busybox"]);
    fs::copy(&program, bin.join("busybox")).unwrap();
    for name in ran(&program, &["--list"]).lines().filter(|name| *name != "busybox") {
        symlink("busybox", bin.join(name)).unwrap();
    }
    let (root, tar) = (folder.path().join("root"), folder.path().join("image.tar"));
    let (root, tar) = (root.to_str().unwrap(), tar.to_str().unwrap());
    ran("tar", &["-C", root, "-cf", tar, "."]);
    ran("/usr/bin/podman", &["import", "--quiet", tar, IMAGE]);
}
