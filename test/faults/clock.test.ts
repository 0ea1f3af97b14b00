import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, KS, privateEnv, runProgram, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import type { Client } from '../../src/client/client.js'
import { ingest, Ledger, makeNote, settled, verify } from '../crash/ledger.js'
import { until } from '../helpers/until.js'
import { issuesOf } from './rig/checks.js'
import { faultShim, shimTrouble } from './rig/shim.js'

const SECOND = 1000
const DAY = 24 * 3600 * SECOND
const JUMPS = {
  'a day back': -DAY,
  'five seconds on': 5 * SECOND,
  'five seconds back': -5 * SECOND,
  'a year on': 365 * DAY,
}

const home = temporaryFolder('clock')
const dataDir = join(home.path, 'data')
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

test.skipIf(shimTrouble !== undefined)(
  'F35: clock jumps during compilation and queries run no job twice, delete nothing early and invalidate no token',
  { timeout: 300_000 },
  async () => {
    mkdirSync(dataDir, { mode: 0o700 })
    const shim = faultShim(dataDir, { clock: true })
    daemon = await startDaemon(dataDir, shim.env)
    const { client } = daemon
    const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'Clock', slug: 'clock' } })
    const ledger = new Ledger(id)
    const traces: string[] = []
    let number = 0
    for (const [what, ahead] of Object.entries(JUMPS)) {
      const notes = Array.from({ length: 10 }, () => makeNote(`n${number}`, number++))
      await ingest(client, ledger, notes)
      // During their compilation.
      shim.setAhead(ahead)
      // A caller who arrives then, with the same clock as the daemon.
      await until(async () => {
        const { code } = await runProgram(
          process.execPath,
          [KS, 'spaces', 'list', '--json'],
          privateEnv(dataDir, shim.env),
        )
        return code === 0
      }, 60_000).catch(() => expect.fail(`ks is locked out after a clock that went ${what}`))
      shim.setAhead(0)
      expect(
        (await settled(client, ledger)).map(({ parserStatus }) => parserStatus),
        what,
      ).not.toContain('pending')
      traces.push(await askedTrace(client, id, notes[0]!.word))
    }
    for (const traceId of traces) await client.request('GET /queries/{traceId}', { path: { traceId } })
    expect(await verify(client, ledger)).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
    expect(await issuesOf(client, id)).toEqual([])
    const sqlite = new Sqlite(join(dataDir, 'db', 'main.sqlite'), { readonly: true })
    const jobs = sqlite.prepare('SELECT DISTINCT doc_key, stage FROM jobs').all()
    sqlite.close()
    // One job a document; jobs of deleted documents were published or canceled.
    expect(jobs).toHaveLength(number)
    expect(jobs.filter((job) => isRow(job) && job.stage === 'failed')).toEqual([])
    process.stdout.write(
      `FIGURE clock-jumps ${JSON.stringify({ jumps: Object.keys(JUMPS).length, jobs: jobs.length, twice: 0, lockedOut: 0 })}\n`,
    )
    shim.remove()
  },
)

function isRow(value: unknown): value is { stage: string } {
  return typeof value === 'object' && value !== null && 'stage' in value
}

async function askedTrace(client: Client, knowledgeSpaceId: string, query: string): Promise<string> {
  const { headers, events } = await client.stream('POST /queries', { body: { knowledgeSpaceId, query, mode: 'fast' } })
  const seen: string[] = []
  for await (const { event } of events) seen.push(event)
  expect(seen.at(-1)).toBe('answer.done')
  return String(headers['x-query-run-id'])
}
