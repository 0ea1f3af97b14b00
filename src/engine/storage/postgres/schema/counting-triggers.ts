/** What is counted as rows come and go: quotas are checked on every upload, and counting would read every row. */
export const COUNTING_TRIGGERS = `

CREATE FUNCTION usage_version_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (space_key, artifact_bytes, segment_count, node_count)
    VALUES (NEW.space_key, length(NEW.artifact) + length(NEW.outline) + length(NEW.items), NEW.segment_count,
            CASE WHEN NEW.until_revision IS NULL THEN NEW.node_count ELSE 0 END)
    ON CONFLICT (space_key) DO UPDATE SET artifact_bytes = space_usage.artifact_bytes + excluded.artifact_bytes,
      segment_count = space_usage.segment_count + excluded.segment_count, node_count = space_usage.node_count + excluded.node_count;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_version_added AFTER INSERT ON versions FOR EACH ROW EXECUTE FUNCTION usage_version_added();

CREATE FUNCTION usage_version_superseded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET node_count = node_count - OLD.node_count WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_version_superseded AFTER UPDATE OF until_revision ON versions FOR EACH ROW
  WHEN (OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL) EXECUTE FUNCTION usage_version_superseded();

CREATE FUNCTION usage_version_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET
    artifact_bytes = artifact_bytes - length(OLD.artifact) - length(OLD.outline) - length(OLD.items),
    segment_count = segment_count - OLD.segment_count,
    node_count = node_count - CASE WHEN OLD.until_revision IS NULL THEN OLD.node_count ELSE 0 END
    WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_version_removed AFTER DELETE ON versions FOR EACH ROW EXECUTE FUNCTION usage_version_removed();

CREATE FUNCTION usage_item_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes)
    WHERE space_key = (SELECT space_key FROM versions WHERE key = NEW.version_key);
  RETURN NULL;
END $$;
CREATE TRIGGER usage_item_added AFTER INSERT ON item_assets FOR EACH ROW EXECUTE FUNCTION usage_item_added();

CREATE FUNCTION usage_item_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes)
    WHERE space_key = (SELECT space_key FROM versions WHERE key = OLD.version_key);
  RETURN NULL;
END $$;
CREATE TRIGGER usage_item_removed AFTER DELETE ON item_assets FOR EACH ROW EXECUTE FUNCTION usage_item_removed();

CREATE FUNCTION usage_version_rewritten() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes
    + length(NEW.artifact) + length(NEW.outline) + length(NEW.items)
    - length(OLD.artifact) - length(OLD.outline) - length(OLD.items) WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_version_rewritten AFTER UPDATE OF artifact, outline, items ON versions FOR EACH ROW EXECUTE FUNCTION usage_version_rewritten();

CREATE FUNCTION vector_counts_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM nodes JOIN versions ON versions.key = nodes.version_key WHERE nodes.key = NEW.node_key AND versions.until_revision IS NULL) THEN
    INSERT INTO vector_counts VALUES (NEW.vector_space, 1) ON CONFLICT (vector_space) DO UPDATE SET live = vector_counts.live + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER vector_counts_added AFTER INSERT ON vectors FOR EACH ROW EXECUTE FUNCTION vector_counts_added();

CREATE FUNCTION vector_counts_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM nodes JOIN versions ON versions.key = nodes.version_key WHERE nodes.key = OLD.node_key AND versions.until_revision IS NULL) THEN
    UPDATE vector_counts SET live = live - 1 WHERE vector_space = OLD.vector_space;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER vector_counts_removed AFTER DELETE ON vectors FOR EACH ROW EXECUTE FUNCTION vector_counts_removed();

CREATE FUNCTION vector_counts_superseded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE vector_counts SET live = live -
    (SELECT count(*) FROM vectors WHERE vectors.vector_space = vector_counts.vector_space
       AND node_key BETWEEN OLD.first_node AND OLD.last_node)
    WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key);
  RETURN NULL;
END $$;
CREATE TRIGGER vector_counts_superseded AFTER UPDATE OF until_revision ON versions FOR EACH ROW
  WHEN (OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL AND OLD.first_node IS NOT NULL) EXECUTE FUNCTION vector_counts_superseded();

CREATE FUNCTION vector_counts_node_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM versions WHERE key = OLD.version_key AND until_revision IS NULL) THEN
    UPDATE vector_counts SET live = live - 1
      WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key)
        AND EXISTS (SELECT 1 FROM vectors WHERE vectors.vector_space = vector_counts.vector_space AND node_key = OLD.key);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER vector_counts_node_removed AFTER DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION vector_counts_node_removed();

CREATE FUNCTION vector_counts_ended() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vector_counts WHERE vector_space = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER vector_counts_ended AFTER DELETE ON vector_spaces FOR EACH ROW EXECUTE FUNCTION vector_counts_ended();

CREATE FUNCTION vectors_due_superseded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vectors_due WHERE version_key = NEW.key;
  RETURN NULL;
END $$;
CREATE TRIGGER vectors_due_superseded AFTER UPDATE OF until_revision ON versions FOR EACH ROW
  WHEN (NEW.until_revision IS NOT NULL) EXECUTE FUNCTION vectors_due_superseded();

CREATE FUNCTION vectors_due_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vectors_due WHERE version_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER vectors_due_removed AFTER DELETE ON versions FOR EACH ROW EXECUTE FUNCTION vectors_due_removed();

CREATE FUNCTION usage_part_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes) WHERE space_key = NEW.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_part_added AFTER INSERT ON version_parts FOR EACH ROW EXECUTE FUNCTION usage_part_added();

CREATE FUNCTION usage_part_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes) WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_part_removed AFTER DELETE ON version_parts FOR EACH ROW EXECUTE FUNCTION usage_part_removed();

CREATE FUNCTION usage_version_grown() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET node_count = node_count + NEW.node_count - OLD.node_count WHERE space_key = NEW.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_version_grown AFTER UPDATE OF node_count ON versions FOR EACH ROW
  WHEN (OLD.until_revision IS NULL AND NEW.until_revision IS NULL AND NEW.node_count <> OLD.node_count) EXECUTE FUNCTION usage_version_grown();

CREATE FUNCTION usage_research_step_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_research_step_added AFTER INSERT ON research_steps FOR EACH ROW EXECUTE FUNCTION usage_research_step_added();

CREATE FUNCTION usage_research_step_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_research_step_removed AFTER DELETE ON research_steps FOR EACH ROW EXECUTE FUNCTION usage_research_step_removed();

CREATE FUNCTION usage_research_partial_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_research_partial_added AFTER INSERT ON research_partials FOR EACH ROW EXECUTE FUNCTION usage_research_partial_added();

CREATE FUNCTION usage_research_partial_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_research_partial_removed AFTER DELETE ON research_partials FOR EACH ROW EXECUTE FUNCTION usage_research_partial_removed();

CREATE FUNCTION usage_trace_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.query) + octet_length(NEW.steps))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_trace_added AFTER INSERT ON traces FOR EACH ROW EXECUTE FUNCTION usage_trace_added();

CREATE FUNCTION usage_trace_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.query) - octet_length(OLD.steps)
    WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_trace_removed AFTER DELETE ON traces FOR EACH ROW EXECUTE FUNCTION usage_trace_removed();

CREATE FUNCTION usage_bundle_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_bundle_added AFTER INSERT ON evidence_bundles FOR EACH ROW EXECUTE FUNCTION usage_bundle_added();

CREATE FUNCTION usage_bundle_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_bundle_removed AFTER DELETE ON evidence_bundles FOR EACH ROW EXECUTE FUNCTION usage_bundle_removed();

CREATE FUNCTION source_readers_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO source_readers (source_id, subject, space_key)
    SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER source_readers_added AFTER INSERT ON sources FOR EACH ROW EXECUTE FUNCTION source_readers_added();

CREATE FUNCTION source_readers_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM source_readers WHERE source_id = OLD.id;
  INSERT INTO source_readers (source_id, subject, space_key)
    SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER source_readers_changed AFTER UPDATE OF permission_scope ON sources FOR EACH ROW EXECUTE FUNCTION source_readers_changed();

CREATE FUNCTION usage_document_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (space_key, document_count, raw_bytes) VALUES (NEW.space_key, 1, NEW.size_bytes)
    ON CONFLICT (space_key) DO UPDATE SET document_count = space_usage.document_count + 1, raw_bytes = space_usage.raw_bytes + excluded.raw_bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_document_added AFTER INSERT ON documents FOR EACH ROW
  WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION usage_document_added();

CREATE FUNCTION usage_document_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE space_usage SET document_count = document_count - 1, raw_bytes = raw_bytes - OLD.size_bytes
    WHERE space_key = OLD.space_key;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_document_deleted AFTER UPDATE OF deleted_at ON documents FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION usage_document_deleted();
`
