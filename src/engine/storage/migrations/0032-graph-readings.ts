/**
 * Readings of a whole space for its graph, what models said of passages, reports of communities, and how much
 * of a space its topics hold.
 */
export const GRAPH_READINGS_SCHEMA = `
CREATE TABLE graph_readings (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  -- reference of the model that reads beside the rules; NULL: the rules alone
  model TEXT,
  state TEXT NOT NULL CHECK (state IN ('reading', 'completed', 'budget-spent', 'failed', 'canceled')),
  -- tokens that the model may cost, and has cost
  budget INTEGER NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  -- passage up to which it has come
  node_key INTEGER NOT NULL DEFAULT 0,
  -- passages of the space, those that were read so far by anyone, those that the model was asked for, and those of them
  -- that it gave no usable answer for
  total INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  asked INTEGER NOT NULL DEFAULT 0,
  unusable INTEGER NOT NULL DEFAULT 0,
  -- failures in a row of its provider, the last of them, and when it is asked next
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0,
  error_class TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX graph_readings_open ON graph_readings (space_key) WHERE completed_at IS NULL;
CREATE INDEX graph_readings_space ON graph_readings (space_key, key);

-- what a model said of a passage; is_current: the graph holds it, and nothing that another model said of that passage
CREATE TABLE graph_model_reads (
  node_key INTEGER NOT NULL,
  model TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  text_hash TEXT NOT NULL,
  said TEXT NOT NULL,
  is_current INTEGER NOT NULL,
  PRIMARY KEY (node_key, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_model_reads_text ON graph_model_reads (space_key, model, text_hash);
CREATE TRIGGER graph_model_reads_removed AFTER DELETE ON nodes BEGIN
  DELETE FROM graph_model_reads WHERE node_key = OLD.key;
END;

-- the report of a community: sentences that name several of its members, and what a model wrote of them
CREATE TABLE semantic_reports (
  view_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  -- JSON: sentences, the most telling first, each with the passage that it stands in
  evidence TEXT NOT NULL,
  evidence_hash TEXT NOT NULL,
  -- the model, and JSON of what it wrote
  model TEXT,
  written TEXT
) STRICT;
CREATE INDEX semantic_reports_space ON semantic_reports (space_key, evidence_hash);
CREATE TRIGGER semantic_report_gone AFTER DELETE ON semantic_views BEGIN
  DELETE FROM semantic_reports WHERE view_key = OLD.key;
END;
-- passages of a topic, and of all that the topics were made of
ALTER TABLE semantic_views ADD COLUMN passage_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE semantic_views ADD COLUMN passage_total INTEGER NOT NULL DEFAULT 0;
-- what was made before lacks both: it is made anew for the next reader
DELETE FROM semantic_builds;
`
