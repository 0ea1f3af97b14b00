/**
 * Of how many of the publication's open documents a topic or community was made. What was made before did not
 * count them: it is stale and made anew for the next reader.
 */
export const VIEW_COVERAGE_SCHEMA = `
-- documents of the view, also those that it does not list
ALTER TABLE semantic_views ADD COLUMN document_count INTEGER NOT NULL DEFAULT 0;
-- open documents of the publication in revision, and how many of them were read for the view
ALTER TABLE semantic_views ADD COLUMN covered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semantic_views ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semantic_builds ADD COLUMN covered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semantic_builds ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
-- documents that nobody had read yet for page index and graph: when there are fewer, more can be covered
ALTER TABLE semantic_builds ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
DELETE FROM semantic_builds;
UPDATE semantic_views SET revision = 0;
-- a topic that a client named stays, with one document less
CREATE TRIGGER semantic_named_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE semantic_views SET document_count = document_count - 1 WHERE named = 1 AND document_count > 0 AND key IN
    (SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document');
END;
`
