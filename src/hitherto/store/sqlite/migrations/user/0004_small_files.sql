-- A small user is a small file. Receipts are packed (`receipts.py`), for which texts have numbers that are never given
-- twice; what is found by its name alone needs no second tree.

CREATE TABLE numbered_blobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL
) STRICT;
INSERT INTO numbered_blobs (hash, text) SELECT hash, text FROM blobs ORDER BY rowid;
DROP TABLE blobs;
ALTER TABLE numbered_blobs RENAME TO blobs;

-- `body` is packed, or the text as it is where that is shorter.
CREATE TABLE packed_snapshots (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    known INTEGER NOT NULL,
    is_full INTEGER NOT NULL,
    body ANY NOT NULL
) STRICT;
INSERT INTO packed_snapshots SELECT id, at, known, is_full, body FROM snapshots ORDER BY rowid;
DROP TABLE snapshots;
ALTER TABLE packed_snapshots RENAME TO snapshots;
CREATE INDEX snapshots_by_time ON snapshots (at);

CREATE TABLE named_embedders (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO named_embedders SELECT name, number FROM embedders;
DROP TABLE embedders;
ALTER TABLE named_embedders RENAME TO embedders;

CREATE TABLE named_cursors (
    step TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    due INTEGER,
    attempts INTEGER NOT NULL,
    error TEXT,
    parked INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO named_cursors SELECT step, position, due, attempts, error, parked, body FROM cursors;
DROP TABLE cursors;
ALTER TABLE named_cursors RENAME TO cursors;
