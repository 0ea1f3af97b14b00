import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { toStageSlices } from '../../../src/engine/search/slices.js'
import { SpaceIndex } from '../../../src/engine/search/space-index.js'
import { SpacePool } from '../../../src/engine/search/space-pool.js'
import { loadTantivy } from '../../../src/engine/search/tantivy-binding.js'

const SPACE = '0190a1b2-0000-7000-8000-000000000001'
let dir = ''

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ks-space-index-'))
})
afterEach(async () => {
  vi.useRealTimers()
  removeFolder(dir)
})

function slice(from: number, count: number) {
  const add = Array.from({ length: count }, (_, i) => ({
    key: from + i,
    doc: 1,
    title: 'Title',
    body: 'common passage',
  }))
  const [first] = toStageSlices(SPACE, { seq: 1, add, remove: [] })
  if (first === undefined) throw new Error('a batch has a slice')
  return first
}

describe.each(loadTantivy().binding === undefined ? ['fts5' as const] : ['tantivy' as const, 'fts5' as const])(
  'the indexes of one space with %s',
  (engine) => {
    const options = { engine, watermarkLagMs: 0, graph: {}, log: () => {}, onBuild: () => {} }

    it('commit all staged nodes, regardless of the time since the previous commit', async () => {
      const index = await SpaceIndex.open({ ...options, dir: join(dir, SPACE) })
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
      await index.stage(slice(1, 10))
      await index.commit(1, 1)
      for (let seq = 2; seq < 6; seq++) {
        vi.advanceTimersByTime(4_600)
        await index.stage(slice(seq * 10, 10))
        vi.advanceTimersByTime(3_000)
        await index.stage(slice(seq * 100, 10))
        vi.advanceTimersByTime(9_000)
        await index.commit(seq, 2)
        expect(index.status()).toMatchObject({ textCount: 10 + (seq - 1) * 20, watermark: seq })
      }
      await index.close()
    })

    it('reject a commit of which some staged nodes were lost, and keep the watermark', async () => {
      const index = await SpaceIndex.open({ ...options, dir: join(dir, SPACE) })
      await index.stage(slice(1, 10))
      await index.commit(1, 1)
      await index.stage(slice(20, 10))
      // Opening starts again from the committed state.
      expect(await index.state()).toEqual({ watermark: 1, textCount: 10 })
      await index.stage(slice(40, 10))
      await expect(index.commit(2, 2)).rejects.toThrow('2 slices were sent for this commit, 1 were received')
      expect(index.status()).toMatchObject({ textCount: 10, watermark: 1 })
      await index.close()
    })

    it('report a space that was closed for another one, and commit none of its staged nodes', async () => {
      const closed: string[] = []
      const pool = new SpacePool({ ...options, dir, maxOpen: 1, onClosed: (space) => closed.push(space) })
      await pool.open('a', (index) => index.state())
      await pool.change('a', (index) => index.stage(slice(1, 10)))
      await pool.open('b', (index) => index.state())
      expect(closed).toEqual(['a'])
      await expect(pool.change('a', (index) => index.commit(1, 1))).rejects.toThrow('not open')
      await expect(pool.read('a', (index) => index.status())).rejects.toThrow('not open')
      expect(await pool.open('a', (index) => index.state())).toEqual({ watermark: 0, textCount: 0 })
      await pool.close()
    })
  },
)
