-- name: turns
-- Visible turns that hold any of the stems, best first. The caller stops reading once it has enough, so only what is
-- read is looked up in the table.
SELECT turn_words.rowid, turn_words.rank
FROM turn_words CROSS JOIN turns ON turns.seq = turn_words.rowid
WHERE turn_words MATCH :stems
    AND turns.seq <= :known AND (turns.retired IS NULL OR turns.retired > :known)
    AND (:any_persona OR turns.persona IS :persona)
    AND (:any_lane OR turns.lane IS :lane)
ORDER BY turn_words.rank

-- name: records
-- Visible active records that hold any of the stems, best first; what belongs to no persona is let through.
SELECT record_words.rowid, record_words.rank
FROM record_words CROSS JOIN records ON records.seq = record_words.rowid
WHERE record_words MATCH :stems
    AND records.seq <= :known AND (records.retired IS NULL OR records.retired > :known)
    AND records.status = 'ACTIVE'
    AND (:any_persona OR records.persona IS :persona OR records.persona IS NULL)
    AND (:any_lane OR records.lane IS :lane)
    AND (:any_noun OR records.noun IN (SELECT value FROM json_each(:nouns)))
ORDER BY record_words.rank

-- name: scored_turns
-- Turns that hold any of the stems with their scores as whole numbers, whoever they belong to and whether they are live
-- or not, in one text: a thousand rows would each have to wait for Python.
SELECT group_concat(rowid || ' ' || CAST(0.5 - rank * :scale AS INTEGER), ' ') FROM turn_words WHERE turn_words MATCH :stems

-- name: scored_records
-- Records that hold any of the stems likewise, of any kind, live or not.
SELECT group_concat(rowid || ' ' || CAST(0.5 - rank * :scale AS INTEGER), ' ') FROM record_words WHERE record_words MATCH :stems
