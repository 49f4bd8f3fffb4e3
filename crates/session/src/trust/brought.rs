use std::path::Path;

use bosun_backend::{Backend, BackendError, ContentHash, VirtualPath};
use bosun_harness::Extras;
use bosun_protocol::{Problem, TrustKind};

use crate::Explain;
use crate::problem::number;

use super::place::CONFIG;
use super::{INSTRUCTIONS, SKILLS, SUBAGENTS};

/// The largest file that a person can be asked to look at, in bytes.
const LARGEST: u64 = 1 << 20;
/// Most files of one skill, and bytes of them together.
const MOST_FILES: usize = 200;
const LARGEST_SKILL: usize = 8 << 20;
/// Most skills in one folder, and subagents.
const MOST_ENTRIES: usize = 200;

/// Everything that a project brings.
#[derive(Debug, Default)]
pub(crate) struct Brought {
    pub items: Vec<BroughtItem>,
}

/// Something that is used as a whole or not at all.
#[derive(Debug)]
pub(crate) struct BroughtItem {
    pub kind: TrustKind,
    pub name: String,
    pub files: Vec<BroughtFile>,
    /// What it would start, one line each.
    pub effects: Vec<String>,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
}

#[derive(Clone, Debug)]
pub(crate) struct BroughtFile {
    pub path: VirtualPath,
    pub hash: ContentHash,
    pub bytes: Vec<u8>,
}

impl Brought {
    pub(crate) fn file(&self, path: &str) -> Option<&BroughtFile> {
        self.items.iter().flat_map(|item| &item.files).find(|file| file.path.as_str() == path)
    }
}

impl BroughtItem {
    /// What the configuration brings.
    pub(crate) fn extras(&self) -> Option<Extras> {
        let text = std::str::from_utf8(&self.files.first()?.bytes).ok()?;
        Extras::parse(text).ok()
    }
}

/// Looks at the files in a project's folder.
pub(crate) async fn brought(project: &dyn Backend) -> Brought {
    let mut found = Brought::default();
    for path in INSTRUCTIONS {
        found.items.extend(single(project, path, TrustKind::Instructions, path.trim_start_matches('/')).await);
    }
    for root in SKILLS {
        for folder in entries(project, root, |entry| entry.is_dir).await {
            found.items.push(skill(project, &folder).await);
        }
    }
    let is_subagent = |entry: &bosun_backend::FileInfo| !entry.is_dir && entry.path.as_str().ends_with(".md");
    for file in entries(project, SUBAGENTS, is_subagent).await {
        let name = file.name().unwrap_or_default().trim_end_matches(".md").to_owned();
        found.items.extend(single(project, file.as_str(), TrustKind::Subagent, &name).await);
    }
    found.items.extend(brought_config(project).await);
    found
}

/// The project's hooks and servers of tools, with the files that they would start.
pub(crate) async fn brought_config(project: &dyn Backend) -> Option<BroughtItem> {
    let mut config = single(project, CONFIG, TrustKind::Config, "config.toml").await?;
    effects(project, &mut config).await;
    Some(config)
}

async fn entries(
    project: &dyn Backend,
    folder: &str,
    wanted: impl Fn(&bosun_backend::FileInfo) -> bool,
) -> Vec<VirtualPath> {
    let Ok(folder) = VirtualPath::parse(folder) else { return Vec::new() };
    let listed = project.ls(&folder).await.unwrap_or_default();
    listed.into_iter().filter(wanted).map(|entry| entry.path).take(MOST_ENTRIES).collect()
}

/// A file that counts by itself; `None` where it is not there.
async fn single(project: &dyn Backend, path: &str, kind: TrustKind, name: &str) -> Option<BroughtItem> {
    let path = VirtualPath::parse(path).ok()?;
    let mut item = BroughtItem { kind, name: name.to_owned(), files: Vec::new(), effects: Vec::new(), problem: None };
    match file(project, &path).await {
        Ok(Some(file)) => item.files.push(file),
        Ok(None) => return None,
        Err(problem) => item.problem = Some(problem),
    }
    Some(item)
}

async fn skill(project: &dyn Backend, folder: &VirtualPath) -> BroughtItem {
    let name = folder.name().unwrap_or_default().to_owned();
    let (files, problem) = match files_of(project, folder).await {
        Ok(files) => (files, None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    BroughtItem { kind: TrustKind::Skill, name, files, effects: Vec::new(), problem }
}

/// All files of a skill, `SKILL.md` first.
///
/// # Errors
/// Why they cannot all be looked at.
pub(crate) async fn files_of(project: &dyn Backend, folder: &VirtualPath) -> Result<Vec<BroughtFile>, Problem> {
    let mut files = Vec::new();
    let mut folders = vec![folder.clone()];
    let (mut size, mut looked_at) = (0, 0);
    while let Some(folder) = folders.pop() {
        looked_at += 1;
        for entry in project.ls(&folder).await.map_err(|error| error.problem())? {
            if entry.is_dir {
                folders.push(entry.path);
            } else if let Some(file) = file(project, &entry.path).await? {
                size += file.bytes.len();
                files.push(file);
            }
            if files.len() > MOST_FILES || size > LARGEST_SKILL || folders.len() + looked_at > MOST_FILES {
                let (files, megabytes) = (number(MOST_FILES), number(LARGEST_SKILL >> 20));
                return Err(Problem::SkillTooLarge { files, megabytes });
            }
        }
    }
    files.sort_by(|a, b| {
        let rank = |file: &BroughtFile| file.path.name() != Some("SKILL.md");
        (rank(a), &a.path).cmp(&(rank(b), &b.path))
    });
    Ok(files)
}

async fn file(project: &dyn Backend, path: &VirtualPath) -> Result<Option<BroughtFile>, Problem> {
    match project.download(vec![path.clone()]).await.pop() {
        Some(Ok(bytes)) if bytes.len() as u64 > LARGEST => {
            Err(Problem::BroughtTooLarge { path: path.to_string(), megabytes: number(LARGEST >> 20) })
        }
        Some(Ok(bytes)) => Ok(Some(BroughtFile { path: path.clone(), hash: ContentHash::of(&bytes), bytes })),
        None | Some(Err(BackendError::NotFound { .. } | BackendError::DirectoryNotFound { .. })) => Ok(None),
        Some(Err(error)) => Err(error.problem()),
    }
}

/// What the configuration would start; the files of the project that it would start belong to it.
async fn effects(project: &dyn Backend, item: &mut BroughtItem) {
    let Some(config) = item.files.first() else { return };
    let parsed = std::str::from_utf8(&config.bytes).map_err(|_| Problem::NotText { path: config.path.to_string() });
    let extras = match parsed.and_then(|text| Extras::parse(text).map_err(|error| error.problem())) {
        Ok(extras) => extras,
        Err(problem) => return item.problem = Some(problem),
    };
    if !extras.routes.is_empty() {
        return item.problem = Some(Problem::RoutesOfProject);
    }
    if extras.has_limits() {
        return item.problem = Some(Problem::LimitsOfProject);
    }
    for (name, server) in &extras.mcp {
        let what =
            server.url.clone().unwrap_or_else(|| line(server.command.as_deref().unwrap_or_default(), &server.args));
        item.effects.push(format!("{name}: {what}"));
    }
    for hook in &extras.hooks {
        item.effects.push(format!("{}: {}", hook.name, line(&hook.command, &hook.args)));
    }
    for path in extras.started(Path::new("")) {
        if item.files.iter().any(|file| file.path == path) {
            continue;
        }
        match file(project, &path).await {
            Ok(found) => item.files.extend(found),
            // A folder, or a program somewhere else on the machine: nothing of the project.
            Err(problem) => tracing::debug!(%path, %problem, "what the configuration names is not looked at"),
        }
    }
}

fn line(command: &str, args: &[String]) -> String {
    [command].into_iter().chain(args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}
