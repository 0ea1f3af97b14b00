/**
 * Who may know of what came from a source. What a source's documents leave behind (jobs, commits, items of
 * bulk jobs) outlives them, so it remembers its source, and the readers outlive the source.
 */
export const SOURCE_READERS_SCHEMA = `
CREATE TABLE source_readers (
  source_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  PRIMARY KEY (source_id, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_readers_space ON source_readers (space_key, source_id);
INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
  SELECT sources.id, reader.value, sources.space_key FROM sources CROSS JOIN json_each(permission_scope) reader;
CREATE TRIGGER source_readers_added AFTER INSERT ON sources BEGIN
  INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
    SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader;
END;
CREATE TRIGGER source_readers_changed AFTER UPDATE OF permission_scope ON sources BEGIN
  DELETE FROM source_readers WHERE source_id = OLD.id;
  INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
    SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader;
END;

ALTER TABLE jobs ADD COLUMN source_id TEXT;
ALTER TABLE staged_commits ADD COLUMN source_id TEXT;
ALTER TABLE bulk_items ADD COLUMN source_id TEXT;
UPDATE jobs SET source_id = (SELECT source_id FROM documents WHERE key = doc_key);
UPDATE staged_commits SET source_id = (SELECT source_id FROM documents WHERE id = document_id)
  WHERE document_id IS NOT NULL;
UPDATE bulk_items SET source_id = (SELECT source_id FROM documents WHERE id = document_id);
CREATE TRIGGER jobs_source AFTER INSERT ON jobs BEGIN
  UPDATE jobs SET source_id = (SELECT source_id FROM documents WHERE key = NEW.doc_key) WHERE key = NEW.key;
END;
`
