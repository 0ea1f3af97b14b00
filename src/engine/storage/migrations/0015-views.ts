/** What a reader may see of an entity's names, passages read by a model, and semantic views. */
export const VIEWS_SCHEMA = `
-- how a version names an entity: a reader is shown the names of the versions that the reader may see, and they go with them
CREATE TABLE graph_names (
  entity_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  confidence REAL NOT NULL,
  PRIMARY KEY (entity_key, version_key, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_names_version ON graph_names (version_key);
-- 1: found by a model, which the rules do not take back
ALTER TABLE graph_mentions ADD COLUMN by_model INTEGER NOT NULL DEFAULT 0;
ALTER TABLE graph_relation_nodes ADD COLUMN by_model INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER versions_names AFTER DELETE ON versions BEGIN
  DELETE FROM graph_names WHERE version_key = OLD.key;
END;
-- the best name and type that is left
CREATE TRIGGER graph_name_gone AFTER DELETE ON graph_names BEGIN
  UPDATE graph_entities SET (name, type, confidence) = (
    SELECT name, type, confidence FROM graph_names WHERE entity_key = OLD.entity_key
    ORDER BY type = 'term', confidence DESC, version_key, name LIMIT 1)
  WHERE key = OLD.entity_key AND EXISTS (SELECT 1 FROM graph_names WHERE entity_key = OLD.entity_key);
END;
-- where the next call for extraction goes on in a space
CREATE TABLE graph_scans (
  space_key INTEGER PRIMARY KEY,
  node_key INTEGER NOT NULL
) STRICT;

-- topics (of documents) and communities (of entities, with their documents)
CREATE TABLE semantic_views (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  space_key INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('topic', 'community')),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  terms TEXT NOT NULL,
  -- 1: a client named it
  named INTEGER NOT NULL,
  member_limit INTEGER NOT NULL,
  generated_version TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (space_key, kind, slug)
) STRICT;
CREATE TABLE semantic_view_members (
  view_key INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('document', 'entity')),
  place INTEGER NOT NULL,
  member_key INTEGER NOT NULL,
  score REAL NOT NULL,
  PRIMARY KEY (view_key, kind, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX semantic_view_members_of ON semantic_view_members (member_key, kind);
-- the publication that all views of a kind were last derived from
CREATE TABLE semantic_builds (
  space_key INTEGER NOT NULL,
  kind TEXT NOT NULL,
  revision INTEGER NOT NULL,
  generated_version TEXT NOT NULL,
  built_at INTEGER NOT NULL,
  PRIMARY KEY (space_key, kind)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER semantic_view_gone AFTER DELETE ON semantic_views BEGIN
  DELETE FROM semantic_view_members WHERE view_key = OLD.key;
END;
CREATE TRIGGER semantic_document_gone AFTER DELETE ON documents BEGIN
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'document';
END;
CREATE TRIGGER semantic_entity_gone AFTER DELETE ON graph_entities BEGIN
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'entity';
END;
`
