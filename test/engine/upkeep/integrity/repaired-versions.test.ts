import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pack } from '../../../../src/engine/store/packed.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { repairVersion } from '../../../../src/engine/upkeep/integrity/repair-version.js'
import { ADA } from '../../../helpers/engine.js'
import { PROVIDED, passages } from '../../../helpers/store.js'
import { openSmallSpaces, type SmallSpaces } from './small-space.js'

// Differing indexes are polled again and again: nothing changes here between two polls.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: () => new Promise((resolve) => setImmediate(resolve)),
}))

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
})
afterEach(() => small.store.end())

const references = () => small.issues(space, 'references')
const rows = (text: string) => small.store.rows<Record<string, unknown>>(text)

describe('documents in a repair', () => {
  it('pending without a job get a new job, which a person must start if the space uses a provider', async () => {
    for (const model of [undefined, PROVIDED]) {
      const of = small.store.createSpace(model === undefined ? {} : { model })
      await small.store.upload(of, { 'a.md': 'one' })
      const [document] = small.store.rows<{ id: string }>('SELECT id FROM documents WHERE space_key = ?', of.key)
      small.store.run('DELETE FROM jobs WHERE space_key = ?', of.key)
      const issues = await small.issues(of, 'artifact-segments')
      expect(issues).toMatchObject([
        {
          ...{ code: 'version-missing', type: 'missing-artifact-object', severity: 'error' },
          message: '"a.md" waits to be read, but has no job',
          target: { type: 'artifact-object', documentAssetId: document?.id },
        },
      ])
      const expected =
        model === undefined
          ? { status: 'repaired', action: 'queue the document to be read again' }
          : { status: 'manual', action: `\`ks docs reindex ${document?.id}\` reads it again` }
      expect(await small.repair(of, 'artifact-segments')).toMatchObject([expected])
      expect(small.store.rows('SELECT 1 FROM jobs WHERE space_key = ?', of.key)).toHaveLength(model ? 0 : 1)
    }
  })

  it('whose job ended without a version are reported, unless they failed', async () => {
    await small.store.upload(space, { 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' })
    small.store.run("UPDATE documents SET parser_status = 'parsed' WHERE filename = 'a.md'")
    small.store.run("UPDATE documents SET parser_status = 'failed' WHERE filename = 'b.md'")
    small.store.run("UPDATE documents SET deleted_at = 1 WHERE filename = 'c.md'")
    expect(await small.issues(space, 'artifact-segments')).toEqual([])
    small.store.run('UPDATE jobs SET completed_at = 1')
    expect(await small.issues(space, 'artifact-segments')).toMatchObject([
      { code: 'version-missing', message: '"a.md" has no published version' },
    ])
  })

  it('deleted during the repair get no job', async () => {
    await small.store.upload(space, { 'a.md': 'one' })
    small.store.run('DELETE FROM jobs')
    const { repair } = small.integrity
    const { db } = small.store
    const write = db.write.bind(db)
    db.write = (async (program: never) => {
      small.store.run('UPDATE documents SET deleted_at = 1')
      return await write(program)
    }) as typeof db.write
    const { items } = await repair(ADA, space.id, { dryRun: false, check: 'artifact-segments', deep: false })
    expect(items).toMatchObject([{ status: 'failed', action: 'it is in use again: kept' }])
    expect(rows('SELECT 1 FROM jobs')).toEqual([])
  })
})

describe('a passage without a version in a check of references', () => {
  it('disappears from rows and index after a repair', async () => {
    await small.publish(space, { 'a.md': 'one', 'b.md': 'two' })
    small.store.run("UPDATE nodes SET version_key = 999 WHERE text = 'two'")
    const [node] = rows("SELECT id FROM nodes WHERE text = 'two'")
    const strays = (await references()).filter(({ code }) => code === 'node-without-version')
    expect(strays).toMatchObject([
      {
        ...{ type: 'broken-path-target', severity: 'warning', repairability: 'auto-repairable' },
        target: { type: 'knowledge-node', id: node?.id },
      },
    ])
    const items = await small.repair(space, 'references')
    expect(items.find(({ issue }) => issue.code === 'node-without-version')).toMatchObject({
      ...{ status: 'repaired', action: 'remove the passage' },
    })
    expect(rows('SELECT text FROM nodes')).toEqual([{ text: 'one' }])
    expect(small.store.indexes.texts(space.id)).toEqual(['one'])
  })

  it('gets reported, even if there are hundreds of them', async () => {
    await small.publish(space, { 'a.md': passages(...Array.from({ length: 230 }, (_, place) => `p${place}`)) })
    small.store.run('UPDATE nodes SET version_key = 999')
    const found = (await references()).filter(({ code }) => code === 'node-without-version')
    expect(found).toHaveLength(230)
  })
})

describe('a version in a repair', () => {
  it.each([
    ['artifact', null],
    ['artifact', 'text'],
    ['artifact', { text: 7, elements: [] }],
    ['artifact', { text: 'one' }],
    ['artifact', { elements: [] }],
    ['artifact', { text: 'one', elements: [7] }],
    ['artifact', { text: 'one', elements: {} }],
    ['outline', {}],
    ['outline', [null]],
    ['items', 'none'],
  ])('counts as unreadable when its %s unpacks to %j, and is written again', async (part, value) => {
    await small.publish(space, { 'a.md': 'one' })
    const before = rows('SELECT artifact, outline, items FROM versions')
    small.store.run(`UPDATE versions SET ${part} = ?`, await pack(value))
    const [version] = rows('SELECT artifact_id FROM versions')
    expect(await small.issues(space, 'artifact-segments')).toMatchObject([
      {
        ...{ code: `${part}-unreadable`, type: 'segment-hash-mismatch', severity: 'error' },
        message: `the ${part} of version 1 of "a.md" cannot be unpacked`,
        target: { type: 'artifact-object', id: version?.artifact_id, parseArtifactId: version?.artifact_id },
      },
    ])
    expect((await small.repair(space, 'artifact-segments')).map(({ status }) => status)).toEqual(['repaired'])
    expect(rows('SELECT artifact, outline, items FROM versions')).toEqual(before)
  })

  it('gets its pictures extracted again when they are missing or differ', async () => {
    await small.publish(space, { 'a.md': 'one' })
    const place = { parseElementId: 'e1', sectionPath: [], sourceMetadata: {}, modality: 'image' }
    const asset = { contentType: 'image/png', sha256: 'ab'.repeat(32), size: 1 }
    small.store.run('UPDATE versions SET items = ?', await pack([{ ...place, asset }, place, { ...place, asset }]))
    const [version] = rows('SELECT key, artifact_id FROM versions')
    small.store.run(
      "INSERT INTO item_assets (version_key, item_id, content_type, sha256, bytes) VALUES (?, 'image-3', 'image/png', ?, x'00')",
      ...[Number(version?.key), asset.sha256],
    )
    const issues = await small.issues(space, 'artifact-segments')
    expect(issues).toMatchObject([
      {
        ...{ code: 'item-missing', type: 'missing-artifact-object', severity: 'error' },
        ...{ message: 'image-1 of version 1 of "a.md" has no bytes', repairability: 'auto-repairable' },
        target: { type: 'artifact-segment', id: 'image-1', parseArtifactId: version?.artifact_id },
      },
      {
        ...{ code: 'item-hash', type: 'segment-hash-mismatch', severity: 'error' },
        target: { type: 'artifact-segment', id: 'image-3' },
      },
    ])
    await small.repair(space, 'artifact-segments')
    expect(await small.issues(space, 'artifact-segments')).toEqual([])
    expect(rows('SELECT 1 FROM item_assets')).toEqual([])
  })

  it('stays unrepaired when it is deleted or belongs to another space', async () => {
    const other = small.store.createSpace()
    await small.publish(space, { 'a.md': 'one' })
    const [version] = rows('SELECT key FROM versions')
    const scan = (of: SpaceRow) => ({ context: small.store.context, reader: ADA, space: of, now: small.clock.now })
    small.store.run("UPDATE versions SET artifact = x''")
    expect(await repairVersion(scan(space), 999)).toBeUndefined()
    expect(await repairVersion(scan(other), Number(version?.key))).toBeUndefined()
    expect(rows("SELECT 1 FROM versions WHERE artifact = x''")).toHaveLength(1)
    small.store.run('UPDATE documents SET deleted_at = 1')
    expect(await repairVersion(scan(space), Number(version?.key))).toBeUndefined()
    expect(rows("SELECT 1 FROM versions WHERE artifact = x''")).toHaveLength(1)
  })

  it('gets its rows repaired when it was superseded, and stays out of the index', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two') })
    small.store.indexes.stateOf(space.id).nodes.clear()
    small.store.run('UPDATE versions SET until_revision = 7')
    small.store.run("UPDATE nodes SET text = 'other' WHERE text = 'two'")
    const log = rows('SELECT count(*) n FROM projection_log')
    await small.repair(space, 'artifact-segments')
    expect(rows('SELECT text FROM nodes ORDER BY key')).toEqual([{ text: 'one' }, { text: 'two' }])
    expect(rows('SELECT count(*) n FROM projection_log')).toEqual(log)
    expect(small.store.indexes.texts(space.id)).toEqual([])
  })

  it('can be found by its words again after its passages were repaired', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two', 'three') })
    small.store.run("UPDATE nodes SET text = 'lost' WHERE text = 'two'")
    small.store.run("DELETE FROM nodes WHERE text = 'three'")
    small.store.indexes.stateOf(space.id).nodes.clear()
    await small.repair(space, 'artifact-segments')
    // The index gets the changed passages only.
    expect(small.store.indexes.texts(space.id)).toEqual(['three', 'two'])
  })

  it('stays for the purge when it was superseded and is parsed differently today', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two') })
    small.store.run('UPDATE versions SET until_revision = 7')
    small.store.run("UPDATE nodes SET text = 'x' WHERE text = 'one'")
    otherwise()
    const items = await small.repair(space, 'artifact-segments')
    expect(items.find(({ issue }) => issue.code === 'node-hash')?.status).toBe('repaired')
    expect(rows('SELECT obsolete_at FROM versions')).toEqual([{ obsolete_at: small.clock.now }])
  })

  it('keeps its readable parts when it is rebuilt from its passages, and is marked as restored', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two') })
    small.store.run("UPDATE documents SET sha256 = 'other'")
    small.store.run("UPDATE versions SET outline = x'00', artifact_hash = 'none'")
    const [before] = rows('SELECT artifact, items FROM versions')
    const items = await small.repair(space, 'artifact-segments')
    expect(items.map(({ issue, status }) => [issue.code, status])).toContainEqual(['outline-unreadable', 'repaired'])
    const [after] = rows('SELECT artifact, items, metadata FROM versions')
    expect(after?.artifact).toEqual(before?.artifact)
    expect(JSON.parse(String(after?.metadata))).toMatchObject({ restoredFromPassages: true })
    const codes = (await small.issues(space, 'artifact-segments')).map(({ code }) => code)
    expect(codes.filter((code) => code !== 'row-damaged')).toEqual([])
  })

  it('needs a new upload when its pictures are damaged and its bytes are lost', async () => {
    await small.publish(space, { 'a.md': 'one' })
    small.store.run("UPDATE documents SET sha256 = 'other'")
    small.store.run("UPDATE versions SET items = x'00'")
    const items = await small.repair(space, 'artifact-segments')
    expect(items.find(({ issue }) => issue.code === 'items-unreadable')).toMatchObject({
      status: 'failed',
      action: 'the pictures of the document cannot be restored: upload the document again',
    })
  })

  it('cannot be rebuilt from passages that are incomplete', async () => {
    for (const damage of ['DELETE FROM nodes', "DELETE FROM nodes WHERE text = 'two'"]) {
      const of = small.store.createSpace()
      await small.publish(of, { 'a.md': passages('one', 'two') })
      small.store.run(`UPDATE documents SET sha256 = 'other' WHERE space_key = ${of.key}`)
      small.store.run(`${damage} ${damage.includes('WHERE') ? 'AND' : 'WHERE'} space_key = ${of.key}`)
      const items = (await small.repair(of, 'references')).filter(({ issue }) => issue.code === 'node-missing')
      expect(items).toMatchObject([
        {
          status: 'failed',
          action: 'the bytes and some passages of the document are damaged: upload the document again',
        },
      ])
    }
  })

  it('gets a new artifact when the parser produces the same passages and another artifact', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two') })
    small.store.run("UPDATE versions SET artifact_hash = 'of an earlier parser'")
    expect((await small.issues(space, 'artifact-segments')).map(({ code }) => code)).toContain('artifact-hash')
    await small.repair(space, 'artifact-segments')
    expect(await small.issues(space, 'artifact-segments')).toEqual([])
    expect(rows('SELECT count(*) n FROM jobs WHERE completed_at IS NULL')).toEqual([{ n: 0 }])
  })

  it('gets compiled again when no passage is intact and the parser produces another artifact', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two') })
    small.store.run("UPDATE versions SET artifact_hash = 'of an earlier parser'")
    small.store.run("UPDATE nodes SET text = text || '!'")
    small.store.wokenSpaces.length = 0
    const items = await small.repair(space, 'artifact-segments')
    expect(items.map(({ status }) => status)).toContain('repaired')
    expect(rows('SELECT count(*) n FROM jobs WHERE completed_at IS NULL')).toEqual([{ n: 1 }])
    expect(small.store.wokenSpaces.length).toBeGreaterThan(0)
  })
})

/** The parser now produces fewer passages. */
function otherwise(): void {
  const { compile } = small.store.context.compiler
  small.store.context.compiler.compile = async (requests) =>
    (await compile(requests)).map((result) =>
      result.ok ? { ok: true, document: { ...result.document, nodes: result.document.nodes.slice(0, 1) } } : result,
    )
}
