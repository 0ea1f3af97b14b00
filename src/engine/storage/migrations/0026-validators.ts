/** What the server of a document's bytes said to tell them from others, so that they are not sent again unchanged. */
export const VALIDATORS_SCHEMA = `
-- JSON, see Kept in engine/sources/stored-validators.ts
ALTER TABLE documents ADD COLUMN validators TEXT;
`
