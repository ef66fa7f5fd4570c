-- Traces that were written long enough ago, many as one row of columns; each lies at the slot of its last trace.
CREATE TABLE trace_pages (
    slot INTEGER PRIMARY KEY,
    numbers BLOB NOT NULL,
    labels BLOB NOT NULL,
    sizes BLOB NOT NULL,
    names TEXT NOT NULL,
    ids BLOB NOT NULL,
    vectors BLOB NOT NULL
) STRICT;
