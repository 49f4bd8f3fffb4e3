use bosun_backend::VirtualPath;
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

/// Where they are found, whether or not the backend has such a folder.
pub(super) const FOLDER: &str = "/skills/builtin";
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

impl BuiltinSkill {
    pub fn path(&self) -> VirtualPath {
        let path = VirtualPath::parse(&format!("{FOLDER}/{}/SKILL.md", self.name));
        path.unwrap_or_else(|_| VirtualPath::root())
    }
}

/// What `read_file` gives for a built-in skill that is not `off`; `None` for any other call.
pub(super) fn read(call: &ToolCall, off: &[VirtualPath]) -> Option<ToolOutput> {
    if call.name != READER {
        return None;
    }
    let path = call.args.get("file_path").and_then(Value::as_str)?;
    let skill =
        builtin_skills().into_iter().find(|skill| VirtualPath::parse(path).is_ok_and(|path| path == skill.path()))?;
    if off.iter().any(|off| skill.path().starts_with(off)) {
        return None;
    }
    let rows = skill.text.lines().enumerate().map(|(index, line)| format!("{:>6}\t{line}", index + 1));
    Some(ToolOutput::text(rows.collect::<Vec<_>>().join("\n")))
}
