-- Runs of three begin at every character of a name and of a text, its last two as well: what has one or two characters
-- has a run that begins with them.
CREATE VIEW key_value_runs AS SELECT key, name || char(10, 10) AS name, words || char(10, 10) AS words FROM key_values;

DROP TRIGGER key_values_insert;
DROP TRIGGER key_values_delete;
DROP TRIGGER key_values_update;
DROP TABLE key_values_runs;

CREATE VIRTUAL TABLE key_values_runs USING fts5 (
    name, words, content = 'key_value_runs', content_rowid = 'key', tokenize = 'trigram'
);
CREATE VIRTUAL TABLE key_values_known_runs USING fts5vocab (key_values_runs, row);

CREATE TRIGGER key_values_insert AFTER INSERT ON key_values BEGIN
    INSERT INTO key_values_words (rowid, name, words) VALUES (new.key, new.name, new.words);
    INSERT INTO key_values_runs (rowid, name, words)
        VALUES (new.key, new.name || char(10, 10), new.words || char(10, 10));
END;
CREATE TRIGGER key_values_delete AFTER DELETE ON key_values BEGIN
    INSERT INTO key_values_words (key_values_words, rowid, name, words) VALUES ('delete', old.key, old.name, old.words);
    INSERT INTO key_values_runs (key_values_runs, rowid, name, words)
        VALUES ('delete', old.key, old.name || char(10, 10), old.words || char(10, 10));
END;
CREATE TRIGGER key_values_update AFTER UPDATE ON key_values BEGIN
    INSERT INTO key_values_words (key_values_words, rowid, name, words) VALUES ('delete', old.key, old.name, old.words);
    INSERT INTO key_values_runs (key_values_runs, rowid, name, words)
        VALUES ('delete', old.key, old.name || char(10, 10), old.words || char(10, 10));
    INSERT INTO key_values_words (rowid, name, words) VALUES (new.key, new.name, new.words);
    INSERT INTO key_values_runs (rowid, name, words)
        VALUES (new.key, new.name || char(10, 10), new.words || char(10, 10));
END;

INSERT INTO key_values_runs (key_values_runs) VALUES ('rebuild');
