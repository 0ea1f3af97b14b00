/**
 * Files of chat messages. Bytes are content-addressed; a row holds them until it expires. What was uploaded and
 * never sent expires by time. A file that a message has does not, until its last message is gone.
 */
export const CHAT_FILES_SCHEMA = `
CREATE TABLE chat_files (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
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
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX chat_files_app ON chat_files (app_id);
CREATE INDEX chat_files_tenant ON chat_files (tenant, id);
CREATE INDEX chat_files_object ON chat_files (object_key);
CREATE INDEX chat_files_expiry ON chat_files (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE chat_message_files (
  id TEXT PRIMARY KEY,
  message_id TEXT NOT NULL REFERENCES chat_messages (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  belongs_to TEXT NOT NULL CHECK (belongs_to IN ('user', 'assistant')),
  transfer_method TEXT NOT NULL CHECK (transfer_method IN ('remote_url', 'local_file')),
  -- where a remote file was fetched from
  url TEXT,
  UNIQUE (message_id, place)
) STRICT;
CREATE INDEX chat_message_files_file ON chat_message_files (file_id);
-- as triggers, so that whatever deletes messages or applications lets go of their bytes
CREATE TRIGGER chat_files_unlinked AFTER DELETE ON chat_message_files BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE id = old.file_id
    AND NOT EXISTS (SELECT 1 FROM chat_message_files WHERE file_id = old.file_id);
END;
CREATE TRIGGER chat_files_app_deleted AFTER DELETE ON chat_apps BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE app_id = old.id;
END;
`
