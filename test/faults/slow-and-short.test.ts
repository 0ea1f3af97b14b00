import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterEach, expect, test } from 'vitest'
import { type BenchDaemon, isAlive } from '../../bench/lib/daemon.js'
import type { Client } from '../../src/client/client.js'
import { ingest, Ledger, makeNote, settled, verify } from '../crash/ledger.js'
import { until } from '../helpers/until.js'
import { integrityOf, issuesOf } from './rig/checks.js'
import { type FaultShim, shimTrouble } from './rig/shim.js'
import { type ShimmedDaemon, startShimmed } from './rig/shimmed-daemon.js'

let shimmed: ShimmedDaemon | undefined
let daemon: BenchDaemon | undefined

afterEach(async () => {
  await daemon?.kill()
  daemon = undefined
  shimmed?.remove()
  shimmed = undefined
})

async function start(): Promise<{ dataDir: string; shim: FaultShim; client: Client; ledger: Ledger }> {
  shimmed = await startShimmed('slow-and-short')
  const { dataDir, shim } = shimmed
  daemon = shimmed.daemon
  const { client } = daemon
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'Slow', slug: 'slow' } })
  return { dataDir, shim, client, ledger: new Ledger(id) }
}

function notes(from: number, count: number) {
  return Array.from({ length: count }, (_, place) => makeNote(`n${from + place}`, from + place))
}

const WHOLE = { lost: [], half: [], risen: [], stuck: [] }

test.skipIf(shimTrouble !== undefined)(
  'F24: short writes, short reads and interrupted calls change no byte of documents, database and log',
  { timeout: 240_000 },
  async () => {
    const { dataDir, shim, client, ledger } = await start()
    shim.setRules(
      { on: 'write', effect: 'EINTR', skip: 3, count: 2 },
      { on: 'write', effect: 'EINTR', skip: 50, count: 3 },
      { on: 'fsync', effect: 'EINTR', skip: 4, count: 1, path: '/objects/' },
      { on: 'write', effect: 'short' },
      { on: 'read', effect: 'short' },
    )
    const path = { id: ledger.spaceId }
    await ingest(client, ledger, notes(0, 10))
    // One is staged in a file, the other in memory.
    const texts = { '/workspaces/a/large.md': 'word '.repeat(40_000), '/workspaces/a/small.md': 'small' }
    for (const [name, content] of Object.entries(texts))
      await client.request('PUT /knowledge-spaces/{id}/fs/write', { path, body: { path: name, content } })
    expect(await verify(client, ledger)).toMatchObject(WHOLE)
    for (const [name, content] of Object.entries(texts)) {
      let text = ''
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const query = { path: name, offset }
        const page: { content: string; nextOffset?: number | undefined } = await client.request(
          'GET /knowledge-spaces/{id}/fs/cat',
          { path, query },
        )
        text += page.content
        offset = page.nextOffset
      }
      expect(text === content, name).toBe(true)
    }
    expect(await issuesOf(client, ledger.spaceId)).toEqual([])
    await daemon!.stop()
    const kinds = new Set(shim.hits().map((hit) => hit.split(' ').slice(0, 2).join(' ')))
    expect([...kinds].sort()).toEqual(['fsync EINTR', 'read short', 'write EINTR', 'write short'])
    expect(integrityOf(join(dataDir, 'db', 'main.sqlite'))).toBe('ok')
    for (const line of readFileSync(join(dataDir, 'logs', 'daemon.log'), 'utf8')
      .trim()
      .split('\n'))
      JSON.parse(line)
    process.stdout.write(
      `FIGURE short-writes-eintr ${JSON.stringify({ effects: shim.hits().length, mismatches: 0 })}\n`,
    )
  },
)

const prlimit = !execaSync('prlimit', ['--version'], { reject: false }).failed
if (!prlimit) process.stdout.write('SKIPPED F21: prlimit of util-linux is not here\n')

test.skipIf(!prlimit || process.platform !== 'linux')(
  'F21: a daemon without free file descriptors refuses requests, and works again once descriptors are free',
  { timeout: 180_000 },
  async () => {
    const { client, ledger } = await start()
    await ingest(client, ledger, notes(0, 2))
    await settled(client, ledger)
    const { pid, url } = daemon!
    const open = () => readdirSync(`/proc/${pid}/fd`).length
    const before = open()
    const limit = before + 12
    execaSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:4096`], { reject: false })
    const sockets: Socket[] = []
    for (let n = 0; n < 300; n++) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
      sockets.push(socket)
    }
    await until(() => open() >= limit - 2, 30_000)
    // Over the existing connection, or not at all.
    const upload = await ingest(client, ledger, notes(2, 1)).then(
      () => 'done',
      (error: { status?: number; code?: string }) => `${error.status} ${error.code}`,
    )
    expect(upload).not.toContain('500')
    expect(isAlive(pid)).toBe(true)
    for (const socket of sockets) socket.destroy()
    await until(() => open() < limit - 6, 30_000)
    await ingest(client, ledger, notes(3, 2))
    expect(await verify(client, ledger)).toMatchObject(WHOLE)
    await until(() => open() <= before + 12, 60_000)
    expect(daemon!.pid).toBe(pid)
    expect(await issuesOf(client, ledger.spaceId)).toEqual([])
    process.stdout.write(`FIGURE fd-exhaustion ${JSON.stringify({ limit, clients: 300, upload, exits: 0 })}\n`)
  },
)
