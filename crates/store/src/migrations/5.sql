-- What each model call used and cost. A call's price is that of its day, so it is written down and never worked out again.
CREATE TABLE model_calls (
    id          INTEGER PRIMARY KEY,
    session     TEXT NOT NULL,
    project     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    day         TEXT NOT NULL,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    purpose     TEXT NOT NULL,
    milliseconds INTEGER NOT NULL,
    input       INTEGER,
    output      INTEGER,
    cache_read  INTEGER,
    cache_write INTEGER,
    reasoning   INTEGER,
    cost        REAL
) STRICT;
CREATE INDEX model_calls_by_session ON model_calls (session, at);
CREATE INDEX model_calls_by_day ON model_calls (day);
