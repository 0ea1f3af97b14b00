/** What goes with the row that it hangs on. */
export const FOLLOWING_TRIGGERS = `

CREATE FUNCTION versions_derived() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM page_index WHERE version_key = OLD.key;
  DELETE FROM graph_relation_nodes WHERE version_key = OLD.key;
  DELETE FROM graph_mentions WHERE version_key = OLD.key;
  DELETE FROM graph_versions WHERE version_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER versions_derived AFTER DELETE ON versions FOR EACH ROW EXECUTE FUNCTION versions_derived();

CREATE FUNCTION versions_names() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM graph_names WHERE version_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER versions_names AFTER DELETE ON versions FOR EACH ROW EXECUTE FUNCTION versions_names();

CREATE FUNCTION graph_name_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE graph_entities SET (name, type, confidence) = (
    SELECT name, type, confidence FROM graph_names WHERE entity_key = OLD.entity_key
    ORDER BY type = 'term', confidence DESC, version_key, name LIMIT 1)
  WHERE key = OLD.entity_key AND EXISTS (SELECT 1 FROM graph_names WHERE entity_key = OLD.entity_key);
  RETURN NULL;
END $$;
CREATE TRIGGER graph_name_gone AFTER DELETE ON graph_names FOR EACH ROW EXECUTE FUNCTION graph_name_gone();

CREATE FUNCTION semantic_view_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM semantic_view_members WHERE view_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER semantic_view_gone AFTER DELETE ON semantic_views FOR EACH ROW EXECUTE FUNCTION semantic_view_gone();

CREATE FUNCTION semantic_entity_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'entity';
  RETURN NULL;
END $$;
CREATE TRIGGER semantic_entity_gone AFTER DELETE ON graph_entities FOR EACH ROW EXECUTE FUNCTION semantic_entity_gone();

CREATE FUNCTION jobs_source() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE jobs SET source_id = (SELECT source_id FROM documents WHERE key = NEW.doc_key) WHERE key = NEW.key;
  RETURN NULL;
END $$;
CREATE TRIGGER jobs_source AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION jobs_source();

CREATE FUNCTION vector_refusals_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vector_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER vector_refusals_removed AFTER DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION vector_refusals_removed();

CREATE FUNCTION semantic_view_dropped() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM semantic_builds WHERE space_key = NEW.space_key AND kind = NEW.kind;
  DELETE FROM semantic_views WHERE key = NEW.key;
  RETURN NULL;
END $$;
CREATE TRIGGER semantic_view_dropped AFTER UPDATE OF dropped ON semantic_views FOR EACH ROW EXECUTE FUNCTION semantic_view_dropped();

CREATE FUNCTION embedding_migration_refusals_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM embedding_migration_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER embedding_migration_refusals_removed AFTER DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION embedding_migration_refusals_removed();

CREATE FUNCTION version_parts_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM version_parts WHERE version_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER version_parts_removed AFTER DELETE ON versions FOR EACH ROW EXECUTE FUNCTION version_parts_removed();

CREATE FUNCTION graph_relation_unstated() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM graph_relation_nodes WHERE relation_key = OLD.relation_key) THEN
    DELETE FROM graph_relations WHERE key = OLD.relation_key;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER graph_relation_unstated AFTER DELETE ON graph_relation_nodes FOR EACH ROW EXECUTE FUNCTION graph_relation_unstated();

CREATE FUNCTION graph_entity_unmentioned() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM graph_mentions WHERE entity_key = OLD.entity_key) THEN
    DELETE FROM graph_relations WHERE subject_key = OLD.entity_key;
    DELETE FROM graph_relations WHERE object_key = OLD.entity_key;
    DELETE FROM graph_entities WHERE key = OLD.entity_key;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER graph_entity_unmentioned AFTER DELETE ON graph_mentions FOR EACH ROW EXECUTE FUNCTION graph_entity_unmentioned();

CREATE FUNCTION versions_ended_conflicts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM conflicts WHERE one_version = NEW.key;
  DELETE FROM conflicts WHERE other_version = NEW.key;
  DELETE FROM conflict_claims WHERE version_key = NEW.key;
  RETURN NULL;
END $$;
CREATE TRIGGER versions_ended_conflicts AFTER UPDATE OF until_revision ON versions FOR EACH ROW
  WHEN (NEW.until_revision IS NOT NULL) EXECUTE FUNCTION versions_ended_conflicts();

CREATE FUNCTION versions_deleted_conflicts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM conflicts WHERE one_version = OLD.key;
  DELETE FROM conflicts WHERE other_version = OLD.key;
  DELETE FROM conflict_claims WHERE version_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER versions_deleted_conflicts AFTER DELETE ON versions FOR EACH ROW EXECUTE FUNCTION versions_deleted_conflicts();

CREATE FUNCTION graph_model_reads_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM graph_model_reads WHERE node_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER graph_model_reads_removed AFTER DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION graph_model_reads_removed();

CREATE FUNCTION semantic_report_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM semantic_reports WHERE view_key = OLD.key;
  RETURN NULL;
END $$;
CREATE TRIGGER semantic_report_gone AFTER DELETE ON semantic_views FOR EACH ROW EXECUTE FUNCTION semantic_report_gone();

CREATE FUNCTION chat_files_app_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE tenant = OLD.tenant AND app_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER chat_files_app_deleted AFTER DELETE ON chat_apps FOR EACH ROW EXECUTE FUNCTION chat_files_app_deleted();

CREATE FUNCTION chat_files_unlinked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE tenant = OLD.tenant AND id = OLD.file_id
    AND NOT EXISTS (SELECT 1 FROM chat_message_files WHERE tenant = OLD.tenant AND file_id = OLD.file_id);
  RETURN NULL;
END $$;
CREATE TRIGGER chat_files_unlinked AFTER DELETE ON chat_message_files FOR EACH ROW EXECUTE FUNCTION chat_files_unlinked();

CREATE FUNCTION research_task_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM research_steps WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_partials WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_costs WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_events WHERE tenant = OLD.tenant AND task_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER research_task_removed AFTER DELETE ON research_tasks FOR EACH ROW EXECUTE FUNCTION research_task_removed();

CREATE FUNCTION traces_reviewed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM missing_reviews WHERE tenant = OLD.tenant AND trace_id = OLD.id;
  UPDATE failed_queries SET answer_trace_id = NULL WHERE tenant = OLD.tenant AND answer_trace_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER traces_reviewed AFTER DELETE ON traces FOR EACH ROW EXECUTE FUNCTION traces_reviewed();

CREATE FUNCTION golden_questions_quotes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER golden_questions_quotes AFTER DELETE ON golden_questions FOR EACH ROW EXECUTE FUNCTION golden_questions_quotes();

CREATE FUNCTION failed_queries_quotes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER failed_queries_quotes AFTER DELETE ON failed_queries FOR EACH ROW EXECUTE FUNCTION failed_queries_quotes();

CREATE FUNCTION missing_reviews_history() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM missing_review_history WHERE tenant = OLD.tenant AND review_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER missing_reviews_history AFTER DELETE ON missing_reviews FOR EACH ROW EXECUTE FUNCTION missing_reviews_history();

CREATE FUNCTION semantic_document_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'document';
  RETURN NULL;
END $$;
CREATE TRIGGER semantic_document_gone AFTER DELETE ON documents FOR EACH ROW EXECUTE FUNCTION semantic_document_gone();

CREATE FUNCTION semantic_document_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_deletions (space_key, deletions) VALUES (NEW.space_key, 1)
    ON CONFLICT (space_key) DO UPDATE SET deletions = space_deletions.deletions + 1;
  UPDATE semantic_views SET dropped = 1 WHERE named = 0 AND key IN (
    SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document'
    UNION SELECT member.view_key FROM versions version
      JOIN graph_mentions mention ON mention.version_key = version.key
      JOIN semantic_view_members member ON member.member_key = mention.entity_key AND member.kind = 'entity'
    WHERE version.doc_key = NEW.key);
  RETURN NULL;
END $$;
CREATE TRIGGER semantic_document_deleted AFTER UPDATE OF deleted_at ON documents FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION semantic_document_deleted();

CREATE FUNCTION jobs_document_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE jobs SET error = 'its document was deleted' WHERE doc_key = NEW.key AND error IS NOT NULL;
  UPDATE staged_commits SET error_message = 'its document was deleted'
    WHERE job_id IN (SELECT id FROM jobs WHERE doc_key = NEW.key) AND error_message IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER jobs_document_deleted AFTER UPDATE OF deleted_at ON documents FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION jobs_document_deleted();

CREATE FUNCTION semantic_named_document_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE semantic_views SET document_count = document_count - 1 WHERE named = 1 AND document_count > 0 AND key IN
    (SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document');
  RETURN NULL;
END $$;
CREATE TRIGGER semantic_named_document_deleted AFTER UPDATE OF deleted_at ON documents FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION semantic_named_document_deleted();
`
