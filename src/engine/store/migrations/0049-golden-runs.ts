/** Golden runs and their results. The trace of a query no longer compares its answer with golden questions. */
export const GOLDEN_RUNS = {
  sqlite: `
DROP INDEX golden_questions_answer;
CREATE TABLE golden_runs (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  mode TEXT,
  k INTEGER NOT NULL,
  questions INTEGER NOT NULL,
  done INTEGER NOT NULL DEFAULT 0,
  passed INTEGER NOT NULL DEFAULT 0,
  metrics TEXT,
  error TEXT,
  claimed_by TEXT,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX golden_runs_space ON golden_runs (space_key, subject, id);
CREATE INDEX golden_runs_claimed ON golden_runs (space_key) WHERE claimed_by IS NOT NULL;
CREATE TRIGGER golden_run_removed AFTER DELETE ON golden_runs BEGIN DELETE FROM golden_run_results WHERE tenant = OLD.tenant AND run_id = OLD.id;
         DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id; END;
CREATE TABLE golden_run_results (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  trace_id TEXT,
  answer TEXT,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, run_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX golden_run_results_trace ON golden_run_results (tenant, trace_id) WHERE trace_id IS NOT NULL;
CREATE TRIGGER usage_golden_result_added AFTER INSERT ON golden_run_results BEGIN INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
       ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes; END;
CREATE TRIGGER usage_golden_result_removed AFTER DELETE ON golden_run_results BEGIN UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key; END;
CREATE TRIGGER traces_measured AFTER DELETE ON traces BEGIN UPDATE golden_run_results SET trace_id = NULL, answer = NULL WHERE tenant = OLD.tenant AND trace_id = OLD.id; END;
`,
  postgres: `
DROP INDEX golden_questions_answer;
CREATE TABLE golden_runs (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  subject text NOT NULL,
  mode text,
  k bigint NOT NULL,
  questions bigint NOT NULL,
  done bigint NOT NULL DEFAULT 0,
  passed bigint NOT NULL DEFAULT 0,
  metrics text,
  error text,
  claimed_by text,
  created_at bigint NOT NULL,
  completed_at bigint,
  PRIMARY KEY (tenant, id)
);
SELECT isolate('golden_runs');
CREATE INDEX golden_runs_space ON golden_runs (space_key, subject, id);
CREATE INDEX golden_runs_claimed ON golden_runs (space_key) WHERE claimed_by IS NOT NULL;
CREATE FUNCTION golden_run_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
DELETE FROM golden_run_results WHERE tenant = OLD.tenant AND run_id = OLD.id;
DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id;
RETURN NULL;
END $$;
CREATE TRIGGER golden_run_removed AFTER DELETE ON golden_runs FOR EACH ROW
  EXECUTE FUNCTION golden_run_removed();
CREATE TABLE golden_run_results (
  tenant text NOT NULL,
  run_id text NOT NULL,
  sequence bigint NOT NULL,
  space_key bigint NOT NULL,
  trace_id text,
  answer text,
  body text NOT NULL,
  PRIMARY KEY (tenant, run_id, sequence)
);
SELECT isolate('golden_run_results');
CREATE INDEX golden_run_results_trace ON golden_run_results (tenant, trace_id) WHERE trace_id IS NOT NULL;
CREATE FUNCTION usage_golden_result_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.body))
       ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;
RETURN NULL;
END $$;
CREATE TRIGGER usage_golden_result_added AFTER INSERT ON golden_run_results FOR EACH ROW
  EXECUTE FUNCTION usage_golden_result_added();
CREATE FUNCTION usage_golden_result_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
RETURN NULL;
END $$;
CREATE TRIGGER usage_golden_result_removed AFTER DELETE ON golden_run_results FOR EACH ROW
  EXECUTE FUNCTION usage_golden_result_removed();
CREATE FUNCTION traces_measured() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
UPDATE golden_run_results SET trace_id = NULL, answer = NULL WHERE tenant = OLD.tenant AND trace_id = OLD.id;
RETURN NULL;
END $$;
CREATE TRIGGER traces_measured AFTER DELETE ON traces FOR EACH ROW
  EXECUTE FUNCTION traces_measured();
`,
}
