/** Which store this is, and how often it was opened; the same stands beside the objects. */
export const STORE_SCHEMA = `
CREATE TABLE store (
  id TEXT NOT NULL,
  opened INTEGER NOT NULL
) STRICT;
`
