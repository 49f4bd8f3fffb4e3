use rusqlite_migration::{M, Migrations};

/// "Bsun": says that a database is Bosun's.
pub(crate) const APPLICATION_ID: i64 = 0x4273_756e;

/// The schema, one step per format. A step that was released is never changed.
const STEPS: &[M<'static>] = &[
    M::up(include_str!("migrations/1.sql")),
    M::up(include_str!("migrations/2.sql")),
    M::up(include_str!("migrations/3.sql")),
    M::up(include_str!("migrations/4.sql")),
    M::up(include_str!("migrations/5.sql")),
    M::up(include_str!("migrations/6.sql")),
    M::up(include_str!("migrations/7.sql")),
    M::up(include_str!("migrations/8.sql")),
];

pub(crate) const MIGRATIONS: Migrations<'static> = Migrations::from_slice(STEPS);

/// The format that this version writes; older ones are brought to it on opening.
pub const FORMAT: i64 = STEPS.len() as i64;

#[cfg(test)]
mod tests {
    #[test]
    fn every_step_applies() {
        assert_eq!(super::MIGRATIONS.validate(), Ok(()));
    }
}
