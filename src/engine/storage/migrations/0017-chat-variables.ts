/** What a conversation keeps under names that its application gives. */
export const CHAT_VARIABLES_SCHEMA = `
CREATE TABLE chat_conversation_variables (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  conversation_id TEXT NOT NULL REFERENCES chat_conversations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  value_type TEXT NOT NULL,
  -- a string as it is, anything else as JSON text
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (conversation_id, name)
) STRICT;
`
