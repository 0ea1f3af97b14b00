/** Numbers that are handed out by counters: a transaction that takes one holds the counter's row until the commit. */
export const SPACE_COUNTERS_SCHEMA = `
-- seq: of the newest entry of the space's projection log
CREATE TABLE space_counters (
  space_key INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
INSERT INTO space_counters SELECT space_key, max(seq) FROM projection_log GROUP BY space_key;

-- one tree for the log of each space in its order, in place of a table and its index; entries keep their numbers
CREATE TABLE projection_log_by_space (
  space_key INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  op INTEGER NOT NULL,
  first_node INTEGER NOT NULL,
  last_node INTEGER NOT NULL,
  PRIMARY KEY (space_key, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO projection_log_by_space SELECT space_key, seq, op, first_node, last_node FROM projection_log
  ORDER BY space_key, seq;
DROP TABLE projection_log;
ALTER TABLE projection_log_by_space RENAME TO projection_log;

-- one row: the last key that a passage has, or that is set aside for one
CREATE TABLE node_keys (
  last INTEGER NOT NULL
) STRICT;
INSERT INTO node_keys
  SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'nodes'), 0), coalesce((SELECT max(key) FROM nodes), 0));

-- events that a task has had: the number of its newest one
ALTER TABLE research_tasks ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
UPDATE research_tasks SET events =
  coalesce((SELECT max(sequence) FROM research_events WHERE task_id = research_tasks.id), 0);
`
