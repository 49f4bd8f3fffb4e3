use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use bosun_backend::{ContainerOptions, ProjectIn, SandboxBackend, container as open};

use bosun_testkit::{PODMAN_WORDS, busybox_image, ran};

/// A container of a busybox image with a folder of its own as the project; both go with this.
pub struct Container {
    pub folder: tempfile::TempDir,
    pub backend: SandboxBackend,
}

fn options() -> ContainerOptions {
    let words = |text: &str| text.split_whitespace().map(Into::into).collect();
    let [engine_args, run_args] = PODMAN_WORDS.map(words);
    ContainerOptions { engine: Some("/usr/bin/podman".into()), engine_args, run_args, ..ContainerOptions::default() }
}

pub async fn container() -> Option<Container> {
    let image = busybox_image()?;
    let folder = tempfile::tempdir().unwrap();
    let executor = open(image, Some(folder.path()), options()).await.unwrap();
    Some(Container { folder, backend: SandboxBackend::open(executor).await })
}

/// As [`container`], around a folder of the caller's.
pub async fn container_of(folder: &std::path::Path) -> Option<SandboxBackend> {
    let image = busybox_image()?;
    let executor = open(image, Some(folder), options()).await.unwrap();
    Some(SandboxBackend::open(executor).await)
}

/// As [`container`], with a copy of an empty project.
pub async fn container_with_a_copy_of_nothing() -> Option<Container> {
    let image = busybox_image()?;
    let folder = tempfile::tempdir().unwrap();
    let copied = ContainerOptions { project: ProjectIn::Copied, ..options() };
    let executor = open(image, Some(folder.path()), copied).await.unwrap();
    Some(Container { folder, backend: SandboxBackend::open(executor).await })
}

/// As [`container`], to be found by its label.
pub async fn labelled_container(label: &str) -> Option<Container> {
    let image = busybox_image()?;
    let folder = tempfile::tempdir().unwrap();
    let mut options = options();
    options.run_args.extend(["--label".into(), label.into()]);
    let executor = open(image, Some(folder.path()), options).await.unwrap();
    Some(Container { folder, backend: SandboxBackend::open(executor).await })
}

/// The containers of a label.
pub fn labelled(label: &str) -> String {
    podman(&["ps", "--all", "--quiet", "--filter", &format!("label={label}")])
}

/// As [`container`], with a copy of a project that has one file.
pub async fn container_with_a_copy() -> Option<Container> {
    let image = busybox_image()?;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/a.txt"), "from here\n").unwrap();
    let copied = ContainerOptions { project: ProjectIn::Copied, ..options() };
    let executor = open(image, Some(folder.path()), copied).await.unwrap();
    Some(Container { folder, backend: SandboxBackend::open(executor).await })
}

/// A container that somebody else made and that goes with this, and a backend that came to it by its name.
pub struct Existing {
    name: String,
}

impl Existing {
    pub async fn backend(&self) -> SandboxBackend {
        SandboxBackend::open(open(&self.name, None, options()).await.unwrap()).await
    }

    /// What a program in it says, asked past Bosun.
    pub fn says(&self, program: &[&str]) -> String {
        podman(&[&["exec", &self.name], program].concat())
    }
}

impl Drop for Existing {
    fn drop(&mut self) {
        ran("/usr/bin/podman", &["rm", "--force", "--time", "0", &self.name]);
    }
}

pub async fn existing() -> Option<Existing> {
    let image = busybox_image()?;
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = format!("bosun-test-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let limits: Vec<&str> = PODMAN_WORDS[1].split_whitespace().collect();
    let named = ["--network", "none", "--workdir", "/tmp", "--name", &name, image, "/bin/sleep", "600"];
    podman(&[&["run", "--detach"], &limits[..], &named].concat());
    Some(Existing { name })
}

/// What is said of an image that is nowhere.
pub async fn no_such_image() -> Option<String> {
    busybox_image()?;
    let refused = open("localhost:1/bosun-test-nowhere", None, options()).await.err();
    Some(refused.map(|refused| refused.to_string()).unwrap_or_default())
}

/// The engine itself, asked past Bosun.
fn podman(args: &[&str]) -> String {
    let words: Vec<&str> = PODMAN_WORDS[0].split_whitespace().collect();
    ran("/usr/bin/podman", &[&words[..], args].concat())
}
