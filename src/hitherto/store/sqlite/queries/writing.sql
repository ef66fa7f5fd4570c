-- name: end_turn
-- Ends the live version of a turn; says which it was.
UPDATE turns SET retired = :seq WHERE id = :id AND retired IS NULL RETURNING seq

-- name: end_record
-- Ends the live version of a record; says which it was.
UPDATE records SET retired = :seq, retired_at = :at WHERE id = :id AND retired IS NULL RETURNING seq

-- name: end_turn_before
-- Ends the version of a restored turn that was still live in the copy.
UPDATE turns SET retired = :seq WHERE id = :id AND retired IS NULL AND seq < :seq

-- name: end_record_before
-- Ends the version of a restored record that was still live in the copy.
UPDATE records SET retired = :seq, retired_at = :at WHERE id = :id AND retired IS NULL AND seq < :seq

-- name: turn
-- A turn version.
INSERT INTO turns (
    seq, place, retired, persona, lane, session, at, id, version, role, recorded_at, conversation, speaker, reply_to,
    origin, snapshot, position, number, tokens, family, parts, text, stems
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: record
-- A record version.
INSERT INTO records (
    seq, noun, retired, persona, lane, status, key, at, id, version, origin, due, valid_from, valid_to, recorded_at,
    retired_at, tokens, family, sources, entities, text, body, stems
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: source
-- A record version rests on a turn.
INSERT OR IGNORE INTO record_sources (turn, seq) VALUES (?, ?)

-- name: entity
-- A record version names an entity.
INSERT OR IGNORE INTO record_entities (ref, seq) VALUES (?, ?)

-- name: turn_words
-- The stems by which a turn version is found.
INSERT INTO turn_words (rowid, stems) VALUES (?, ?)

-- name: record_words
-- The stems by which a record version is found.
INSERT INTO record_words (rowid, stems) VALUES (?, ?)

-- name: ending
-- A retirement or an erasure.
INSERT INTO endings (seq, op, id, at) VALUES (?, ?, ?, ?)

-- name: is_written
-- Whether an entry is in the log already.
SELECT EXISTS (SELECT 1 FROM turns WHERE seq = :seq) OR EXISTS (SELECT 1 FROM records WHERE seq = :seq)
    OR EXISTS (SELECT 1 FROM endings WHERE seq = :seq)

-- name: cursor
-- Where a step stands.
INSERT OR REPLACE INTO cursors (step, position, due, attempts, error, parked, body) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: lease
-- Who may run this user's work from now on.
INSERT OR REPLACE INTO lease (one, holder, fence, expires) VALUES (1, ?, ?, ?)

-- name: note
-- A note, in place of one of the same name.
INSERT OR REPLACE INTO notes (name, expires, body) VALUES (?, ?, ?)

-- name: turn_stems
-- The stems that a turn version has, if they are others.
SELECT stems FROM turns WHERE seq = :seq AND stems <> :stems

-- name: record_stems
-- The stems that a record version has, if they are others.
SELECT stems FROM records WHERE seq = :seq AND stems <> :stems

-- name: restem_turn
-- Other stems for a turn version; those of its index are changed beside.
UPDATE turns SET stems = :stems WHERE seq = :seq

-- name: restem_record
-- Other stems for a record version; those of its index are changed beside.
UPDATE records SET stems = :stems WHERE seq = :seq
