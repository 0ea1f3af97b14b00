import { ExplainBody, Explanation } from '../../../../src/contract/gateway/explain.js'
import type { RetrievalProfileBody } from '../../../../src/contract/gateway/retrieval-profile.js'
import type { Bindable } from '../../../../src/engine/base/statements.js'
import type { Engine } from '../../../../src/engine/index.js'
import { hashNode } from '../../../../src/engine/store/node-hash.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA } from '../../../helpers/engine.js'

export const PROFILE: RetrievalProfileBody = {
  defaultMode: 'fast',
  modes: ['fast'],
  topK: 10,
  scoreThreshold: 0,
  rerank: { enabled: true },
}

export const SMALL = {
  'tides.md': '# Tides\n\nThe moon pulls the sea, and the highest tides come with the full moon.',
  'guide/harbour.md':
    '# Harbour\n\n## Berths\n\nVisitors moor at the eastern quay.\n\n## Fees\n\nMooring costs nine crowns a night.',
  'guide/fees.md': '# Fees\n\nA list of charges.',
  'archive/fees.md': '# Old fees\n\nCharges of another year.',
  'bread.md': '# Bread\n\nKneading flour and water makes dough.',
}

/** Explains, and checks the result against the contract. */
export async function explainIn(engine: Engine, spaceId: string, body: Partial<ExplainBody>): Promise<Explanation> {
  return Explanation.parse(await engine.queries.explain(ADA, spaceId, ExplainBody.parse(body)))
}

/** The stage that excluded the document, or the last one. */
export function decidingStage({ stages }: Explanation) {
  return stages.find((stage) => stage.outcome === 'failed') ?? stages.at(-1)!
}

export const stageOf = ({ stages }: Explanation, name: string) => stages.find(({ stage }) => stage === name)

export async function makeSpace(engine: Engine, slug: string): Promise<string> {
  return (await engine.spaces.create(ADA, { name: slug, slug })).id
}

export async function withProfileIn<T>(
  engine: Engine,
  spaceId: string,
  change: Partial<RetrievalProfileBody>,
  action: () => Promise<T>,
): Promise<T> {
  await engine.spaces.setRetrievalProfile(ADA, spaceId, { ...PROFILE, ...change })
  try {
    return await action()
  } finally {
    await engine.spaces.setRetrievalProfile(ADA, spaceId, PROFILE)
  }
}

export async function documentIdIn(engine: Engine, spaceId: string, filename: string): Promise<string> {
  for (let cursor: string | undefined; ; ) {
    const page = await engine.documents.list(ADA, spaceId, { limit: 100, cursor })
    const found = page.items.find((item) => item.filename === filename)
    if (found !== undefined) return found.id
    cursor = page.nextCursor
    if (cursor === undefined) throw new Error(`no ${filename}`)
  }
}

/** Inserts rows of a published document that the indexes do not know. */
export async function plantUnindexed(dataDir: string, filename: string, text: string, logged = false): Promise<void> {
  const rows = rowsOf(dataDir)
  const copy = async (
    table: string,
    where: string,
    value: number,
    changes: Record<string, Bindable>,
    key?: number,
  ): Promise<number> => {
    const found = rows.get<Record<string, Bindable>>(`SELECT * FROM ${table} WHERE ${where} = ?`, value) ?? {}
    // The database generates folder and base from other columns.
    const { key: _, folder: _folder, base: _base, ...row } = { ...found, ...changes }
    const named: Record<string, Bindable> = { ...(key === undefined ? {} : { key }), ...row }
    const [names, values] = [Object.keys(named), Object.values(named)]
    await rows.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, ...values)
    return rows.value(`SELECT max(key) FROM ${table}`)
  }
  const own = (end: string) => `018f0000-0000-7000-8000-${Buffer.from(filename).toString('hex').slice(0, 10)}${end}`
  const bread = rows.value("SELECT key FROM documents WHERE filename = 'bread.md'")
  const version = rows.value('SELECT key FROM versions WHERE doc_key = ?', bread)
  // The copied document may be deleted meanwhile.
  const docKey = await copy('documents', 'key', bread, { id: own('01'), filename, ...(logged && { deleted_at: null }) })
  const versionKey = await copy('versions', 'key', version, {
    doc_key: docKey,
    ...(logged && { until_revision: null }),
  })
  const place = { title: filename, text, startOffset: 0, endOffset: text.length }
  const says = { title: filename, text, start_offset: 0, end_offset: text.length, row_hash: hashNode(place) }
  const node = rows.value('SELECT last + 1 FROM node_keys')
  const changes = { id: own('02'), doc_key: docKey, version_key: versionKey, ...says }
  await copy('nodes', 'version_key', version, changes, node)
  await rows.run('UPDATE versions SET first_node = ?, last_node = ? WHERE key = ?', node, node, versionKey)
  await rows.run('UPDATE node_keys SET last = ?', node)
  if (!logged) return
  const space = rows.value('SELECT space_key FROM documents WHERE key = ?', docKey)
  await rows.run('UPDATE space_counters SET seq = seq + 1 WHERE space_key = ?', space)
  const entry =
    'SELECT space_key, seq, 1, CAST(? AS INTEGER), CAST(? AS INTEGER) FROM space_counters WHERE space_key = ?'
  await rows.run(`INSERT INTO projection_log ${entry}`, node, node, space)
}

/** Moves a document to a source that only `readers` may read. */
export async function restrict(dataDir: string, documentId: string, readers: string[]): Promise<void> {
  const columns =
    'id, tenant, space_key, name, type, uri, status, permission_scope, metadata, version, created_at, updated_at'
  const source = `SELECT 'source', '${ADA.tenant}', space_key, 'S', 'upload', 'upload:s', 'active', ?, '{}', 1, 0, 0 FROM documents WHERE id = ?`
  const { run } = rowsOf(dataDir)
  await run(`INSERT INTO sources (${columns}) ${source}`, JSON.stringify(readers), documentId)
  await run("UPDATE documents SET source_id = 'source' WHERE id = ?", documentId)
  await run("UPDATE staged_commits SET source_id = 'source' WHERE document_id = ?", documentId)
}
