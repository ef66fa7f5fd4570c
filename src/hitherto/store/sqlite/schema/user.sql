-- Generated from migrations/user; see scripts/sqlite_schema.py.

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL) STRICT;

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

CREATE TABLE endings (
    seq INTEGER PRIMARY KEY,
    op TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX endings_by_id ON endings (id);

CREATE VIRTUAL TABLE turn_words USING fts5 (
    stems,
    content = '',
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE VIRTUAL TABLE record_words USING fts5 (
    stems,
    content = '',
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

CREATE TABLE lease (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

CREATE TABLE notes (
    name TEXT PRIMARY KEY,
    expires INTEGER,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE trace_pages (
    slot INTEGER PRIMARY KEY,
    numbers BLOB NOT NULL,
    labels BLOB NOT NULL,
    sizes BLOB NOT NULL,
    names TEXT NOT NULL,
    ids BLOB NOT NULL,
    vectors BLOB NOT NULL
) STRICT;

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE "snapshots" (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    known INTEGER NOT NULL,
    is_full INTEGER NOT NULL,
    body ANY NOT NULL
) STRICT;

CREATE INDEX snapshots_by_time ON snapshots (at);

CREATE TABLE "embedders" (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE "cursors" (
    step TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    due INTEGER,
    attempts INTEGER NOT NULL,
    error TEXT,
    parked INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE "traces" (
    slot INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
) STRICT;

CREATE TABLE "blobs" (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hash ANY NOT NULL UNIQUE,
    text TEXT NOT NULL
) STRICT;
