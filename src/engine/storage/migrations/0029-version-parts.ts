/**
 * A version that is too large for one transaction is stored in several. What does not fit into its row stands
 * in parts beside it, so that no change of the row writes it again; its count of passages grows as they are stored.
 */
export const VERSION_PARTS_SCHEMA = `
CREATE TABLE version_parts (
  version_key INTEGER NOT NULL,
  part TEXT NOT NULL CHECK (part IN ('artifact', 'outline', 'items')),
  place INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (version_key, part, place)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER usage_part_added AFTER INSERT ON version_parts BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes) WHERE space_key = NEW.space_key;
END;
CREATE TRIGGER usage_part_removed AFTER DELETE ON version_parts BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes) WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER version_parts_removed AFTER DELETE ON versions BEGIN
  DELETE FROM version_parts WHERE version_key = OLD.key;
END;
CREATE TRIGGER usage_version_grown AFTER UPDATE OF node_count ON versions
  WHEN OLD.until_revision IS NULL AND NEW.until_revision IS NULL AND NEW.node_count <> OLD.node_count BEGIN
  UPDATE space_usage SET node_count = node_count + NEW.node_count - OLD.node_count WHERE space_key = NEW.space_key;
END;
`
