import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon } from '../../bench/lib/daemon.js'
import { mountSmallDisk } from '../helpers/small-disk.js'
import { until } from '../helpers/until.js'

const INODES = 2_000
const DOCUMENTS = 40

const disk = mountSmallDisk('full-disk-inodes', 128, INODES)
const ballast = join(disk.path, 'ballast')
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  disk.remove()
})

/** Creates empty files until the disk refuses more. */
function takeInodes(): void {
  mkdirSync(ballast)
  try {
    for (let name = 0; name < INODES; name++) writeFileSync(join(ballast, String(name)), '')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    return
  }
  throw new Error('the disk takes any number of files')
}

const note = (at: number) => Buffer.from(`# Note ${at}\n\nThe lantern number${at} hangs in room ${at * 3}.\n`)

test.skipIf(!disk.isMounted)(
  'F25: without free inodes writes get storage-full and lose nothing acknowledged; with free inodes they resume',
  { timeout: 180_000 },
  async () => {
    daemon = await startDaemon(disk.path)
    const { client, pid } = daemon
    const space = await client.request('POST /knowledge-spaces', { body: { name: 'Inodes', slug: 'inodes' } })
    const path = { id: space.id }
    const acknowledged = new Set<string>()
    const refusals: unknown[] = []
    const upload = async (at: number) => {
      const files = [{ filename: `${at}.md`, mimeType: 'text/markdown', content: { bytes: note(at) } }]
      try {
        const { items } = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
          path,
          field: 'files',
          files,
        })
        for (const { asset } of items) acknowledged.add(asset.filename)
      } catch (error) {
        const { status, code } = error as { status?: unknown; code?: unknown }
        refusals.push(`${status} ${code}`)
      }
    }
    for (let at = 0; at < 5; at++) await upload(at)
    takeInodes()
    for (let at = 5; at < DOCUMENTS; at++) await upload(at)
    expect(refusals.length).toBeGreaterThan(DOCUMENTS / 2)
    expect(new Set(refusals)).toEqual(new Set(['503 storage-full']))
    const listed = await client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
    expect(listed.items.map(({ filename }) => filename).sort()).toEqual([...acknowledged].sort())

    rmSync(ballast, { recursive: true })
    const refused = refusals.length
    // The daemon notices free inodes within a moment.
    await until(async () => {
      for (let at = 0; at < DOCUMENTS; at++) if (!acknowledged.has(`${at}.md`)) await upload(at)
      return acknowledged.size === DOCUMENTS
    })
    await until(async () => {
      const { items } = await client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
      return items.length === DOCUMENTS && items.every(({ parserStatus }) => parserStatus === 'parsed')
    }, 90_000)
    expect(daemon.pid).toBe(pid)
    process.stdout.write(
      `FIGURE inode-exhaustion: refused ${refused} of ${DOCUMENTS}, daemon exits 0, acknowledged and lost 0\n`,
    )
  },
)
