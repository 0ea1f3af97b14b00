/** Settings that all gateways of a deployment must share, from the first gateway. Only on PostgreSQL. */
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
