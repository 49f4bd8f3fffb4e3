use bosun_backend::{FileData, StateBackend, VirtualPath};
use bosun_model::ToolCall;
use bosun_tools::{ReadFile, Tool, ToolOutput};
use serde_json::Value;

/// A skill that comes with Bosun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinSkill {
    pub name: &'static str,
    /// Its `SKILL.md`.
    pub text: &'static str,
}

/// Where they are where nobody mounts them: there [`READER`] alone finds them.
const FOLDER: &str = "/skills/builtin";
const FILE: &str = "SKILL.md";
/// The tool that reads them.
pub(super) const READER: &str = ReadFile::NAME;

/// The skills that come with Bosun.
pub fn builtin_skills() -> [BuiltinSkill; 5] {
    macro_rules! skill {
        ($name:literal) => {
            BuiltinSkill { name: $name, text: include_str!(concat!("../../skills/", $name, "/SKILL.md")) }
        };
    }
    [
        skill!("review-change"),
        skill!("write-tests"),
        skill!("debug-failure"),
        skill!("write-skill"),
        skill!("remember-lesson"),
    ]
}

/// The skills that come with Bosun as files, to be mounted for reading at [`super::SkillsOptions::builtin_at`].
pub fn builtin_skill_files() -> StateBackend {
    let file =
        |skill: BuiltinSkill| (skill.path_in(&VirtualPath::root()), FileData::of(skill.text.as_bytes(), None, 0));
    StateBackend::new(builtin_skills().map(file))
}

/// Where they are for an agent; `None` mounts them nowhere.
pub(super) fn folder(mounted: Option<&VirtualPath>) -> VirtualPath {
    mounted.cloned().or_else(|| VirtualPath::parse(FOLDER).ok()).unwrap_or_else(VirtualPath::root)
}

impl BuiltinSkill {
    /// Its file where the skills that come with Bosun are in `folder`.
    pub fn path_in(&self, folder: &VirtualPath) -> VirtualPath {
        folder.join(&format!("{}/{FILE}", self.name)).unwrap_or_else(|_| folder.clone())
    }
}

/// What `read_file` gives for a built-in skill that is mounted nowhere and not `off`; `None` for any other call.
pub(super) fn read(call: &ToolCall, off: &[VirtualPath]) -> Option<ToolOutput> {
    if call.name != READER {
        return None;
    }
    let path = VirtualPath::parse(call.args.get("file_path").and_then(Value::as_str)?).ok()?;
    let folder = folder(None);
    let skill = builtin_skills().into_iter().find(|skill| path == skill.path_in(&folder))?;
    if off.iter().any(|off| path.starts_with(off)) {
        return None;
    }
    let rows = skill.text.lines().enumerate().map(|(index, line)| format!("{:>6}\t{line}", index + 1));
    Some(ToolOutput::text(rows.collect::<Vec<_>>().join("\n")))
}
