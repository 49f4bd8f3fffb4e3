-- A table with rowids keeps an entry whole in its page, where the old one spilled all beyond a kilobyte into pages of
-- their own. A body is JSON, or the same packed with zstd; those from before stay as they are.
CREATE TABLE entries_of_3 (
    session INTEGER NOT NULL REFERENCES sessions (key),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    ANY NOT NULL
) STRICT;
INSERT INTO entries_of_3 SELECT session, seq, at, body FROM entries ORDER BY session, seq;
DROP TABLE entries;
ALTER TABLE entries_of_3 RENAME TO entries;
CREATE UNIQUE INDEX entries_in_order ON entries (session, seq);
