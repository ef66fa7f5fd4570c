-- Generated from migrations/catalog; see scripts/sqlite_schema.py.

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL) STRICT;

CREATE TABLE documents (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    body TEXT NOT NULL, about TEXT,
    PRIMARY KEY (tenant, kind, name, version)
) STRICT;

CREATE TABLE hints (
    digest TEXT PRIMARY KEY,
    due INTEGER NOT NULL
) STRICT;

CREATE INDEX hints_by_due ON hints (due);

CREATE TABLE tombstones (
    digest TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    finished INTEGER NOT NULL
) STRICT;

CREATE INDEX documents_by_user ON documents (tenant, kind, about, name) WHERE about IS NOT NULL;
