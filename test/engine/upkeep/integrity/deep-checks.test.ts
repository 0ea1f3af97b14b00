import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SearchHits, SearchRequest } from '../../../../src/engine/search/ports.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import type { VectorSpace } from '../../../../src/engine/store/rows/vector-spaces.js'
import { passages, vectorOf } from '../../../helpers/store.js'
import { openSmallSpaces, type SmallSpaces } from './small-space.js'

let small: SmallSpaces
let space: SpaceRow
/** Keys of passages that the text index or the vector graph cannot find. */
let lost: { text: Set<number>; vector: Set<number> }
let asked: SearchRequest[]
/** Called before each search. */
let meanwhile: () => void

beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
  lost = { text: new Set(), vector: new Set() }
  asked = []
  meanwhile = () => undefined
  const { indexes } = small.store
  const byWord = indexes.search.bind(indexes)
  indexes.search = async (id, request) => {
    asked.push(request)
    meanwhile()
    if (request.vector === undefined) return without(await byWord(id, request), lost.text)
    return nearest(id, request)
  }
})
afterEach(() => small.store.end())

function without(found: SearchHits, keys: ReadonlySet<number>): SearchHits {
  const hits = found.hits.filter(({ key }) => !keys.has(key))
  return { ...found, hits, textCount: hits.length }
}

function nearest(id: string, { vector = new Float32Array(), vectorSpace = '', vectorK }: SearchRequest): SearchHits {
  const held = small.store.indexes.stateOf(id).vectors.get(vectorSpace) ?? new Map<number, { vector: Float32Array }>()
  const hits = [...held]
    .filter(([key]) => !lost.vector.has(key))
    .map(([key, { vector: own }]) => ({
      key,
      cosine: own.reduce((sum, part, at) => sum + part * (vector[at] ?? 0), 0),
    }))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, vectorK)
  return { hits, textCount: 0, frequencies: new Map(), vectorCount: hits.length } as unknown as SearchHits
}

async function filled(files: Record<string, string>): Promise<VectorSpace> {
  const using = small.model(space)
  await small.publish(small.store.reload(space), files)
  // A compilation searches, too.
  asked.length = 0
  return using
}

const keyOf = (text: string) =>
  small.store.rows<{ key: number }>('SELECT key FROM nodes WHERE text = ?', text)[0]?.key ?? -1
const deep = () => small.issues(space, 'references', { deep: true })
const ofSearch = async () => (await deep()).filter(({ code }) => code.endsWith('-lost'))

describe('a deep check of the search indexes', () => {
  it('finds nothing when every passage is found by its vector and its rarest term, in the space and in its document', async () => {
    const using = await filled({ 'a.md': passages('common lion', 'common tiger eats') })
    expect(await deep()).toEqual([])
    const [document] = small.store.rows<{ key: number }>('SELECT key FROM documents')
    const words = asked.filter(({ vector }) => vector === undefined)
    expect(words).toMatchObject([
      { terms: ['lion'], docs: [document?.key], textK: 1000 },
      { terms: ['tiger'], docs: [document?.key] },
    ])
    const vectors = asked.filter(({ vector }) => vector !== undefined)
    expect(vectors).toHaveLength(2)
    expect(vectors.every(({ vectorSpace, terms }) => vectorSpace === using.id && terms.length === 0)).toBe(true)
    for (const [place, text] of ['common lion', 'common tiger eats'].entries()) {
      const [x = 0, y = 0] = vectorOf(`a.md\n${text}`)
      expect(vectors[place]?.vector?.[0]).toBeCloseTo(x, 2)
      expect(vectors[place]?.vector?.[1]).toBeCloseTo(y, 2)
    }
  })

  it('does not run as part of other checks', async () => {
    await filled({ 'a.md': 'lion' })
    lost.text.add(keyOf('lion'))
    for (const check of ['references', 'artifact-segments', 'raw-objects'] as const)
      expect(await small.issues(space, check)).toEqual([])
    expect(asked).toEqual([])
  })

  it.each([
    ['text', 'its rarest term'],
    ['vector', 'its own vector'],
  ] as const)('reports a passage that the %s index has lost', async (index, how) => {
    await filled({ 'a.md': passages('the lion', 'tigers eat') })
    lost[index].add(keyOf('the lion'))
    const [node] = small.store.rows<{ id: string }>("SELECT id FROM nodes WHERE text = 'the lion'")
    const [document] = small.store.rows<{ id: string }>('SELECT id FROM documents')
    const issues = await deep()
    expect(issues).toMatchObject([
      {
        ...{ code: `${index}-lost`, type: 'stale-projection', severity: 'warning', repairability: 'auto-repairable' },
        message: `passage ${node?.id} is not found by ${how}`,
        target: { type: 'index-projection', id: node?.id, documentAssetId: document?.id },
      },
    ])
    const { items } = await small.integrity.repair({ tenant: space.tenant, subject: 'ada' }, space.id, {
      ...{ dryRun: false, check: 'references', deep: true },
    })
    expect(items.map(({ status }) => status)).toEqual(['repaired'])
    expect(small.store.indexes.rebuilt).toEqual([space.id])
  })

  it('reports each of many lost passages, across all slices', async () => {
    const texts = Array.from({ length: 60 }, (_, place) => `word${place} ${'x'.repeat(place)}`)
    await filled({ 'a.md': passages(...texts) })
    for (const text of texts) {
      lost.text.add(keyOf(text))
      lost.vector.add(keyOf(text))
    }
    // These vectors are not close to each other, so each one is reported.
    const issues = await ofSearch()
    expect(issues.filter(({ code }) => code === 'text-lost')).toHaveLength(60)
    expect(issues.filter(({ code }) => code === 'vector-lost')).toHaveLength(60)
    expect(new Set(issues.map(({ target }) => target.id)).size).toBe(60)
  })

  it('skips passages without words, and terms with more hits than a search returns', async () => {
    await filled({ 'a.md': passages('...', 'lion') })
    lost.text.add(keyOf('...'))
    expect(await ofSearch()).toEqual([])
    expect(asked.filter(({ vector }) => vector === undefined)).toMatchObject([{ terms: ['lion'] }])
    const { search } = small.store.indexes
    const places = async (textCount: number) => {
      small.store.indexes.search = async (id, request) => {
        const found = await search(id, request)
        return request.vector === undefined ? { ...found, hits: [], textCount } : found
      }
      return (await ofSearch()).length
    }
    expect(await places(999)).toBe(1)
    expect(await places(1000)).toBe(0)
  })

  it('accepts a passage when 50 identical vectors fill the results', async () => {
    small.store.embed = (texts) => texts.map(() => Float32Array.of(1, 0))
    const texts = Array.from({ length: 60 }, (_, place) => `word${place}`)
    await filled({ 'a.md': passages(...texts) })
    expect(await ofSearch()).toEqual([])
    // A more distant result shows that the passage itself would have come first.
    lost.vector.add(keyOf('word0'))
    expect(await ofSearch()).toEqual([])
    const { search } = small.store.indexes
    small.store.indexes.search = async (id, request) => {
      const found = await search(id, request)
      const far = found.hits.map((hit, place) => (place === 7 ? { ...hit, cosine: 0.999 } : hit))
      return request.vector === undefined ? found : { ...found, hits: far }
    }
    const issues = await ofSearch()
    expect(issues.map(({ code }) => code)).toContain('vector-lost')
    expect(issues.map(({ target }) => target.id)).toContain(
      small.store.rows<{ id: string }>("SELECT id FROM nodes WHERE text = 'word0'")[0]?.id,
    )
  })

  it('reports a lost passage when fewer than 50 vectors are identical', async () => {
    small.store.embed = (texts) => texts.map(() => Float32Array.of(1, 0))
    await filled({ 'a.md': passages(...Array.from({ length: 40 }, (_, place) => `word${place}`)) })
    lost.vector.add(keyOf('word3'))
    expect(await ofSearch()).toMatchObject([{ code: 'vector-lost' }])
  })

  it('leaves damaged, missing and unowned vectors to the other checks', async () => {
    const using = await filled({ 'a.md': passages('lion', 'tigers', 'elephant') })
    for (const text of ['lion', 'tigers', 'elephant']) lost.vector.add(keyOf(text))
    small.store.run("UPDATE vectors SET vector = x'003c' WHERE node_key = ?", keyOf('lion'))
    small.store.run("UPDATE vectors SET vector = x'007c0000' WHERE node_key = ?", keyOf('tigers'))
    small.store.run('DELETE FROM vectors WHERE node_key = ?', keyOf('elephant'))
    expect(await ofSearch()).toEqual([])
    small.store.run("UPDATE vector_spaces SET state = 'superseded' WHERE key = ?", using.key)
    expect(await ofSearch()).toEqual([])
    expect(asked.filter(({ vector }) => vector !== undefined)).toEqual([])
  })

  it('does not report a passage or a model that was replaced during the check', async () => {
    await filled({ 'a.md': 'lion' })
    lost.text.add(keyOf('lion'))
    lost.vector.add(keyOf('lion'))
    expect(await ofSearch()).toHaveLength(2)
    meanwhile = () => void small.model(space)
    expect(await ofSearch()).toMatchObject([{ code: 'text-lost' }])
    meanwhile = () => small.store.run('UPDATE versions SET until_revision = 9')
    expect(await ofSearch()).toEqual([])
    asked.length = 0
    // Afterwards they are not searched at all.
    expect(await ofSearch()).toEqual([])
    expect(asked).toEqual([])
  })

  it('ignores other spaces, and waits for the index before it searches', async () => {
    const other = small.store.createSpace()
    await filled({ 'a.md': 'lion' })
    await small.publish(other, { 'b.md': 'tiger' })
    asked.length = 0
    let settled = 0
    Object.assign(small.store.indexes, {
      settle: async (id: string) => {
        if (id === space.id) settled++
      },
    })
    meanwhile = () => expect(settled).toBeGreaterThan(0)
    await deep()
    expect(asked.flatMap(({ terms }) => terms)).toEqual(['lion'])
  })
})
