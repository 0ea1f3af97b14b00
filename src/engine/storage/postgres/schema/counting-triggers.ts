import { trigger } from './trigger.js'

/** What is counted as rows come and go: quotas are checked on every upload, and counting would read every row. */
export const COUNTING_TRIGGERS = `

${trigger(
  'usage_version_added',
  'AFTER INSERT ON versions',
  `
  INSERT INTO space_usage (tenant, space_key, artifact_bytes, segment_count, node_count)
    VALUES (NEW.tenant, NEW.space_key, length(NEW.artifact) + length(NEW.outline) + length(NEW.items), NEW.segment_count,
            CASE WHEN NEW.until_revision IS NULL THEN NEW.node_count ELSE 0 END)
    ON CONFLICT (space_key) DO UPDATE SET artifact_bytes = space_usage.artifact_bytes + excluded.artifact_bytes,
      segment_count = space_usage.segment_count + excluded.segment_count, node_count = space_usage.node_count + excluded.node_count;`,
)}

${trigger(
  'usage_version_superseded',
  'AFTER UPDATE OF until_revision ON versions',
  `
  UPDATE space_usage SET node_count = node_count - OLD.node_count WHERE space_key = OLD.space_key;`,
  'OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL',
)}

${trigger(
  'usage_version_removed',
  'AFTER DELETE ON versions',
  `
  UPDATE space_usage SET
    artifact_bytes = artifact_bytes - length(OLD.artifact) - length(OLD.outline) - length(OLD.items),
    segment_count = segment_count - OLD.segment_count,
    node_count = node_count - CASE WHEN OLD.until_revision IS NULL THEN OLD.node_count ELSE 0 END
    WHERE space_key = OLD.space_key;`,
)}

${trigger(
  'usage_item_added',
  'AFTER INSERT ON item_assets',
  `
  UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes)
    WHERE space_key = (SELECT space_key FROM versions WHERE key = NEW.version_key);`,
)}

${trigger(
  'usage_item_removed',
  'AFTER DELETE ON item_assets',
  `
  UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes)
    WHERE space_key = (SELECT space_key FROM versions WHERE key = OLD.version_key);`,
)}

${trigger(
  'usage_version_rewritten',
  'AFTER UPDATE OF artifact, outline, items ON versions',
  `
  UPDATE space_usage SET artifact_bytes = artifact_bytes
    + length(NEW.artifact) + length(NEW.outline) + length(NEW.items)
    - length(OLD.artifact) - length(OLD.outline) - length(OLD.items) WHERE space_key = OLD.space_key;`,
)}

${trigger(
  'vector_counts_added',
  'AFTER INSERT ON vectors',
  `
  IF EXISTS (SELECT 1 FROM nodes JOIN versions ON versions.key = nodes.version_key WHERE nodes.key = NEW.node_key AND versions.until_revision IS NULL) THEN
    INSERT INTO vector_counts (tenant, vector_space, live) VALUES (NEW.tenant, NEW.vector_space, 1) ON CONFLICT (vector_space) DO UPDATE SET live = vector_counts.live + 1;
  END IF;`,
)}

${trigger(
  'vector_counts_removed',
  'AFTER DELETE ON vectors',
  `
  IF EXISTS (SELECT 1 FROM nodes JOIN versions ON versions.key = nodes.version_key WHERE nodes.key = OLD.node_key AND versions.until_revision IS NULL) THEN
    UPDATE vector_counts SET live = live - 1 WHERE vector_space = OLD.vector_space;
  END IF;`,
)}

${trigger(
  'vector_counts_superseded',
  'AFTER UPDATE OF until_revision ON versions',
  `
  UPDATE vector_counts SET live = live -
    (SELECT count(*) FROM vectors WHERE vectors.vector_space = vector_counts.vector_space
       AND node_key BETWEEN OLD.first_node AND OLD.last_node)
    WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key);`,
  'OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL AND OLD.first_node IS NOT NULL',
)}

${trigger(
  'vector_counts_node_removed',
  'AFTER DELETE ON nodes',
  `
  IF EXISTS (SELECT 1 FROM versions WHERE key = OLD.version_key AND until_revision IS NULL) THEN
    UPDATE vector_counts SET live = live - 1
      WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key)
        AND EXISTS (SELECT 1 FROM vectors WHERE vectors.vector_space = vector_counts.vector_space AND node_key = OLD.key);
  END IF;`,
)}

${trigger(
  'vector_counts_ended',
  'AFTER DELETE ON vector_spaces',
  `
  DELETE FROM vector_counts WHERE vector_space = OLD.key;`,
)}

${trigger(
  'vectors_due_superseded',
  'AFTER UPDATE OF until_revision ON versions',
  `
  DELETE FROM vectors_due WHERE version_key = NEW.key;`,
  'NEW.until_revision IS NOT NULL',
)}

${trigger(
  'vectors_due_removed',
  'AFTER DELETE ON versions',
  `
  DELETE FROM vectors_due WHERE version_key = OLD.key;`,
)}

${trigger(
  'usage_part_added',
  'AFTER INSERT ON version_parts',
  `
  UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes) WHERE space_key = NEW.space_key;`,
)}

${trigger(
  'usage_part_removed',
  'AFTER DELETE ON version_parts',
  `
  UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes) WHERE space_key = OLD.space_key;`,
)}

${trigger(
  'usage_version_grown',
  'AFTER UPDATE OF node_count ON versions',
  `
  UPDATE space_usage SET node_count = node_count + NEW.node_count - OLD.node_count WHERE space_key = NEW.space_key;`,
  'OLD.until_revision IS NULL AND NEW.until_revision IS NULL AND NEW.node_count <> OLD.node_count',
)}

${trigger(
  'usage_research_step_added',
  'AFTER INSERT ON research_steps',
  `
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;`,
)}

${trigger(
  'usage_research_step_removed',
  'AFTER DELETE ON research_steps',
  `
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;`,
)}

${trigger(
  'usage_research_partial_added',
  'AFTER INSERT ON research_partials',
  `
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;`,
)}

${trigger(
  'usage_research_partial_removed',
  'AFTER DELETE ON research_partials',
  `
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;`,
)}

${trigger(
  'usage_trace_added',
  'AFTER INSERT ON traces',
  `
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.query) + octet_length(NEW.steps))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;`,
)}

${trigger(
  'usage_trace_removed',
  'AFTER DELETE ON traces',
  `
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.query) - octet_length(OLD.steps)
    WHERE space_key = OLD.space_key;`,
)}

${trigger(
  'usage_bundle_added',
  'AFTER INSERT ON evidence_bundles',
  `
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = space_usage.trace_bytes + excluded.trace_bytes;`,
)}

${trigger(
  'usage_bundle_removed',
  'AFTER DELETE ON evidence_bundles',
  `
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;`,
)}

${trigger(
  'source_readers_added',
  'AFTER INSERT ON sources',
  `
  INSERT INTO source_readers (tenant, source_id, subject, space_key)
    SELECT NEW.tenant, NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader
    ON CONFLICT DO NOTHING;`,
)}

${trigger(
  'source_readers_changed',
  'AFTER UPDATE OF permission_scope ON sources',
  `
  DELETE FROM source_readers WHERE source_id = OLD.id;
  INSERT INTO source_readers (tenant, source_id, subject, space_key)
    SELECT NEW.tenant, NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader
    ON CONFLICT DO NOTHING;`,
)}

${trigger(
  'usage_document_added',
  'AFTER INSERT ON documents',
  `
  INSERT INTO space_usage (tenant, space_key, document_count, raw_bytes)
    VALUES (NEW.tenant, NEW.space_key, 1, NEW.size_bytes)
    ON CONFLICT (space_key) DO UPDATE SET document_count = space_usage.document_count + 1, raw_bytes = space_usage.raw_bytes + excluded.raw_bytes;`,
  'NEW.deleted_at IS NULL',
)}

${trigger(
  'usage_document_deleted',
  'AFTER UPDATE OF deleted_at ON documents',
  `
  UPDATE space_usage SET document_count = document_count - 1, raw_bytes = raw_bytes - OLD.size_bytes
    WHERE space_key = OLD.space_key;`,
  'OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL',
)}
`
