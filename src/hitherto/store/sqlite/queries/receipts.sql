-- name: hash
-- A name as the file keeps it: sixteen bytes for what is written as them, anything else as it is.
iif(lower(hex(unhex(value))) = value, unhex(value), value)

-- name: name
-- And as it is asked for.
iif(typeof(hash) = 'blob', lower(hex(hash)), hash)

-- name: by_id
-- These snapshots.
SELECT id, at, known, body, is_full FROM snapshots WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id

-- name: newest
-- The newest snapshots before a moment.
SELECT id, at, known, body, is_full FROM snapshots WHERE at < :before ORDER BY at DESC, id LIMIT :limit

-- name: texts
-- The texts with these hashes.
SELECT {name}, text FROM blobs WHERE hash IN (SELECT {hash} FROM json_each(:hashes))

-- name: entry_numbers
-- The entries by which the turns and records of these ids are known: those of their first versions.
SELECT id, min(seq) FROM turns WHERE id IN (SELECT value FROM json_each(:names)) GROUP BY id
UNION ALL
SELECT id, min(seq) FROM records WHERE id IN (SELECT value FROM json_each(:names)) GROUP BY id

-- name: text_numbers
-- The numbers of the texts with these hashes.
SELECT {name}, number FROM blobs WHERE hash IN (SELECT {hash} FROM json_each(:names))

-- name: entry_names
-- The ids of turns and records of which one version was written by these entries.
SELECT seq, id FROM turns WHERE seq IN (SELECT value FROM json_each(:numbers))
UNION ALL
SELECT seq, id FROM records WHERE seq IN (SELECT value FROM json_each(:numbers))

-- name: text_names
-- The hashes of the texts with these numbers.
SELECT number, {name} FROM blobs WHERE number IN (SELECT value FROM json_each(:numbers))

-- name: put
-- The record of a context, or a shorter one in its place.
INSERT OR REPLACE INTO snapshots (id, at, known, is_full, body) VALUES (?, ?, ?, ?, ?)

-- name: put_text
-- A text under its hash, which is not there yet: one that is keeps its number.
INSERT INTO blobs (hash, text) SELECT {hash}, :text FROM (SELECT :name AS value) RETURNING number

-- name: plain
-- Snapshots whose bodies are text.
SELECT id, body FROM snapshots WHERE typeof(body) = 'text'

-- name: pack
-- The same snapshot with a packed body.
UPDATE snapshots SET body = ? WHERE id = ?
