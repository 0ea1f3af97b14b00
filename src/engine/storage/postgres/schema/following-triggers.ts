import { trigger } from './trigger.js'

/** What goes with the row that it hangs on. */
export const FOLLOWING_TRIGGERS = `

${trigger(
  'versions_derived',
  'AFTER DELETE ON versions',
  `
  DELETE FROM page_index WHERE version_key = OLD.key;
  DELETE FROM graph_relation_nodes WHERE version_key = OLD.key;
  DELETE FROM graph_mentions WHERE version_key = OLD.key;
  DELETE FROM graph_versions WHERE version_key = OLD.key;`,
)}

${trigger(
  'versions_names',
  'AFTER DELETE ON versions',
  `
  DELETE FROM graph_names WHERE version_key = OLD.key;`,
)}

${trigger(
  'graph_name_gone',
  'AFTER DELETE ON graph_names',
  `
  UPDATE graph_entities SET (name, type, confidence) = (
    SELECT name, type, confidence FROM graph_names WHERE entity_key = OLD.entity_key
    ORDER BY type = 'term', confidence DESC, version_key, name LIMIT 1)
  WHERE key = OLD.entity_key AND EXISTS (SELECT 1 FROM graph_names WHERE entity_key = OLD.entity_key);`,
)}

${trigger(
  'semantic_view_gone',
  'AFTER DELETE ON semantic_views',
  `
  DELETE FROM semantic_view_members WHERE view_key = OLD.key;`,
)}

${trigger(
  'semantic_entity_gone',
  'AFTER DELETE ON graph_entities',
  `
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'entity';`,
)}

${trigger(
  'jobs_source',
  'AFTER INSERT ON jobs',
  `
  UPDATE jobs SET source_id = (SELECT source_id FROM documents WHERE key = NEW.doc_key) WHERE key = NEW.key;`,
)}

${trigger(
  'vector_refusals_removed',
  'AFTER DELETE ON nodes',
  `
  DELETE FROM vector_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;`,
)}

${trigger(
  'semantic_view_dropped',
  'AFTER UPDATE OF dropped ON semantic_views',
  `
  DELETE FROM semantic_builds WHERE space_key = NEW.space_key AND kind = NEW.kind;
  DELETE FROM semantic_views WHERE key = NEW.key;`,
)}

${trigger(
  'embedding_migration_refusals_removed',
  'AFTER DELETE ON nodes',
  `
  DELETE FROM embedding_migration_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;`,
)}

${trigger(
  'version_parts_removed',
  'AFTER DELETE ON versions',
  `
  DELETE FROM version_parts WHERE version_key = OLD.key;`,
)}

${trigger(
  'graph_relation_unstated',
  'AFTER DELETE ON graph_relation_nodes',
  `
  IF NOT EXISTS (SELECT 1 FROM graph_relation_nodes WHERE relation_key = OLD.relation_key) THEN
    DELETE FROM graph_relations WHERE key = OLD.relation_key;
  END IF;`,
)}

${trigger(
  'graph_entity_unmentioned',
  'AFTER DELETE ON graph_mentions',
  `
  IF NOT EXISTS (SELECT 1 FROM graph_mentions WHERE entity_key = OLD.entity_key) THEN
    DELETE FROM graph_relations WHERE subject_key = OLD.entity_key;
    DELETE FROM graph_relations WHERE object_key = OLD.entity_key;
    DELETE FROM graph_entities WHERE key = OLD.entity_key;
  END IF;`,
)}

${trigger(
  'versions_ended_conflicts',
  'AFTER UPDATE OF until_revision ON versions',
  `
  DELETE FROM conflicts WHERE one_version = NEW.key;
  DELETE FROM conflicts WHERE other_version = NEW.key;
  DELETE FROM conflict_claims WHERE version_key = NEW.key;`,
  'NEW.until_revision IS NOT NULL',
)}

${trigger(
  'versions_deleted_conflicts',
  'AFTER DELETE ON versions',
  `
  DELETE FROM conflicts WHERE one_version = OLD.key;
  DELETE FROM conflicts WHERE other_version = OLD.key;
  DELETE FROM conflict_claims WHERE version_key = OLD.key;`,
)}

${trigger(
  'graph_model_reads_removed',
  'AFTER DELETE ON nodes',
  `
  DELETE FROM graph_model_reads WHERE node_key = OLD.key;`,
)}

${trigger(
  'semantic_report_gone',
  'AFTER DELETE ON semantic_views',
  `
  DELETE FROM semantic_reports WHERE view_key = OLD.key;`,
)}

${trigger(
  'chat_files_app_deleted',
  'AFTER DELETE ON chat_apps',
  `
  UPDATE chat_files SET expires_at = 0 WHERE tenant = OLD.tenant AND app_id = OLD.id;`,
)}

${trigger(
  'chat_files_unlinked',
  'AFTER DELETE ON chat_message_files',
  `
  UPDATE chat_files SET expires_at = 0 WHERE tenant = OLD.tenant AND id = OLD.file_id
    AND NOT EXISTS (SELECT 1 FROM chat_message_files WHERE tenant = OLD.tenant AND file_id = OLD.file_id);`,
)}

${trigger(
  'research_task_removed',
  'AFTER DELETE ON research_tasks',
  `
  DELETE FROM research_steps WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_partials WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_costs WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_events WHERE tenant = OLD.tenant AND task_id = OLD.id;`,
)}

${trigger(
  'traces_reviewed',
  'AFTER DELETE ON traces',
  `
  DELETE FROM missing_reviews WHERE tenant = OLD.tenant AND trace_id = OLD.id;
  UPDATE failed_queries SET answer_trace_id = NULL WHERE tenant = OLD.tenant AND answer_trace_id = OLD.id;`,
)}

${trigger(
  'golden_questions_quotes',
  'AFTER DELETE ON golden_questions',
  `
  DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id;`,
)}

${trigger(
  'failed_queries_quotes',
  'AFTER DELETE ON failed_queries',
  `
  DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id;`,
)}

${trigger(
  'missing_reviews_history',
  'AFTER DELETE ON missing_reviews',
  `
  DELETE FROM missing_review_history WHERE tenant = OLD.tenant AND review_id = OLD.id;`,
)}

${trigger(
  'semantic_document_gone',
  'AFTER DELETE ON documents',
  `
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'document';`,
)}

${trigger(
  'semantic_document_deleted',
  'AFTER UPDATE OF deleted_at ON documents',
  `
  INSERT INTO space_deletions (tenant, space_key, deletions) VALUES (NEW.tenant, NEW.space_key, 1)
    ON CONFLICT (space_key) DO UPDATE SET deletions = space_deletions.deletions + 1;
  UPDATE semantic_views SET dropped = 1 WHERE named = 0 AND key IN (
    SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document'
    UNION SELECT member.view_key FROM versions version
      JOIN graph_mentions mention ON mention.version_key = version.key
      JOIN semantic_view_members member ON member.member_key = mention.entity_key AND member.kind = 'entity'
    WHERE version.doc_key = NEW.key);`,
  'OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL',
)}

${trigger(
  'jobs_document_deleted',
  'AFTER UPDATE OF deleted_at ON documents',
  `
  UPDATE jobs SET error = 'its document was deleted' WHERE doc_key = NEW.key AND error IS NOT NULL;
  UPDATE staged_commits SET error_message = 'its document was deleted'
    WHERE job_id IN (SELECT id FROM jobs WHERE doc_key = NEW.key) AND error_message IS NOT NULL;`,
  'OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL',
)}

${trigger(
  'semantic_named_document_deleted',
  'AFTER UPDATE OF deleted_at ON documents',
  `
  UPDATE semantic_views SET document_count = document_count - 1 WHERE named = 1 AND document_count > 0 AND key IN
    (SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document');`,
  'OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL',
)}
`
