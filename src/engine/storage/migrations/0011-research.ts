/** Research tasks. Rows of a task go with it; its bytes count among the traces of the space. */
export const RESEARCH_SCHEMA = `
CREATE TABLE research_tasks (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
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
  completed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX research_tasks_owner ON research_tasks (tenant, subject, id);
CREATE INDEX research_tasks_space ON research_tasks (space_key, completed_at);
CREATE INDEX research_tasks_open ON research_tasks (space_key, run_after, id) WHERE completed_at IS NULL;
-- what each step came to, written once: a task that was cut off goes on behind its last step
CREATE TABLE research_steps (
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
  PRIMARY KEY (task_id, step)
) STRICT, WITHOUT ROWID;
CREATE TABLE research_partials (
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (task_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE research_costs (
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  step TEXT NOT NULL,
  provider TEXT NOT NULL,
  cost_usd REAL NOT NULL,
  usage TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (task_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE research_events (
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (task_id, sequence)
) STRICT, WITHOUT ROWID;
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
CREATE TRIGGER research_task_removed AFTER DELETE ON research_tasks BEGIN
  DELETE FROM research_steps WHERE task_id = OLD.id;
  DELETE FROM research_partials WHERE task_id = OLD.id;
  DELETE FROM research_costs WHERE task_id = OLD.id;
  DELETE FROM research_events WHERE task_id = OLD.id;
END;
`
