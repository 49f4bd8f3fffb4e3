mod changes;
mod deciding;
mod fixture;
mod law;
mod sessions;
mod stage;
mod story;
mod turns;
