import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { Client } from '../../src/client/client.js'
import { ApiError } from '../../src/client/errors.js'
import { createToken } from '../../src/local/keys.js'
import { ingest, Ledger, makeNote, verify } from '../crash/ledger.js'
import { type DaemonProcess, startKsd, temporaryDir } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'
import { issuesOf } from './rig/checks.js'
import { rounds } from './rig/rounds.js'

/** long runs do everything twenty times as often */
const TIMEOUT_MS = 240_000 + rounds(1) * 40_000

let daemon: DaemonProcess | undefined
const folders: ReturnType<typeof temporaryDir>[] = []
afterEach(async () => {
  await daemon?.end('SIGKILL')
  daemon = undefined
  for (const made of folders.splice(0)) made.remove()
})

async function start(): Promise<{ dataDir: string; daemon: DaemonProcess }> {
  const folder = temporaryDir()
  folders.push(folder)
  daemon = await startKsd(folder.path)
  return { dataDir: folder.path, daemon }
}

interface Member {
  token: string
  client: Client
  spaceId: string
}

async function clientOf(dataDir: string, url: string, tenant: string): Promise<{ token: string; client: Client }> {
  const { token } = await createToken(dataDir, { tenant, subject: tenant, scopes: ['knowledge-spaces:*'] })
  return { token, client: new Client({ url, token }) }
}

/** Waits until the daemon has no query and no other request in progress. @param operator of the local tenant */
const quiet = (operator: Client) =>
  until(async () => {
    const { activity } = await operator.request('GET /daemon/status', {})
    return activity.runningQueries === 0 && activity.openRequests === 1
  }, 60_000)

/** A tenant with a space of one note, or of none. */
async function member(dataDir: string, url: string, tenant: string, text?: string): Promise<Member> {
  const { token, client } = await clientOf(dataDir, url, tenant)
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: tenant, slug: tenant } })
  if (text === undefined) return { token, client, spaceId: id }
  const file = { filename: 'note.md', mimeType: 'text/markdown', content: { bytes: Buffer.from(text) } }
  await client.upload('POST /knowledge-spaces/{id}/documents/bulk', { path: { id }, field: 'files', files: [file] })
  await until(async () => {
    const { items } = await client.request('GET /knowledge-spaces/{id}/documents', {
      path: { id },
      query: { limit: 1 },
    })
    return items[0]?.parserStatus === 'parsed'
  }, 60_000)
  return { token, client, spaceId: id }
}

interface Heard {
  status: number
  body: string
}

/** Sends one question; with `leaveAfter`, its client disconnects after this number of bytes. */
function question(url: string, agent: Agent, token: string, json: object, leaveAfter = Number.POSITIVE_INFINITY) {
  return new Promise<Heard>((resolve, reject) => {
    const sent = request(`${url}/queries`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let body = ''
      const done = () => resolve({ status: response.statusCode ?? 0, body })
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
        if (body.length < leaveAfter) return
        done()
        sent.destroy()
      })
      response.on('end', done).on('error', done)
    })
    sent.end(JSON.stringify(json))
  })
}

const peakMegabytes = (pid: number) =>
  Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)

const CLIENTS = 1000
const TENANTS = ['red', 'green', 'blue', 'white']

test.skipIf(process.platform !== 'linux')(
  'F46: 1,000 concurrent clients of four tenants get answers or 429 in time, without data of another tenant',
  { timeout: TIMEOUT_MS },
  async () => {
    const { dataDir, daemon } = await start()
    const { url, pid } = daemon.ready
    const members = await Promise.all(
      TENANTS.map((name) => member(dataDir, url, name, `# Lighthouse\n\nThe lighthouse was painted marker${name}.\n`)),
    )
    const agent = new Agent({ maxSockets: CLIENTS })
    const heard = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, place) => {
        const own = place % TENANTS.length
        const { token, spaceId: knowledgeSpaceId } = members[own]!
        const json = { knowledgeSpaceId, query: 'How was the lighthouse painted?', mode: 'fast' }
        return { own, ...(await question(url, agent, token, json)) }
      }),
    )
    agent.destroy()
    const count = (wanted: number) => heard.filter(({ status }) => status === wanted).length
    expect([...new Set(heard.map(({ status }) => status))].filter((one) => one !== 200 && one !== 429)).toEqual([])
    const answered = heard.filter(({ status }) => status === 200)
    const foreign = heard.filter(({ own, body }) =>
      TENANTS.some((name, place) => place !== own && body.includes(`marker${name}`)),
    )
    expect(foreign).toEqual([])
    const wrong = answered.filter(
      ({ own, body }) => !body.includes('event: answer.done') || !body.includes(`marker${TENANTS[own]}`),
    )
    expect(wrong).toEqual([])
    // At least as many as can run and wait at once, and some of every tenant.
    expect(answered.length).toBeGreaterThanOrEqual(256)
    expect(new Set(answered.map(({ own }) => own)).size).toBe(TENANTS.length)
    await quiet((await clientOf(dataDir, url, 'local')).client)
    const figure = { clients: CLIENTS, answered: answered.length, refused: count(429), peakRssMb: peakMegabytes(pid) }
    process.stdout.write(`FIGURE thousand-concurrent-queries ${JSON.stringify({ ...figure, foreign: 0, failed: 0 })}\n`)
  },
)

const STREAMS = rounds(400)
const ABANDONED = rounds(100)
const REFUSED = rounds(100)
const NO_SPACE = '01890000-0000-7000-8000-000000000000'

test.skipIf(process.platform !== 'linux')(
  'F59: completed, abandoned and refused streams leave no descriptor, query slot, lease or listener',
  { timeout: TIMEOUT_MS },
  async () => {
    const { dataDir, daemon } = await start()
    const { url, pid } = daemon.ready
    const { token, client, spaceId } = await member(dataDir, url, 'red', '# Lighthouse\n\nIt was painted red.\n')
    const operator = (await clientOf(dataDir, url, 'local')).client
    const agent = new Agent({ maxSockets: 8, keepAlive: false })
    const good = { knowledgeSpaceId: spaceId, query: 'How was it painted?', mode: 'fast' }
    const kinds = [
      ...Array.from({ length: STREAMS }, () => () => question(url, agent, token, good)),
      ...Array.from({ length: ABANDONED }, () => () => question(url, agent, token, good, 1)),
      ...Array.from(
        { length: REFUSED },
        () => () => question(url, agent, token, { ...good, knowledgeSpaceId: NO_SPACE }),
      ),
    ]
    const descriptors = () => readdirSync(`/proc/${pid}/fd`).length
    const run = async (asks: (() => Promise<Heard>)[]) => {
      const waiting = [...asks]
      const worker = async () => {
        for (let ask = waiting.pop(); ask !== undefined; ask = waiting.pop()) await ask()
      }
      await Promise.all(Array.from({ length: 8 }, worker))
    }
    // Indexes, the log and threads stay open after their first use.
    await run(kinds.filter((_, place) => place % 20 === 0))
    await quiet(operator)
    const before = descriptors()
    await run(kinds)
    await quiet(operator)
    await until(() => descriptors() <= before + 3, 30_000).catch(() => undefined)
    expect(descriptors()).toBeLessThanOrEqual(before + 3)
    const path = { id: spaceId }
    const leases = await client.request('GET /knowledge-spaces/{id}/leases/active', { path, query: { limit: 100 } })
    expect(leases.items).toEqual([])
    expect(daemon.stderr()).not.toMatch(/MaxListenersExceeded|Warning/)
    const figure = { streams: STREAMS, abandoned: ABANDONED, refused: REFUSED, descriptors: descriptors() - before }
    process.stdout.write(`FIGURE stream-slot-leak ${JSON.stringify(figure)}\n`)
  },
)

test('F49: concurrent uploads, deletions, reindexing, collection and source changes lose nothing and get no busy error', {
  timeout: 280_000,
}, async () => {
  const { dataDir, daemon } = await start()
  const { client, spaceId } = await member(dataDir, daemon.ready.url, 'red')
  const path = { id: spaceId }
  const ledger = new Ledger(spaceId)
  const refusals = new Map<string, number>()
  /** 409 and 429 are replies: the caller was too late or sends too much. */
  const told = async <T>(call: Promise<T>): Promise<T | undefined> => {
    try {
      return await call
    } catch (error) {
      if (!(error instanceof ApiError) || ![409, 429].includes(error.status)) throw error
      refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1)
      return undefined
    }
  }
  const times = async (count: number, act: (place: number) => Promise<unknown>) => {
    for (let place = 0; place < count; place++) await act(place)
  }
  const source = await client.request('POST /knowledge-spaces/{id}/sources', {
    path,
    body: { name: 'source 0', type: 'web', uri: 'https://example.com/', permissionScope: [], metadata: {} },
  })
  let won = 0
  const rename = async () => {
    const at = { ...path, sourceId: source.id }
    const { version } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path: at })
    const body = { name: `source ${version}`, expectedVersion: version }
    if (
      (await told(client.request('PATCH /knowledge-spaces/{id}/sources/{sourceId}', { path: at, body }))) !== undefined
    )
      won++
  }
  const known = () => [...ledger.acknowledged.keys()].filter((id) => !ledger.deleting.has(id))
  const reindex = async (place: number) => {
    const documentIds = known().slice(place, place + 5)
    if (documentIds.length === 0) return
    await told(client.request('POST /knowledge-spaces/{id}/documents/bulk/reindex', { path, body: { documentIds } }))
  }
  const collect = async () => {
    const { candidates } = await client.request('GET /knowledge-spaces/{id}/gc/staged-objects', { path, query: {} })
    if (candidates.length > 0)
      await told(
        client.request('POST /knowledge-spaces/{id}/gc/staged-objects/execute', { path, body: { candidates } }),
      )
  }
  const policy = (place: number) =>
    told(
      client.request('PATCH /knowledge-spaces/{id}/retention-policy', {
        path,
        body: { answerTraceRetentionDays: 1 + (place % 30) },
      }),
    )
  const write = (agent: string) => (place: number) =>
    client.request('PUT /knowledge-spaces/{id}/fs/write', {
      path,
      body: { path: `/workspaces/${agent}/log.md`, content: `${agent} ${place}\n` },
    })
  const size = rounds(12)
  const notes = Array.from({ length: size * 10 }, (_, place) => makeNote(`n${place}`, place))
  await Promise.all([
    ingest(client, ledger, notes),
    times(size, reindex),
    times(size * 2, collect),
    times(size * 2, policy),
    ...['ada', 'bob', 'eve'].map((agent) => times(size * 3, write(agent))),
    ...Array.from({ length: 4 }, () => times(size * 2, rename)),
  ])
  expect(await verify(client, ledger)).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
  const { version } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', {
    path: { ...path, sourceId: source.id },
  })
  expect(version).toBe(1 + won)
  for (const agent of ['ada', 'bob', 'eve']) {
    const query = { path: `/workspaces/${agent}/log.md` }
    const { content } = await client.request('GET /knowledge-spaces/{id}/fs/cat', { path, query })
    expect(content).toBe(`${agent} ${size * 3 - 1}\n`)
  }
  expect(await issuesOf(client, spaceId)).toEqual([])
  expect(daemon.stderr()).not.toContain('SQLITE_BUSY')
  const figure = { documents: notes.length, renames: won, refusals: Object.fromEntries(refusals), lostUpdates: 0 }
  process.stdout.write(`FIGURE writers-everywhere ${JSON.stringify(figure)}\n`)
})
