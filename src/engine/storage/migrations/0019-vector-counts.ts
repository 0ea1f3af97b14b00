/**
 * How many vectors of each vector space belong to passages of current versions, and to those being built. The
 * search indexes are compared with these numbers after their changes; counting would read every vector.
 */
export const VECTOR_COUNTS_SCHEMA = `
CREATE TABLE vector_counts (
  vector_space INTEGER PRIMARY KEY,
  live INTEGER NOT NULL
) STRICT;
INSERT INTO vector_counts
  SELECT key, (SELECT count(*) FROM vectors CROSS JOIN nodes ON nodes.key = vectors.node_key
                 CROSS JOIN versions ON versions.key = nodes.version_key
               WHERE vectors.vector_space = vector_spaces.key AND versions.until_revision IS NULL)
  FROM vector_spaces;
CREATE TRIGGER vector_counts_added AFTER INSERT ON vectors
  WHEN EXISTS (SELECT 1 FROM nodes CROSS JOIN versions ON versions.key = nodes.version_key
               WHERE nodes.key = NEW.node_key AND versions.until_revision IS NULL) BEGIN
  INSERT INTO vector_counts VALUES (NEW.vector_space, 1) ON CONFLICT (vector_space) DO UPDATE SET live = live + 1;
END;
CREATE TRIGGER vector_counts_removed AFTER DELETE ON vectors
  WHEN EXISTS (SELECT 1 FROM nodes CROSS JOIN versions ON versions.key = nodes.version_key
               WHERE nodes.key = OLD.node_key AND versions.until_revision IS NULL) BEGIN
  UPDATE vector_counts SET live = live - 1 WHERE vector_space = OLD.vector_space;
END;
-- the passages of a version have consecutive keys
CREATE TRIGGER vector_counts_superseded AFTER UPDATE OF until_revision ON versions
  WHEN OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL AND OLD.first_node IS NOT NULL BEGIN
  UPDATE vector_counts SET live = live -
    (SELECT count(*) FROM vectors WHERE vectors.vector_space = vector_counts.vector_space
       AND node_key BETWEEN OLD.first_node AND OLD.last_node)
    WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key);
END;
CREATE TRIGGER vector_counts_node_removed AFTER DELETE ON nodes
  WHEN EXISTS (SELECT 1 FROM versions WHERE key = OLD.version_key AND until_revision IS NULL) BEGIN
  UPDATE vector_counts SET live = live - 1
    WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key)
      AND EXISTS (SELECT 1 FROM vectors WHERE vectors.vector_space = vector_counts.vector_space AND node_key = OLD.key);
END;
CREATE TRIGGER vector_counts_ended AFTER DELETE ON vector_spaces BEGIN
  DELETE FROM vector_counts WHERE vector_space = OLD.key;
END;
`
