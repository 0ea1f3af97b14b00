import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { ExplainBody, Explanation } from '../../../src/contract/gateway/explain.js'
import type { RetrievalProfileBody } from '../../../src/contract/gateway/retrieval-profile.js'
import type { Engine } from '../../../src/engine/index.js'
import { nodeHash } from '../../../src/engine/storage/node-hash.js'
import { ADA } from '../../helpers/engine.js'

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

/** Every explanation fits the contract. */
export async function explainIn(engine: Engine, spaceId: string, body: Partial<ExplainBody>): Promise<Explanation> {
  return Explanation.parse(await engine.queries.explain(ADA, spaceId, ExplainBody.parse(body)))
}

/** The stage that kept it out, or the last one. */
export function culprit({ stages }: Explanation) {
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

/** Rows of a published document that the indexes were never told of. */
export function plantUnindexed(dataDir: string, filename: string, text: string, logged = false): void {
  const db = new Sqlite(join(dataDir, 'db', 'main.sqlite'))
  const copy = (table: string, where: string, value: unknown, changes: Record<string, unknown>): number => {
    const row = db.prepare(`SELECT * FROM ${table} WHERE ${where} = ?`).get(value) as Record<string, unknown>
    const columns = db.pragma(`table_info(${table})`) as { name: string }[]
    const names = columns.map(({ name }) => name).filter((name) => name !== 'key')
    const values = names.map((name) => (name in changes ? changes[name] : row[name]))
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    return Number(db.prepare(sql).run(values).lastInsertRowid)
  }
  const own = (end: string) => `018f0000-0000-7000-8000-${Buffer.from(filename).toString('hex').slice(0, 10)}${end}`
  db.transaction(() => {
    const bread = db.prepare("SELECT key FROM documents WHERE filename = 'bread.md'").pluck().get()
    const version = db.prepare('SELECT key FROM versions WHERE doc_key = ?').pluck().get(bread)
    // the document that is copied may be deleted by now
    const docKey = copy('documents', 'key', bread, { id: own('01'), filename, ...(logged && { deleted_at: null }) })
    const versionKey = copy('versions', 'key', version, { doc_key: docKey, ...(logged && { until_revision: null }) })
    const place = { title: filename, text, startOffset: 0, endOffset: text.length }
    const says = { title: filename, text, start_offset: 0, end_offset: text.length, row_hash: nodeHash(place) }
    const changes = { id: own('02'), doc_key: docKey, version_key: versionKey, ...says }
    const node = copy('nodes', 'version_key', version, changes)
    db.prepare('UPDATE versions SET first_node = ?, last_node = ? WHERE key = ?').run(node, node, versionKey)
    db.prepare('UPDATE node_keys SET last = ?').run(node)
    if (!logged) return
    const space = db.prepare('SELECT space_key FROM documents WHERE key = ?').pluck().get(docKey)
    db.prepare('UPDATE space_counters SET seq = seq + 1 WHERE space_key = ?').run(space)
    const entry = 'SELECT space_key, seq, 1, ?, ? FROM space_counters WHERE space_key = ?'
    db.prepare(`INSERT INTO projection_log ${entry}`).run(node, node, space)
  })()
  db.close()
}

/** Puts a document below a source that only `readers` may read. */
export function restrict(dataDir: string, documentId: string, readers: string[]): void {
  const db = new Sqlite(join(dataDir, 'db', 'main.sqlite'))
  const columns =
    'id, tenant, space_key, name, type, uri, status, permission_scope, metadata, version, created_at, updated_at'
  const source = `SELECT 'source', ?, space_key, 'S', 'upload', 'upload:s', 'active', ?, '{}', 1, 0, 0 FROM documents WHERE id = ?`
  db.prepare(`INSERT INTO sources (${columns}) ${source}`).run(ADA.tenant, JSON.stringify(readers), documentId)
  db.prepare("UPDATE documents SET source_id = 'source' WHERE id = ?").run(documentId)
  db.prepare("UPDATE staged_commits SET source_id = 'source' WHERE document_id = ?").run(documentId)
  db.close()
}
