-- name: columns
-- A turn version, in the order in which rows are read.
seq, place, id, version, role, text, at, recorded_at, retired, persona, lane, conversation, speaker, reply_to,
origin, parts, snapshot, session, position, number, tokens, family

-- name: some
-- Turns under conditions that are put in; two of these are joined when the past is asked for.
SELECT {columns} FROM turns WHERE {conditions}

-- name: seqs
-- The entries that wrote such turns; for most conditions an index has them all.
SELECT seq FROM turns WHERE {conditions}

-- name: by_id
-- The versions of these turns that were visible at :known.
SELECT {columns} FROM turns
WHERE id IN (SELECT value FROM json_each(:ids)) AND seq <= :known AND (retired IS NULL OR retired > :known)
ORDER BY place, seq

-- name: by_id_ever
-- Every version of these turns up to :known.
SELECT {columns} FROM turns
WHERE id IN (SELECT value FROM json_each(:ids)) AND seq <= :known
ORDER BY place, seq

-- name: by_seq
-- The versions that these entries wrote, if visible at :known.
SELECT {columns} FROM turns
WHERE seq IN (SELECT value FROM json_each(:seqs)) AND seq <= :known AND (retired IS NULL OR retired > :known)
ORDER BY place, seq

-- name: entries
-- Versions in the order in which they were written, with their stems, for the log.
SELECT {columns}, stems FROM turns WHERE seq > :after ORDER BY seq LIMIT :limit
