/** What documents of a space say against each other, and the claims by which it is found. */
export const CONFLICTS_SCHEMA = `
-- of each version what it claims, as others that may contradict it are looked for; the version of its maker in format
CREATE TABLE conflict_claims (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  format INTEGER NOT NULL,
  -- whether it was compared with all that were compared before
  compared INTEGER NOT NULL CHECK (compared IN (0, 1)),
  claims BLOB NOT NULL
) STRICT;
CREATE INDEX conflict_claims_space ON conflict_claims (space_key, version_key);
-- two sentences of different documents that disagree, or differ in another thing, time or version; pair is a hash of both
CREATE TABLE conflicts (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('number', 'date', 'negation', 'opposite', 'alternative')),
  relation TEXT NOT NULL CHECK (relation IN ('contradiction', 'newer', 'other')),
  reason TEXT NOT NULL,
  one_version INTEGER NOT NULL,
  one_node INTEGER NOT NULL,
  one_quote TEXT NOT NULL,
  other_version INTEGER NOT NULL,
  other_node INTEGER NOT NULL,
  other_quote TEXT NOT NULL,
  -- what a model said of it, where one was asked
  verdict TEXT CHECK (verdict IN ('contradict', 'compatible')),
  created_at INTEGER NOT NULL,
  pair TEXT NOT NULL,
  UNIQUE (one_version, other_version, pair)
) STRICT;
CREATE INDEX conflicts_space ON conflicts (space_key, relation, key);
CREATE INDEX conflicts_other ON conflicts (other_version);
-- what a model said of two sentences, by a hash of both and of the model: it is asked once
CREATE TABLE conflict_verdicts (
  space_key INTEGER NOT NULL,
  pair TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('contradict', 'compatible')),
  PRIMARY KEY (space_key, pair)
) STRICT, WITHOUT ROWID;
-- a side that was replaced or deleted says nothing any more
CREATE TRIGGER versions_ended_conflicts AFTER UPDATE OF until_revision ON versions WHEN NEW.until_revision IS NOT NULL BEGIN
  DELETE FROM conflicts WHERE one_version = NEW.key;
  DELETE FROM conflicts WHERE other_version = NEW.key;
  DELETE FROM conflict_claims WHERE version_key = NEW.key;
END;
CREATE TRIGGER versions_deleted_conflicts AFTER DELETE ON versions BEGIN
  DELETE FROM conflicts WHERE one_version = OLD.key;
  DELETE FROM conflicts WHERE other_version = OLD.key;
  DELETE FROM conflict_claims WHERE version_key = OLD.key;
END;
`
