-- What belongs to no single user. Users appear by the hash of their name, never by the name or any content.

-- Versions of tenants' documents: personas, recipes, keys, links.
CREATE TABLE documents (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, kind, name, version)
) STRICT;

-- When a user has work due next. May be lost, may be late.
CREATE TABLE hints (
    digest TEXT PRIMARY KEY,
    due INTEGER NOT NULL
) STRICT;

CREATE INDEX hints_by_due ON hints (due);

-- How often a user was wiped; a file of an earlier epoch is a remnant and must go. `finished` is 0 while it is going.
CREATE TABLE tombstones (
    digest TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    finished INTEGER NOT NULL
) STRICT;
