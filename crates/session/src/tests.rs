mod fixture;
mod sessions;
mod stage;
