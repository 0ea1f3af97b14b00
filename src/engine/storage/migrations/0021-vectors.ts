/** What is waited for: vectors that providers owe, and what keeps a job from going on. */
export const VECTORS_SCHEMA = `
-- passages of a current version that have no vector yet, and those that the model refused; no row when nothing is owed
CREATE TABLE vectors_due (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  due INTEGER NOT NULL,
  refused INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX vectors_due_space ON vectors_due (space_key, version_key);
CREATE TRIGGER vectors_due_superseded AFTER UPDATE OF until_revision ON versions WHEN NEW.until_revision IS NOT NULL BEGIN
  DELETE FROM vectors_due WHERE version_key = NEW.key;
END;
CREATE TRIGGER vectors_due_removed AFTER DELETE ON versions BEGIN
  DELETE FROM vectors_due WHERE version_key = OLD.key;
END;

-- passages that the model of a space refused, each with the reason
CREATE TABLE vector_refusals (
  space_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (space_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER vector_refusals_removed AFTER DELETE ON nodes BEGIN
  DELETE FROM vector_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;
END;

-- spaces whose provider does not answer: since when, why, and when it is asked next
CREATE TABLE vector_waits (
  space_key INTEGER PRIMARY KEY,
  attempts INTEGER NOT NULL,
  since INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  error_class TEXT NOT NULL,
  error TEXT NOT NULL,
  permanent INTEGER NOT NULL
) STRICT;

-- how often and since when a job waits for what passes by itself: that counts as no try
ALTER TABLE jobs ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN waiting_since INTEGER;
`
