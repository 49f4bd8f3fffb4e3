mod attachments;
mod background;
mod changes;
mod cut;
mod deciding;
mod evidence;
mod fixture;
mod history;
mod keys;
mod killed;
mod knowledge;
mod law;
mod lists;
mod plan;
mod reviews;
mod rules;
mod sandbox;
mod sessions;
mod signing_in;
mod space;
pub(crate) mod stage;
mod stopping;
mod story;
mod summary;
mod turns;
mod watching;

/// What stands for a key that the models' source knows.
const KEY: &str = "sk-canary-of-these-tests";
