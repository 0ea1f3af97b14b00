/** Listings by folder, and versions that nothing keeps any more. */
export const FOLDERS_SCHEMA = `
-- a document's folder (each part closed by U+0001, which sorts before every character of a name, so that folders come in
-- the order of their names) and its name within it, for listings by folder
ALTER TABLE documents ADD COLUMN folder TEXT GENERATED ALWAYS AS
  (replace(rtrim(filename, replace(filename, '/', '')), '/', char(1))) VIRTUAL;
ALTER TABLE documents ADD COLUMN base TEXT GENERATED ALWAYS AS
  (substr(filename, length(rtrim(filename, replace(filename, '/', ''))) + 1)) VIRTUAL;
CREATE INDEX documents_place ON documents (space_key, source_id, folder, base, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_base ON documents (space_key, base, id) WHERE deleted_at IS NULL;
-- answers whether a document is visible, and in which version, without its rows
CREATE INDEX versions_visible ON versions (doc_key, from_revision, until_revision, version);
-- superseded so often that nothing keeps it any more
ALTER TABLE versions ADD COLUMN obsolete_at INTEGER;
CREATE INDEX versions_obsolete ON versions (obsolete_at) WHERE obsolete_at IS NOT NULL;
`
