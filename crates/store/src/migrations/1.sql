CREATE TABLE projects (
    id        TEXT PRIMARY KEY,
    path      TEXT NOT NULL UNIQUE,
    name      TEXT NOT NULL,
    opened_at INTEGER NOT NULL
) STRICT;

-- `summary` is what lists show, as JSON that only the session room reads.
CREATE TABLE sessions (
    key         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    project     TEXT NOT NULL,
    parent      TEXT,
    parent_call TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    summary     TEXT NOT NULL,
    UNIQUE (parent, parent_call)
) STRICT;

CREATE INDEX sessions_by_project ON sessions (project, updated_at);

-- The journal. Clustered by place, so that reading a session is one run over the file.
CREATE TABLE entries (
    session INTEGER NOT NULL REFERENCES sessions (key),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Accounts at model providers. Keys are in the system's keyring, never here.
CREATE TABLE accounts (
    id       TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    body     TEXT NOT NULL
) STRICT;

CREATE TABLE key_values (
    key        INTEGER PRIMARY KEY,
    namespace  TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (namespace, name)
) STRICT;

-- Words for prose; three-letter runs for Chinese, Japanese and code, which have no spaces to split at.
CREATE VIRTUAL TABLE key_values_words USING fts5 (
    name, value, content = 'key_values', content_rowid = 'key', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE key_values_runs USING fts5 (
    name, value, content = 'key_values', content_rowid = 'key', tokenize = 'trigram'
);

CREATE TRIGGER key_values_insert AFTER INSERT ON key_values BEGIN
    INSERT INTO key_values_words (rowid, name, value) VALUES (new.key, new.name, new.value);
    INSERT INTO key_values_runs (rowid, name, value) VALUES (new.key, new.name, new.value);
END;
CREATE TRIGGER key_values_delete AFTER DELETE ON key_values BEGIN
    INSERT INTO key_values_words (key_values_words, rowid, name, value) VALUES ('delete', old.key, old.name, old.value);
    INSERT INTO key_values_runs (key_values_runs, rowid, name, value) VALUES ('delete', old.key, old.name, old.value);
END;
CREATE TRIGGER key_values_update AFTER UPDATE ON key_values BEGIN
    INSERT INTO key_values_words (key_values_words, rowid, name, value) VALUES ('delete', old.key, old.name, old.value);
    INSERT INTO key_values_runs (key_values_runs, rowid, name, value) VALUES ('delete', old.key, old.name, old.value);
    INSERT INTO key_values_words (rowid, name, value) VALUES (new.key, new.name, new.value);
    INSERT INTO key_values_runs (rowid, name, value) VALUES (new.key, new.name, new.value);
END;
