/** Suggested questions are stored with their message: a model makes them once. */
export const CHAT_SUGGESTIONS_SCHEMA = `
-- JSON: questions that may follow the answer; NULL until a model made them
ALTER TABLE chat_messages ADD COLUMN suggestions TEXT;
`
