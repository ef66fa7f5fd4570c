-- name: embedder
-- The number under which an embedder's traces lie.
SELECT number FROM embedders WHERE name = :name

-- name: embedders
-- The numbers of all embedders.
SELECT number FROM embedders ORDER BY number

-- name: add_embedder
-- The next number for a new embedder.
INSERT INTO embedders (name, number) SELECT :name, coalesce(max(number), 0) + 1 FROM embedders

-- name: rows
-- One embedder's loose traces, in order, with what their turns and records say; :base is where its slots begin.
SELECT
    slot - :base, coalesce(place, records.seq), coalesce(noun, 'turn'), coalesce(turns.id, records.id),
    coalesce(turns.at, records.at), role, coalesce(turns.persona, records.persona), coalesce(turns.lane, records.lane),
    session, speaker, vector
FROM traces
LEFT JOIN turns ON turns.seq = slot - :base
LEFT JOIN records ON records.seq = slot - :base
WHERE slot > :after AND slot < :end
ORDER BY slot
LIMIT :limit

-- name: count_rows
-- How many loose traces lie between two slots.
SELECT count(*) FROM traces WHERE slot > :after AND slot < :end

-- name: first_row
-- The first loose trace between two slots.
SELECT min(slot) FROM traces WHERE slot > :after AND slot < :end

-- name: add_row
-- The vector of an entry.
INSERT OR REPLACE INTO traces (slot, vector) VALUES (?, ?)

-- name: add_row_later
-- A vector for an entry that was written before, if it is still there.
INSERT OR REPLACE INTO traces (slot, vector)
SELECT :slot, :vector
WHERE EXISTS (SELECT 1 FROM turns WHERE seq = :seq) OR EXISTS (SELECT 1 FROM records WHERE seq = :seq)

-- name: remove_row
-- A loose trace.
DELETE FROM traces WHERE slot = ?

-- name: remove_rows
-- The loose traces from one slot to another.
DELETE FROM traces WHERE slot BETWEEN :first AND :last

-- name: pages
-- The pages that reach past a slot, in order.
SELECT numbers, labels, sizes, names, ids, vectors FROM trace_pages WHERE slot > :after AND slot < :end ORDER BY slot

-- name: page_slots
-- Where the pages of an embedder lie.
SELECT slot FROM trace_pages WHERE slot > :after AND slot < :end ORDER BY slot

-- name: page_numbers
-- What tells which entries the pages past a slot hold.
SELECT numbers FROM trace_pages WHERE slot > :after AND slot < :end ORDER BY slot

-- name: add_page
-- A page, at the slot of its last trace.
INSERT INTO trace_pages (slot, numbers, labels, sizes, names, ids, vectors) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: remove_page
-- A page; says what it held.
DELETE FROM trace_pages WHERE slot = ? RETURNING numbers, labels, sizes, names, ids, vectors

-- name: untraced
-- Entries of live turns and live records with stems that have no loose trace at :base. The caller passes over those that
-- lie in a page, and stops when it has enough.
SELECT seq FROM turns
WHERE retired IS NULL AND seq > :after AND NOT EXISTS (SELECT 1 FROM traces WHERE slot = :base + turns.seq)
UNION ALL
SELECT seq FROM records
WHERE retired IS NULL AND stems <> '' AND seq > :after
    AND NOT EXISTS (SELECT 1 FROM traces WHERE slot = :base + records.seq)
ORDER BY 1
