import {
  CONFLICT_KINDS,
  CONFLICT_RELATIONS,
  DEGRADED_CLASSES,
  ENTITY_TYPES,
  RELATION_TYPES,
} from '../../contract/values.js'
import { ownedThrough, type TableFormat, table } from './formats.js'

const OF_ENTITY = ownedThrough('graph_entities', 'key', 'entity_key')

/** What is found in documents behind their publication: page index, contradictions, graph, topics and communities. */
export const KNOWLEDGE_FORMATS: Readonly<Record<string, TableFormat>> = {
  page_index: table(
    {
      key: 'version_key space_key doc_key',
      integer: 'format length range_count',
      bytes: 'terms ranges',
    },
    { derived: true },
  ),
  conflict_claims: table(
    { key: 'version_key space_key', integer: 'format', flag: 'compared', bytes: 'claims' },
    { derived: true },
  ),
  conflicts: table(
    {
      key: 'key space_key one_version one_node other_version other_node',
      uuid: 'id',
      text: 'reason one_quote other_quote pair',
      time: 'created_at',
      oneOf: { kind: CONFLICT_KINDS, relation: CONFLICT_RELATIONS },
      'oneOf?': { verdict: ['contradict', 'compatible'] },
    },
    { derived: true },
  ),
  conflict_verdicts: table(
    { key: 'space_key', text: 'pair', oneOf: { verdict: ['contradict', 'compatible'] } },
    { derived: true },
  ),
  graph_entities: table(
    {
      key: 'key space_key',
      uuid: 'id',
      text: 'canonical_key name',
      'json-array': 'aliases',
      number: 'confidence',
      integer: 'extraction_version',
      'json-object': 'metadata',
      time: 'created_at updated_at',
      oneOf: { type: ENTITY_TYPES },
    },
    { derived: true },
  ),
  graph_names: table(
    {
      key: 'entity_key version_key',
      text: 'name',
      number: 'confidence',
      'text?': 'alias_key',
      oneOf: { type: ENTITY_TYPES },
    },
    { owned: OF_ENTITY, derived: true },
  ),
  graph_mentions: table(
    { key: 'entity_key node_key version_key', integer: 'by_model' },
    { owned: OF_ENTITY, derived: true },
  ),
  graph_relations: table(
    {
      key: 'key space_key subject_key object_key',
      uuid: 'id',
      text: 'predicate',
      number: 'confidence',
      integer: 'extraction_version',
      'json-object': 'metadata',
      time: 'created_at updated_at',
      oneOf: { type: RELATION_TYPES },
    },
    { derived: true },
  ),
  graph_relation_nodes: table(
    { key: 'relation_key node_key version_key', integer: 'by_model' },
    { owned: ownedThrough('graph_relations', 'key', 'relation_key'), derived: true },
  ),
  graph_versions: table({ key: 'version_key space_key', integer: 'extraction_version' }, { derived: true }),
  graph_scans: table({ key: 'space_key node_key' }, { derived: true }),
  graph_readings: table({
    key: 'key space_key',
    uuid: 'id',
    'json-object?': 'model',
    integer: 'budget tokens node_key total done asked unusable attempts',
    time: 'next_at created_at updated_at',
    'text?': 'error claimed_by',
    'time?': 'completed_at',
    oneOf: { state: ['reading', 'completed', 'budget-spent', 'failed', 'canceled'] },
    'oneOf?': { error_class: DEGRADED_CLASSES },
  }),
  graph_model_reads: table(
    {
      key: 'node_key space_key',
      text: 'model text_hash',
      'json-object': 'said',
      flag: 'is_current',
    },
    { derived: true },
  ),
  semantic_views: table(
    {
      key: 'key space_key',
      text: 'slug name generated_version',
      'json-array': 'terms',
      flag: 'named dropped',
      integer: 'member_limit revision document_count covered total passage_count passage_total',
      time: 'created_at',
      oneOf: { kind: ['topic', 'community'] },
    },
    { derived: true },
  ),
  semantic_view_members: table(
    {
      key: 'view_key member_key',
      integer: 'place',
      number: 'score',
      oneOf: { kind: ['document', 'entity'] },
    },
    { owned: ownedThrough('semantic_views', 'key', 'view_key'), derived: true },
  ),
  semantic_reports: table(
    {
      key: 'view_key space_key',
      'json-array': 'evidence',
      text: 'evidence_hash',
      'text?': 'model',
      'json-object?': 'written',
    },
    { derived: true },
  ),
  semantic_builds: table(
    {
      key: 'space_key',
      integer: 'revision covered total unread',
      text: 'generated_version',
      time: 'built_at',
      oneOf: { kind: ['topic', 'community'] },
    },
    { derived: true },
  ),
}
