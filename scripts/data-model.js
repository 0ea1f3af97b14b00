/** Writes `docs/data-model.md` from the compiled schema. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './build.js'

/** Relations of the diagram: table, kind in the syntax of mermaid, referring table, and the column that refers. */
const RELATIONS = [
  ['spaces', '||--o{', 'documents', 'space_key'],
  ['spaces', '||--o{', 'publications', 'space_key'],
  ['documents', '||--o{', 'versions', 'doc_key'],
  ['versions', '||--o{', 'nodes', 'version_key'],
  ['nodes', '||--o{', 'vectors', 'node_key'],
  ['spaces', '||--o{', 'vector_spaces', 'space_key'],
  ['vector_spaces', '||--o{', 'vectors', 'vector_space'],
  ['spaces', '||--o{', 'projection_log', 'space_key'],
  ['documents', '||--o{', 'jobs', 'doc_key'],
  ['jobs', '||--o|', 'staged_commits', 'job_id'],
  ['gateways', '||--o{', 'jobs', 'claimed_by'],
  ['gateways', '||--o{', 'held_leases', 'gateway'],
  ['spaces', '||--o{', 'sources', 'space_key'],
  ['sources', '||--o{', 'documents', 'source_id'],
  ['sources', '||--o{', 'source_readers', 'source_id'],
  ['gateways', '||--o{', 'sources', 'claimed_by'],
  ['spaces', '||--o{', 'traces', 'space_key'],
  ['traces', '||--o|', 'evidence_bundles', 'trace_id'],
  ['traces', '||--o{', 'missing_reviews', 'trace_id'],
  ['missing_reviews', '||--o{', 'missing_review_history', 'review_id'],
  ['spaces', '||--o{', 'research_tasks', 'space_key'],
  ['research_tasks', '||--o{', 'research_steps', 'task_id'],
  ['research_tasks', '||--o{', 'research_partials', 'task_id'],
  ['research_tasks', '||--o{', 'research_events', 'task_id'],
]

const INTRODUCTION = `# Data model

<!-- written by npm run build from src/engine/store/schema/: do not edit -->

The tables of a store, in SQLite and on PostgreSQL. \`src/engine/store/schema/\` is their only declaration ([why](decisions/0115-one-description-of-the-schema.md)); what the rows mean for readers and after a crash is in [storage](storage.md).

- A *row key* is a number that never leaves the process; other tables refer to it in columns that end with \`_key\`. Ids are UUIDv7 texts.
- Times are milliseconds since the epoch, flags are 0 or 1, JSON is text.
- On PostgreSQL each table that is not *shared* has the column \`tenant\`, and a policy that hides the rows of other tenants.
- *Derived* rows can be computed again from other rows and files.
- A synchronization is the state of its source: \`sync_started_at\`, \`claimed_by\`, \`fence\`. A lease exists in the memory of its gateway and is copied to \`held_leases\` with each heartbeat.
`

/**
 * @param {Readonly<Record<string, Readonly<Record<string, import('../src/engine/store/schema/table.js').Table>>>>} subjects tables by subject
 * @returns {string} the page
 */
export function formatDataModel(subjects) {
  const allTables = Object.assign({}, ...Object.values(subjects))
  const sections = Object.entries(subjects).flatMap(([subject, tables]) => [
    `## ${subject}\n`,
    ...Object.entries(tables).map(([name, table]) => formatTable(name, table)),
  ])
  return `${[INTRODUCTION, formatDiagram(allTables), ...sections].join('\n').trimEnd()}\n`
}

function formatDiagram(tables) {
  const lines = RELATIONS.map(([table, kind, referring, column]) => {
    if (!(table in tables) || !(column in (tables[referring]?.columns ?? {})))
      throw new Error(`the diagram names ${table} and ${referring}.${column}, which do not both exist`)
    return `  ${table} ${kind} ${referring} : ${column}`
  })
  return ['```mermaid', 'erDiagram', ...lines, '```\n'].join('\n')
}

function formatTable(name, table) {
  const { purpose, columns, derived, shared } = table
  const marks = [...(derived ? ['Derived.'] : []), ...(shared ? [`Shared: ${shared}.`] : [])]
  const rows = Object.entries(columns).map(
    ([columnName, column]) => `| \`${columnName}\` | ${formatType(column)} | ${column.note ?? ''} |`,
  )
  const keys = formatKeys(table).map((line) => `- ${line}`)
  const lines = [
    `### ${name}\n`,
    `${[purpose, ...marks].join(' ')}\n`,
    '| column | type | |',
    '|---|---|---|',
    ...rows,
    '',
  ]
  return [...lines, ...(keys.length > 0 ? [...keys, ''] : [])].join('\n')
}

function formatType({ kind, optional, default: value, rowKey, generated }) {
  if (rowKey) return 'row key, assigned'
  const type = typeof kind === 'string' ? kind.replaceAll('-', ' ').replace('json', 'JSON') : kind.join(', ')
  return [
    generated ? `computed ${type}` : type,
    ...(optional && !generated ? ['or NULL'] : []),
    ...(value === undefined ? [] : [`(default ${value === '' ? 'empty' : value})`]),
  ].join(' ')
}

function formatKeys({ columns, primary, unique = [], parent, indexes = {}, triggers = {} }) {
  const single = Object.keys(columns).filter((name) => columns[name].unique)
  const uniques = [...single.map((name) => [name]), ...unique].map((names) => `\`${names.join(', ')}\``)
  return [
    ...(primary ? [`primary key: \`${primary.join(', ')}\``] : []),
    ...(uniques.length > 0 ? [`unique: ${uniques.join('; ')}`] : []),
    ...(parent ? [`deleted with its row of ${parent.table}: \`${parent.columns.join(', ')}\``] : []),
    ...Object.entries(indexes).map(
      ([name, index]) =>
        `${index.unique ? 'unique ' : ''}index ${name}: \`${index.columns}\`${index.where ? ` where \`${index.where}\`` : ''}`,
    ),
    ...(Object.keys(triggers).length > 0 ? [`triggers: ${Object.keys(triggers).join(', ')}`] : []),
  ]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SUBJECTS } = await import('../dist/engine/store/schema/tables.js')
  writeFileSync(join(ROOT, 'docs', 'data-model.md'), formatDataModel(SUBJECTS))
}
