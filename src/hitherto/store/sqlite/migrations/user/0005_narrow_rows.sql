-- Rows say nothing that another row of the same entry says, and hashes take half as many bytes. Indexes that only a longer
-- conversation needs are made when it has become one (`migrations.py`).

DROP INDEX turns_by_persona;
DROP INDEX turns_by_lane;
DROP INDEX turns_by_session;
DROP INDEX turns_by_time;

CREATE TABLE narrow_traces (
    slot INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
) STRICT;
INSERT INTO narrow_traces SELECT slot, vector FROM traces ORDER BY slot;
DROP TABLE traces;
ALTER TABLE narrow_traces RENAME TO traces;

-- `hash` is a blob where it is written as one in small hexadecimal digits. Numbers are never given twice, so the highest one
-- that ever was stays known.
CREATE TABLE hashed_blobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hash ANY NOT NULL UNIQUE,
    text TEXT NOT NULL
) STRICT;
INSERT INTO hashed_blobs (number, hash, text)
SELECT number, iif(lower(hex(unhex(hash))) = hash, unhex(hash), hash), text FROM blobs ORDER BY number;
DELETE FROM sqlite_sequence WHERE name = 'hashed_blobs';
INSERT INTO sqlite_sequence (name, seq) SELECT 'hashed_blobs', seq FROM sqlite_sequence WHERE name = 'blobs';
DROP TABLE blobs;
ALTER TABLE hashed_blobs RENAME TO blobs;
