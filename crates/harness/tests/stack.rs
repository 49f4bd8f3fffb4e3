//! Members of the stack in a deep agent over a real folder, with a scripted model.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may touch files and fail loudly")]

#[path = "stack/scene.rs"]
mod scene;

#[path = "stack/asking.rs"]
mod asking;
#[path = "stack/background.rs"]
mod background;
#[path = "stack/bounds.rs"]
mod bounds;
#[path = "stack/caching.rs"]
mod caching;
#[path = "stack/eviction.rs"]
mod eviction;
#[path = "stack/evidence.rs"]
mod evidence;
#[path = "stack/fields.rs"]
mod fields;
#[path = "stack/golden.rs"]
mod golden;
#[path = "stack/guards.rs"]
mod guards;
#[path = "stack/laws.rs"]
mod laws;
#[path = "stack/many.rs"]
mod many;
#[path = "stack/memory.rs"]
mod memory;
#[path = "stack/permissions.rs"]
mod permissions;
#[path = "stack/retrying.rs"]
mod retrying;
#[path = "stack/skills.rs"]
mod skills;
#[path = "stack/sub_agents.rs"]
mod sub_agents;
#[path = "stack/summarization.rs"]
mod summarization;
