/**
 * What is derived from documents goes with them at once. Topics and communities that a deleted document took
 * part in are dropped with the deletion, in its transaction, and derived anew for the next reader; what clients named
 * stays. A derivation that runs meanwhile sees by the count that it read what is gone.
 */
export const DELETIONS_SCHEMA = `
CREATE TABLE space_deletions (
  space_key INTEGER PRIMARY KEY,
  deletions INTEGER NOT NULL
) STRICT;
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
-- why a file could not be read names the file
CREATE TRIGGER jobs_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE jobs SET error = 'its document was deleted' WHERE doc_key = NEW.key AND error IS NOT NULL;
  UPDATE staged_commits SET error_message = 'its document was deleted'
    WHERE job_id IN (SELECT id FROM jobs WHERE doc_key = NEW.key) AND error_message IS NOT NULL;
END;
UPDATE staged_commits SET error_message = 'its document was deleted' WHERE error_message IS NOT NULL AND job_id IN
  (SELECT id FROM jobs WHERE doc_key NOT IN (SELECT key FROM documents WHERE deleted_at IS NULL));
UPDATE jobs SET error = 'its document was deleted'
  WHERE error IS NOT NULL AND doc_key NOT IN (SELECT key FROM documents WHERE deleted_at IS NULL);
ALTER TABLE semantic_views ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER semantic_view_dropped AFTER UPDATE OF dropped ON semantic_views BEGIN
  DELETE FROM semantic_builds WHERE space_key = NEW.space_key AND kind = NEW.kind;
  DELETE FROM semantic_views WHERE key = NEW.key;
END;

-- the restricted sources that a golden question or a failed query quotes
CREATE TABLE quoted_sources (
  owner TEXT NOT NULL,
  source_id TEXT NOT NULL,
  PRIMARY KEY (owner, source_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER golden_questions_quotes AFTER DELETE ON golden_questions BEGIN
  DELETE FROM quoted_sources WHERE owner = OLD.id;
END;
CREATE TRIGGER failed_queries_quotes AFTER DELETE ON failed_queries BEGIN
  DELETE FROM quoted_sources WHERE owner = OLD.id;
END;
INSERT OR IGNORE INTO quoted_sources (owner, source_id)
  SELECT g.id, d.source_id FROM golden_questions g CROSS JOIN json_each(g.expected_evidence) wanted
    CROSS JOIN nodes n ON n.id = wanted.value CROSS JOIN documents d ON d.key = n.doc_key
  WHERE d.source_id IN (SELECT source_id FROM source_readers);
INSERT OR IGNORE INTO quoted_sources (owner, source_id)
  SELECT f.id, d.source_id FROM failed_queries f CROSS JOIN traces t ON t.id = f.answer_trace_id
    CROSS JOIN evidence_bundles b ON b.id = t.bundle_id CROSS JOIN json_each(b.body, '$.items') item
    CROSS JOIN nodes n ON n.id = item.value ->> '$.nodeId' CROSS JOIN documents d ON d.key = n.doc_key
  WHERE d.source_id IN (SELECT source_id FROM source_readers);
`
