/**
 * Spaces, documents and publications are found by their tenant and their id. What hangs on them by row key follows them:
 * a row key is only had of a row that was found so.
 */
export const ROOT_TENANTS_SCHEMA = `
-- triggers of other tables name these in between
PRAGMA legacy_alter_table = ON;
CREATE TABLE publications_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (space_key, revision)
) STRICT, WITHOUT ROWID;
INSERT INTO publications_next (tenant, id, space_key, revision, fingerprint, created_at)
  SELECT p.tenant, t.id, t.space_key, t.revision, t.fingerprint, t.created_at FROM publications t JOIN spaces p ON
  p.key = t.space_key;
CREATE TABLE documents_next (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  source_id TEXT,
  filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  object_key TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  parser_status TEXT NOT NULL CHECK (parser_status IN ('pending', 'parsed', 'failed')),
  version INTEGER NOT NULL DEFAULT 1,
  metadata TEXT NOT NULL DEFAULT '{}',
  error_code TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  path_name TEXT,
  folder TEXT GENERATED ALWAYS AS
    (replace(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', '')), '/', char(1)))
    VIRTUAL,
  base TEXT GENERATED ALWAYS AS
    (substr(coalesce(path_name, filename),
      length(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', ''))) + 1)) VIRTUAL,
  -- JSON, see Kept in engine/sources/stored-validators.ts
  validators TEXT,
  UNIQUE (tenant, id)
) STRICT;
INSERT INTO documents_next (tenant, key, id, space_key, source_id, filename, mime_type, object_key, sha256,
  size_bytes, parser_status, version, metadata, error_code, error, created_at, updated_at, deleted_at, path_name,
  validators)
  SELECT p.tenant, t.key, t.id, t.space_key, t.source_id, t.filename, t.mime_type, t.object_key, t.sha256,
  t.size_bytes, t.parser_status, t.version, t.metadata, t.error_code, t.error, t.created_at, t.updated_at,
  t.deleted_at, t.path_name, t.validators FROM documents t JOIN spaces p ON p.key = t.space_key;
DELETE FROM sqlite_sequence WHERE name = 'documents_next';
INSERT INTO sqlite_sequence SELECT 'documents_next', seq FROM sqlite_sequence WHERE name = 'documents';
CREATE TABLE spaces_next (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  manifest_id TEXT NOT NULL,
  manifest_version INTEGER NOT NULL DEFAULT 1,
  manifest TEXT NOT NULL,
  embedding_plugin TEXT NOT NULL,
  embedding_provider TEXT NOT NULL,
  embedding_model TEXT NOT NULL,
  embedding_revision INTEGER NOT NULL DEFAULT 1,
  vector_space TEXT NOT NULL,
  dimension INTEGER,
  frozen_at INTEGER,
  head_revision INTEGER NOT NULL DEFAULT 0,
  publication_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  published_at INTEGER NOT NULL,
  UNIQUE (tenant, id)
) STRICT;
INSERT INTO spaces_next (tenant, key, id, name, slug, description, created_at, updated_at, deleted_at, manifest_id,
  manifest_version, manifest, embedding_plugin, embedding_provider, embedding_model, embedding_revision, vector_space,
  dimension, frozen_at, head_revision, publication_id, fingerprint, published_at)
  SELECT tenant, key, id, name, slug, description, created_at, updated_at, deleted_at, manifest_id, manifest_version,
  manifest, embedding_plugin, embedding_provider, embedding_model, embedding_revision, vector_space, dimension,
  frozen_at, head_revision, publication_id, fingerprint, published_at FROM spaces;
DELETE FROM sqlite_sequence WHERE name = 'spaces_next';
INSERT INTO sqlite_sequence SELECT 'spaces_next', seq FROM sqlite_sequence WHERE name = 'spaces';
DROP TABLE publications;
DROP TABLE documents;
DROP TABLE spaces;
ALTER TABLE publications_next RENAME TO publications;
ALTER TABLE documents_next RENAME TO documents;
ALTER TABLE spaces_next RENAME TO spaces;
PRAGMA legacy_alter_table = OFF;

CREATE INDEX documents_space ON documents (space_key, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_name ON documents (space_key, filename) WHERE deleted_at IS NULL;
CREATE INDEX documents_size ON documents (space_key, size_bytes) WHERE deleted_at IS NULL;
CREATE INDEX documents_object ON documents (object_key);
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX documents_age ON documents (space_key, created_at) WHERE deleted_at IS NULL;
CREATE INDEX documents_place ON documents (space_key, source_id, folder, base, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_base ON documents (space_key, base, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX spaces_slug ON spaces (tenant, slug) WHERE deleted_at IS NULL;
-- the search indexes name a space by its id alone
CREATE INDEX spaces_named ON spaces (id);
CREATE TRIGGER usage_document_added AFTER INSERT ON documents WHEN NEW.deleted_at IS NULL BEGIN
  INSERT INTO space_usage (space_key, document_count, raw_bytes) VALUES (NEW.space_key, 1, NEW.size_bytes)
    ON CONFLICT (space_key) DO UPDATE SET document_count = document_count + 1, raw_bytes = raw_bytes + excluded.raw_bytes;
END;
CREATE TRIGGER usage_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE space_usage SET document_count = document_count - 1, raw_bytes = raw_bytes - OLD.size_bytes
    WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER semantic_document_gone AFTER DELETE ON documents BEGIN
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'document';
END;
CREATE TRIGGER semantic_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  INSERT INTO space_deletions (space_key, deletions) VALUES (NEW.space_key, 1)
    ON CONFLICT (space_key) DO UPDATE SET deletions = deletions + 1;
  UPDATE semantic_views SET dropped = 1 WHERE named = 0 AND key IN (
    SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document'
    UNION SELECT member.view_key FROM versions version
      CROSS JOIN graph_mentions mention ON mention.version_key = version.key
      CROSS JOIN semantic_view_members member ON member.member_key = mention.entity_key AND member.kind = 'entity'
    WHERE version.doc_key = NEW.key);
END;
CREATE TRIGGER jobs_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE jobs SET error = 'its document was deleted' WHERE doc_key = NEW.key AND error IS NOT NULL;
  UPDATE staged_commits SET error_message = 'its document was deleted'
    WHERE job_id IN (SELECT id FROM jobs WHERE doc_key = NEW.key) AND error_message IS NOT NULL;
END;
CREATE TRIGGER semantic_named_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE semantic_views SET document_count = document_count - 1 WHERE named = 1 AND document_count > 0 AND key IN
    (SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document');
END;
`
