-- name: turns
-- Turns that hold any of the stems with their scores as whole numbers, whoever they belong to and whether they are live
-- or not, in one text: a thousand rows would each have to wait for Python.
SELECT group_concat(rowid || ' ' || CAST(0.5 - rank * :scale AS INTEGER), ' ') FROM turn_words WHERE turn_words MATCH :stems

-- name: records
-- Records that hold any of the stems likewise, of any kind, live or not.
SELECT group_concat(rowid || ' ' || CAST(0.5 - rank * :scale AS INTEGER), ' ') FROM record_words WHERE record_words MATCH :stems
