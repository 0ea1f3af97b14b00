/** Newer files of documents, which keep their ids, and the files that were not ingested. */
export const NEXT_FILES = {
  sqlite: `
ALTER TABLE documents ADD COLUMN next_object_key TEXT;
ALTER TABLE documents ADD COLUMN next_file TEXT;
ALTER TABLE documents ADD COLUMN received_at INTEGER;
CREATE INDEX documents_next_object ON documents (next_object_key) WHERE next_object_key IS NOT NULL;
CREATE TRIGGER usage_document_resized AFTER UPDATE OF size_bytes ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NULL AND NEW.size_bytes <> OLD.size_bytes BEGIN UPDATE space_usage SET raw_bytes = raw_bytes + NEW.size_bytes - OLD.size_bytes
           WHERE space_key = OLD.space_key; END;
CREATE TRIGGER readings_document_edited AFTER UPDATE OF next_object_key ON documents
  WHEN NEW.next_object_key IS NOT NULL BEGIN DELETE FROM ocr_pages WHERE doc_key = NEW.key;
         DELETE FROM picture_readings WHERE doc_key = NEW.key; END;
CREATE TABLE skipped_files (
  space_key INTEGER NOT NULL,
  filename TEXT NOT NULL,
  reason TEXT NOT NULL,
  size_bytes INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (space_key, filename)
) STRICT, WITHOUT ROWID;
`,
  postgres: `
ALTER TABLE documents ADD COLUMN next_object_key text;
ALTER TABLE documents ADD COLUMN next_file text;
ALTER TABLE documents ADD COLUMN received_at bigint;
CREATE INDEX documents_next_object ON documents (next_object_key) WHERE next_object_key IS NOT NULL;
CREATE FUNCTION usage_document_resized() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
UPDATE space_usage SET raw_bytes = raw_bytes + NEW.size_bytes - OLD.size_bytes
           WHERE space_key = OLD.space_key;
RETURN NULL;
END $$;
CREATE TRIGGER usage_document_resized AFTER UPDATE OF size_bytes ON documents FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NULL AND NEW.size_bytes <> OLD.size_bytes)
  EXECUTE FUNCTION usage_document_resized();
CREATE FUNCTION readings_document_edited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
DELETE FROM ocr_pages WHERE doc_key = NEW.key;
         DELETE FROM picture_readings WHERE doc_key = NEW.key;
RETURN NULL;
END $$;
CREATE TRIGGER readings_document_edited AFTER UPDATE OF next_object_key ON documents FOR EACH ROW WHEN (NEW.next_object_key IS NOT NULL)
  EXECUTE FUNCTION readings_document_edited();
CREATE TABLE skipped_files (
  space_key bigint NOT NULL,
  filename text NOT NULL,
  reason text NOT NULL,
  size_bytes bigint,
  created_at bigint NOT NULL,
  PRIMARY KEY (space_key, filename)
);
SELECT isolate('skipped_files');
`,
}
