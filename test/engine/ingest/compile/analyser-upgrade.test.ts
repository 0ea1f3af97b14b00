import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { crc32 } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, it } from 'vitest'
import type { SearchResult } from '../../../../src/contract/gateway/search.js'
import { chooseTextEngine, openTextIndex } from '../../../../src/engine/search/open-text.js'
import { ANALYZER_VERSION } from '../../../../src/lib/text/analyze.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

/** Notes on a few subjects with words that the analysers stem differently; enough of them to train a model. */
const SUBJECTS = [
  ['engines', 'turbines', 'cooling', 'running', 'bearings', 'vibrations', 'oiled', 'heating'],
  ['invoices', 'payments', 'charged', 'refunds', 'accounting', 'taxes', 'billing', 'currencies'],
  ['gardens', 'planting', 'flowers', 'watering', 'harvested', 'seeds', 'pruning', 'greenhouses'],
  ['travelling', 'tickets', 'stations', 'delays', 'boarding', 'luggage', 'journeys', 'connections'],
]
const NOTES = Object.fromEntries(
  Array.from({ length: 48 }, (_, place) => {
    const words = SUBJECTS[place % SUBJECTS.length] ?? []
    const said = words.map((word, at) => `${word} ${words[(at + place) % words.length]} matter${(place * 7 + at) % 11}`)
    return [`note-${place}.md`, `# Report ${place}\n\nOn ${said.join(', ')}.\n\nIt was item${place} that mattered.\n`]
  }),
)
const QUESTIONS = [
  'engine vibration cooling',
  'Which payments were refunded?',
  'planted seeds of item18',
  'delay boarding',
]

const tests: TestEngine[] = []
afterEach(async () => {
  for (const test of tests.splice(0)) await test.end()
})

async function withNotes(): Promise<{ test: TestEngine; id: string }> {
  const test = await startEngine()
  tests.push(test)
  const { id } = await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })
  await ingest(test.engine, ADA, id, NOTES)
  await untilWhole(test, id)
  return { test, id }
}

interface Model {
  id: string
  model: Uint8Array
}

function activeModel({ dataDir }: TestEngine): Model | undefined {
  return rowsOf(dataDir).get<Model>("SELECT id, model FROM vector_spaces WHERE state = 'active'")
}

const count = ({ dataDir }: TestEngine, query: string) => rowsOf(dataDir).value(query)

/** Waits until there is one model, with a vector of every node, and a page index of every document. */
async function untilWhole(test: TestEngine, id: string): Promise<void> {
  await until(async () => {
    if (count(test, 'SELECT count(*) FROM vector_spaces') !== 1 || activeModel(test) === undefined) return false
    const nodes = count(test, 'SELECT count(*) FROM nodes')
    if (nodes === 0 || count(test, 'SELECT count(*) FROM vectors') !== nodes) return false
    const { done } = await ask(test.engine, ADA, id, 'What is this?', { mode: 'research' })
    return done.metadata?.degraded !== true
  })
}

/** Turns a closed data directory into one of the previous analyser: its model, text index and page index. */
async function makeEarlier({ dataDir }: TestEngine, id: string): Promise<void> {
  const rows = rowsOf(dataDir)
  await rows.run('UPDATE vector_spaces SET model = ?', ofEarlier(rows.value<Buffer>('SELECT model FROM vector_spaces')))
  // Vectors and summaries of the earlier terms must not be used.
  await rows.run('UPDATE vectors SET vector = zeroblob(length(vector))')
  await rows.run('UPDATE page_index SET format = format - 1, terms = zeroblob(length(terms))')
  const nodes = rows.all<EarlierNode>('SELECT key, doc_key doc, title, text FROM nodes')
  const { engine } = chooseTextEngine(process.env['KS_TEXT_INDEX'])
  const dir = join(dataDir, 'indexes', id)
  const index = await openTextIndex({ dir, engine, ifMissing: 'skip', log: () => {}, watermarkLagMs: 0 })
  if (index === undefined) throw new Error(`there is no text index in ${dir}`)
  const { watermark } = index
  // Terms were unstemmed words.
  const text = (node: EarlierNode) => (`${node.title} ${node.text}`.toLowerCase().match(/[a-z0-9]+/g) ?? []).join(' ')
  await index.stage(
    nodes.map((node) => ({ key: node.key, doc: node.doc, text: text(node) })),
    [],
  )
  await index.commit(watermark)
  await index.close()
  ofEarlierIndex(join(dir, engine))
}

interface EarlierNode {
  key: number
  doc: number
  title: string
  text: string
}

function ofEarlier(model: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(model)
  const view = new DataView(bytes.buffer)
  expect(view.getUint32(8, true)).toBe(ANALYZER_VERSION)
  view.setUint32(8, ANALYZER_VERSION - 1, true)
  view.setUint32(bytes.length - 4, crc32(bytes.subarray(0, bytes.length - 4)), true)
  return bytes
}

function ofEarlierIndex(dir: string): void {
  const path = join(dir, 'watermark.json')
  if (!existsSync(path)) {
    const db = new Sqlite(join(dir, 'index.sqlite'))
    db.pragma(`user_version = ${Number(db.pragma('user_version', { simple: true })) - 1}`)
    db.close()
    return
  }
  const { format, seq } = JSON.parse(readFileSync(path, 'utf8')) as { format: string; seq: number }
  const [layout, analyzer] = format.split('.')
  expect(Number(analyzer)).toBe(ANALYZER_VERSION)
  const earlier = `${layout}.${ANALYZER_VERSION - 1}`
  const check = crc32(`${earlier} ${basename(join(dir, '..'))} ${seq}`)
  writeFileSync(path, JSON.stringify({ format: earlier, seq, check }))
}

/** What a search finds, by file and score, for every question and mode. */
async function foundIn({ engine }: TestEngine, id: string) {
  const found: Record<string, [file: unknown, score: number][]> = {}
  for (const mode of ['fast', 'research'] as const)
    for (const query of QUESTIONS) {
      const { items }: SearchResult = await engine.queries.search(ADA, id, {
        query,
        mode,
        limit: 10,
        activeDocumentIds: [],
        activeEntityIds: [],
      })
      found[`${mode}: ${query}`] = items.map(({ metadata, score }) => [metadata.filename, Number(score.toFixed(4))])
    }
  return found
}

it('a data directory of an earlier text analyser answers at once and, once rebuilt, exactly as a new directory', {
  timeout: 180_000,
}, async () => {
  const { test, id } = await withNotes()
  const before = activeModel(test)?.id
  await test.engine.close()
  await makeEarlier(test, id)
  await test.reopen()

  // The first question triggers the rebuild and is answered from text alone.
  const first = await ask(test.engine, ADA, id, 'What vibrates when engines are cooled, item4?')
  expect(first.error).toBeUndefined()
  expect(first.answer).toContain('vibrations')
  expect(activeModel(test)?.id).not.toBe(before)

  await untilWhole(test, id)
  const trained = activeModel(test)
  expect(trained?.id).not.toBe(before)
  expect(count(test, 'SELECT count(*) FROM vectors WHERE vector = zeroblob(length(vector))')).toBe(0)

  const fresh = await withNotes()
  expect(Buffer.from(trained?.model ?? []).equals(Buffer.from(activeModel(fresh.test)?.model ?? []))).toBe(true)
  const expected = await foundIn(fresh.test, fresh.id)
  expect(Object.values(expected).every((items) => items.length > 0)).toBe(true)
  expect(await foundIn(test, id)).toEqual(expected)
})
