-- What a person thought of the files that a project brings for the agent to go by: at most one content that is trusted
-- and one that was set aside. The trusted one is kept, to show what changed since.
CREATE TABLE trusted_files (
    project    TEXT NOT NULL,
    path       TEXT NOT NULL,
    verdict    TEXT NOT NULL CHECK (verdict IN ('trusted', 'set_aside')),
    hash       TEXT NOT NULL,
    content    BLOB,
    decided_at INTEGER NOT NULL,
    PRIMARY KEY (project, path, verdict)
) STRICT;

-- Who wrote a value: a session's id, or nobody but the person.
ALTER TABLE key_values ADD COLUMN author TEXT;

-- Earlier versions of what is edited by hand and by agents: memories, skills, subagents.
CREATE TABLE key_value_versions (
    key        INTEGER PRIMARY KEY,
    namespace  TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL,
    author     TEXT,
    written_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX key_value_versions_of ON key_value_versions (namespace, name, key);

-- Files are found by their words alone: in the JSON around them a word behind a line's end is not a word, and every file
-- holds 'content'.
ALTER TABLE key_values ADD COLUMN words TEXT GENERATED ALWAYS AS (
    iif(json_type(value, '$.content') = 'text', value ->> '$.content', value)
) VIRTUAL;

DROP TRIGGER key_values_insert;
DROP TRIGGER key_values_delete;
DROP TRIGGER key_values_update;
DROP TABLE key_values_words;
DROP TABLE key_values_runs;

CREATE VIRTUAL TABLE key_values_words USING fts5 (
    name, words, content = 'key_values', content_rowid = 'key', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE key_values_runs USING fts5 (
    name, words, content = 'key_values', content_rowid = 'key', tokenize = 'trigram'
);

CREATE TRIGGER key_values_insert AFTER INSERT ON key_values BEGIN
    INSERT INTO key_values_words (rowid, name, words) VALUES (new.key, new.name, new.words);
    INSERT INTO key_values_runs (rowid, name, words) VALUES (new.key, new.name, new.words);
END;
CREATE TRIGGER key_values_delete AFTER DELETE ON key_values BEGIN
    INSERT INTO key_values_words (key_values_words, rowid, name, words) VALUES ('delete', old.key, old.name, old.words);
    INSERT INTO key_values_runs (key_values_runs, rowid, name, words) VALUES ('delete', old.key, old.name, old.words);
END;
CREATE TRIGGER key_values_update AFTER UPDATE ON key_values BEGIN
    INSERT INTO key_values_words (key_values_words, rowid, name, words) VALUES ('delete', old.key, old.name, old.words);
    INSERT INTO key_values_runs (key_values_runs, rowid, name, words) VALUES ('delete', old.key, old.name, old.words);
    INSERT INTO key_values_words (rowid, name, words) VALUES (new.key, new.name, new.words);
    INSERT INTO key_values_runs (rowid, name, words) VALUES (new.key, new.name, new.words);
END;

INSERT INTO key_values_words (key_values_words) VALUES ('rebuild');
INSERT INTO key_values_runs (key_values_runs) VALUES ('rebuild');
