-- One user's memory.
-- Every version of a turn or record is a row of its own, numbered by the log entry that wrote it (seq) and ended by
-- the entry in `retired`. Times are microseconds since 1970. What a question filters on stands before what it shows,
-- so that filtering never reads into a long text.

-- Who this is, and which life of theirs: a user who was wiped and comes back has a higher epoch.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    seq INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,
    retired INTEGER,
    persona TEXT,
    lane TEXT,
    session TEXT NOT NULL,
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    role TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    conversation TEXT,
    speaker TEXT,
    reply_to TEXT,
    origin TEXT NOT NULL,
    snapshot TEXT,
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    family TEXT NOT NULL,
    parts TEXT,
    text TEXT NOT NULL,
    stems TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX turns_by_id ON turns (id, version);
CREATE INDEX turns_by_place ON turns (place) WHERE retired IS NULL;
CREATE INDEX turns_by_persona ON turns (persona, place) WHERE retired IS NULL;
CREATE INDEX turns_by_lane ON turns (persona, lane, place) WHERE retired IS NULL;
CREATE INDEX turns_by_session ON turns (session, place) WHERE retired IS NULL;
CREATE INDEX turns_ended ON turns (retired) WHERE retired IS NOT NULL;

CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    noun TEXT NOT NULL,
    retired INTEGER,
    persona TEXT,
    lane TEXT,
    status TEXT NOT NULL,
    key TEXT,
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    origin TEXT NOT NULL,
    due INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    recorded_at INTEGER NOT NULL,
    retired_at INTEGER,
    tokens INTEGER NOT NULL,
    family TEXT NOT NULL,
    sources TEXT,
    entities TEXT,
    text TEXT NOT NULL,
    body TEXT NOT NULL,
    stems TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX records_by_id ON records (id, version);
CREATE INDEX records_by_time ON records (noun, at) WHERE retired IS NULL;
CREATE INDEX records_by_key ON records (noun, key) WHERE retired IS NULL AND key IS NOT NULL;
CREATE INDEX records_ended ON records (noun, retired) WHERE retired IS NOT NULL;

-- Which record versions rest on a turn, and which name an entity.
CREATE TABLE record_sources (
    turn TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (turn, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE record_entities (
    ref TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (ref, seq)
) STRICT, WITHOUT ROWID;

-- Log entries that wrote no version: retirements, and erasures by the hash of their id.
CREATE TABLE endings (
    seq INTEGER PRIMARY KEY,
    op TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX endings_by_id ON endings (id);

-- Full text over stems: every character but white space belongs to a stem. The index keeps no text of its own; its
-- rowid is the version's seq. With secure-delete a removed word leaves the index at once instead of being masked.
CREATE VIRTUAL TABLE turn_words USING fts5 (
    stems,
    content = '',
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO turn_words (turn_words, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE record_words USING fts5 (
    stems,
    content = '',
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO record_words (record_words, rank) VALUES ('secure-delete', 1);

-- Vectors with what ranking needs beside them, so that loading them reads nothing else. `slot` is
-- embedder * 2^40 + seq: one embedder's traces lie together, in order.
CREATE TABLE embedders (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE traces (
    slot INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,
    noun TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    role TEXT,
    persona TEXT,
    lane TEXT,
    session TEXT,
    speaker TEXT,
    vector BLOB NOT NULL
) STRICT;

CREATE TABLE cursors (
    step TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    due INTEGER,
    attempts INTEGER NOT NULL,
    error TEXT,
    parked INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE lease (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

CREATE TABLE snapshots (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    known INTEGER NOT NULL,
    is_full INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX snapshots_by_time ON snapshots (at);

CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE notes (
    name TEXT PRIMARY KEY,
    expires INTEGER,
    body TEXT NOT NULL
) STRICT;
