import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { ask } from '../../bench/lib/ask.js'
import { type BenchDaemon, startDaemon } from '../../bench/lib/daemon.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { ingest, Ledger, makeNote, settled, verify } from '../crash/ledger.js'
import { mountSmallDisk, unmount } from '../helpers/small-disk.js'
import { until } from '../helpers/until.js'
import { issuesOf } from './rig/checks.js'
import { faultShim, type Rule, shimTrouble } from './rig/shim.js'

const ROUNDS = 5
const STEP_MS = 60_000
const UNAVAILABLE = { status: 503, code: 'unavailable' }
/** Errors of a read-only file system; a sync of earlier writes succeeds. */
const CHANGES = ['write', 'open', 'truncate', 'rename', 'link', 'unlink', 'mkdir', 'rmdir'] as const

const disk = mountSmallDisk('read-only-disk', 96)
let daemon: BenchDaemon | undefined
let isBound = false

afterAll(async () => {
  await daemon?.kill()
  if (isBound) unmount(disk.path)
  disk.remove()
})

const mount = (...args: string[]) => !execaSync('mount', args, { reject: false }).failed

/** Remounts the disk read-only. @returns false if a process opened a file for writing in between */
function bindReadOnly(): boolean {
  isBound = mount('--bind', disk.path, disk.path)
  if (isBound && mount('-o', 'remount,bind,ro', disk.path)) return true
  if (isBound) unmount(disk.path)
  isBound = false
  return false
}

const answerOf = (work: Promise<unknown>) =>
  work.then(
    () => ({ status: 'done', code: undefined }),
    ({ status, code }: { status?: unknown; code?: unknown }) => ({ status, code }),
  )

test.skipIf(!disk.isMounted || shimTrouble !== undefined)(
  'F22: on a read-only disk reads succeed and writes are refused; later, writes work again without a restart',
  { timeout: 180_000 },
  async () => {
    const shim = faultShim(disk.path)
    daemon = await startDaemon(disk.path, shim.env)
    const { client, pid } = daemon
    const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'Fixed', slug: 'fixed' } })
    const path = { id }
    const ledger = new Ledger(id)
    let number = 0
    const notes = (count: number) => Array.from({ length: count }, () => makeNote(`n${number}`, number++))
    const first = notes(10)
    await ingest(client, ledger, first)
    const documents = await settled(client, ledger)
    const [documentId = ''] = documents.map((document) => document.id)
    const note = (name: string) => ({ path: `/workspaces/notes/${name}.md`, content: name })
    const writeNote = (name: string) =>
      client.request('PUT /knowledge-spaces/{id}/fs/write', { path, body: note(name) })
    await writeNote('kept')
    // These are in compilation when it happens.
    await ingest(client, ledger, notes(10))

    // The kernel refuses a remount while files are open for writing, unlike when it gives up on a broken disk.
    const isWhole = mount('-o', 'remount,ro', disk.path)
    if (!isWhole) {
      // So the shim makes open files of the daemon fail, and a mount covers every path, also for child processes.
      shim.setRules(...CHANGES.map((on): Rule => ({ on, effect: 'EROFS' })))
      await until(bindReadOnly)
    }

    const reads = {
      list: () => client.request('GET /knowledge-spaces/{id}/documents', { path, query: {} }),
      outline: () =>
        client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', { path: { ...path, documentId } }),
      ls: () =>
        client.request('GET /knowledge-spaces/{id}/fs/ls', {
          path,
          query: { path: '/workspaces/notes', limit: '100' },
        }),
      cat: () =>
        client.request('GET /knowledge-spaces/{id}/fs/cat', { path, query: { path: '/workspaces/notes/kept.md' } }),
      health: () => client.request('GET /health', {}),
      status: () => client.request('GET /daemon/status', {}),
    }
    const search = async () => {
      const body = { query: first[5]!.word }
      const { items } = await client.request('POST /knowledge-spaces/{id}/queries/search', { path, body })
      expect(items).not.toEqual([])
    }
    const writes = {
      note: (n: number) => writeNote(`refused-${n}`),
      upload: (n: number) => ingest(client, new Ledger(id), [makeNote(`refused-${n}`, 1000 + n)]),
      space: (n: number) => client.request('POST /knowledge-spaces', { body: { name: 'New', slug: `new-${n}` } }),
      removal: () =>
        client.request('DELETE /knowledge-spaces/{id}/documents/bulk', { path, body: { documentIds: [documentId] } }),
    }
    for (let n = 0; n < ROUNDS; n++) {
      for (const [what, write] of Object.entries(writes))
        expect({ what, ...(await answerOf(write(n))) }).toEqual({ what, ...UNAVAILABLE })
      for (const [what, read] of Object.entries(reads))
        expect({ what, ...(await answerOf(read())) }).toEqual({ what, status: 'done', code: undefined })
      // An index is opened again after a failed write, which its library cannot do without a lock file.
      const searched = await answerOf(search())
      if (searched.status !== 'done') await expect(search()).rejects.toThrow('read-only')
    }
    // An answer is complete only with its trace, which cannot be stored.
    await expect(ask(client, id, first[5]!.word)).rejects.toThrow('read-only')
    // Failed writes do not count as damage.
    expect(existsSync(join(resolveDataLayout(disk.path).indexes, id, 'quarantine'))).toBe(false)
    expect(await client.request('GET /health', {})).toMatchObject({ ok: false, components: { database: false } })

    if (isWhole) expect(mount('-o', 'remount,rw', disk.path)).toBe(true)
    else {
      unmount(disk.path)
      isBound = false
      shim.setRules()
    }
    await until(async () => (await answerOf(writeNote('after'))).status === 'done', STEP_MS)
    await ingest(client, ledger, notes(10))
    expect(await verify(client, ledger)).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
    const { items } = await client.request('GET /knowledge-spaces/{id}/fs/ls', {
      path,
      query: { path: '/workspaces/notes', limit: '100' },
    })
    expect(items.map((item) => item.path)).toEqual(['/workspaces/notes/after.md', '/workspaces/notes/kept.md'])
    const spaces = await client.request('GET /knowledge-spaces', { query: {} })
    expect(spaces.items).toHaveLength(1)
    expect(await issuesOf(client, id)).toEqual([])
    expect(daemon.pid).toBe(pid)
    const figure = { by: isWhole ? 'remount' : 'shim and bind mount', readsFailed: 0, writesAnswered: 0, restarts: 0 }
    process.stdout.write(`FIGURE read-only-remount ${JSON.stringify(figure)}\n`)
    shim.remove()
  },
)
