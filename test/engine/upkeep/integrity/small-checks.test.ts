import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConsistencyIssue, FsckCheck } from '../../../../src/contract/gateway/integrity.js'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  type VectorSpace,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import {
  createIntegrityOperations,
  type IntegrityOperations,
} from '../../../../src/engine/upkeep/integrity/integrity.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, PROVIDED, passages, type SmallStore } from '../../../helpers/store.js'
import { CHECKS, codes } from './space.js'

// A check polls differing indexes again and again: nothing changes here between two polls.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: () => new Promise((resolve) => setImmediate(resolve)),
}))

const signal = new AbortController().signal
const HOUR_MS = 60 * 60 * 1000

let store: SmallStore
let clock: number
let integrity: IntegrityOperations
beforeEach(async () => {
  clock = Date.now()
  store = await openSmallStore({ now: () => clock })
  integrity = createIntegrityOperations(store.context)
  // The damage bypasses the constraints of the database.
  store.run('PRAGMA foreign_keys = OFF')
})
afterEach(() => store.end())

async function publish(space: SpaceRow, files: Record<string, string>): Promise<void> {
  await compileBatch(store.context, space, await store.uploadAndClaim(space, files), { signal })
}

function model(space: SpaceRow): VectorSpace {
  return store.write(function* () {
    const made = yield* insertTrainedVectorSpace(
      space,
      newId(),
      { dimension: 2, bytes: new Uint8Array(1), trainedNodes: 30 },
      'gone',
    )
    yield* activateVectorSpace(space.key, made)
    return made
  })
}

async function found(space: SpaceRow, check: FsckCheck | 'all' = 'all'): Promise<ConsistencyIssue[]> {
  const issues: ConsistencyIssue[] = []
  for (const one of check === 'all' ? CHECKS : [check]) {
    let cursor: string | undefined
    do {
      const page = await integrity.fsck(ADA, space.id, { check: one, deep: false, cursor })
      issues.push(...page.issues)
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return issues
}

async function repaired(space: SpaceRow, dryRun = false) {
  const items = []
  for (const check of CHECKS)
    items.push(...(await integrity.repair(ADA, space.id, { dryRun, check, deep: false })).items)
  return items
}

const filename = (name: string) => `(SELECT key FROM documents WHERE filename = '${name}')`
const files = { 'a.md': passages('one', 'two'), 'b.md': 'three' }

function objectOf(name: string): string {
  const [row] = store.rows<{ object_key: string }>(`SELECT object_key FROM documents WHERE filename = '${name}'`)
  return join(store.dataDir, 'objects', row?.object_key ?? '')
}
function overwrite(path: string, bytes: string): void {
  chmodSync(path, 0o600)
  writeFileSync(path, bytes)
}

describe('an undamaged space', () => {
  it('causes no issues, and a repair does nothing', async () => {
    const space = store.createSpace()
    model(space)
    await publish(store.reload(space), files)
    expect(await found(space)).toEqual([])
    expect(await repaired(space)).toEqual([])
    const report = await integrity.fsck(ADA, space.id, { check: 'raw-objects', deep: false })
    expect(report).toMatchObject({ knowledgeSpaceId: space.id, tenantId: ADA.tenant, issues: [] })
    expect(report.summary.scanned).toBeGreaterThanOrEqual(2)
    await expect(integrity.fsck(BOB, space.id, { check: 'raw-objects', deep: false })).rejects.toMatchObject({
      code: 'not-found',
    })
    await expect(
      integrity.repair(BOB, space.id, { dryRun: true, check: 'raw-objects', deep: false }),
    ).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('bytes of a document', () => {
  it.each([
    ['missing', 'raw-object-missing', 'critical', (path: string) => rmSync(path)],
    ['truncated', 'raw-object-size', 'error', (path: string) => overwrite(path, 'x')],
    [
      'different',
      'raw-object-hash',
      'critical',
      (path: string) => overwrite(path, readFileSync(path, 'utf8').replace('o', '0')),
    ],
  ])('get reported and left to a person when they are %s', async (_, code, severity, damage) => {
    const space = store.createSpace()
    await publish(space, files)
    damage(objectOf('a.md'))
    const issues = await found(space)
    const [document] = store.rows<{ id: string }>("SELECT id FROM documents WHERE filename = 'a.md'")
    expect(issues).toMatchObject([
      { code, severity, repairability: 'manual', target: { type: 'raw-object', documentAssetId: document?.id } },
    ])
    expect((await repaired(space)).map(({ status }) => status)).toEqual(['manual'])
    expect(codes(await found(space))).toEqual({ [code]: 1 })
  })

  it('cause no issue when they are missing for a deleted document', async () => {
    const space = store.createSpace()
    await publish(space, files)
    store.run(`UPDATE documents SET deleted_at = 1 WHERE key = ${filename('a.md')}`)
    rmSync(objectOf('a.md'))
    expect(codes(await found(space, 'raw-objects'))).not.toHaveProperty('raw-object-missing')
  })
})

const DAMAGES: [what: string, statement: string, codes: string[]][] = [
  ['a missing artifact', "UPDATE versions SET artifact = x'' WHERE doc_key = 1", ['artifact-unreadable']],
  ['an outline with other bytes', "UPDATE versions SET outline = x'0102' WHERE doc_key = 1", ['outline-unreadable']],
  ['unreadable items', "UPDATE versions SET items = x'00' WHERE doc_key = 1", ['items-unreadable']],
  [
    'the artifact of another document',
    'UPDATE versions SET artifact = (SELECT artifact FROM versions WHERE doc_key = 2) WHERE doc_key = 1',
    ['artifact-hash', 'element-missing'],
  ],
  ['a passage with other text', "UPDATE nodes SET text = 'twa' WHERE text = 'two'", ['node-hash']],
  [
    'a passage with another start',
    "UPDATE nodes SET start_offset = start_offset - 1 WHERE text = 'two'",
    ['node-hash'],
  ],
  ['a passage with another end', "UPDATE nodes SET end_offset = end_offset + 1 WHERE text = 'two'", ['node-hash']],
  ['a passage without a section', "UPDATE nodes SET outline_node = 's9' WHERE text = 'two'", ['section-missing']],
  ['a passage without an element', `UPDATE nodes SET elements = '["e9"]' WHERE text = 'two'`, ['element-missing']],
  ['a missing passage', "DELETE FROM nodes WHERE text = 'two'", ['node-missing', 'text-count']],
]

describe('rows of a version', () => {
  it.each(DAMAGES)(
    'appear in the report when they have %s, and are restored from the bytes of the document',
    async (_, damage, expected) => {
      const space = store.createSpace()
      await publish(space, files)
      const before = store.rows('SELECT key, id, text, outline_node, elements, row_hash FROM nodes ORDER BY key')
      store.run(damage)
      const issues = await found(space)
      expect(Object.keys(codes(issues)).sort()).toEqual(expected)
      expect(issues.every(({ repairability }) => repairability === 'auto-repairable')).toBe(true)
      // A dry run changes nothing.
      expect((await repaired(space, true)).every(({ status }) => status === 'would-repair')).toBe(true)
      expect(Object.keys(codes(await found(space))).sort()).toEqual(expected)
      expect((await repaired(space)).map(({ status }) => status)).not.toContain('failed')
      expect(await found(space)).toEqual([])
      const after = store.rows<{ text: string }>(
        'SELECT key, id, text, outline_node, elements, row_hash FROM nodes ORDER BY key',
      )
      if (!expected.includes('node-missing')) expect(after).toEqual(before)
      expect(store.indexes.texts(space.id)).toEqual(['one', 'three', 'two'])
    },
  )

  it('get rebuilt from the passages if the bytes are damaged; a person is needed if both are damaged', async () => {
    const space = store.createSpace()
    await publish(space, files)
    overwrite(objectOf('a.md'), 'nothing of it')
    store.run("UPDATE versions SET artifact = x'' WHERE doc_key = 1")
    await repaired(space)
    expect(codes(await found(space))).toEqual({ 'raw-object-size': 1 })
    store.run("UPDATE nodes SET text = 'other' WHERE text = 'two'")
    const items = await repaired(space)
    expect(items.filter(({ status }) => status === 'failed')).toMatchObject([{ issue: { code: 'node-hash' } }])
    expect(codes(await found(space))).toEqual({ 'node-hash': 1, 'raw-object-size': 1 })
  })

  it('get compiled again when the parser works differently today, unless that needs a provider', async () => {
    for (const [place, changes] of [{}, { model: PROVIDED }].entries()) {
      const space = store.createSpace(changes)
      await publish(space, { [`n${place}.md`]: passages('one', 'two') })
      const key = filename(`n${place}.md`)
      store.run(`UPDATE nodes SET text = 'x' WHERE doc_key = ${key} AND ordinal = 0`)
      const { compile } = store.context.compiler
      store.context.compiler.compile = async (requests) => {
        const [result] = await compile(requests)
        if (result?.ok !== true) throw new Error('it could not be read')
        return [{ ok: true, document: { ...result.document, nodes: result.document.nodes.slice(0, 1) } }]
      }
      const statuses = (await repaired(space)).map(({ status }) => status)
      store.context.compiler.compile = compile
      const open = store.rows(`SELECT 1 FROM jobs WHERE completed_at IS NULL AND doc_key = ${key}`)
      expect({ statuses, jobs: open.length }).toEqual(
        place === 0 ? { statuses: ['repaired'], jobs: 1 } : { statuses: ['failed'], jobs: 0 },
      )
    }
  })
})

describe('unowned or incomplete data', () => {
  it('includes a document without a job, which gets a new job', async () => {
    const space = store.createSpace()
    await store.upload(space, { 'a.md': 'one' })
    expect(await found(space)).toEqual([])
    store.run('DELETE FROM jobs')
    expect(codes(await found(space))).toEqual({ 'version-missing': 1 })
    store.wokenSpaces.length = 0
    expect((await repaired(space)).map(({ status }) => status)).toEqual(['repaired'])
    expect(store.rows('SELECT stage FROM jobs')).toEqual([{ stage: 'queued' }])
    expect(store.wokenSpaces.length).toBeGreaterThan(0)
  })

  it('includes a vector without a passage, which is removed, and a damaged vector, which is computed again', async () => {
    const space = store.createSpace()
    const using = model(space)
    await publish(store.reload(space), files)
    const [first] = store.rows<{ node_key: number; vector: Uint8Array }>('SELECT * FROM vectors ORDER BY node_key')
    store.run("INSERT INTO vectors VALUES (?, 999, x'003c0000')", using.key)
    store.run("UPDATE vectors SET vector = x'ffff0000' WHERE node_key = ?", first?.node_key ?? 0)
    const issues = codes(await found(space, 'references'))
    expect(issues).toMatchObject({ 'vector-without-node': 1, 'vector-damaged': 1 })
    expect((await repaired(space)).map(({ status }) => status)).not.toContain('failed')
    expect(store.rows('SELECT node_key FROM vectors WHERE node_key = 999')).toEqual([])
    expect(store.rows('SELECT vector FROM vectors WHERE node_key = ?', first?.node_key ?? 0)).toEqual([
      { vector: first?.vector },
    ])
  })

  it('includes a passage without a vector, unless the model knows none of its words', async () => {
    const space = store.createSpace()
    model(space)
    const { embed } = store
    await publish(store.reload(space), files)
    const [first] = store.rows<{ node_key: number }>('SELECT node_key FROM vectors ORDER BY node_key')
    store.run('DELETE FROM vectors WHERE node_key = ?', first?.node_key ?? 0)
    store.embed = (texts) => texts.map(() => undefined)
    expect(codes(await found(space, 'references'))).not.toHaveProperty('vector-missing')
    store.embed = embed
    expect(codes(await found(space, 'references'))).toHaveProperty('vector-missing', 1)
    await repaired(space)
    expect(store.rows('SELECT 1 FROM vectors')).toHaveLength(3)
    expect(codes(await found(space, 'references'))).not.toHaveProperty('vector-missing')
  })

  it('includes a failed commit after its expiry', async () => {
    const space = store.createSpace()
    await compileBatch(store.context, space, await store.uploadAndClaim(space, { 'a.md': '!encrypted' }), { signal })
    expect(codes(await found(space, 'raw-objects'))).toEqual({})
    clock += 365 * 24 * HOUR_MS
    expect(codes(await found(space, 'raw-objects'))).toHaveProperty('failed-commit-expired', 1)
  })
})

describe('an index in a check of references', () => {
  it('that differs from the rows is reported and rebuilt', async () => {
    const space = store.createSpace()
    await publish(space, files)
    const held = store.indexes.stateOf(space.id)
    held.nodes.delete([...held.nodes.keys()][0] ?? 0)
    const issues = await found(space, 'references')
    expect(issues).toMatchObject([{ code: 'text-count', type: 'stale-projection', repairability: 'auto-repairable' }])
    expect((await repaired(space)).map(({ status }) => status)).toEqual(['repaired'])
    expect(store.indexes.rebuilt).toEqual([space.id])
    expect(await found(space, 'references')).toEqual([])
  })

  it('cannot be compared during compilation, which is reported as information', async () => {
    const space = store.createSpace()
    await publish(space, files)
    store.indexes.stateOf(space.id).seq--
    await store.uploadAndClaim(space, { 'c.md': 'four' })
    expect(await found(space, 'references')).toMatchObject([{ code: 'index-not-compared', severity: 'info' }])
    expect(store.indexes.rebuilt).toEqual([])
  })
})
