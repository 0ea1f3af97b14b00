/** Jobs that ended long ago are found, and removed, without reading all others. */
export const ENDED_WORK_SCHEMA = `
CREATE INDEX bulk_jobs_space ON bulk_jobs (space_key, created_at);
CREATE INDEX bulk_items_job ON bulk_items (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (space_key, completed_at) WHERE completed_at IS NOT NULL;
`
