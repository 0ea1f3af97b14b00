/** A space that is being imported is there as a deleted one, which the gateway that imports it holds from the purge. */
export const IMPORTS_SCHEMA = `
ALTER TABLE spaces ADD COLUMN imported_by TEXT;
CREATE INDEX spaces_imported ON spaces (key) WHERE imported_by IS NOT NULL;
`
