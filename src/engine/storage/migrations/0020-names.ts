/** Paths of documents whose names no path can hold as they are. */
export const NAMES_SCHEMA = `
-- the name as a virtual path has it, where that is another text than the name: NFC, without control characters
ALTER TABLE documents ADD COLUMN path_name TEXT;
DROP INDEX documents_place;
DROP INDEX documents_base;
ALTER TABLE documents DROP COLUMN folder;
ALTER TABLE documents DROP COLUMN base;
ALTER TABLE documents ADD COLUMN folder TEXT GENERATED ALWAYS AS
  (replace(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', '')), '/', char(1))) VIRTUAL;
ALTER TABLE documents ADD COLUMN base TEXT GENERATED ALWAYS AS
  (substr(coalesce(path_name, filename),
    length(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', ''))) + 1)) VIRTUAL;
CREATE INDEX documents_place ON documents (space_key, source_id, folder, base, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_base ON documents (space_key, base, id) WHERE deleted_at IS NULL;
`
