-- What was said in sessions, for searching: only the index, because the words themselves stand in the entries.
-- A row's number is the session's key times 2^32 plus the entry's place.
CREATE VIRTUAL TABLE session_words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);

-- Sessions from before are indexed when someone searches first.
ALTER TABLE sessions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
