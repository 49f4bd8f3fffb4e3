//! What a declaration says of the file tools and of skills. Each setting that it leaves out stays as the app has it.

use std::num::{NonZeroU32, NonZeroU64};

use bosun_backend::VirtualPath;
use bosun_tools::ReadFormat;
use serde::Deserialize;

use super::set;
use crate::{DeepAgentConfig, SkillSource};

/// `[filesystem]`: the fields of [`crate::FilesystemOptions`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredFilesystem {
    pub prompt: Option<String>,
    pub read_format: Option<ReadFormat>,
    pub grep_max_count: Option<NonZeroU32>,
    pub max_execute_timeout: Option<NonZeroU64>,
    pub evict_results_over: Option<u32>,
    pub evict_messages_over: Option<u32>,
    pub offload_media: Option<bool>,
}

/// `[skills]`: the fields of [`crate::SkillsOptions`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredSkills {
    pub builtin: Option<bool>,
    /// In the place of those that there would be.
    pub sources: Option<Vec<SkillSource>>,
    pub pinned: Option<Vec<String>>,
    /// Beside those that the person switched off.
    pub off: Vec<VirtualPath>,
}

impl DeclaredFilesystem {
    pub(super) fn apply(self, config: &mut DeepAgentConfig) {
        let files = &mut config.filesystem;
        files.prompt = self.prompt.or(files.prompt.take());
        set(&mut files.read_format, self.read_format);
        set(&mut files.grep_max_count, self.grep_max_count.map(NonZeroU32::get));
        set(&mut files.max_execute_timeout, self.max_execute_timeout.map(NonZeroU64::get));
        set(&mut files.evict_results_over, self.evict_results_over);
        set(&mut files.evict_messages_over, self.evict_messages_over);
        set(&mut files.offload_media, self.offload_media);
    }
}

impl DeclaredSkills {
    pub(super) fn apply(self, config: &mut DeepAgentConfig) {
        let skills = &mut config.skills;
        set(&mut skills.builtin, self.builtin);
        set(&mut skills.sources, self.sources);
        set(&mut skills.pinned, self.pinned);
        skills.off.extend(self.off);
    }
}
