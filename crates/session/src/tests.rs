mod attachments;
mod background;
mod before;
mod browsing;

mod changes;
mod cut;
mod deciding;
mod elsewhere;
mod evidence;
mod fixture;
mod forms;
mod history;
mod keys;
mod killed;
mod knowledge;
mod large;
mod law;
mod lists;
mod plan;
mod reviews;
mod rules;
mod sandbox;
mod scopes;
mod servers;
mod sessions;
mod signing_in;
mod space;
pub(crate) mod stage;
mod stopping;
mod story;
mod summary;
mod trusting;
mod turns;
mod values;
mod watching;

/// What stands for a key that the models' source knows.
const KEY: &str = "sk-canary-of-these-tests";
