/**
 * Relations say more exactly than by their type what is stated, so there may be several of a type between two
 * entities; and names that stand for an entity of another name can be looked up. Rows of before have no predicate, until
 * their documents are read by the new rules.
 */
export const PREDICATES_SCHEMA = `
DROP TRIGGER graph_relation_unstated;
DROP TRIGGER graph_entity_unmentioned;
CREATE TABLE graph_relations_said (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  subject_key INTEGER NOT NULL,
  object_key INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('contradicts', 'defines', 'depends_on', 'mentions', 'references', 'supersedes')),
  -- such as acquired, from subject to object; empty where only the type is known
  predicate TEXT NOT NULL DEFAULT '',
  confidence REAL NOT NULL,
  extraction_version INTEGER NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (subject_key, object_key, type, predicate)
) STRICT;
INSERT INTO graph_relations_said (key, id, space_key, subject_key, object_key, type, confidence, extraction_version,
    metadata, created_at, updated_at)
  SELECT key, id, space_key, subject_key, object_key, type, confidence, extraction_version, metadata, created_at,
    updated_at FROM graph_relations;
DROP TABLE graph_relations;
ALTER TABLE graph_relations_said RENAME TO graph_relations;
CREATE INDEX graph_relations_object ON graph_relations (object_key);
CREATE INDEX graph_relations_space ON graph_relations (space_key);
CREATE TRIGGER graph_relation_unstated AFTER DELETE ON graph_relation_nodes
WHEN NOT EXISTS (SELECT 1 FROM graph_relation_nodes WHERE relation_key = OLD.relation_key) BEGIN
  DELETE FROM graph_relations WHERE key = OLD.relation_key;
END;
CREATE TRIGGER graph_entity_unmentioned AFTER DELETE ON graph_mentions
WHEN NOT EXISTS (SELECT 1 FROM graph_mentions WHERE entity_key = OLD.entity_key) BEGIN
  DELETE FROM graph_relations WHERE subject_key = OLD.entity_key;
  DELETE FROM graph_relations WHERE object_key = OLD.entity_key;
  DELETE FROM graph_entities WHERE key = OLD.entity_key;
END;
-- the plainest form of a name whose entity has another one: Fed of the Federal Reserve
ALTER TABLE graph_names ADD COLUMN alias_key TEXT;
CREATE INDEX graph_names_alias ON graph_names (alias_key) WHERE alias_key IS NOT NULL;
`
