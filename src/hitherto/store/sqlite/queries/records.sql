-- name: columns
-- A record version, in the order in which rows are read.
noun, id, text, persona, lane, key, status, origin, sources, entities, at, due, valid_from, valid_to, tokens, family,
body, seq, version, recorded_at, retired, retired_at

-- name: some
-- Records under conditions that are put in; two of these are joined when the past is asked for.
SELECT {columns} FROM records WHERE {conditions}

-- name: by_id
-- The versions of these records that were visible at :known.
SELECT {columns} FROM records
WHERE id IN (SELECT value FROM json_each(:ids)) AND seq <= :known AND (retired IS NULL OR retired > :known)
ORDER BY seq

-- name: by_id_ever
-- Every version of these records up to :known.
SELECT {columns} FROM records
WHERE id IN (SELECT value FROM json_each(:ids)) AND seq <= :known
ORDER BY seq

-- name: by_seq
-- The versions that these entries wrote, if visible at :known.
SELECT {columns} FROM records
WHERE seq IN (SELECT value FROM json_each(:seqs)) AND seq <= :known AND (retired IS NULL OR retired > :known)
ORDER BY seq

-- name: by_source
-- Live versions that rest on any of these turns, or with :ever also the ended ones.
SELECT {columns} FROM records
WHERE seq IN (SELECT seq FROM record_sources WHERE turn IN (SELECT value FROM json_each(:turns)))
    AND (:ever OR retired IS NULL)
ORDER BY seq

-- name: naming
-- The entries of records that name any of these entities, as a list in JSON; NULL for none. Most messages name nobody.
SELECT '[' || group_concat(DISTINCT seq) || ']' FROM record_entities WHERE ref IN (SELECT value FROM json_each(:refs))

-- name: by_entity
-- Those of them that are of one noun and visible at :known, newest first. The plus signs keep the planner from
-- reading every version of the noun, by an index, instead of the few that are named.
SELECT {columns} FROM records
WHERE seq IN (SELECT value FROM json_each(:seqs))
    AND +noun = :noun AND +seq <= :known AND (+retired IS NULL OR +retired > :known)
    AND (:any_persona OR persona IS :persona OR (:shared AND persona IS NULL))
    AND (:any_status OR status IN (SELECT value FROM json_each(:statuses)))
ORDER BY at DESC, seq DESC
LIMIT :limit

-- name: entries
-- Versions in the order in which they were written, with their stems, for the log.
SELECT {columns}, stems FROM records WHERE seq > :after ORDER BY seq LIMIT :limit
