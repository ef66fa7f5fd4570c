-- name: head
-- The newest log entry. Erasing is an entry itself, so the head never goes back.
SELECT max(
    coalesce((SELECT max(seq) FROM turns), 0),
    coalesce((SELECT max(seq) FROM records), 0),
    coalesce((SELECT max(seq) FROM endings), 0)
)

-- name: marks
-- The newest entries of each kind: writing, ending and erasing are entries, and entries only rise.
SELECT
    coalesce((SELECT max(seq) FROM turns), 0),
    coalesce((SELECT max(seq) FROM records), 0),
    coalesce((SELECT max(seq) FROM endings), 0)

-- name: endings
-- Retirements and erasures, in order, for the log.
SELECT seq, op, id, at FROM endings WHERE seq > :after ORDER BY seq LIMIT :limit

-- name: live_turns
-- How many turns are visible now.
SELECT count(*) FROM turns WHERE retired IS NULL

-- name: live_records
-- How many records of each noun are visible now.
SELECT noun, count(*) FROM records WHERE retired IS NULL GROUP BY noun ORDER BY noun

-- name: sizes
-- The number of snapshots, and the bytes of the file; nobody's file has no bytes.
SELECT
    (SELECT count(*) FROM snapshots),
    CASE WHEN EXISTS (SELECT 1 FROM meta) THEN (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)
    ELSE 0 END

-- name: cursors
-- Every step's place in the log.
SELECT step, position, due, attempts, error, parked, body FROM cursors ORDER BY step

-- name: lease
-- Who may run this user's work.
SELECT holder, fence, expires FROM lease

-- name: notes
-- The notes with these names, and those whose name begins with :prefix (between it and :beyond).
SELECT name, body, expires FROM notes
WHERE name IN (SELECT value FROM json_each(:names)) OR (name >= :prefix AND name < :beyond)
ORDER BY name

-- name: erased
-- Which of these hashes of ids stand in the log as erased.
SELECT DISTINCT id FROM endings WHERE op = 'erase' AND id IN (SELECT value FROM json_each(:names))
