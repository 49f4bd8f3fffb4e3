use bosun_backend::VirtualPath;

/// Files of instructions.
pub(crate) const INSTRUCTIONS: [&str; 2] = ["/AGENTS.md", "/.bosun/AGENTS.md"];
/// Folders of skills, low to high.
pub(crate) const SKILLS: [&str; 2] = ["/.agents/skills", "/.bosun/skills"];
/// The folder of subagents.
pub(crate) const SUBAGENTS: &str = "/.bosun/agents";
/// Hooks and servers of tools.
pub const CONFIG: &str = "/.bosun/config.toml";

/// What a path of a project means to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing beyond being a file.
    Ordinary,
    /// A file that counts by itself: instructions, a subagent, the configuration.
    File,
    /// A folder in which every entry counts by itself.
    SkillFolders,
    SubagentFolder,
    /// A skill's folder, or something in it.
    Skill {
        folder: VirtualPath,
    },
}

impl Place {
    pub(crate) fn of(path: &VirtualPath) -> Self {
        let text = path.as_str();
        if text == CONFIG || INSTRUCTIONS.contains(&text) {
            return Self::File;
        }
        if text == SUBAGENTS {
            return Self::SubagentFolder;
        }
        if text.strip_prefix(SUBAGENTS).is_some_and(|rest| rest.starts_with('/')) {
            return Self::File;
        }
        for root in SKILLS {
            match text.strip_prefix(root) {
                Some("") => return Self::SkillFolders,
                Some(rest) if rest.starts_with('/') => {
                    let folder = rest.trim_start_matches('/').split('/').next().unwrap_or_default();
                    return VirtualPath::parse(&format!("{root}/{folder}"))
                        .map_or(Self::SkillFolders, |folder| Self::Skill { folder });
                }
                _ => {}
            }
        }
        Self::Ordinary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_agent_goes_by_has_a_place() {
        let of = |path: &str| Place::of(&VirtualPath::parse(path).unwrap());
        for ordinary in ["/", "/src/AGENTS.md", "/AGENTS.md.old", "/.bosun", "/.bosun/agents.md", "/.bosun/skillset"] {
            assert_eq!(of(ordinary), Place::Ordinary, "{ordinary}");
        }
        for file in ["/AGENTS.md", "/.bosun/AGENTS.md", "/.bosun/agents/scout.md", "/.bosun/config.toml"] {
            assert_eq!(of(file), Place::File, "{file}");
        }
        assert_eq!(of("/.agents/skills"), Place::SkillFolders);
        let folder = VirtualPath::parse("/.bosun/skills/pdf").unwrap();
        for inside in ["/.bosun/skills/pdf", "/.bosun/skills/pdf/SKILL.md", "/.bosun/skills/pdf/a/b"] {
            assert_eq!(of(inside), Place::Skill { folder: folder.clone() }, "{inside}");
        }
    }
}
