/** Tables of the page index that research navigates, and of the graph that deep expands over. */
export const GRAPH_SCHEMA = `
-- what research mode navigates: of each version the terms of the whole document, and its ranges of nodes (a page of a
-- section) with theirs; made again by whoever needs it, with the version of its maker in format
CREATE TABLE page_index (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  doc_key INTEGER NOT NULL,
  format INTEGER NOT NULL,
  length INTEGER NOT NULL,
  range_count INTEGER NOT NULL,
  terms BLOB NOT NULL,
  ranges BLOB NOT NULL
) STRICT;
CREATE INDEX page_index_space ON page_index (space_key, version_key);

CREATE TABLE graph_entities (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('date', 'metric', 'organization', 'person', 'policy', 'product', 'term')),
  canonical_key TEXT NOT NULL,
  name TEXT NOT NULL,
  aliases TEXT NOT NULL DEFAULT '[]',
  confidence REAL NOT NULL,
  extraction_version INTEGER NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (space_key, canonical_key)
) STRICT;
-- nodes that an entity was found in
CREATE TABLE graph_mentions (
  entity_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL,
  PRIMARY KEY (entity_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_mentions_node ON graph_mentions (node_key);
CREATE INDEX graph_mentions_version ON graph_mentions (version_key);
CREATE TABLE graph_relations (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  subject_key INTEGER NOT NULL,
  object_key INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('contradicts', 'defines', 'depends_on', 'mentions', 'references', 'supersedes')),
  confidence REAL NOT NULL,
  extraction_version INTEGER NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (subject_key, object_key, type)
) STRICT;
CREATE INDEX graph_relations_object ON graph_relations (object_key);
CREATE INDEX graph_relations_space ON graph_relations (space_key);
-- nodes that state a relation
CREATE TABLE graph_relation_nodes (
  relation_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL,
  PRIMARY KEY (relation_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_relation_nodes_version ON graph_relation_nodes (version_key);
-- versions whose nodes were read for the graph
CREATE TABLE graph_versions (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  extraction_version INTEGER NOT NULL
) STRICT;
-- both go with the version that they were made of; what nothing states any more goes too
CREATE TRIGGER versions_derived AFTER DELETE ON versions BEGIN
  DELETE FROM page_index WHERE version_key = OLD.key;
  DELETE FROM graph_relation_nodes WHERE version_key = OLD.key;
  DELETE FROM graph_mentions WHERE version_key = OLD.key;
  DELETE FROM graph_versions WHERE version_key = OLD.key;
END;
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
`
