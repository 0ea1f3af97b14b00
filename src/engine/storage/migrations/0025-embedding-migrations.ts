/** Moves of spaces with documents to another embedding model, each with the vector space that it fills. */
export const EMBEDDING_MIGRATIONS_SCHEMA = `
CREATE TABLE embedding_migrations (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  plugin TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  -- id in vector_spaces, where there is no row before the first vector
  vector_space TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('filling', 'published', 'failed', 'canceled')),
  -- failures in a row of its provider, the last of them, and when it is asked next
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0,
  error_class TEXT,
  error TEXT,
  -- how far it had come when it ended
  filled INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX embedding_migrations_open ON embedding_migrations (space_key) WHERE completed_at IS NULL;
CREATE INDEX embedding_migrations_space ON embedding_migrations (space_key, key);

-- passages that the new model refused, each with the reason
CREATE TABLE embedding_migration_refusals (
  space_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (space_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER embedding_migration_refusals_removed AFTER DELETE ON nodes BEGIN
  DELETE FROM embedding_migration_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;
END;
`
