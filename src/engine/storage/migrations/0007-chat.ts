/** Chat applications with what belongs to them. What is deleted takes everything below it along. */
export const CHAT_SCHEMA = `
CREATE TABLE chat_apps (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_apps_tenant ON chat_apps (tenant, id);
-- hash: SHA-256 of the key, which is 256 random bits and so needs no salt
CREATE TABLE chat_keys (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES chat_apps (id) ON DELETE CASCADE,
  hash BLOB NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX chat_keys_app ON chat_keys (app_id, id);
CREATE TABLE chat_end_users (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES chat_apps (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (app_id, name)
) STRICT;
CREATE TABLE chat_conversations (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES chat_apps (id) ON DELETE CASCADE,
  end_user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- user: named by hand, which no generated name replaces
  named_by TEXT NOT NULL CHECK (named_by IN ('default', 'model', 'user')),
  inputs TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_conversations_updated ON chat_conversations (app_id, end_user_id, updated_at, id);
CREATE INDEX chat_conversations_created ON chat_conversations (app_id, end_user_id, created_at, id);
-- a message is whole from its first row on: the answer is written once, with the move away from running
CREATE TABLE chat_messages (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL REFERENCES chat_conversations (id) ON DELETE CASCADE,
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
  UNIQUE (conversation_id, place)
) STRICT;
CREATE INDEX chat_messages_running ON chat_messages (id) WHERE status = 'running';
CREATE TABLE chat_feedback (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  message_id TEXT NOT NULL REFERENCES chat_messages (id) ON DELETE CASCADE,
  rating TEXT NOT NULL CHECK (rating IN ('like', 'dislike')),
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (message_id, end_user_id)
) STRICT;
CREATE INDEX chat_feedback_app ON chat_feedback (app_id, updated_at, id);
`
