-- What is known about one user, such as who linked to them or exported them, is found without reading what is known about others.

ALTER TABLE documents ADD COLUMN about TEXT;

UPDATE documents SET about = json_extract(body, '$.user') WHERE kind IN ('audit', 'link');

CREATE INDEX documents_by_user ON documents (tenant, kind, about, name) WHERE about IS NOT NULL;
