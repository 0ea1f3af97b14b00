/** Work that is claimed names its gateway, so that nobody but the dead lose what they hold. */
export const GATEWAYS_SCHEMA = `
-- engines that are open on this database, one run of a process each. A row that is gone, or was not renewed for a minute,
-- is a gateway that is gone
CREATE TABLE gateways (
  id TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL,
  beat_at INTEGER NOT NULL,
  -- names the lock of a data directory that it holds: who holds that lock later knows that it is dead
  held_lock TEXT
) STRICT, WITHOUT ROWID;

-- rises with each claim: a write by who had an earlier one comes too late
ALTER TABLE jobs ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN claimed_at INTEGER;
CREATE INDEX jobs_claimed ON jobs (space_key) WHERE claimed_by IS NOT NULL;
ALTER TABLE research_tasks ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
CREATE INDEX research_tasks_claimed ON research_tasks (id) WHERE claimed_by IS NOT NULL;
-- who syncs it
ALTER TABLE sources ADD COLUMN claimed_by TEXT;
ALTER TABLE sources ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sources_syncing ON sources (id) WHERE sync_started_at IS NOT NULL;
-- who writes the answer
ALTER TABLE chat_messages ADD COLUMN claimed_by TEXT;
ALTER TABLE chat_annotation_jobs ADD COLUMN claimed_by TEXT;
-- who fills it
ALTER TABLE vector_spaces ADD COLUMN claimed_by TEXT;
CREATE INDEX vector_spaces_building ON vector_spaces (key) WHERE state = 'building';
-- who works at it
ALTER TABLE embedding_migrations ADD COLUMN claimed_by TEXT;
ALTER TABLE graph_readings ADD COLUMN claimed_by TEXT;
-- who receives it
ALTER TABLE staged_commits ADD COLUMN claimed_by TEXT;
CREATE INDEX staged_commits_unacknowledged ON staged_commits (id)
  WHERE status IN ('received','object-staged','object-verified');
`
