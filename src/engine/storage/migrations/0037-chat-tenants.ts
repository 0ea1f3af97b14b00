/**
 * Every row of the chat service carries its tenant, which stands first in its keys: an id of another tenant finds nothing,
 * whatever asks. Tables are made anew, since SQLite changes no key; rows get the tenant of the application that they hang on.
 */
export const CHAT_TENANTS_SCHEMA = `
-- triggers of other tables name these by their old names in between
PRAGMA legacy_alter_table = ON;
CREATE TABLE chat_apps_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
INSERT INTO chat_apps_next SELECT tenant, id, owner, body, created_at, updated_at FROM chat_apps ORDER BY tenant, id;

CREATE TABLE chat_keys_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  -- who comes with a key is not known before it is found: the one column that is unique over all tenants
  hash BLOB NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_keys_next
  SELECT a.tenant, k.id, k.app_id, k.hash, k.hint, k.created_at, k.revoked_at
  FROM chat_keys k JOIN chat_apps a ON a.id = k.app_id;

CREATE TABLE chat_end_users_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, app_id, name),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_end_users_next
  SELECT a.tenant, u.id, u.app_id, u.name, u.created_at FROM chat_end_users u JOIN chat_apps a ON a.id = u.app_id;

CREATE TABLE chat_conversations_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- user: named by hand, which no generated name replaces
  named_by TEXT NOT NULL CHECK (named_by IN ('default', 'model', 'user')),
  inputs TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_conversations_next
  SELECT a.tenant, c.id, c.app_id, c.end_user_id, c.name, c.named_by, c.inputs, c.created_at, c.updated_at
  FROM chat_conversations c JOIN chat_apps a ON a.id = c.app_id;

CREATE TABLE chat_messages_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  task_id TEXT NOT NULL,
  query TEXT NOT NULL,
  inputs TEXT NOT NULL,
  answer TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL CHECK (status IN ('running', 'normal', 'stopped', 'error')),
  error TEXT,
  resources TEXT NOT NULL DEFAULT '[]',
  usage TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  thoughts TEXT NOT NULL DEFAULT '[]',
  -- who writes the answer
  claimed_by TEXT,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, conversation_id, place),
  FOREIGN KEY (tenant, conversation_id) REFERENCES chat_conversations_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_messages_next
  SELECT a.tenant, m.id, m.app_id, m.end_user_id, m.conversation_id, m.place, m.task_id, m.query, m.inputs, m.answer, m.status,
    m.error, m.resources, m.usage, m.created_at, m.finished_at, m.thoughts, m.claimed_by
  FROM chat_messages m JOIN chat_conversations c ON c.id = m.conversation_id JOIN chat_apps a ON a.id = c.app_id;

CREATE TABLE chat_feedback_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  rating TEXT NOT NULL CHECK (rating IN ('like', 'dislike')),
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, message_id, end_user_id),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_messages_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_feedback_next
  SELECT a.tenant, f.id, f.app_id, f.end_user_id, f.conversation_id, f.message_id, f.rating, f.content, f.created_at,
    f.updated_at
  FROM chat_feedback f JOIN chat_messages m ON m.id = f.message_id
    JOIN chat_conversations c ON c.id = m.conversation_id JOIN chat_apps a ON a.id = c.app_id;

CREATE TABLE chat_files_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  extension TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  object_key TEXT NOT NULL,
  -- 0 while the bytes are on their way to their name
  ready INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
INSERT INTO chat_files_next
  SELECT tenant, id, app_id, end_user_id, name, extension, mime_type, size_bytes, sha256, object_key, ready, expires_at,
    created_at FROM chat_files;

CREATE TABLE chat_message_files_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  belongs_to TEXT NOT NULL CHECK (belongs_to IN ('user', 'assistant')),
  transfer_method TEXT NOT NULL CHECK (transfer_method IN ('remote_url', 'local_file')),
  -- where a remote file was fetched from
  url TEXT,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, message_id, place),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_messages_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_message_files_next
  SELECT a.tenant, f.id, f.message_id, f.place, f.file_id, f.belongs_to, f.transfer_method, f.url
  FROM chat_message_files f JOIN chat_messages m ON m.id = f.message_id
    JOIN chat_conversations c ON c.id = m.conversation_id JOIN chat_apps a ON a.id = c.app_id;

CREATE TABLE chat_conversation_variables_next (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  value_type TEXT NOT NULL,
  -- a string as it is, anything else as JSON text
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, id),
  UNIQUE (tenant, conversation_id, name),
  FOREIGN KEY (tenant, conversation_id) REFERENCES chat_conversations_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_conversation_variables_next
  SELECT v.key, a.tenant, v.id, v.conversation_id, v.name, v.description, v.value_type, v.value, v.created_at, v.updated_at
  FROM chat_conversation_variables v
    JOIN chat_conversations c ON c.id = v.conversation_id JOIN chat_apps a ON a.id = c.app_id;

CREATE TABLE chat_annotations_next (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  -- both in lower case, with U+0001 between them: SQLite folds ASCII only
  folded TEXT NOT NULL,
  hit_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_annotations_next
  SELECT n.key, a.tenant, n.id, n.app_id, n.question, n.answer, n.folded, n.hit_count, n.created_at
  FROM chat_annotations n JOIN chat_apps a ON a.id = n.app_id;

CREATE TABLE chat_annotation_replies_next (
  tenant TEXT NOT NULL,
  app_id TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  score_threshold REAL NOT NULL,
  PRIMARY KEY (tenant, app_id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_annotation_replies_next
  SELECT a.tenant, r.app_id, r.enabled, r.score_threshold
  FROM chat_annotation_replies r JOIN chat_apps a ON a.id = r.app_id;

CREATE TABLE chat_annotation_jobs_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('enable', 'disable')),
  score_threshold REAL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'processing', 'completed', 'error')),
  error TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  claimed_by TEXT,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps_next (tenant, id) ON DELETE CASCADE
) STRICT;
INSERT INTO chat_annotation_jobs_next
  SELECT a.tenant, j.id, j.app_id, j.action, j.score_threshold, j.status, j.error, j.created_at, j.claimed_by
  FROM chat_annotation_jobs j JOIN chat_apps a ON a.id = j.app_id;

-- those that refer to others first: removing what is referred to would remove them, too, one by one
DROP TABLE chat_annotation_jobs;
DROP TABLE chat_annotation_replies;
DROP TABLE chat_annotations;
DROP TABLE chat_conversation_variables;
DROP TABLE chat_message_files;
DROP TABLE chat_files;
DROP TABLE chat_feedback;
DROP TABLE chat_messages;
DROP TABLE chat_conversations;
DROP TABLE chat_end_users;
DROP TABLE chat_keys;
DROP TABLE chat_apps;
ALTER TABLE chat_apps_next RENAME TO chat_apps;
ALTER TABLE chat_keys_next RENAME TO chat_keys;
ALTER TABLE chat_end_users_next RENAME TO chat_end_users;
ALTER TABLE chat_conversations_next RENAME TO chat_conversations;
ALTER TABLE chat_messages_next RENAME TO chat_messages;
ALTER TABLE chat_feedback_next RENAME TO chat_feedback;
ALTER TABLE chat_files_next RENAME TO chat_files;
ALTER TABLE chat_message_files_next RENAME TO chat_message_files;
ALTER TABLE chat_conversation_variables_next RENAME TO chat_conversation_variables;
ALTER TABLE chat_annotations_next RENAME TO chat_annotations;
ALTER TABLE chat_annotation_replies_next RENAME TO chat_annotation_replies;
ALTER TABLE chat_annotation_jobs_next RENAME TO chat_annotation_jobs;
PRAGMA legacy_alter_table = OFF;

CREATE INDEX chat_keys_app ON chat_keys (tenant, app_id, id);
CREATE INDEX chat_conversations_updated ON chat_conversations (tenant, app_id, end_user_id, updated_at, id);
CREATE INDEX chat_conversations_created ON chat_conversations (tenant, app_id, end_user_id, created_at, id);
CREATE INDEX chat_messages_running ON chat_messages (id) WHERE status = 'running';
CREATE INDEX chat_feedback_app ON chat_feedback (tenant, app_id, updated_at, id);
CREATE INDEX chat_files_object ON chat_files (object_key);
CREATE INDEX chat_files_expiry ON chat_files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX chat_files_unused ON chat_files (tenant, app_id, end_user_id, expires_at, size_bytes)
  WHERE expires_at IS NOT NULL;
CREATE INDEX chat_files_app ON chat_files (tenant, app_id);
CREATE INDEX chat_files_named ON chat_files (id);
CREATE INDEX chat_message_files_file ON chat_message_files (tenant, file_id);
CREATE INDEX chat_message_files_named ON chat_message_files (id);
CREATE INDEX chat_annotations_app ON chat_annotations (tenant, app_id, key);
CREATE INDEX chat_annotation_jobs_app ON chat_annotation_jobs (tenant, app_id, action, status);
CREATE TRIGGER chat_files_app_deleted AFTER DELETE ON chat_apps BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE tenant = old.tenant AND app_id = old.id;
END;
CREATE TRIGGER chat_files_unlinked AFTER DELETE ON chat_message_files BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE tenant = old.tenant AND id = old.file_id
    AND NOT EXISTS (SELECT 1 FROM chat_message_files WHERE tenant = old.tenant AND file_id = old.file_id);
END;
`
