-- name: newest_documents
-- The newest version of every document of a kind.
SELECT name, version, body, recorded_at, about FROM documents AS newest
WHERE tenant = :tenant AND kind = :kind
    AND version = (
        SELECT max(version) FROM documents WHERE tenant = newest.tenant AND kind = newest.kind AND name = newest.name
    )
ORDER BY name

-- name: named_document
-- The newest version of one document.
SELECT name, version, body, recorded_at, about FROM documents
WHERE tenant = :tenant AND kind = :kind AND name = :name
ORDER BY version DESC
LIMIT 1

-- name: last_documents
-- The last of them by name, before a name.
SELECT name, version, body, recorded_at, about FROM documents AS newest
WHERE tenant = :tenant AND kind = :kind AND (:before IS NULL OR name < :before)
    AND version = (
        SELECT max(version) FROM documents WHERE tenant = newest.tenant AND kind = newest.kind AND name = newest.name
    )
ORDER BY name DESC
LIMIT :limit

-- name: last_documents_about
-- The same of those that are about one user.
SELECT name, version, body, recorded_at, about FROM documents AS newest
WHERE tenant = :tenant AND kind = :kind AND about = :about AND (:before IS NULL OR name < :before)
    AND version = (
        SELECT max(version) FROM documents WHERE tenant = newest.tenant AND kind = newest.kind AND name = newest.name
    )
ORDER BY name DESC
LIMIT :limit

-- name: versions
-- Every version of a document, oldest first.
SELECT name, version, body, recorded_at, about FROM documents
WHERE tenant = :tenant AND kind = :kind AND name = :name
ORDER BY version

-- name: kinds
-- Which tenants have documents of which kinds.
SELECT DISTINCT tenant, kind FROM documents WHERE tenant <> '' ORDER BY tenant, kind

-- name: add_document
-- A version of a document.
INSERT INTO documents (tenant, kind, name, version, recorded_at, body, about)
VALUES (:tenant, :kind, :name, :version, :recorded_at, :body, :about)

-- name: delete_document
-- All versions of a document; says which there were.
DELETE FROM documents WHERE tenant = :tenant AND kind = :kind AND name = :name RETURNING version

-- name: hint
-- When a user has work due next.
INSERT OR REPLACE INTO hints (digest, due) VALUES (?, ?)

-- name: drop_hint
-- Nothing is due for a user.
DELETE FROM hints WHERE digest = ?

-- name: due
-- Whose hint is due, the longest waiting first.
SELECT digest FROM hints WHERE due <= :now ORDER BY due, digest LIMIT :limit

-- name: begin_scrub
-- Something of a user is being erased, from now on; a document of no tenant, so that nobody reads it as theirs.
INSERT OR IGNORE INTO documents (tenant, kind, name, version, recorded_at, body)
VALUES ('', 'scrub', :digest, 1, 0, '')

-- name: end_scrub
-- No byte of what was erased is left.
DELETE FROM documents WHERE tenant = '' AND kind = 'scrub' AND name = :digest

-- name: unscrubbed
-- Users of whose erasures some bytes may be left.
SELECT name FROM documents WHERE tenant = '' AND kind = 'scrub' ORDER BY name

-- name: epoch
-- How often a user was wiped.
SELECT epoch FROM tombstones WHERE digest = :digest

-- name: bury
-- A user is being wiped, from now on.
INSERT INTO tombstones (digest, epoch, finished) VALUES (:digest, 1, 0)
ON CONFLICT (digest) DO UPDATE SET epoch = epoch + 1, finished = 0

-- name: buried
-- Nothing of the user is left.
UPDATE tombstones SET finished = 1 WHERE digest = :digest

-- name: unfinished
-- Users of whom something may be left.
SELECT digest FROM tombstones WHERE NOT finished ORDER BY digest
