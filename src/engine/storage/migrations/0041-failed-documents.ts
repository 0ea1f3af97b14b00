/** Documents that could not be read are few, and counted for each status of a space: not by looking at all of them. */
export const FAILED_DOCUMENTS_SCHEMA = `
CREATE INDEX documents_failed ON documents (space_key) WHERE parser_status = 'failed' AND deleted_at IS NULL;
`
