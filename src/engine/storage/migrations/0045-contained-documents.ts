/** Documents that lie in others: attachments of a mail, files of an archive. */
export const CONTAINED_DOCUMENTS_SCHEMA = `
-- id of the document whose file holds this one's
ALTER TABLE documents ADD COLUMN parent_id TEXT;
-- id of a newer file of the parent's name, which holds the same file and takes it over when it takes the parent's place
ALTER TABLE documents ADD COLUMN next_parent_id TEXT;
CREATE INDEX documents_parent ON documents (tenant, parent_id) WHERE parent_id IS NOT NULL;
`
