/** What an end user, or an application, has uploaded and not sent yet is counted without the files of messages. */
export const CHAT_UPLOADS_SCHEMA = `
CREATE INDEX chat_files_unused ON chat_files (app_id, end_user_id, expires_at, size_bytes) WHERE expires_at IS NOT NULL;
`
