/**
 * Research tasks with what belongs to them, sessions with their turns, bulk jobs with their items and answer traces
 * carry their tenant first in every key. Rows get it from what they hang on.
 */
export const WORK_TENANTS_SCHEMA = `
-- triggers of other tables name these in between
PRAGMA legacy_alter_table = ON;
CREATE TABLE research_tasks_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  subject TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  queue_id TEXT NOT NULL,
  query TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('fast', 'deep', 'research')),
  -- frozen when the task was made: how the mode was decided, the publication that is read, the profile
  route TEXT NOT NULL,
  snapshot TEXT NOT NULL,
  profile TEXT NOT NULL,
  limits TEXT,
  budget_usd REAL,
  metadata TEXT,
  permission_scope TEXT,
  stage TEXT NOT NULL CHECK (stage IN
    ('queued', 'planning', 'retrieving', 'analyzing', 'generating', 'completed', 'failed', 'canceled')),
  error TEXT,
  stopped_by TEXT, -- the limit that ended the gathering
  budget_exceeded INTEGER NOT NULL DEFAULT 0,
  active_ms INTEGER NOT NULL DEFAULT 0, -- time at work, over all starts of the daemon
  claimed_by TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  unclean_ends INTEGER NOT NULL DEFAULT 0,
  run_after INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER,
  fence INTEGER NOT NULL DEFAULT 0,
  events INTEGER NOT NULL DEFAULT 0, -- that it has had: the number of its newest one
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO research_tasks_next (tenant, id, subject, space_key, queue_id, query, mode, route, snapshot, profile,
  limits, budget_usd, metadata, permission_scope, stage, error, stopped_by, budget_exceeded, active_ms, claimed_by,
  attempts, unclean_ends, run_after, created_at, updated_at, completed_at, fence, events)
  SELECT tenant, id, subject, space_key, queue_id, query, mode, route, snapshot, profile, limits, budget_usd,
  metadata, permission_scope, stage, error, stopped_by, budget_exceeded, active_ms, claimed_by, attempts,
  unclean_ends, run_after, created_at, updated_at, completed_at, fence, events FROM research_tasks;
CREATE TABLE research_steps_next (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  step TEXT NOT NULL,
  name TEXT NOT NULL CHECK (name IN ('plan', 'retrieve', 'inspect', 'analyze', 'generate')),
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  tool_calls INTEGER NOT NULL,
  scanned INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, task_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO research_steps_next (tenant, task_id, step, name, space_key, body, tool_calls, scanned, input_tokens,
  output_tokens, latency_ms, created_at)
  SELECT p.tenant, t.task_id, t.step, t.name, t.space_key, t.body, t.tool_calls, t.scanned, t.input_tokens,
  t.output_tokens, t.latency_ms, t.created_at FROM research_steps t JOIN research_tasks p ON p.id = t.task_id;
CREATE TABLE research_partials_next (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO research_partials_next (tenant, task_id, sequence, space_key, body)
  SELECT p.tenant, t.task_id, t.sequence, t.space_key, t.body FROM research_partials t JOIN research_tasks p ON p.id =
  t.task_id;
CREATE TABLE research_costs_next (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  step TEXT NOT NULL,
  provider TEXT NOT NULL,
  cost_usd REAL NOT NULL,
  usage TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO research_costs_next (tenant, task_id, sequence, step, provider, cost_usd, usage, recorded_at)
  SELECT p.tenant, t.task_id, t.sequence, t.step, t.provider, t.cost_usd, t.usage, t.recorded_at FROM research_costs t
  JOIN research_tasks p ON p.id = t.task_id;
CREATE TABLE research_events_next (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO research_events_next (tenant, task_id, sequence, event, data)
  SELECT p.tenant, t.task_id, t.sequence, t.event, t.data FROM research_events t JOIN research_tasks p ON p.id =
  t.task_id;
CREATE TABLE sessions_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  client_kind TEXT NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO sessions_next (tenant, id, space_key, subject, client_kind, heartbeat_at, expires_at, created_at)
  SELECT tenant, id, space_key, subject, client_kind, heartbeat_at, expires_at, created_at FROM sessions;
CREATE TABLE session_turns_next (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  query TEXT NOT NULL,
  answer TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, session_id, place)
) STRICT, WITHOUT ROWID;
INSERT INTO session_turns_next (tenant, session_id, place, trace_id, query, answer, created_at)
  SELECT p.tenant, t.session_id, t.place, t.trace_id, t.query, t.answer, t.created_at FROM session_turns t JOIN
  sessions p ON p.id = t.session_id;
CREATE TABLE bulk_jobs_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO bulk_jobs_next (tenant, id, space_key, type, created_at)
  SELECT tenant, id, space_key, type, created_at FROM bulk_jobs;
CREATE TABLE bulk_items_next (
  tenant TEXT NOT NULL,
  bulk_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  document_id TEXT NOT NULL,
  job_id TEXT,
  outcome TEXT CHECK (outcome IN ('completed', 'failed')),
  source_id TEXT,
  PRIMARY KEY (tenant, bulk_id, place)
) STRICT, WITHOUT ROWID;
INSERT INTO bulk_items_next (tenant, bulk_id, place, document_id, job_id, outcome, source_id)
  SELECT p.tenant, t.bulk_id, t.place, t.document_id, t.job_id, t.outcome, t.source_id FROM bulk_items t JOIN
  bulk_jobs p ON p.id = t.bulk_id;
CREATE TABLE traces_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  query TEXT NOT NULL,
  mode TEXT NOT NULL,
  requested_mode TEXT NOT NULL,
  completed INTEGER NOT NULL,
  bundle_id TEXT,
  evidence_state TEXT,
  steps TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  session_id TEXT,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO traces_next (tenant, id, space_key, subject, query, mode, requested_mode, completed, bundle_id,
  evidence_state, steps, created_at, session_id)
  SELECT tenant, id, space_key, subject, query, mode, requested_mode, completed, bundle_id, evidence_state, steps,
  created_at, session_id FROM traces;
CREATE TABLE evidence_bundles_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO evidence_bundles_next (tenant, id, space_key, trace_id, body, created_at)
  SELECT tenant, id, space_key, trace_id, body, created_at FROM evidence_bundles;
DROP TABLE research_tasks;
DROP TABLE research_steps;
DROP TABLE research_partials;
DROP TABLE research_costs;
DROP TABLE research_events;
DROP TABLE sessions;
DROP TABLE session_turns;
DROP TABLE bulk_jobs;
DROP TABLE bulk_items;
DROP TABLE traces;
DROP TABLE evidence_bundles;
ALTER TABLE research_tasks_next RENAME TO research_tasks;
ALTER TABLE research_steps_next RENAME TO research_steps;
ALTER TABLE research_partials_next RENAME TO research_partials;
ALTER TABLE research_costs_next RENAME TO research_costs;
ALTER TABLE research_events_next RENAME TO research_events;
ALTER TABLE sessions_next RENAME TO sessions;
ALTER TABLE session_turns_next RENAME TO session_turns;
ALTER TABLE bulk_jobs_next RENAME TO bulk_jobs;
ALTER TABLE bulk_items_next RENAME TO bulk_items;
ALTER TABLE traces_next RENAME TO traces;
ALTER TABLE evidence_bundles_next RENAME TO evidence_bundles;
PRAGMA legacy_alter_table = OFF;

CREATE INDEX research_tasks_owner ON research_tasks (tenant, subject, id);
CREATE INDEX research_tasks_space ON research_tasks (space_key, completed_at);
CREATE INDEX research_tasks_open ON research_tasks (space_key, run_after, id) WHERE completed_at IS NULL;
CREATE INDEX research_tasks_claimed ON research_tasks (id) WHERE claimed_by IS NOT NULL;
CREATE INDEX sessions_space ON sessions (space_key, expires_at);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX bulk_jobs_space ON bulk_jobs (space_key, created_at);
CREATE INDEX bulk_items_job ON bulk_items (tenant, job_id) WHERE job_id IS NOT NULL;
CREATE INDEX traces_space ON traces (space_key, subject, id);
CREATE INDEX traces_age ON traces (space_key, created_at);
CREATE INDEX traces_own ON traces (space_key, subject, created_at, id);
CREATE INDEX traces_session ON traces (tenant, session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX evidence_bundles_trace ON evidence_bundles (tenant, trace_id);
CREATE TRIGGER research_task_removed AFTER DELETE ON research_tasks BEGIN
  DELETE FROM research_steps WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_partials WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_costs WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_events WHERE tenant = OLD.tenant AND task_id = OLD.id;
END;
CREATE TRIGGER usage_research_step_added AFTER INSERT ON research_steps BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_research_step_removed AFTER DELETE ON research_steps BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_research_partial_added AFTER INSERT ON research_partials BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_research_partial_removed AFTER DELETE ON research_partials BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_trace_added AFTER INSERT ON traces BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.query) + octet_length(NEW.steps))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_trace_removed AFTER DELETE ON traces BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.query) - octet_length(OLD.steps)
    WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER traces_reviewed AFTER DELETE ON traces BEGIN
  DELETE FROM missing_reviews WHERE tenant = OLD.tenant AND trace_id = OLD.id;
  UPDATE failed_queries SET answer_trace_id = NULL WHERE tenant = OLD.tenant AND answer_trace_id = OLD.id;
END;
CREATE TRIGGER usage_bundle_added AFTER INSERT ON evidence_bundles BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_bundle_removed AFTER DELETE ON evidence_bundles BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
END;
`
