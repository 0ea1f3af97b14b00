/** What garbage collection did, and commits in the order in which they are listed. */
export const INTEGRITY_SCHEMA = `
-- what garbage collection has removed or is removing, by the candidate's key: asking again gives the same answer
CREATE TABLE gc_outcomes (
  space_key INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  target TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('deleting', 'deleted')),
  object_key TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (space_key, idempotency_key, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX gc_outcomes_age ON gc_outcomes (created_at);
-- a repair may write an artifact of another size
CREATE TRIGGER usage_version_rewritten AFTER UPDATE OF artifact, outline, items ON versions BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes
    + length(NEW.artifact) + length(NEW.outline) + length(NEW.items)
    - length(OLD.artifact) - length(OLD.outline) - length(OLD.items) WHERE space_key = OLD.space_key;
END;
CREATE INDEX staged_commits_listed ON staged_commits (space_key, id);
`
