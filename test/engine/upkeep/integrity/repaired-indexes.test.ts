import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import type { VectorSpace } from '../../../../src/engine/store/rows/vector-spaces.js'
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

async function filled(text: string): Promise<VectorSpace> {
  const using = small.model(space)
  space = small.store.reload(space)
  await small.publish(space, { 'a.md': text })
  return using
}

describe('vectors in a check of references', () => {
  it('without a passage are reported and removed', async () => {
    const using = await filled('one')
    small.store.run("INSERT INTO vectors VALUES (?, 999, x'003c0000')", using.key)
    const issues = (await references()).filter(({ code }) => code.startsWith('vector-w'))
    expect(issues).toMatchObject([
      {
        ...{ code: 'vector-without-node', type: 'missing-node-target', severity: 'error' },
        ...{ repairability: 'auto-repairable', target: { type: 'index-projection', id: '999' } },
      },
    ])
    expect(await small.repair(space, 'references', { dryRun: true })).toMatchObject([
      { status: 'would-repair', action: 'compute the vector again from the passage' },
    ])
    await small.repair(space, 'references')
    expect(rows('SELECT node_key FROM vectors')).toEqual(rows('SELECT key node_key FROM nodes'))
  })

  it.each([
    ['too long', "x'003c003c'"],
    ['too short', "x'00380000'"],
    ['of another dimension', "x'003c00000000'"],
    ['truncated within a number', "x'003c00'"],
    ['not a number', "x'007e0000'"],
  ])('count as damaged when they are %s, and the built-in model computes them again', async (_, value) => {
    await filled(passages('one', 'three'))
    const whole = rows('SELECT * FROM vectors ORDER BY node_key')
    small.store.run(`UPDATE vectors SET vector = ${value} WHERE node_key = (SELECT min(key) FROM nodes)`)
    const [node] = rows('SELECT id FROM nodes ORDER BY key')
    const [document] = rows('SELECT id FROM documents')
    expect(await references()).toMatchObject([
      {
        ...{ code: 'vector-damaged', type: 'stale-projection', severity: 'warning', repairability: 'auto-repairable' },
        target: { type: 'index-projection', id: node?.id, documentAssetId: document?.id },
      },
    ])
    expect((await small.repair(space, 'references')).map(({ status }) => status)).toEqual(['repaired'])
    expect(rows('SELECT * FROM vectors ORDER BY node_key')).toEqual(whole)
    expect(await references()).toEqual([])
  })

  it('may deviate slightly from unit length', async () => {
    await filled('one')
    // .995 and 0, in half precision.
    small.store.run("UPDATE vectors SET vector = x'f63b0000'")
    expect(await references()).toEqual([])
    small.store.run("UPDATE vectors SET vector = x'd73b0000'")
    expect((await references()).map(({ code }) => code)).toEqual(['vector-damaged'])
  })

  it('must be requested by a person when they are damaged or missing and a provider makes them', async () => {
    space = small.store.createSpace({ model: PROVIDED })
    const using = small.model(space)
    await small.publish(small.store.reload(space), { 'a.md': passages('one', 'three') })
    const [document] = rows('SELECT id FROM documents')
    small.store.run('DELETE FROM vectors')
    small.store.run('DELETE FROM vectors_due')
    small.store.run("INSERT INTO vectors SELECT ?, min(key), x'00' FROM nodes", using.key)
    const missing = await references()
    expect(missing.map(({ code, repairability }) => [code, repairability])).toEqual(
      expect.arrayContaining([
        ['vector-damaged', 'manual'],
        ['vector-missing', 'manual'],
      ]),
    )
    const items = await small.repair(space, 'references')
    expect(items.find(({ issue }) => issue.code === 'vector-damaged')?.action).toBe(
      `\`ks docs reindex ${document?.id}\` uses the embedding model again`,
    )
    expect(items.find(({ issue }) => issue.code === 'vector-missing')?.action).toBe(
      `\`ks docs reindex ${document?.id}\` uses the embedding model`,
    )
    // A vector that is due is not missing.
    small.store.run('DELETE FROM vectors')
    small.store.run('INSERT INTO vectors_due (space_key, version_key, due) SELECT space_key, key, 1 FROM versions')
    expect((await references()).map(({ code }) => code)).not.toContain('vector-missing')
  })

  it('that are missing get computed for live passages with known words only', async () => {
    await filled(passages(...Array.from({ length: 70 }, (_, place) => 'x'.repeat(place + 1))))
    const whole = rows('SELECT * FROM vectors ORDER BY node_key')
    small.store.run('DELETE FROM vectors')
    const missing = (await references()).filter(({ code }) => code === 'vector-missing')
    expect(missing).toHaveLength(70)
    expect(missing[0]).toMatchObject({
      ...{ type: 'stale-projection', severity: 'warning', repairability: 'auto-repairable' },
      target: { type: 'index-projection', id: rows('SELECT id FROM nodes ORDER BY key')[0]?.id },
    })
    const { embed } = small.store
    small.store.embed = (texts) => texts.map((text) => (text.endsWith('xx') ? undefined : Float32Array.of(1, 0)))
    expect((await references()).filter(({ code }) => code === 'vector-missing')).toHaveLength(1)
    small.store.embed = embed
    const items = await small.repair(space, 'references')
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['repaired']))
    expect(rows('SELECT * FROM vectors ORDER BY node_key')).toEqual(whole)
    small.store.run('UPDATE versions SET until_revision = 5')
    small.store.run('DELETE FROM vectors')
    expect((await references()).filter(({ code }) => code === 'vector-missing')).toEqual([])
  })

  it('stay unchecked while documents are compiled', async () => {
    await filled('one')
    small.store.run('DELETE FROM vectors')
    await small.store.uploadAndClaim(space, { 'b.md': 'two' })
    const issues = await references()
    expect(new Set(issues.map(({ code, severity }) => `${code} ${severity}`))).toEqual(
      new Set(['index-not-compared info']),
    )
    expect(issues[0]?.message).toContain(space.slug)
  })

  it('stay untouched when their model is replaced before the repair', async () => {
    await filled('one')
    small.store.run("UPDATE vectors SET vector = x'0000'")
    const { indexes } = small.store
    const { status } = indexes
    // The checks have ended and the repairs start next.
    indexes.status = async (id) => {
      const held = await status.call(indexes, id)
      small.model(space)
      return held
    }
    const items = await small.repair(space, 'references')
    const damaged = items.find(({ issue }) => issue.code === 'vector-damaged')
    expect(damaged).toMatchObject({ status: 'failed', action: 'another embedding model is in use now' })
    expect(rows("SELECT 1 FROM vectors WHERE vector = x'0000'")).toHaveLength(1)
  })
})

describe('indexes in a check of references', () => {
  it.each([
    [
      'text-watermark',
      'the text index is at change 0, the database at 1',
      'text',
      (held) => Object.assign(held, { seq: 0 }),
    ],
    [
      'text-count',
      'the text index has 1 passage, the database 2',
      'text',
      (held) => held.nodes.delete([...held.nodes.keys()][0] ?? 0),
    ],
    ['vector-count', 'the vector index has 0 vectors, the database 2', 'vector', (held) => held.vectors.clear()],
  ] as [string, string, string, (held: ReturnType<SmallSpaces['store']['indexes']['stateOf']>) => void][])(
    'that differ from the rows by their %s are rebuilt',
    async (code, says, id, damage) => {
      await filled(passages('one', 'three'))
      expect(await references()).toEqual([])
      damage(small.store.indexes.stateOf(space.id))
      const issues = await references()
      expect(issues).toMatchObject([
        {
          ...{ code, type: 'stale-projection', severity: 'warning', repairability: 'auto-repairable' },
          ...{ message: expect.stringContaining(space.slug), target: { type: 'index-projection', id } },
        },
      ])
      if (code !== 'text-watermark') expect(issues[0]?.message).toBe(`${says} in space ${space.slug}`)
      expect(await small.repair(space, 'references')).toMatchObject([
        { status: 'repaired', action: 'rebuild the indexes of the space from rows' },
      ])
      expect(await references()).toEqual([])
    },
  )

  it('do not compare vectors in a space without a model', async () => {
    await small.publish(space, { 'a.md': 'one' })
    const { indexes } = small.store
    const { status } = indexes
    indexes.status = async (id) => ({ ...(await status.call(indexes, id)), vectorCount: 7 })
    expect(await references()).toEqual([])
  })

  it('receive no queries for a space without content', async () => {
    const { indexes } = small.store
    indexes.status = async () => {
      throw new Error('it was asked')
    }
    expect(await references()).toEqual([])
    await small.publish(space, { 'a.md': 'one' })
    await expect(references()).rejects.toThrow('it was asked')
  })

  it('that match after a while cause no issue', async () => {
    await small.publish(space, { 'a.md': passages('one', 'two') })
    const { indexes } = small.store
    const { status } = indexes
    let looks = 0
    indexes.status = async (id) => {
      const held = await status.call(indexes, id)
      return ++looks < 10 ? { ...held, textCount: 1 } : held
    }
    expect(await references()).toEqual([])
    expect(looks).toBe(10)
  })

  it('get rebuilt once for all issues of the repair', async () => {
    await filled(passages('one', 'three'))
    const held = small.store.indexes.stateOf(space.id)
    held.nodes.clear()
    held.vectors.clear()
    const items = await small.repair(space, 'references')
    expect(items.map(({ status }) => status)).toEqual(['repaired', 'repaired'])
    expect(small.store.indexes.rebuilt).toEqual([space.id])
  })
})

describe('a repair that fails', () => {
  it.each([
    ['with its reason', new KsError('unavailable', 'the index process is away'), 'the index process is away'],
    ['as unexpected', new Error('EIO'), 'it failed unexpectedly; see the log of the daemon'],
  ])('appears in the report %s, and the other repairs continue', async (_, error, says) => {
    await small.publish(space, { 'a.md': passages('one', 'two') })
    small.store.run("UPDATE nodes SET outline_node = 's9' WHERE text = 'one'")
    small.store.indexes.stateOf(space.id).nodes.clear()
    small.store.indexes.rebuild = async () => {
      throw error
    }
    const items = await small.repair(space, 'references')
    expect(items.map(({ status, action }) => [status, action])).toEqual([
      ['repaired', 'read the document again, or rebuild it from its passages'],
      ['failed', `rebuild the indexes of the space from rows: ${says}`],
    ])
    expect(small.store.logged.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { space: space.id, remedy: { by: 'rebuilding-index' } } },
    ])
  })
})
