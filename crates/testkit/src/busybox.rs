use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::part::{is_here, missing, ran};

/// The name of the image that [`busybox_image`] makes.
const IMAGE: &str = "localhost/bosun-test-busybox";

/// What makes Podman work where there is neither systemd nor room for its usual limits: words in front of its command,
/// and behind its `run`.
pub const PODMAN_WORDS: [&str; 2] =
    ["--runtime runc --cgroup-manager=cgroupfs", "--ulimit nofile=1024:1024 --ulimit nproc=1000:1000"];

/// The same as a file of settings, which Podman takes from the variable `CONTAINERS_CONF`.
pub const PODMAN_SETTINGS: &str = r#"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
"#;

/// The name of a Podman image of a static busybox, made where it is not there yet. `None` where Podman is not on this
/// machine, after saying so.
pub fn busybox_image() -> Option<&'static str> {
    let all = ["/usr/bin/podman", "runc", "busybox"].into_iter().all(is_here);
    if !all {
        return missing("Podman with runc and a busybox", "apt-get install podman runc busybox-static");
    }
    make_image();
    Some(IMAGE)
}

/// One static busybox under all its names. Tests that come at the same time make the same image.
fn make_image() {
    let is_made = || {
        let asked = Command::new("/usr/bin/podman").args(["image", "exists", IMAGE]).status();
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
