import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenTcp, type TcpServer } from '../../../src/daemon/listen.js'
import { openEngine } from '../../../src/engine/index.js'
import { bodyOf, startEdge, type TestEdge, temporaryDir } from '../../helpers/daemon.js'
import { rowsOf } from '../../helpers/databases.js'
import { ADA, engineOptions, ingest } from '../../helpers/engine.js'
import { until } from '../../helpers/until.js'

const ROWS = 100_000

const QUOTA = 20

const home = temporaryDir()
let edge: TestEdge
let tcp: TcpServer
let space = ''
beforeAll(async () => {
  const options = engineOptions(home.path, { quotas: { maxActiveSessionCount: QUOTA } })
  edge = await startEdge({ engine: await openEngine(options) })
  tcp = await listenTcp(edge.app, { listen: '127.0.0.1:0', insecure: false, anyPort: false })
  space = (await edge.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
  await ingest(edge.engine, ADA, space, { 'tides.md': '# Tides\n\nThe moon pulls the sea twice a day.' })
})
afterAll(async () => {
  tcp.server.closeAllConnections()
  tcp.server.close()
  await edge.engine.close()
  await edge.end()
  home.remove()
})

const send = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
  edge.send(method, path, { token: edge.tokens.ada, headers, ...(json === undefined ? {} : { json }) })
const query = (sessionId?: string) => ({
  knowledgeSpaceId: space,
  query: 'What pulls the sea?',
  ...(sessionId === undefined ? {} : { sessionId }),
})

/** The fastest of several runs in milliseconds, so that a busy machine does not count. */
async function quickest(times: number, work: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < times; n++) {
    const started = performance.now()
    await work()
    least = Math.min(least, performance.now() - started)
  }
  return least
}

describe('A81: floods of invented identifiers', () => {
  test('invented session ids create one session per question, and no more than the quota allows', async () => {
    const ids = Array.from({ length: 30 }, () => crypto.randomUUID())
    const given = await Promise.all(
      ids.map(async (id) => {
        const answer = await send('POST', '/queries', query(id))
        await answer.text()
        return answer.headers.get('x-session-id')
      }),
    )
    expect(given.filter((id) => ids.some((one) => one === id))).toEqual([])
    expect(rowsOf(home.path).value('SELECT count(*) FROM sessions')).toBeLessThanOrEqual(QUOTA)
  })

  test('idempotency keys are rows that the clean-up limits, and do not slow down later requests', async () => {
    const once = async () => {
      const answer = await send(
        'PATCH',
        `/knowledge-spaces/${space}`,
        { name: 'Notes' },
        { 'idempotency-key': crypto.randomUUID() },
      )
      expect(answer.status).toBe(200)
    }
    const before = await quickest(10, once)
    const key = { tenant: 'tenant-a', subject: 'ada', fingerprint: 'f', instance: 'i', status: 200, headers: '{}' }
    await rowsOf(home.path).insert(
      'idempotency',
      Array.from({ length: ROWS }, (_, n) => ({ ...key, key: `flood-${n}`, body: '{}', created_at: Date.now() })),
    )
    // A factor of ten can be noise on a busy machine; a full table scan takes a hundred times as long.
    await until(async () => (await quickest(10, once)) < 10 * before + 5)
  })

  test('ended sessions do not slow down a new session before they are cleaned up', async () => {
    const once = async () => void (await (await send('POST', '/queries', query())).text())
    const before = await quickest(5, once)
    const now = Date.now()
    const session = {
      ...{ tenant: 'tenant-a', space_key: rowsOf(home.path).value('SELECT key FROM spaces WHERE id = ?', space) },
      ...{ subject: 'ada', client_kind: 'api', heartbeat_at: now - 2, expires_at: now - 1, created_at: now - 2 },
    }
    await rowsOf(home.path).insert(
      'sessions',
      Array.from({ length: ROWS }, () => ({ ...session, id: crypto.randomUUID() })),
    )
    await until(async () => (await quickest(5, once)) < 3 * before + 40)
  })
})

interface Answered {
  status: number
  ms: number
}

function ask(token: string): Promise<Answered> {
  const started = performance.now()
  return new Promise((resolve) => {
    const done = (status: number) => resolve({ status, ms: performance.now() - started })
    const asked = request(`${tcp.url}/knowledge-spaces`, {
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    })
    asked.on('response', (answer) => {
      answer.resume()
      answer.on('end', () => done(answer.statusCode ?? 0))
    })
    // A head beyond every limit may close the connection.
    asked.on('error', () => done(431))
    asked.end()
  })
}

describe('A12: oversized and invalid tokens', () => {
  test.each([8 * 1024, 15 * 1024, 1024 * 1024])('a token of %i characters is refused', async (size) => {
    expect([401, 431]).toContain((await ask('a'.repeat(size))).status)
  })

  test('a flood of them is refused while other clients are answered', async () => {
    const valid = edge.tokens.ada
    const [head, claims, signature] = valid.split('.')
    const worthless = (n: number) =>
      [`${'a'.repeat(7000)}.${n}.x`, `${head}.${claims}.${signature?.slice(0, -8)}${String(n).padStart(8, '0')}`][
        n % 2
      ] ?? ''
    let running = true
    let refused = 0
    const flood = Promise.all(
      Array.from({ length: 20 }, async (_, lane) => {
        for (let n = lane; running; n += 20) {
          const { status } = await ask(worthless(n))
          expect([401, 431]).toContain(status)
          refused++
        }
      }),
    )
    const answers: Answered[] = []
    try {
      await until(() => refused > 100)
      for (let n = 0; n < 50; n++) answers.push(await ask(valid))
      await until(() => refused > 1000)
    } finally {
      running = false
    }
    await flood
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const sorted = answers.map(({ ms }) => ms).sort((one, other) => one - other)
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(1000)
    // Refused tokens are not cached, and a valid token still works afterwards.
    expect((await bodyOf<{ items: unknown[] }>(await send('GET', '/knowledge-spaces'))).items).toHaveLength(1)
  })
})
