import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenTcp, type TcpServer } from '../../../src/daemon/listen.js'
import { openEngine } from '../../../src/engine/index.js'
import { isFile } from '../../helpers/backend.js'
import { bodyOf, startEdge, type TestEdge, temporaryDir } from '../../helpers/daemon.js'
import { rowsOf } from '../../helpers/databases.js'
import { ADA, engineOptions, ingest } from '../../helpers/engine.js'
import { planOf, statementsDuring } from '../../helpers/plans.js'
import { until } from '../../helpers/until.js'

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

describe('A81: floods of invented identifiers', () => {
  test('as session ids are replaced by new ids, and the number of sessions stays within the quota', async () => {
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

  test.runIf(isFile)('cause no scan: idempotency keys and sessions are found by an index of the database', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const statements = await statementsDuring(async () => {
      const answer = await send('PATCH', `/knowledge-spaces/${space}`, { name: 'Notes' }, headers)
      expect(answer.status).toBe(200)
      await (await send('POST', '/queries', query())).text()
    })
    for (const table of ['idempotency', 'sessions']) {
      const onTable = new Set(statements.filter((sql) => new RegExp(`\\b${table}\\b`).test(sql)))
      expect(onTable.size, table).toBeGreaterThan(1)
      const steps = [...onTable].flatMap((sql) => planOf(join(home.path, 'db', 'main.sqlite'), sql))
      expect(steps.filter((step) => step.startsWith(`SCAN ${table}`))).toEqual([])
    }
  })
})

function ask(token: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(`${tcp.url}/knowledge-spaces`, {
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    })
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    // A head beyond every limit may close the connection.
    sent.on('error', () => resolve(431))
    sent.end()
  })
}

describe('A12: oversized and invalid tokens', () => {
  test.each([8 * 1024, 15 * 1024, 1024 * 1024])('a token of %i characters is refused', async (size) => {
    expect([401, 431]).toContain(await ask('a'.repeat(size)))
  })

  test('get refused in a flood, while clients with valid tokens are answered', async () => {
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
          expect([401, 431]).toContain(await ask(worthless(n)))
          refused++
        }
      }),
    )
    const statuses: number[] = []
    try {
      await until(() => refused > 100)
      for (let n = 0; n < 50; n++) statuses.push(await ask(valid))
      await until(() => refused > 1000)
    } finally {
      running = false
    }
    await flood
    expect(new Set(statuses)).toEqual(new Set([200]))
    // Refused tokens are not cached, and a valid token still works afterwards.
    expect((await bodyOf<{ items: unknown[] }>(await send('GET', '/knowledge-spaces'))).items).toHaveLength(1)
  })
})
