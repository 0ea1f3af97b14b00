/** What all gateways of a deployment must have alike, as the first of them had it. There is no such thing in a file. */
export const DEPLOYMENT_TABLE = `
CREATE TABLE deployment (
  one bigint PRIMARY KEY DEFAULT 1 CHECK (one = 1),
  -- where the bytes of documents are
  objects text,
  -- a hash of the keys that sign tokens and encrypt credentials
  keys text
);
INSERT INTO deployment DEFAULT VALUES;
`
