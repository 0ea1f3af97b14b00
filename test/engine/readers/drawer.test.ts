import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createDrawer } from '../../../src/engine/readers/draw/drawer.js'
import { readPixelSize } from '../../../src/engine/readers/picture/size.js'
import { readResidentBytes } from '../../../src/lib/resident-bytes.js'
import { PICTURES } from './hostile-pictures.js'
import { picture } from './picture.js'
import { makePdf } from './render/make-pdf.js'

const MIB = 1024 * 1024
/** Number of damaged pictures; each undrawable one costs a process. */
const DAMAGED = 60
const folder = mkdtempSync(join(tmpdir(), 'ks-drawer-'))
const drawer = createDrawer()
afterAll(() => {
  drawer.close()
  removeFolder(folder)
})

const shrink = (bytes: Uint8Array, maxSide = 256, tenant = 'a') =>
  drawer.draw({ of: 'picture', bytes, maxSide, as: 'image/jpeg' as const }, tenant)

/** Deterministic pseudorandom numbers for a seed. */
function random(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return state
  }
}

describe('the drawing process', () => {
  it('shrinks pictures, and never enlarges them', async () => {
    const drawn = await shrink(picture(800, 400))
    expect(drawn).toMatchObject({ width: 256, height: 128, contentType: 'image/jpeg' })
    expect(readPixelSize(drawn.bytes)).toEqual({ width: 256, height: 128 })
    expect(readPixelSize((await shrink(picture(90, 60))).bytes)).toEqual({ width: 90, height: 60 })
  })

  it('draws a PDF page or a box of the page, and fails with not-found for a missing page', async () => {
    const path = join(folder, 'a.pdf')
    writeFileSync(path, makePdf([{ width: 600, height: 800, content: '1 0 0 rg 100 600 200 100 re f' }]))
    const page = { of: 'page' as const, filename: 'a.pdf', page: 1, as: 'image/png' as const }
    expect(await drawer.draw({ ...page, maxSide: 400 }, 'a', { path })).toMatchObject({ width: 300, height: 400 })
    const box = { x: 100, y: 100, width: 200, height: 100 }
    const red = await drawer.draw({ ...page, box, maxSide: 100 }, 'a', { path })
    expect(red).toMatchObject({ width: 100, height: 50 })
    await expect(drawer.draw({ ...page, page: 2, maxSide: 100 }, 'a', { path })).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('fails for pictures that claim enormous sizes, within 384 MiB of memory', { timeout: 120_000 }, async () => {
    for (const [name, bytes] of Object.entries(PICTURES))
      await expect(shrink(bytes), name).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:not-found|asset-too-large)$/),
      })
    for (const pid of drawer.pids()) expect(readResidentBytes(pid)).toBeLessThan(384 * MIB)
  })

  it('fails for undrawable damaged pictures, and draws the next intact picture', { timeout: 240_000 }, async () => {
    const whole = [picture(64, 48), Buffer.from((await shrink(picture(300, 200))).bytes)]
    let failures = 0
    for (let seed = 0; seed < DAMAGED; seed++) {
      const next = random(seed)
      const broken = Buffer.from(whole[seed % 2] ?? [])
      for (let change = 0; change < 12; change++) broken[next() % broken.length] = next() % 256
      const cut = seed % 3 === 0 ? broken.subarray(0, next() % broken.length) : broken
      const ended = await shrink(cut).catch((error: unknown) => error)
      if (ended instanceof Error) {
        expect(ended).toMatchObject({ code: expect.stringMatching(/^(?:not-found|asset-too-large)$/) })
        failures++
      }
    }
    expect(failures).toBeGreaterThan(DAMAGED / 10)
    expect(await shrink(picture(800, 400))).toMatchObject({ width: 256 })
  })

  it('draws for a second tenant before most of the drawings of a tenant that fills the queue', async () => {
    const done: string[] = []
    const note = (name: string) => () => void done.push(name)
    const bytes = picture(64, 48)
    // One in progress and 64 waiting; the last ones are rejected.
    const flood = Array.from({ length: 68 }, () => shrink(bytes, 10, 'flood').then(note('flood'), note('refused')))
    await shrink(bytes, 10, 'other').then(note('other'))
    // Two of the flood may come first: the one in progress and the next one.
    expect(done.indexOf('other') - done.filter((name) => name === 'refused').length).toBeLessThanOrEqual(2)
    await Promise.all(flood)
    expect(done.filter((name) => name === 'refused')).toHaveLength(4)
  })

  it('fails a drawing that exceeds its timeout, and ends its process', async () => {
    const hurried = createDrawer({ timeoutMs: 1 })
    await expect(
      hurried.draw({ of: 'picture', bytes: picture(800, 400), maxSide: 10, as: 'image/jpeg' }, 'a'),
    ).rejects.toMatchObject({ code: 'not-found' })
    expect(hurried.pids()).toEqual([])
    hurried.close()
  })
})
