/** The files of this machine that documents were made from, and the folders that the daemon watches. */
export const LOCAL_FILES_SCHEMA = `
-- a row is written before the upload it announces: sha256 is of the bytes that were read last
CREATE TABLE local_files (
  key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  filename TEXT NOT NULL,
  path TEXT NOT NULL,
  root TEXT,
  fingerprint TEXT NOT NULL,
  device TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  UNIQUE (space_key, filename)
) STRICT;
CREATE INDEX local_files_root ON local_files (space_key, root, filename);

CREATE TABLE watches (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  folder TEXT NOT NULL,
  rules TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL,
  UNIQUE (space_key, folder)
) STRICT, WITHOUT ROWID;
`
