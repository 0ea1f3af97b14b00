import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import type { TextIndex } from '../../../src/engine/search/text-index.js'

/** The contract of every text engine. `open` opens or creates the index of a directory. */
export function runTextIndexSuite(name: string, open: (dir: string) => Promise<TextIndex>): void {
  describe(`text index: ${name}`, () => {
    let dir = ''
    let index: TextIndex

    beforeEach(async () => {
      dir = await mkdtemp(join(tmpdir(), 'ks-text-'))
      index = await open(join(dir, 'index'))
    })
    afterEach(async () => {
      await index.close()
      removeFolder(dir)
    })

    const keysOf = async (terms: string[], k = 10, docs?: number[]) => (await index.search(terms, k, { docs })).keys
    const reopen = async () => {
      await index.close()
      index = await open(join(dir, 'index'))
    }
    /** Enough other nodes to make a term of a single node rare. */
    const filler = Array.from({ length: 20 }, (_, i) => ({ key: 10_000 + i, doc: 77, text: `filler${i} padding` }))
    const fill = async (count: number) => {
      await index.stage(
        Array.from({ length: count }, (_, i) => ({
          key: i + 1,
          doc: (i % 10) + 1,
          text: `common word${i} ${i % 2 ? 'odd' : 'even'}`,
        })),
        [],
      )
      await index.commit(count)
    }

    it.each([
      { docs: [1], isExcluded: false },
      { docs: [2, 77], isExcluded: true },
    ])('counts and finds only nodes in the scope %j, and hides compounds outside of it', async (scope) => {
      const inside = [
        { key: 1, doc: 1, text: 'lion zebra' },
        { key: 2, doc: 1, text: 'zebra tag urlaub anspruch' },
      ]
      await index.stage([...inside, { key: 3, doc: 2, text: 'zebra secret urlaubsanspruch' }, ...filler], [])
      await index.commit(1)
      const found = await index.search(['zebra', 'secret'], 10, { scope })
      expect([...found.keys].sort()).toEqual([1, 2])
      expect(Object.fromEntries(found.frequencies)).toEqual({ zebra: 2, secret: 0 })
      expect((await index.search(['zebra'], 10, { docs: [2], scope })).keys).toEqual([])
      const words = ['urlaub', 'anspruch'].map((term) => ({ text: term, term }))
      const compounds = { words, languages: ['de'] as const, isCertain: true }
      const searchHoliday = (where?: typeof scope) =>
        index.search(['urlaub', 'anspruch'], 10, { compounds, scope: where })
      expect((await searchHoliday()).rewordings).toHaveLength(1)
      expect((await searchHoliday(scope)).rewordings).toEqual([])
    })

    it('shows staged nodes only after the commit', async () => {
      await index.stage([{ key: 1, doc: 1, text: 'alpha beta' }], [])
      expect(await keysOf(['alpha'])).toEqual([])
      await index.commit(1)
      expect(await keysOf(['alpha'])).toEqual([1])
      expect(index.count()).toBe(1)
    })

    it('finds the separate words of a compound, and the compound for its separate words', async () => {
      await index.stage(
        [
          { key: 1, doc: 1, text: 'anspruch urlaub tag' },
          { key: 2, doc: 1, text: 'urlaubsanspruch tag' },
          { key: 3, doc: 2, text: 'anspruch tag' },
          ...filler,
        ],
        [],
      )
      await index.commit(1)
      const languages = ['de'] as const
      const search = async (words: { text: string; term: string }[], docs?: number[]) => {
        const terms = words.map(({ term }) => term)
        return index.search(terms, 10, { docs, compounds: { words, languages, isCertain: true } })
      }
      const whole = await search([{ text: 'urlaubsanspruch', term: 'urlaubsanspruch' }])
      expect([...whole.keys].sort()).toEqual([1, 2])
      expect(whole.rewordings).toEqual([{ queryTerms: ['urlaubsanspruch'], documentTerms: ['urlaub', 'anspruch'] }])
      const parts = [
        { text: 'anspruch', term: 'anspruch' },
        { text: 'urlaub', term: 'urlaub' },
      ]
      const { keys } = await search(parts)
      expect(keys[0]).toBe(1)
      expect([...keys].sort()).toEqual([1, 2, 3])
      expect((await search(parts, [2])).keys).toEqual([3])
    })

    it('ranks a node with more of the query terms first, with a higher score', async () => {
      await index.stage(
        [{ key: 1, doc: 1, text: 'alpha beta gamma' }, { key: 2, doc: 1, text: 'alpha delta epsilon' }, ...filler],
        [],
      )
      await index.commit(1)
      const { keys, scores } = await index.search(['alpha', 'beta'], 10)
      expect(keys).toEqual([1, 2])
      expect(scores[0]).toBeGreaterThan(scores[1] ?? Number.NaN)
      expect(scores[1]).toBeGreaterThan(0)
    })

    it('gives more weight to a repeated query term', async () => {
      await index.stage(
        [{ key: 1, doc: 1, text: 'alpha other' }, { key: 2, doc: 1, text: 'beta other' }, ...filler],
        [],
      )
      await index.commit(1)
      expect((await keysOf(['alpha', 'beta', 'beta']))[0]).toBe(2)
      expect((await keysOf(['alpha', 'alpha', 'beta']))[0]).toBe(1)
    })

    it('answers a query of one term, and returns nothing for a query without terms', async () => {
      await fill(5)
      expect(await keysOf(['word3'])).toEqual([4])
      expect(await keysOf([])).toEqual([])
      expect(await keysOf([''])).toEqual([])
      expect(await keysOf(['absent'])).toEqual([])
    })

    it('answers a query on an empty index without hits', async () => {
      expect(await keysOf(['word'])).toEqual([])
      expect(index.count()).toBe(0)
      expect(index.watermark).toBe(0)
    })

    it('returns at most k hits, and at most 1,000 for a larger k', async () => {
      await fill(1_200)
      expect(await keysOf(['common'], 1)).toHaveLength(1)
      expect(await keysOf(['common'], 37)).toHaveLength(37)
      expect(new Set(await keysOf(['common'], 1_000)).size).toBe(1_000)
      expect(await keysOf(['common'], 4_294_967_295)).toHaveLength(1_000)
      expect(await keysOf(['common'], 0)).toHaveLength(0)
    })

    it('finds only nodes of the filtered documents, with the same scores as without a filter', async () => {
      await fill(200)
      const filtered = await index.search(['odd', 'word7'], 100, { docs: [8] })
      expect(filtered.keys.every((key) => (key - 1) % 10 === 7)).toBe(true)
      expect(filtered.keys).toHaveLength(20)
      const open = await index.search(['odd', 'word7'], 100)
      const best = filtered.keys.indexOf(8)
      expect(filtered.scores[best]).toBeCloseTo(open.scores[open.keys.indexOf(8)] ?? 0, 4)
      expect(await keysOf(['odd'], 10, [])).toEqual([])
      expect(await keysOf(['odd'], 10, [99_999])).toEqual([])
      const many = Array.from({ length: 20_000 }, (_, i) => i + 1)
      expect(await keysOf(['odd'], 200, many)).toHaveLength(100)
    })

    it('replaces a node with the same key, even if the key is removed and added in one batch', async () => {
      await index.stage([{ key: 1, doc: 1, text: 'before' }], [])
      await index.commit(1)
      await index.stage([{ key: 1, doc: 2, text: 'after' }], [1])
      await index.commit(2)
      expect(await keysOf(['before'])).toEqual([])
      expect(await keysOf(['after'])).toEqual([1])
      expect(await keysOf(['after'], 10, [2])).toEqual([1])
      expect(index.count()).toBe(1)
    })

    it('stays the same after a batch of changes is applied twice', async () => {
      for (const seq of [1, 1]) {
        await index.stage(
          [
            { key: 1, doc: 1, text: 'one' },
            { key: 2, doc: 1, text: 'two' },
          ],
          [3],
        )
        await index.commit(seq)
      }
      expect(index.count()).toBe(2)
      expect(await keysOf(['one', 'two'])).toHaveLength(2)
    })

    it('removes nodes and ignores unknown keys', async () => {
      await fill(10)
      await index.stage([], [1, 2, 777])
      await index.commit(11)
      expect(index.count()).toBe(8)
      expect(await keysOf(['word0', 'word1', 'word2'])).toEqual([3])
    })

    it('discards staged changes on rollback', async () => {
      await fill(3)
      await index.stage([{ key: 50, doc: 1, text: 'lost' }], [1])
      await index.rollback()
      await index.commit(4)
      expect(await keysOf(['lost'])).toEqual([])
      expect(await keysOf(['word0'])).toEqual([1])
    })

    it('keeps content and watermark after reopening, and ignores a commit with a lower watermark', async () => {
      await fill(20)
      await index.commit(7)
      expect(index.watermark).toBe(20)
      await reopen()
      expect(index.watermark).toBe(20)
      expect(index.count()).toBe(20)
      expect(await keysOf(['word13'])).toEqual([14])
    })

    it('does not advance the watermark past uncommitted changes when it is reopened', async () => {
      await fill(5)
      await index.stage([{ key: 9, doc: 1, text: 'unfinished' }], [])
      await reopen()
      expect(index.watermark).toBe(5)
      expect(await keysOf(['unfinished'])).toEqual([])
    })

    it('keeps the rarest terms of a query with more than 64 terms', async () => {
      const shared = Array.from({ length: 100 }, (_, i) => `shared${i}`)
      await index.stage(
        [1, 2, 3].map((key) => ({ key, doc: 1, text: shared.join(' ') })),
        [],
      )
      await index.stage([{ key: 1_000, doc: 1, text: 'needle' }], [])
      await index.commit(301)
      expect(await keysOf([...shared, 'needle'], 1_000)).toContain(1_000)
      expect(await keysOf(Array.from({ length: 5_000 }, (_, i) => `x${i}`))).toEqual([])
    })

    it('A69: accepts any text as a term: punctuation, other scripts, quotes and control characters', async () => {
      const odd = ['c++', '.net', "o'neil", '"', 'a"b', '检索', 'größe', '😀', 'foo:bar', 'NEAR(a', '*', '\0', '\ud800']
      await index.stage([{ key: 1, doc: 1, text: odd.filter((term) => !term.includes('\0')).join(' ') }], [])
      await index.commit(1)
      for (const term of ['c++', '.net', '检索', 'größe', '😀', 'foo:bar']) expect(await keysOf([term])).toEqual([1])
      for (const term of odd) expect(await keysOf([term, 'absent'])).toBeInstanceOf(Array)
      expect(await keysOf(['x'.repeat(100_000)])).toEqual([])
    })

    it('writes again after its writer was released', async () => {
      await fill(3)
      await index.releaseWriter()
      await index.stage([{ key: 10, doc: 1, text: 'later' }], [])
      await index.commit(4)
      expect(await keysOf(['later'])).toEqual([10])
    })

    it('keeps staged nodes if its writer is released before the commit', async () => {
      await fill(3)
      await index.stage([{ key: 10, doc: 1, text: 'staged' }], [1])
      await index.releaseWriter()
      await index.stage([{ key: 11, doc: 1, text: 'staged' }], [])
      await index.commit(4)
      expect(await keysOf(['staged'])).toEqual([10, 11])
      expect(index.count()).toBe(4)
      await index.releaseWriter()
      expect(await keysOf(['common'])).toEqual([2, 3])
    })

    it('finds nodes and documents with keys beyond 32 bits', async () => {
      const key = 2 ** 40 + 5
      await index.stage([{ key, doc: 2 ** 41, text: 'large' }], [])
      await index.commit(1)
      expect(await keysOf(['large'], 5, [2 ** 41])).toEqual([key])
    })

    it('leaves fewer than 150 files after 60 small commits', async () => {
      for (let i = 1; i <= 60; i++) {
        await index.stage([{ key: i, doc: 1, text: `small${i} shared` }], [])
        await index.commit(i)
      }
      await reopen()
      expect(await keysOf(['shared'], 100)).toHaveLength(60)
      expect((await readdir(join(dir, 'index'))).length).toBeLessThan(150)
    })
  })
}
