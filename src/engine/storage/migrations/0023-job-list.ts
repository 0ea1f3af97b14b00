/** The jobs of a space in the order they came, for its list. */
export const JOB_LIST_SCHEMA = `
CREATE INDEX jobs_listed ON jobs (space_key, key);
`
