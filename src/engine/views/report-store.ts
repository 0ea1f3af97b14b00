import { createHash } from 'node:crypto'
import type { ModelReference } from '../base/model-reference.js'
import { LIVE, OPEN } from '../rows/views/open.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell, unlessDamaged } from '../storage/readable.js'
import type { Evidence, ReportInput } from './reports.kernel.js'

/** What a model wrote of a community's evidence; `from` are places in it. */
export interface Written {
  title: string
  statements: { text: string; from: number[] }[]
}

export interface ReportRow {
  view_key: number
  space_key: number
  /** JSON of `Evidence[]` */
  evidence: string
  evidence_hash: string
  /** its name; null where no model wrote */
  model: string | null
  /** JSON of `Written` */
  written: string | null
}

/** Sentences that a report is told by without a model. */
export const TOLD = 5
/** Mentions looked at of one member, and passages read of one community. */
const MENTIONS = 300
const PASSAGES = 40
const NAMES = 4

/** What a model wrote of some evidence before, under any view of the space. */
export function* keptWriting(
  spaceKey: number,
  evidence: readonly Evidence[],
): Read<Pick<ReportRow, 'model' | 'written'>> {
  const row = yield* sql.get<Pick<ReportRow, 'model' | 'written'>>(
    `SELECT model, written FROM semantic_reports WHERE space_key = ? AND evidence_hash = ? AND written IS NOT NULL
     ORDER BY view_key DESC LIMIT 1`,
    [spaceKey, evidenceHash(evidence)],
  )
  return row ?? { model: null, written: null }
}

/** Stores the evidence of a view, inside the caller's transaction. @param kept of `keptWriting` */
export function* writeReport(
  of: { spaceKey: number; viewKey: number },
  evidence: readonly Evidence[],
  { model, written }: Pick<ReportRow, 'model' | 'written'>,
): Write<void> {
  yield* sql.run(
    `INSERT OR REPLACE INTO semantic_reports (view_key, space_key, evidence, evidence_hash, model, written)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [of.viewKey, of.spaceKey, JSON.stringify(evidence), evidenceHash(evidence), model, written],
  )
}

/** Stores what a model wrote of some evidence, wherever it is shown, inside the caller's transaction. */
export function* writeWritten(row: ReportRow, model: ModelReference, written: Written): Write<void> {
  yield* sql.run('UPDATE semantic_reports SET model = ?, written = ? WHERE space_key = ? AND evidence_hash = ?', [
    nameOf(model),
    JSON.stringify(written),
    row.space_key,
    row.evidence_hash,
  ])
}

export function* reportOf(spaceKey: number, viewKey: number): Read<ReportRow | undefined> {
  return yield* sql.get<ReportRow>('SELECT * FROM semantic_reports WHERE view_key = ? AND space_key = ?', [
    viewKey,
    spaceKey,
  ])
}

/** Reports of the largest communities that a model has not written. */
export function* unwritten(spaceKey: number, model: ModelReference, limit: number): Read<ReportRow[]> {
  return yield* sql.all<ReportRow>(
    `SELECT r.* FROM semantic_reports r CROSS JOIN semantic_views v ON v.key = r.view_key
     WHERE r.space_key = ? AND (r.model IS NULL OR r.model <> ?) AND json_array_length(r.evidence) > 1
     ORDER BY v.document_count DESC, v.key LIMIT ?`,
    [spaceKey, nameOf(model), limit],
  )
}

export function evidenceOf({ evidence }: ReportRow): Evidence[] {
  return unlessDamaged(() => fromCell<Evidence[]>(evidence)) ?? []
}

export function writtenOf({ written }: ReportRow): Written | undefined {
  return written === null ? undefined : unlessDamaged(() => fromCell<Written>(written))
}

function evidenceHash(evidence: readonly Evidence[]): string {
  return createHash('sha256')
    .update(JSON.stringify(evidence.map(({ text }) => text)))
    .digest('hex')
}

function nameOf({ pluginId, provider, model }: ModelReference): string {
  return `${pluginId}/${provider}/${model}`
}

/** What a report of some entities can be made of: their open names, and open passages that mention several of them. */
export function* reportInput(spaceKey: number, members: readonly { key: number; score: number }[]): Read<ReportInput> {
  const keys = members.map(({ key }) => key)
  const wanted = JSON.stringify(keys)
  const names = new Map<number, { names: string[]; type: string }>()
  for (const { key, type } of yield* sql.all<{ key: number; type: string }>(
    'SELECT e.key, e.type FROM json_each(?) wanted CROSS JOIN graph_entities e ON e.key = wanted.value',
    [wanted],
  ))
    names.set(key, { names: yield* openSpellings(key), type })
  const weights = new Map<number, number>()
  const add = (node: number, weight: number) => weights.set(node, (weights.get(node) ?? 0) + weight)
  for (const key of keys)
    for (const { node_key } of yield* sql.all<{ node_key: number }>(
      'SELECT node_key FROM graph_mentions WHERE entity_key = ? ORDER BY node_key DESC LIMIT +?',
      [key, MENTIONS],
    ))
      add(node_key, 1)
  for (const { node_key } of yield* sql.all<{ node_key: number }>(
    `SELECT m.node_key FROM json_each(?) a CROSS JOIN json_each(?) b
     CROSS JOIN graph_relations r ON r.subject_key = a.value AND r.object_key = b.value AND r.predicate <> ''
     CROSS JOIN graph_relation_nodes m ON m.relation_key = r.key LIMIT ${MENTIONS}`,
    [wanted, wanted],
  ))
    add(node_key, 2)
  const best = [...weights].filter(([, weight]) => weight > 1).sort((a, b) => b[1] - a[1] || a[0] - b[0])
  const passages = yield* sql.all<{ node: number; document: number; text: string }>(
    `SELECT n.key node, n.doc_key document, n.text FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     CROSS JOIN versions v ON v.key = n.version_key CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND ${LIVE} AND ${OPEN} ORDER BY wanted.key LIMIT ${PASSAGES}`,
    [JSON.stringify(best.slice(0, PASSAGES * 2).map(([node]) => node)), spaceKey],
  )
  return {
    members: members.flatMap(({ key, score }) => {
      const known = names.get(key)
      return known === undefined || known.names.length === 0 ? [] : [{ ...known, score }]
    }),
    passages,
  }
}

/** Names of an entity as open, published documents write them, the most frequent first. */
function* openSpellings(entity: number): Read<string[]> {
  const rows = yield* sql.all<{ name: string }>(
    `SELECT name, count(*) n FROM (SELECT m.name FROM graph_names m CROSS JOIN versions v ON v.key = m.version_key
       CROSS JOIN documents d ON d.key = v.doc_key WHERE m.entity_key = ? AND ${LIVE} AND ${OPEN} LIMIT ${MENTIONS})
     GROUP BY name ORDER BY n DESC, name LIMIT ${NAMES}`,
    [entity],
  )
  return rows.map(({ name }) => name)
}
