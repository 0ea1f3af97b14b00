-- A database of schema 48 as the last chain of migrations made it. This file never changes.
CREATE TABLE schema_version (version integer NOT NULL);
INSERT INTO schema_version VALUES (48);
-- a text here has neither U+0000 nor half of a surrogate pair; JSON may name them, and is then read as if it named U+FFFD
CREATE FUNCTION as_json(document text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN strpos(document, '\u0000') + strpos(document, '\ud') = 0 THEN document::json ELSE
    regexp_replace(document, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'g')::json END
$$;
CREATE FUNCTION json_path(path text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT string_to_array(ltrim(rtrim(replace(path, '[', '.'), ']'), '$.'), '.')
$$;
CREATE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT as_json(document) #>> json_path(path)
$$;
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_extract);
CREATE FUNCTION json_element(document text, place integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT as_json(document) ->> place
$$;
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = integer, FUNCTION = json_element);
CREATE FUNCTION json_array_length(document text, path text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT json_array_length(as_json(document) #> json_path(path))
$$;
CREATE FUNCTION json_valid(document text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN
  PERFORM document::json;
  RETURN true;
EXCEPTION WHEN data_exception THEN
  RETURN false;
END $$;
-- the elements of a list: key is the place, value the element as text
CREATE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE AS $$
  SELECT place - 1, element FROM json_array_elements_text(as_json(list)) WITH ORDINALITY AS each(element, place)
$$;
-- the same of a list of numbers
CREATE FUNCTION json_each_number(list text) RETURNS TABLE (key bigint, value bigint) LANGUAGE sql IMMUTABLE AS $$
  SELECT place - 1, element::bigint FROM json_array_elements_text(list::json) WITH ORDINALITY AS each(element, place) OFFSET 0
$$;
-- members keep their order, and are written as SQLite writes them
CREATE FUNCTION json_set(document text, path text, put json) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '{' || string_agg(to_json(name)::text || ':' || member::text, ',' ORDER BY place) || '}' FROM (
    SELECT key name, CASE WHEN key = ltrim(path, '$.') THEN put ELSE value END member, place
      FROM json_each(as_json(document)) WITH ORDINALITY AS each(key, value, place)
    UNION ALL
    SELECT ltrim(path, '$.'), put, NULL
      WHERE NOT EXISTS (SELECT 1 FROM json_each(as_json(document)) held WHERE held.key = ltrim(path, '$.'))) members
$$;
CREATE FUNCTION json_set(document text, path text, put text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT json_set(document, path, coalesce(to_json(put), 'null'::json))
$$;
CREATE FUNCTION json_set(document text, path text, put bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT json_set(document, path, coalesce(to_json(put), 'null'::json))
$$;
CREATE FUNCTION json_remove(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce('{' || string_agg(to_json(key)::text || ':' || value::text, ',' ORDER BY place) || '}', '{}')
    FROM json_each(as_json(document)) WITH ORDINALITY AS each(key, value, place) WHERE key <> ltrim(path, '$.')
$$;
CREATE FUNCTION json_list(elements anycompatiblearray) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT array_to_json(elements)::text
$$;
CREATE AGGREGATE json_group_array(anycompatible) (
  SFUNC = array_append, STYPE = anycompatiblearray, FINALFUNC = json_list, INITCOND = '{}'
);
CREATE FUNCTION json(document text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT as_json(document)
$$;
CREATE FUNCTION json_array_length(document text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT json_array_length(as_json(document))
$$;
-- as a cast of SQLite, which fails for nothing
CREATE FUNCTION as_integer(value text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN value IS NOT NULL THEN coalesce(substring(value FROM '^\s*([+-]?\d{1,18})')::bigint, 0) END
$$;
CREATE FUNCTION as_integer(value double precision) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT trunc(value)::bigint
$$;
CREATE FUNCTION instr(whole text, part text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT strpos(whole, part)::bigint
$$;
-- what SQLite tells of a table: here none has row numbers, and each has a primary key
CREATE FUNCTION pragma_table_list(table_name text) RETURNS TABLE (wr bigint) LANGUAGE sql STABLE AS $$
  SELECT 1::bigint WHERE to_regclass(quote_ident(table_name)) IS NOT NULL
$$;
CREATE FUNCTION pragma_table_info(table_name text) RETURNS TABLE (name text, pk bigint) LANGUAGE sql STABLE AS $$
  SELECT attname::text, coalesce(array_position(indkey::smallint[], attnum) + 1, 0)::bigint
    FROM pg_attribute LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
    WHERE attrelid = to_regclass(quote_ident(table_name)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
$$;
-- of the database's clock
CREATE FUNCTION unixepoch(kind text) RETURNS double precision LANGUAGE sql STABLE AS $$
  SELECT extract(epoch FROM statement_timestamp())::double precision
$$;
CREATE TABLE retrieval_profiles (
  space_key bigint PRIMARY KEY,
  revision bigint NOT NULL,
  body text NOT NULL
);
CREATE TABLE vector_spaces (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  space_key bigint NOT NULL,
  revision bigint NOT NULL,
  dimension bigint NOT NULL,
  trained_nodes bigint NOT NULL DEFAULT 0,
  model bytea,
  state text NOT NULL CHECK (state IN ('building', 'active', 'superseded')),
  created_at bigint NOT NULL,
  claimed_by text
);
CREATE INDEX vector_spaces_space ON vector_spaces (space_key, state);
CREATE INDEX vector_spaces_building ON vector_spaces (key) WHERE state = 'building';
CREATE TABLE versions (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  doc_key bigint NOT NULL,
  space_key bigint NOT NULL,
  version bigint NOT NULL,
  from_revision bigint,
  until_revision bigint,
  node_count bigint NOT NULL,
  first_node bigint,
  last_node bigint,
  artifact_id text NOT NULL,
  artifact_hash text NOT NULL,
  content_type text NOT NULL,
  parser text NOT NULL,
  outline_id text NOT NULL,
  items_id text NOT NULL,
  created_at bigint NOT NULL,
  title text NOT NULL,
  metadata text NOT NULL,
  -- large values last: what stands behind them costs a walk over their pages
  outline bytea NOT NULL,
  items bytea NOT NULL,
  artifact bytea NOT NULL,
  obsolete_at bigint,
  segment_count bigint NOT NULL DEFAULT 0,
  UNIQUE (doc_key, version)
);
CREATE INDEX versions_at ON versions (key, from_revision, until_revision);
CREATE INDEX versions_live ON versions (space_key, until_revision, from_revision, node_count);
CREATE INDEX versions_visible ON versions (doc_key, from_revision, until_revision, version);
CREATE INDEX versions_obsolete ON versions (obsolete_at) WHERE obsolete_at IS NOT NULL;
CREATE INDEX versions_superseded ON versions (space_key, doc_key, version)
  WHERE until_revision IS NOT NULL AND obsolete_at IS NULL;
CREATE INDEX versions_inactive ON versions (space_key, until_revision)
  WHERE until_revision IS NOT NULL AND first_node IS NOT NULL;
CREATE TABLE nodes (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  space_key bigint NOT NULL,
  doc_key bigint NOT NULL,
  version_key bigint NOT NULL,
  ordinal bigint NOT NULL,
  title text NOT NULL,
  text text NOT NULL,
  section text NOT NULL,
  outline_node text NOT NULL,
  elements text NOT NULL,
  start_offset bigint NOT NULL,
  end_offset bigint NOT NULL,
  page bigint,
  kind text NOT NULL,
  row_hash bytea NOT NULL
);
CREATE INDEX nodes_version ON nodes (version_key, ordinal);
CREATE INDEX nodes_place ON nodes (space_key, key, version_key);
CREATE TABLE vectors (
  vector_space bigint NOT NULL,
  node_key bigint NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (vector_space, node_key)
);
CREATE TABLE item_assets (
  version_key bigint NOT NULL,
  item_id text NOT NULL,
  content_type text NOT NULL,
  sha256 text NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (version_key, item_id)
);
CREATE TABLE space_usage (
  space_key bigint PRIMARY KEY,
  document_count bigint NOT NULL DEFAULT 0,
  raw_bytes bigint NOT NULL DEFAULT 0,
  artifact_bytes bigint NOT NULL DEFAULT 0,
  segment_count bigint NOT NULL DEFAULT 0,
  node_count bigint NOT NULL DEFAULT 0,
  trace_bytes bigint NOT NULL DEFAULT 0
);
CREATE TABLE page_index (
  version_key bigint PRIMARY KEY,
  space_key bigint NOT NULL,
  doc_key bigint NOT NULL,
  format bigint NOT NULL,
  length bigint NOT NULL,
  range_count bigint NOT NULL,
  terms bytea NOT NULL,
  ranges bytea NOT NULL
);
CREATE INDEX page_index_space ON page_index (space_key, version_key);
CREATE TABLE source_readers (
  source_id text NOT NULL,
  subject text NOT NULL,
  space_key bigint NOT NULL,
  PRIMARY KEY (source_id, subject)
);
CREATE INDEX source_readers_space ON source_readers (space_key, source_id);
CREATE TABLE vector_counts (
  vector_space bigint PRIMARY KEY,
  live bigint NOT NULL
);
CREATE TABLE vectors_due (
  version_key bigint PRIMARY KEY,
  space_key bigint NOT NULL,
  due bigint NOT NULL,
  refused bigint NOT NULL DEFAULT 0
);
CREATE INDEX vectors_due_space ON vectors_due (space_key, version_key);
CREATE TABLE vector_refusals (
  space_key bigint NOT NULL,
  node_key bigint NOT NULL,
  error text NOT NULL,
  PRIMARY KEY (space_key, node_key)
);
CREATE TABLE vector_waits (
  space_key bigint PRIMARY KEY,
  attempts bigint NOT NULL,
  since bigint NOT NULL,
  next_at bigint NOT NULL,
  error_class text NOT NULL,
  error text NOT NULL,
  permanent bigint NOT NULL
);
CREATE TABLE space_deletions (
  space_key bigint PRIMARY KEY,
  deletions bigint NOT NULL
);
CREATE TABLE embedding_migrations (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  space_key bigint NOT NULL,
  plugin text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  -- id in vector_spaces, where there is no row before the first vector
  vector_space text NOT NULL,
  state text NOT NULL CHECK (state IN ('filling', 'published', 'failed', 'canceled')),
  -- failures in a row of its provider, the last of them, and when it is asked next
  attempts bigint NOT NULL DEFAULT 0,
  next_at bigint NOT NULL DEFAULT 0,
  error_class text,
  error text,
  -- how far it had come when it ended
  filled bigint NOT NULL DEFAULT 0,
  total bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  completed_at bigint,
  claimed_by text
);
CREATE UNIQUE INDEX embedding_migrations_open ON embedding_migrations (space_key) WHERE completed_at IS NULL;
CREATE INDEX embedding_migrations_space ON embedding_migrations (space_key, key);
CREATE TABLE embedding_migration_refusals (
  space_key bigint NOT NULL,
  node_key bigint NOT NULL,
  error text NOT NULL,
  PRIMARY KEY (space_key, node_key)
);
CREATE TABLE version_parts (
  version_key bigint NOT NULL,
  part text NOT NULL CHECK (part IN ('artifact', 'outline', 'items')),
  place bigint NOT NULL,
  space_key bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (version_key, part, place)
);
CREATE TABLE space_counters (
  space_key bigint PRIMARY KEY,
  seq bigint NOT NULL
);
CREATE TABLE projection_log (
  space_key bigint NOT NULL,
  seq bigint NOT NULL,
  op bigint NOT NULL,
  first_node bigint NOT NULL,
  last_node bigint NOT NULL,
  PRIMARY KEY (space_key, seq)
);
CREATE TABLE node_keys (
  last bigint NOT NULL
);
CREATE TABLE sources (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('upload', 'object-storage', 'connector', 'web')),
  uri text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'syncing', 'error', 'disabled')),
  permission_scope text NOT NULL,
  metadata text NOT NULL, -- the client's keys, without credentials
  credentials bytea, -- sealed
  version bigint NOT NULL,
  last_sync_at bigint,
  last_sync_error text,
  next_sync_at bigint,
  sync_started_at bigint,
  sync_summary text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  deletes_documents bigint NOT NULL DEFAULT 0,
  claimed_by text,
  fence bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX sources_space ON sources (space_key, id);
CREATE INDEX sources_due ON sources (next_sync_at) WHERE next_sync_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX sources_deleted ON sources (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX sources_syncing ON sources (id) WHERE sync_started_at IS NOT NULL;
CREATE TABLE publications (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  revision bigint NOT NULL,
  fingerprint text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (space_key, revision)
);
CREATE TABLE documents (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  source_id text,
  filename text NOT NULL,
  mime_type text NOT NULL,
  object_key text NOT NULL,
  sha256 text NOT NULL,
  size_bytes bigint NOT NULL,
  parser_status text NOT NULL CHECK (parser_status IN ('pending', 'parsed', 'failed')),
  version bigint NOT NULL DEFAULT 1,
  metadata text NOT NULL DEFAULT '{}',
  error_code text,
  error text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  path_name text,
  folder text GENERATED ALWAYS AS (replace(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', '')), '/', chr(1))) STORED,
  base text GENERATED ALWAYS AS (substr(coalesce(path_name, filename), length(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', ''))) + 1)) STORED,
  -- JSON, see Kept in engine/sources/kept.ts
  validators text,
  UNIQUE (tenant, id)
);
CREATE INDEX documents_space ON documents (space_key, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_name ON documents (space_key, filename) WHERE deleted_at IS NULL;
CREATE INDEX documents_size ON documents (space_key, size_bytes) WHERE deleted_at IS NULL;
CREATE INDEX documents_object ON documents (object_key);
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX documents_age ON documents (space_key, created_at) WHERE deleted_at IS NULL;
CREATE INDEX documents_place ON documents (space_key, source_id, folder, base, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_base ON documents (space_key, base, id) WHERE deleted_at IS NULL;
CREATE TABLE spaces (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  slug text NOT NULL,
  description text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  manifest_id text NOT NULL,
  manifest_version bigint NOT NULL DEFAULT 1,
  manifest text NOT NULL,
  embedding_plugin text NOT NULL,
  embedding_provider text NOT NULL,
  embedding_model text NOT NULL,
  embedding_revision bigint NOT NULL DEFAULT 1,
  vector_space text NOT NULL,
  dimension bigint,
  frozen_at bigint,
  head_revision bigint NOT NULL DEFAULT 0,
  publication_id text NOT NULL,
  fingerprint text NOT NULL,
  published_at bigint NOT NULL,
  UNIQUE (tenant, id)
);
CREATE UNIQUE INDEX spaces_slug ON spaces (tenant, slug) WHERE deleted_at IS NULL;
CREATE INDEX spaces_named ON spaces (id);
CREATE TABLE graph_entities (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  space_key bigint NOT NULL,
  type text NOT NULL CHECK (type IN ('date', 'metric', 'organization', 'person', 'policy', 'product', 'term')),
  canonical_key text NOT NULL,
  name text NOT NULL,
  aliases text NOT NULL DEFAULT '[]',
  confidence double precision NOT NULL,
  extraction_version bigint NOT NULL,
  metadata text NOT NULL DEFAULT '{}',
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (space_key, canonical_key)
);
CREATE TABLE graph_mentions (
  entity_key bigint NOT NULL,
  node_key bigint NOT NULL,
  version_key bigint NOT NULL,
  by_model bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (entity_key, node_key)
);
CREATE INDEX graph_mentions_node ON graph_mentions (node_key);
CREATE INDEX graph_mentions_version ON graph_mentions (version_key);
CREATE TABLE graph_relation_nodes (
  relation_key bigint NOT NULL,
  node_key bigint NOT NULL,
  version_key bigint NOT NULL,
  by_model bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (relation_key, node_key)
);
CREATE INDEX graph_relation_nodes_version ON graph_relation_nodes (version_key);
CREATE TABLE graph_versions (
  version_key bigint PRIMARY KEY,
  space_key bigint NOT NULL,
  extraction_version bigint NOT NULL
);
CREATE TABLE graph_names (
  entity_key bigint NOT NULL,
  version_key bigint NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  confidence double precision NOT NULL,
  alias_key text,
  PRIMARY KEY (entity_key, version_key, name)
);
CREATE INDEX graph_names_version ON graph_names (version_key);
CREATE INDEX graph_names_alias ON graph_names (alias_key) WHERE alias_key IS NOT NULL;
CREATE TABLE graph_scans (
  space_key bigint PRIMARY KEY,
  node_key bigint NOT NULL
);
CREATE TABLE semantic_views (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  space_key bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('topic', 'community')),
  slug text NOT NULL,
  name text NOT NULL,
  terms text NOT NULL,
  -- 1: a client named it
  named bigint NOT NULL,
  member_limit bigint NOT NULL,
  generated_version text NOT NULL,
  revision bigint NOT NULL,
  created_at bigint NOT NULL,
  dropped bigint NOT NULL DEFAULT 0,
  document_count bigint NOT NULL DEFAULT 0,
  covered bigint NOT NULL DEFAULT 0,
  total bigint NOT NULL DEFAULT 0,
  passage_count bigint NOT NULL DEFAULT 0,
  passage_total bigint NOT NULL DEFAULT 0,
  UNIQUE (space_key, kind, slug)
);
CREATE TABLE semantic_view_members (
  view_key bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('document', 'entity')),
  place bigint NOT NULL,
  member_key bigint NOT NULL,
  score double precision NOT NULL,
  PRIMARY KEY (view_key, kind, place)
);
CREATE INDEX semantic_view_members_of ON semantic_view_members (member_key, kind);
CREATE TABLE semantic_builds (
  space_key bigint NOT NULL,
  kind text NOT NULL,
  revision bigint NOT NULL,
  generated_version text NOT NULL,
  built_at bigint NOT NULL,
  covered bigint NOT NULL DEFAULT 0,
  total bigint NOT NULL DEFAULT 0,
  unread bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (space_key, kind)
);
CREATE TABLE graph_relations (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  space_key bigint NOT NULL,
  subject_key bigint NOT NULL,
  object_key bigint NOT NULL,
  type text NOT NULL CHECK (type IN ('contradicts', 'defines', 'depends_on', 'mentions', 'references', 'supersedes')),
  -- such as acquired, from subject to object; empty where only the type is known
  predicate text NOT NULL DEFAULT '',
  confidence double precision NOT NULL,
  extraction_version bigint NOT NULL,
  metadata text NOT NULL DEFAULT '{}',
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (subject_key, object_key, type, predicate)
);
CREATE INDEX graph_relations_object ON graph_relations (object_key);
CREATE INDEX graph_relations_space ON graph_relations (space_key);
CREATE TABLE conflict_claims (
  version_key bigint PRIMARY KEY,
  space_key bigint NOT NULL,
  format bigint NOT NULL,
  -- whether it was compared with all that were compared before
  compared bigint NOT NULL CHECK (compared IN (0, 1)),
  claims bytea NOT NULL
);
CREATE INDEX conflict_claims_space ON conflict_claims (space_key, version_key);
CREATE TABLE conflicts (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  space_key bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('number', 'date', 'negation', 'opposite', 'alternative')),
  relation text NOT NULL CHECK (relation IN ('contradiction', 'newer', 'other')),
  reason text NOT NULL,
  one_version bigint NOT NULL,
  one_node bigint NOT NULL,
  one_quote text NOT NULL,
  other_version bigint NOT NULL,
  other_node bigint NOT NULL,
  other_quote text NOT NULL,
  -- what a model said of it, where one was asked
  verdict text CHECK (verdict IN ('contradict', 'compatible')),
  created_at bigint NOT NULL,
  pair text NOT NULL,
  UNIQUE (one_version, other_version, pair)
);
CREATE INDEX conflicts_space ON conflicts (space_key, relation, key);
CREATE INDEX conflicts_other ON conflicts (other_version);
CREATE TABLE conflict_verdicts (
  space_key bigint NOT NULL,
  pair text NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('contradict', 'compatible')),
  PRIMARY KEY (space_key, pair)
);
CREATE TABLE graph_readings (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  space_key bigint NOT NULL,
  -- reference of the model that reads beside the rules; NULL: the rules alone
  model text,
  state text NOT NULL CHECK (state IN ('reading', 'completed', 'budget-spent', 'failed', 'canceled')),
  -- tokens that the model may cost, and has cost
  budget bigint NOT NULL,
  tokens bigint NOT NULL DEFAULT 0,
  -- passage up to which it has come
  node_key bigint NOT NULL DEFAULT 0,
  -- passages of the space, those that were read so far by anyone, those that the model was asked for, and those of them
  -- that it gave no usable answer for
  total bigint NOT NULL DEFAULT 0,
  done bigint NOT NULL DEFAULT 0,
  asked bigint NOT NULL DEFAULT 0,
  unusable bigint NOT NULL DEFAULT 0,
  -- failures in a row of its provider, the last of them, and when it is asked next
  attempts bigint NOT NULL DEFAULT 0,
  next_at bigint NOT NULL DEFAULT 0,
  error_class text,
  error text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  completed_at bigint,
  claimed_by text
);
CREATE UNIQUE INDEX graph_readings_open ON graph_readings (space_key) WHERE completed_at IS NULL;
CREATE INDEX graph_readings_space ON graph_readings (space_key, key);
CREATE TABLE graph_model_reads (
  node_key bigint NOT NULL,
  model text NOT NULL,
  space_key bigint NOT NULL,
  text_hash text NOT NULL,
  said text NOT NULL,
  is_current bigint NOT NULL,
  PRIMARY KEY (node_key, model)
);
CREATE INDEX graph_model_reads_text ON graph_model_reads (space_key, model, text_hash);
CREATE TABLE semantic_reports (
  view_key bigint PRIMARY KEY,
  space_key bigint NOT NULL,
  -- JSON: sentences, the most telling first, each with the passage that it stands in
  evidence text NOT NULL,
  evidence_hash text NOT NULL,
  -- the model, and JSON of what it wrote
  model text,
  written text
);
CREATE INDEX semantic_reports_space ON semantic_reports (space_key, evidence_hash);
CREATE TABLE chat_apps (
  tenant text NOT NULL,
  id text NOT NULL,
  owner text NOT NULL,
  body text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE TABLE chat_keys (
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  -- who comes with a key is not known before it is found: the one column that is unique over all tenants
  hash bytea NOT NULL UNIQUE,
  hint text NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps (tenant, id) ON DELETE CASCADE
);
CREATE INDEX chat_keys_app ON chat_keys (tenant, app_id, id);
CREATE TABLE chat_end_users (
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  name text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, app_id, name),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps (tenant, id) ON DELETE CASCADE
);
CREATE TABLE chat_conversations (
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  end_user_id text NOT NULL,
  name text NOT NULL,
  -- user: named by hand, which no generated name replaces
  named_by text NOT NULL CHECK (named_by IN ('default', 'model', 'user')),
  inputs text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps (tenant, id) ON DELETE CASCADE
);
CREATE INDEX chat_conversations_updated ON chat_conversations (tenant, app_id, end_user_id, updated_at, id);
CREATE INDEX chat_conversations_created ON chat_conversations (tenant, app_id, end_user_id, created_at, id);
CREATE TABLE chat_messages (
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  end_user_id text NOT NULL,
  conversation_id text NOT NULL,
  place bigint NOT NULL,
  task_id text NOT NULL,
  query text NOT NULL,
  inputs text NOT NULL,
  answer text NOT NULL DEFAULT '',
  status text NOT NULL CHECK (status IN ('running', 'normal', 'stopped', 'error')),
  error text,
  resources text NOT NULL DEFAULT '[]',
  usage text,
  created_at bigint NOT NULL,
  finished_at bigint,
  thoughts text NOT NULL DEFAULT '[]',
  -- who writes the answer
  claimed_by text,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, conversation_id, place),
  FOREIGN KEY (tenant, conversation_id) REFERENCES chat_conversations (tenant, id) ON DELETE CASCADE
);
CREATE INDEX chat_messages_running ON chat_messages (id) WHERE status = 'running';
CREATE TABLE chat_feedback (
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  end_user_id text NOT NULL,
  conversation_id text NOT NULL,
  message_id text NOT NULL,
  rating text NOT NULL CHECK (rating IN ('like', 'dislike')),
  content text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, message_id, end_user_id),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_messages (tenant, id) ON DELETE CASCADE
);
CREATE INDEX chat_feedback_app ON chat_feedback (tenant, app_id, updated_at, id);
CREATE TABLE chat_files (
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  end_user_id text NOT NULL,
  name text NOT NULL,
  extension text NOT NULL,
  mime_type text NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 text NOT NULL,
  object_key text NOT NULL,
  -- 0 while the bytes are on their way to their name
  ready bigint NOT NULL DEFAULT 0,
  expires_at bigint,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX chat_files_object ON chat_files (object_key);
CREATE INDEX chat_files_expiry ON chat_files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX chat_files_unused ON chat_files (tenant, app_id, end_user_id, expires_at, size_bytes)
  WHERE expires_at IS NOT NULL;
CREATE INDEX chat_files_app ON chat_files (tenant, app_id);
CREATE INDEX chat_files_named ON chat_files (id);
CREATE TABLE chat_message_files (
  tenant text NOT NULL,
  id text NOT NULL,
  message_id text NOT NULL,
  place bigint NOT NULL,
  file_id text NOT NULL,
  belongs_to text NOT NULL CHECK (belongs_to IN ('user', 'assistant')),
  transfer_method text NOT NULL CHECK (transfer_method IN ('remote_url', 'local_file')),
  -- where a remote file was fetched from
  url text,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, message_id, place),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_messages (tenant, id) ON DELETE CASCADE
);
CREATE INDEX chat_message_files_file ON chat_message_files (tenant, file_id);
CREATE INDEX chat_message_files_named ON chat_message_files (id);
CREATE TABLE chat_conversation_variables (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  id text NOT NULL,
  conversation_id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  value_type text NOT NULL,
  -- a string as it is, anything else as JSON text
  value text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (tenant, id),
  UNIQUE (tenant, conversation_id, name),
  FOREIGN KEY (tenant, conversation_id) REFERENCES chat_conversations (tenant, id) ON DELETE CASCADE
);
CREATE TABLE chat_annotations (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  question text NOT NULL,
  answer text NOT NULL,
  -- both in lower case, with U+0001 between them: SQLite folds ASCII only
  folded text NOT NULL,
  hit_count bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  UNIQUE (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps (tenant, id) ON DELETE CASCADE
);
CREATE INDEX chat_annotations_app ON chat_annotations (tenant, app_id, key);
CREATE TABLE chat_annotation_replies (
  tenant text NOT NULL,
  app_id text NOT NULL,
  enabled bigint NOT NULL CHECK (enabled IN (0, 1)),
  score_threshold double precision NOT NULL,
  PRIMARY KEY (tenant, app_id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps (tenant, id) ON DELETE CASCADE
);
CREATE TABLE chat_annotation_jobs (
  tenant text NOT NULL,
  id text NOT NULL,
  app_id text NOT NULL,
  action text NOT NULL CHECK (action IN ('enable', 'disable')),
  score_threshold double precision,
  status text NOT NULL CHECK (status IN ('waiting', 'processing', 'completed', 'error')),
  error text NOT NULL DEFAULT '',
  created_at bigint NOT NULL,
  claimed_by text,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES chat_apps (tenant, id) ON DELETE CASCADE
);
CREATE INDEX chat_annotation_jobs_app ON chat_annotation_jobs (tenant, app_id, action, status);
CREATE TABLE jobs (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  queue_id text NOT NULL,
  tenant text NOT NULL,
  space_key bigint NOT NULL,
  doc_key bigint NOT NULL,
  version bigint NOT NULL,
  stage text NOT NULL,
  error text,
  attempts bigint NOT NULL DEFAULT 0,
  unclean_ends bigint NOT NULL DEFAULT 0,
  run_after bigint NOT NULL DEFAULT 0,
  claimed_by text,
  replaces bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  completed_at bigint,
  source_id text,
  waits bigint NOT NULL DEFAULT 0,
  waiting_since bigint,
  fence bigint NOT NULL DEFAULT 0,
  claimed_at bigint
);
CREATE INDEX jobs_waiting ON jobs (space_key, run_after, key) WHERE completed_at IS NULL AND claimed_by IS NULL;
CREATE INDEX jobs_open ON jobs (space_key, stage) WHERE completed_at IS NULL;
CREATE INDEX jobs_document ON jobs (doc_key, version);
CREATE INDEX jobs_ended ON jobs (space_key, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX jobs_listed ON jobs (space_key, key);
CREATE INDEX jobs_claimed ON jobs (space_key) WHERE claimed_by IS NOT NULL;
CREATE TABLE staged_commits (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  space_key bigint NOT NULL,
  idempotency_key text NOT NULL,
  operation_type text NOT NULL,
  status text NOT NULL,
  document_id text,
  artifact_id text,
  raw_object_key text,
  published_object_key text,
  fingerprint text,
  checksum text,
  size_bytes bigint,
  attempts bigint NOT NULL DEFAULT 0,
  resume_status text,
  error_code text,
  error_message text,
  job_id text,
  expires_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  source_id text,
  claimed_by text
);
CREATE INDEX staged_commits_space ON staged_commits (space_key, status);
CREATE INDEX staged_commits_job ON staged_commits (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX staged_commits_object ON staged_commits (published_object_key) WHERE published_object_key IS NOT NULL;
CREATE INDEX staged_commits_listed ON staged_commits (space_key, id);
CREATE INDEX staged_commits_unacknowledged ON staged_commits (id)
  WHERE status IN ('received','object-staged','object-verified');
CREATE TABLE idempotency (
  tenant text NOT NULL,
  subject text NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  instance text NOT NULL,
  status bigint,
  headers text,
  body text,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, subject, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE TABLE revoked_tokens (
  jti text PRIMARY KEY,
  expires_at bigint NOT NULL
);
CREATE TABLE gc_outcomes (
  space_key bigint NOT NULL,
  idempotency_key text NOT NULL,
  target text NOT NULL,
  state text NOT NULL CHECK (state IN ('deleting', 'deleted')),
  object_key text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (space_key, idempotency_key, target)
);
CREATE INDEX gc_outcomes_age ON gc_outcomes (created_at);
CREATE TABLE store (
  id text NOT NULL,
  opened bigint NOT NULL
);
CREATE TABLE gateways (
  id text PRIMARY KEY,
  started_at bigint NOT NULL,
  beat_at bigint NOT NULL,
  -- names the lock of a data directory that it holds: who holds that lock later knows that it is dead
  held_lock text
);
CREATE TABLE objects (
  tenant text NOT NULL,
  sha256 text NOT NULL,
  state text NOT NULL CHECK (state IN ('live', 'deleting')),
  -- another each time the bytes come, or begin to go: who put them in an earlier life has to put them again
  life text NOT NULL,
  -- the run of a process that removes it, or did
  claimed_by text,
  -- when bytes were received for it last, or when their removal began
  touched_at bigint NOT NULL,
  -- since when it may be that nothing names it: it is being received without a row that holds it, or is to be removed
  loose_since bigint,
  PRIMARY KEY (tenant, sha256)
);
CREATE INDEX objects_loose ON objects (tenant, loose_since) WHERE loose_since IS NOT NULL;
CREATE TABLE research_tasks (
  tenant text NOT NULL,
  id text NOT NULL,
  subject text NOT NULL,
  space_key bigint NOT NULL,
  queue_id text NOT NULL,
  query text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('fast', 'deep', 'research')),
  -- frozen when the task was made: how the mode was decided, the publication that is read, the profile
  route text NOT NULL,
  snapshot text NOT NULL,
  profile text NOT NULL,
  limits text,
  budget_usd double precision,
  metadata text,
  permission_scope text,
  stage text NOT NULL CHECK (stage IN ('queued', 'planning', 'retrieving', 'analyzing', 'generating', 'completed', 'failed', 'canceled')),
  error text,
  stopped_by text, -- the limit that ended the gathering
  budget_exceeded bigint NOT NULL DEFAULT 0,
  active_ms bigint NOT NULL DEFAULT 0, -- time at work, over all starts of the daemon
  claimed_by text,
  attempts bigint NOT NULL DEFAULT 0,
  unclean_ends bigint NOT NULL DEFAULT 0,
  run_after bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  completed_at bigint,
  fence bigint NOT NULL DEFAULT 0,
  events bigint NOT NULL DEFAULT 0, -- that it has had: the number of its newest one
  PRIMARY KEY (tenant, id)
);
CREATE INDEX research_tasks_owner ON research_tasks (tenant, subject, id);
CREATE INDEX research_tasks_space ON research_tasks (space_key, completed_at);
CREATE INDEX research_tasks_open ON research_tasks (space_key, run_after, id) WHERE completed_at IS NULL;
CREATE INDEX research_tasks_claimed ON research_tasks (id) WHERE claimed_by IS NOT NULL;
CREATE TABLE research_steps (
  tenant text NOT NULL,
  task_id text NOT NULL,
  step text NOT NULL,
  name text NOT NULL CHECK (name IN ('plan', 'retrieve', 'inspect', 'analyze', 'generate')),
  space_key bigint NOT NULL,
  body text NOT NULL,
  tool_calls bigint NOT NULL,
  scanned bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  latency_ms bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, task_id, step)
);
CREATE TABLE research_partials (
  tenant text NOT NULL,
  task_id text NOT NULL,
  sequence bigint NOT NULL,
  space_key bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
);
CREATE TABLE research_costs (
  tenant text NOT NULL,
  task_id text NOT NULL,
  sequence bigint NOT NULL,
  step text NOT NULL,
  provider text NOT NULL,
  cost_usd double precision NOT NULL,
  usage text NOT NULL,
  recorded_at bigint NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
);
CREATE TABLE research_events (
  tenant text NOT NULL,
  task_id text NOT NULL,
  sequence bigint NOT NULL,
  event text NOT NULL,
  data text NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
);
CREATE TABLE sessions (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  subject text NOT NULL,
  client_kind text NOT NULL,
  heartbeat_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_space ON sessions (space_key, expires_at);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE TABLE session_turns (
  tenant text NOT NULL,
  session_id text NOT NULL,
  place bigint NOT NULL,
  trace_id text NOT NULL,
  query text NOT NULL,
  answer text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, session_id, place)
);
CREATE TABLE bulk_jobs (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  type text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX bulk_jobs_space ON bulk_jobs (space_key, created_at);
CREATE TABLE bulk_items (
  tenant text NOT NULL,
  bulk_id text NOT NULL,
  place bigint NOT NULL,
  document_id text NOT NULL,
  job_id text,
  outcome text CHECK (outcome IN ('completed', 'failed')),
  source_id text,
  PRIMARY KEY (tenant, bulk_id, place)
);
CREATE INDEX bulk_items_job ON bulk_items (tenant, job_id) WHERE job_id IS NOT NULL;
CREATE TABLE traces (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  subject text NOT NULL,
  query text NOT NULL,
  mode text NOT NULL,
  requested_mode text NOT NULL,
  completed bigint NOT NULL,
  bundle_id text,
  evidence_state text,
  steps text NOT NULL,
  created_at bigint NOT NULL,
  session_id text,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX traces_space ON traces (space_key, subject, id);
CREATE INDEX traces_age ON traces (space_key, created_at);
CREATE INDEX traces_own ON traces (space_key, subject, created_at, id);
CREATE INDEX traces_session ON traces (tenant, session_id, id) WHERE session_id IS NOT NULL;
CREATE TABLE evidence_bundles (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  trace_id text NOT NULL,
  body text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX evidence_bundles_trace ON evidence_bundles (tenant, trace_id);
CREATE TABLE provider_usage (
  tenant text NOT NULL,
  account text NOT NULL,
  day text NOT NULL,
  counter text NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (tenant, account, day, counter)
);
CREATE TABLE workspace_files (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text NOT NULL, -- stays the same when the file is overwritten or moved
  space_key bigint NOT NULL,
  folder text NOT NULL,
  base text NOT NULL,
  object_key text NOT NULL,
  sha256 text NOT NULL,
  size_bytes bigint NOT NULL,
  content_type text NOT NULL,
  version bigint NOT NULL,
  subject text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  from_seq bigint NOT NULL,
  until_seq bigint,
  until_at bigint,
  removed bigint NOT NULL DEFAULT 0 -- shown to nobody any more
);
CREATE UNIQUE INDEX workspace_files_live ON workspace_files (space_key, folder, base) WHERE until_seq IS NULL;
CREATE INDEX workspace_files_place ON workspace_files (space_key, folder, base, from_seq);
CREATE INDEX workspace_files_size ON workspace_files (space_key, size_bytes) WHERE until_seq IS NULL;
CREATE INDEX workspace_files_old ON workspace_files (space_key, until_at, size_bytes)
  WHERE until_seq IS NOT NULL AND removed = 0;
CREATE INDEX workspace_files_ended ON workspace_files (removed, until_at) WHERE until_seq IS NOT NULL;
CREATE INDEX workspace_files_id ON workspace_files (id);
CREATE INDEX workspace_files_object ON workspace_files (object_key);
CREATE TABLE workspace_changes (
  space_key bigint PRIMARY KEY,
  seq bigint NOT NULL
);
CREATE TABLE local_files (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  space_key bigint NOT NULL,
  filename text NOT NULL,
  path text NOT NULL,
  root text,
  fingerprint text NOT NULL,
  device text NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 text NOT NULL,
  UNIQUE (space_key, filename)
);
CREATE INDEX local_files_root ON local_files (space_key, root, filename);
CREATE TABLE golden_questions (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  question text NOT NULL,
  expected_evidence text NOT NULL,
  tags text NOT NULL,
  metadata text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX golden_questions_space ON golden_questions (space_key, tenant, id);
CREATE TABLE failed_queries (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  query_key text NOT NULL,
  cluster_key text NOT NULL,
  mode text NOT NULL,
  trigger text NOT NULL CHECK (trigger IN ('no-retrieval-evidence', 'low-confidence', 'abstained')),
  status text NOT NULL CHECK (status IN ('pending-triage', 'triaged', 'pending-annotation', 'annotated', 'dismissed', 'promoted')),
  occurrences bigint NOT NULL,
  asked_at bigint NOT NULL,
  answer_trace_id text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  metadata text NOT NULL,
  query text NOT NULL,
  unclustered bigint NOT NULL DEFAULT 0 CHECK (unclustered IN (0, 1)),
  PRIMARY KEY (tenant, id)
);
CREATE INDEX failed_queries_space ON failed_queries (space_key, tenant, id);
CREATE INDEX failed_queries_status ON failed_queries (space_key, tenant, status, id);
CREATE INDEX failed_queries_query ON failed_queries (space_key, query_key, id);
CREATE INDEX failed_queries_cluster ON failed_queries (space_key, cluster_key);
CREATE INDEX failed_queries_trace ON failed_queries (tenant, answer_trace_id) WHERE answer_trace_id IS NOT NULL;
CREATE INDEX failed_queries_unclustered ON failed_queries (space_key, id) WHERE unclustered = 1;
CREATE TABLE quoted_sources (
  tenant text NOT NULL,
  owner text NOT NULL,
  source_id text NOT NULL,
  PRIMARY KEY (tenant, owner, source_id)
);
CREATE TABLE missing_reviews (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  trace_id text NOT NULL,
  item_key text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'dismissed')),
  reason text,
  revision bigint NOT NULL,
  actor text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, trace_id, item_key)
);
CREATE INDEX missing_reviews_space ON missing_reviews (space_key);
CREATE TABLE missing_review_history (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  review_id text NOT NULL,
  actor text NOT NULL,
  from_status text,
  to_status text NOT NULL,
  reason text,
  revision bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, review_id, revision)
);
CREATE TABLE workspace_snapshots (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  subject text NOT NULL,
  workspace text NOT NULL,
  name text,
  session_id text,
  publication_id text NOT NULL,
  file_count bigint NOT NULL,
  total_bytes bigint NOT NULL,
  query_count bigint NOT NULL,
  created_at bigint NOT NULL,
  deleted_at bigint,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX workspace_snapshots_owner ON workspace_snapshots (tenant, subject, id) WHERE deleted_at IS NULL;
CREATE INDEX workspace_snapshots_space ON workspace_snapshots (space_key, total_bytes) WHERE deleted_at IS NULL;
CREATE INDEX workspace_snapshots_deleted ON workspace_snapshots (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE snapshot_files (
  key bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant text NOT NULL,
  snapshot_id text NOT NULL,
  space_key bigint NOT NULL,
  path text NOT NULL, -- within the workspace
  object_key text NOT NULL,
  sha256 text NOT NULL,
  size_bytes bigint NOT NULL,
  content_type text NOT NULL,
  version bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (tenant, snapshot_id, path)
);
CREATE INDEX snapshot_files_space ON snapshot_files (space_key, key);
CREATE INDEX snapshot_files_object ON snapshot_files (object_key);
CREATE TABLE snapshot_queries (
  tenant text NOT NULL,
  snapshot_id text NOT NULL,
  place bigint NOT NULL,
  space_key bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, snapshot_id, place)
);
CREATE INDEX snapshot_queries_space ON snapshot_queries (space_key);
CREATE TABLE watches (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint NOT NULL,
  folder text NOT NULL,
  rules text NOT NULL, -- JSON
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, space_key, folder)
);
CREATE TABLE retention_policies (
  tenant text NOT NULL,
  id text NOT NULL,
  space_key bigint, -- NULL: the policy of the tenant
  answer_trace_days bigint NOT NULL,
  evidence_cache_days bigint NOT NULL,
  inactive_projection_days bigint NOT NULL,
  artifact_versions bigint NOT NULL,
  raw_document_days bigint,
  session_minutes bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX retention_policies_tenant ON retention_policies (tenant) WHERE space_key IS NULL;
CREATE UNIQUE INDEX retention_policies_space ON retention_policies (space_key) WHERE space_key IS NOT NULL;
CREATE TABLE deployment (
  one bigint PRIMARY KEY DEFAULT 1 CHECK (one = 1),
  -- where the bytes of documents are
  objects text,
  -- a hash of the keys that sign tokens and encrypt credentials
  keys text
);
INSERT INTO deployment DEFAULT VALUES;
CREATE FUNCTION usage_version_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (tenant, space_key, artifact_bytes, segment_count, node_count)
    VALUES (NEW.tenant, NEW.space_key, length(NEW.artifact) + length(NEW.outline) + length(NEW.items), NEW.segment_count,
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
    INSERT INTO vector_counts (tenant, vector_space, live) VALUES (NEW.tenant, NEW.vector_space, 1) ON CONFLICT (vector_space) DO UPDATE SET live = vector_counts.live + 1;
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
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.body))
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
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.body))
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
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.query) + octet_length(NEW.steps))
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
  INSERT INTO space_usage (tenant, space_key, trace_bytes) VALUES (NEW.tenant, NEW.space_key, octet_length(NEW.body))
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
  INSERT INTO source_readers (tenant, source_id, subject, space_key)
    SELECT NEW.tenant, NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER source_readers_added AFTER INSERT ON sources FOR EACH ROW EXECUTE FUNCTION source_readers_added();
CREATE FUNCTION source_readers_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM source_readers WHERE source_id = OLD.id;
  INSERT INTO source_readers (tenant, source_id, subject, space_key)
    SELECT NEW.tenant, NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER source_readers_changed AFTER UPDATE OF permission_scope ON sources FOR EACH ROW EXECUTE FUNCTION source_readers_changed();
CREATE FUNCTION usage_document_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO space_usage (tenant, space_key, document_count, raw_bytes)
    VALUES (NEW.tenant, NEW.space_key, 1, NEW.size_bytes)
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
  INSERT INTO space_deletions (tenant, space_key, deletions) VALUES (NEW.tenant, NEW.space_key, 1)
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
CREATE FUNCTION tenant_of_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.tenant := (SELECT tenant FROM spaces WHERE key = NEW.space_key);
  RETURN NEW;
END $$;
CREATE FUNCTION isolate(name regclass) RETURNS void LANGUAGE plpgsql AS $$ DECLARE
  columns text[] := ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = name AND attnum > 0 AND NOT attisdropped);
BEGIN
  IF NOT 'tenant' = ANY (columns) THEN
    EXECUTE format('ALTER TABLE %s ADD tenant text NOT NULL DEFAULT nullif(current_setting(''ks.tenant'', true), '''')', name);
    IF 'space_key' = ANY (columns) THEN
      EXECUTE format('CREATE TRIGGER tenant_of_space BEFORE INSERT ON %s FOR EACH ROW WHEN (NEW.tenant IS NULL)
        EXECUTE FUNCTION tenant_of_space()', name);
    END IF;
  END IF;
  EXECUTE format('CREATE POLICY of_tenant ON %s USING (nullif(tenant = (SELECT current_setting(''ks.tenant'', true))
    OR (SELECT current_setting(''ks.deployment'', true)) = ''on'', false) IS NOT NULL)', name);
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
END $$;
DO $$ DECLARE found regclass; BEGIN
  FOR found IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
    AND relname NOT IN ('schema_version', 'store', 'deployment', 'gateways', 'held_leases', 'revoked_tokens', 'node_keys')
  LOOP PERFORM isolate(found); END LOOP;
END $$;
DO $$ DECLARE found regclass; made text; BEGIN
  FOREACH found IN ARRAY '{nodes_place,versions_at,versions_live,versions_visible}'::regclass[] LOOP
    made := pg_get_indexdef(found);
    EXECUTE format('DROP INDEX %s', found);
    EXECUTE made || ' INCLUDE (tenant)';
  END LOOP;
END $$;
INSERT INTO node_keys VALUES (1);
CREATE INDEX documents_failed ON documents (space_key) WHERE parser_status = 'failed' AND deleted_at IS NULL;
ALTER TABLE spaces ADD COLUMN imported_by TEXT;
CREATE INDEX spaces_imported ON spaces (key) WHERE imported_by IS NOT NULL;
-- what others want of the gateway that answers a message
CREATE TABLE chat_turn_requests (
  tenant TEXT NOT NULL,
  message_id TEXT NOT NULL,
  -- who answers
  gateway TEXT NOT NULL,
  stop bigint NOT NULL DEFAULT 0,
  -- when somebody said last that the frames are read elsewhere; 0 for never
  followed_at bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, message_id),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_messages (tenant, id) ON DELETE CASCADE
) ;
CREATE INDEX chat_turn_requests_gateway ON chat_turn_requests (gateway);
-- frames of an answer that is followed at another gateway, for as long as it is
CREATE TABLE chat_turn_frames (
  tenant TEXT NOT NULL,
  message_id TEXT NOT NULL,
  -- how many came before, and how many these are
  first bigint NOT NULL,
  frame_count bigint NOT NULL,
  frames TEXT NOT NULL,
  -- none come after them
  last bigint NOT NULL,
  PRIMARY KEY (tenant, message_id, first),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_turn_requests (tenant, message_id) ON DELETE CASCADE
) ;
-- what a gateway reads and deletes, as of its last heartbeat
CREATE TABLE held_leases (
  gateway TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key bigint NOT NULL,
  session_id TEXT NOT NULL,
  subject TEXT,
  type TEXT NOT NULL CHECK (type IN ('read', 'delete')),
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_version bigint,
  virtual_path TEXT NOT NULL,
  fence bigint NOT NULL,
  acquired_at bigint NOT NULL,
  heartbeat_at bigint NOT NULL,
  PRIMARY KEY (gateway, id),
  FOREIGN KEY (gateway) REFERENCES gateways (id) ON DELETE CASCADE
) ;
CREATE INDEX held_leases_space ON held_leases (space_key);
SELECT isolate('chat_turn_requests');
SELECT isolate('chat_turn_frames');
CREATE TABLE ocr_pages (
  doc_key bigint NOT NULL,
  page bigint NOT NULL,
  space_key bigint NOT NULL,
  -- the engine and its languages: what another one read is read anew
  engine TEXT NOT NULL,
  -- JSON of a RecognisedPage
  text TEXT NOT NULL,
  PRIMARY KEY (doc_key, page),
  FOREIGN KEY (doc_key) REFERENCES documents (key) ON DELETE CASCADE
) ;
CREATE INDEX ocr_pages_space ON ocr_pages (space_key);
SELECT isolate('ocr_pages');
-- id of the document whose file holds this one's
ALTER TABLE documents ADD COLUMN parent_id TEXT;
-- id of a newer file of the parent's name, which holds the same file and takes it over when it takes the parent's place
ALTER TABLE documents ADD COLUMN next_parent_id TEXT;
CREATE INDEX documents_parent ON documents (tenant, parent_id) WHERE parent_id IS NOT NULL;
-- JSON: the tables, pictures and code blocks that a passage is made of
ALTER TABLE nodes ADD COLUMN shows TEXT;
-- what a model said of a picture of a document; said is NULL where it was refused
CREATE TABLE picture_descriptions (
  doc_key bigint NOT NULL,
  -- reference of the model, and the number of what it was asked
  model TEXT NOT NULL,
  -- hash of its bytes, or of its place in the file
  picture TEXT NOT NULL,
  space_key bigint NOT NULL,
  said TEXT,
  error TEXT,
  created_at bigint NOT NULL,
  PRIMARY KEY (doc_key, model, picture)
) ;
CREATE INDEX picture_descriptions_space ON picture_descriptions (space_key, model, picture);
-- versions whose pictures were all asked for, the newest of each document
CREATE TABLE picture_readings (
  doc_key bigint NOT NULL PRIMARY KEY,
  space_key bigint NOT NULL,
  version_key bigint NOT NULL,
  model TEXT NOT NULL,
  -- how often the document was read again for what the model said
  rounds bigint NOT NULL
) ;
CREATE INDEX picture_readings_version ON picture_readings (version_key, model);
-- spaces whose vision model does not answer
CREATE TABLE picture_waits (
  space_key bigint NOT NULL PRIMARY KEY,
  attempts bigint NOT NULL,
  since bigint NOT NULL,
  next_at bigint NOT NULL,
  error_class TEXT NOT NULL,
  error TEXT NOT NULL,
  permanent bigint NOT NULL
) ;
SELECT isolate('picture_descriptions');
SELECT isolate('picture_readings');
SELECT isolate('picture_waits');
-- JSON: questions that may follow the answer; NULL until a model made them
ALTER TABLE chat_messages ADD COLUMN suggestions TEXT;
-- JSON: texts that the answer contains and does not contain, and the state of its evidence
ALTER TABLE golden_questions ADD COLUMN expected_answer TEXT;
CREATE INDEX golden_questions_answer ON golden_questions (space_key, tenant, substr(question, 1, 200))
  WHERE expected_answer IS NOT NULL;
INSERT INTO store (id, opened) VALUES ('0198c0de-0000-7000-8000-000000000012', 0);
INSERT INTO spaces (key, tenant, id, name, slug, created_at, updated_at, manifest_id, manifest, embedding_plugin, embedding_provider, embedding_model, vector_space, head_revision, publication_id, fingerprint, published_at)
  VALUES (1, 'a', '0198c0de-0000-7000-8000-000000000001', 'Harbour', 'harbour', 1, 1, '0198c0de-0000-7000-8000-000000000002', '{}', 'p', 'p', 'm', '0198c0de-0000-7000-8000-000000000003', 1, '0198c0de-0000-7000-8000-000000000004', 'f', 1);
INSERT INTO documents (key, tenant, id, space_key, filename, mime_type, object_key, sha256, size_bytes, parser_status, created_at, updated_at)
  VALUES (1, 'a', '0198c0de-0000-7000-8000-000000000005', 1, 'tides/brest.md', 'text/markdown', 'o', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 12, 'parsed', 1, 1);
INSERT INTO versions (key, doc_key, space_key, version, from_revision, node_count, first_node, last_node, artifact_id, artifact_hash, content_type, parser, outline_id, items_id, created_at, title, metadata, outline, items, artifact, segment_count)
  VALUES (1, 1, 1, 1, 1, 1, 1, 1, '0198c0de-0000-7000-8000-000000000006', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'text', 'native-markdown', '0198c0de-0000-7000-8000-000000000007', '0198c0de-0000-7000-8000-000000000008', 1, 'Tides', '{}', '\x01', '\x0203', '\x040506', 1);
INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements, start_offset, end_offset, kind, row_hash)
  VALUES (1, '0198c0de-0000-7000-8000-000000000009', 1, 1, 1, 0, 'Tides', 'High water at Brest.', '[]', 'n', '[]', 0, 20, 'text', '\x00112233445566778899aabbccddeeff');
INSERT INTO traces (tenant, id, space_key, subject, query, mode, requested_mode, completed, steps, created_at)
  VALUES ('a', '0198c0de-0000-7000-8000-000000000010', 1, 's', 'when is high water?', 'fast', 'fast', 1, '[]', 1);
INSERT INTO golden_questions (tenant, id, space_key, question, expected_evidence, tags, metadata, created_at, updated_at)
  VALUES ('a', '0198c0de-0000-7000-8000-000000000011', 1, 'When is high water?', '[]', '[]', '{}', 1, 1);
