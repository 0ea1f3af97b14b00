/** Golden questions, failed queries and reviews of missing evidence; what hangs on a trace goes with it. */
export const QUALITY_SCHEMA = `
CREATE TABLE golden_questions (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  question TEXT NOT NULL,
  expected_evidence TEXT NOT NULL,
  tags TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX golden_questions_space ON golden_questions (space_key, tenant, id);

-- query_key: the same for queries that are taken for repeats; cluster_key: for those that ask with the same terms
CREATE TABLE failed_queries (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  query_key TEXT NOT NULL,
  cluster_key TEXT NOT NULL,
  mode TEXT NOT NULL,
  trigger TEXT NOT NULL CHECK (trigger IN ('no-retrieval-evidence', 'low-confidence', 'abstained')),
  status TEXT NOT NULL CHECK
    (status IN ('pending-triage', 'triaged', 'pending-annotation', 'annotated', 'dismissed', 'promoted')),
  occurrences INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  answer_trace_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  query TEXT NOT NULL
) STRICT;
CREATE INDEX failed_queries_space ON failed_queries (space_key, tenant, id);
CREATE INDEX failed_queries_status ON failed_queries (space_key, tenant, status, id);
CREATE INDEX failed_queries_query ON failed_queries (space_key, query_key, id);
CREATE INDEX failed_queries_cluster ON failed_queries (space_key, cluster_key);
CREATE INDEX failed_queries_trace ON failed_queries (answer_trace_id) WHERE answer_trace_id IS NOT NULL;

CREATE TABLE missing_reviews (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  item_key TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'dismissed')),
  reason TEXT,
  revision INTEGER NOT NULL,
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (trace_id, item_key)
) STRICT;
CREATE INDEX missing_reviews_space ON missing_reviews (space_key);
CREATE TABLE missing_review_history (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  review_id TEXT NOT NULL,
  actor TEXT NOT NULL,
  from_status TEXT,
  to_status TEXT NOT NULL,
  reason TEXT,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (review_id, revision)
) STRICT;

CREATE INDEX traces_own ON traces (space_key, subject, created_at, id);
CREATE TRIGGER traces_reviewed AFTER DELETE ON traces BEGIN
  DELETE FROM missing_reviews WHERE trace_id = OLD.id;
  UPDATE failed_queries SET answer_trace_id = NULL WHERE answer_trace_id = OLD.id;
END;
CREATE TRIGGER missing_reviews_history AFTER DELETE ON missing_reviews BEGIN
  DELETE FROM missing_review_history WHERE review_id = OLD.id;
END;
`
