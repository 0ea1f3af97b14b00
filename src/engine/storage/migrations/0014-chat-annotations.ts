/** Questions of chat applications with fixed answers, and what a turn remembers beside its answer. */
export const CHAT_ANNOTATIONS_SCHEMA = `
CREATE TABLE chat_annotations (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  app_id TEXT NOT NULL REFERENCES chat_apps (id) ON DELETE CASCADE,
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  -- both in lower case, with U+0001 between them: SQLite folds ASCII only
  folded TEXT NOT NULL,
  hit_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_annotations_app ON chat_annotations (app_id, key);
CREATE TABLE chat_annotation_replies (
  app_id TEXT PRIMARY KEY REFERENCES chat_apps (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  score_threshold REAL NOT NULL
) STRICT;
CREATE TABLE chat_annotation_jobs (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES chat_apps (id) ON DELETE CASCADE,
  action TEXT NOT NULL CHECK (action IN ('enable', 'disable')),
  score_threshold REAL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'processing', 'completed', 'error')),
  error TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_annotation_jobs_app ON chat_annotation_jobs (app_id, action, status);
-- the steps of an agent, written with the answer
ALTER TABLE chat_messages ADD COLUMN thoughts TEXT NOT NULL DEFAULT '[]';
`
