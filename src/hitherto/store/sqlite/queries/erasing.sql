-- name: turn_versions
-- What the indexes hold of a turn's versions before :before.
SELECT seq, stems FROM turns WHERE id = :id AND seq < :before

-- name: record_versions
-- What the indexes hold of a record's versions before :before.
SELECT seq, stems, sources, entities FROM records WHERE id = :id AND seq < :before

-- name: turn
-- A turn version.
DELETE FROM turns WHERE seq = ?

-- name: record
-- A record version.
DELETE FROM records WHERE seq = ?

-- name: turn_words
-- The stems of a turn version; the index needs to be told what they were.
INSERT INTO turn_words (turn_words, rowid, stems) VALUES ('delete', ?, ?)

-- name: record_words
-- The stems of a record version; the index needs to be told what they were.
INSERT INTO record_words (record_words, rowid, stems) VALUES ('delete', ?, ?)

-- name: source
-- A link from a turn to a record version.
DELETE FROM record_sources WHERE turn = ? AND seq = ?

-- name: entity
-- A link from an entity to a record version.
DELETE FROM record_entities WHERE ref = ? AND seq = ?

-- name: retirements
-- The entries that ended it, which still name it.
DELETE FROM endings WHERE id = :id AND op = 'retire' AND seq < :before

-- name: turn_ids
-- Every turn's id, to recognise an erased one by its hash.
SELECT DISTINCT id FROM turns WHERE seq < :before

-- name: record_ids
-- Every record's id, to recognise an erased one by its hash.
SELECT DISTINCT id FROM records WHERE seq < :before

-- name: snapshot
-- The record of a context.
DELETE FROM snapshots WHERE id = ?

-- name: blob
-- A text under its hash.
DELETE FROM blobs WHERE hash IN (SELECT iif(lower(hex(unhex(value))) = value, unhex(value), value) FROM (SELECT ? AS value))

-- name: note
-- A note by its name.
DELETE FROM notes WHERE name = ?
