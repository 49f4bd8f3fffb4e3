#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use std::time::Duration;

use bosun_agent::SystemClock;
use bosun_store::{Database, Verdict};

use super::*;
use crate::trust::{BroughtFile, brought};

const CONFIGURED: &str =
    "[[hooks]]\nname = 'guard'\npoint = 'turn_start'\ncommand = 'sh'\nargs = ['guard.sh', 'late']\n";

struct Bench {
    folder: tempfile::TempDir,
    voucher: StillTrusted,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trust = Arc::new(TrustBook::new(Database::in_memory().unwrap(), Arc::new(SystemClock)));
        let (root, extras) = (folder.path().to_owned(), Extras::parse(CONFIGURED).unwrap());
        let voucher = StillTrusted::new(root, trust, ProjectId::new("p"), extras);
        let bench = Self { folder, voucher };
        std::fs::create_dir(bench.folder.path().join(".bosun")).unwrap();
        bench.write(".bosun/config.toml", CONFIGURED);
        bench.write("guard.sh", "exit 0");
        bench.decide(Verdict::Trusted).await;
        bench
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.folder.path().join(path), text).unwrap();
    }

    async fn decide(&self, verdict: Verdict) {
        let files = FilesystemBackend::open(self.folder.path(), FilesystemOptions::default()).unwrap();
        let files: Vec<BroughtFile> = brought(&files).await.items.into_iter().flat_map(|item| item.files).collect();
        self.voucher.trust.decide("p", verdict, &files).await.unwrap();
    }

    async fn vouches(&self) -> bool {
        self.voucher.vouches(Asked::Hook("guard")).await
    }

    /// Asks until the answer is remembered.
    async fn settled(&self) -> Arc<Look> {
        let settled = async {
            loop {
                assert!(self.vouches().await);
                if let Some(look) = locked(&self.voucher.looked).clone() {
                    return look;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), settled).await.expect("an answer is remembered")
    }
}

#[tokio::test]
async fn files_that_nobody_touched_are_not_read_again() {
    let bench = Bench::new().await;
    let look = bench.settled().await;
    for _ in 0..3 {
        assert!(bench.vouches().await);
        let now = locked(&bench.voucher.looked).clone().expect("an answer");
        assert!(Arc::ptr_eq(&now, &look), "it is the answer of the last reading");
    }
    // A mind that was changed needs no reading.
    bench.decide(Verdict::SetAside).await;
    assert!(!bench.vouches().await);
    bench.decide(Verdict::Trusted).await;
    assert!(bench.vouches().await);
}

#[tokio::test]
async fn what_changed_is_noticed_at_the_next_question() {
    let bench = Bench::new().await;
    // As long, and with the time of the file that was there.
    let path = bench.folder.path().join("guard.sh");
    bench.settled().await;
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    bench.write("guard.sh", "exit 1");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    assert!(!bench.vouches().await);
    bench.write("guard.sh", "exit 0");
    bench.settled().await;
    // Another file in its place.
    bench.write("other.sh", "exit 1");
    std::fs::rename(bench.folder.path().join("other.sh"), &path).unwrap();
    assert!(!bench.vouches().await);
    bench.write("guard.sh", "exit 0");
    bench.settled().await;
    // One that was not there.
    bench.write("late", "echo late");
    assert!(!bench.vouches().await);
    std::fs::remove_file(bench.folder.path().join("late")).unwrap();
    bench.settled().await;
    std::fs::remove_file(bench.folder.path().join(".bosun/config.toml")).unwrap();
    assert!(!bench.vouches().await);
}
