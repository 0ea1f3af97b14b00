import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { listenTcp, type TcpServer } from '../../../src/daemon/listen.js'
import { openEngine } from '../../../src/engine/index.js'
import { QueryGate } from '../../../src/engine/retrieval/query/gate.js'
import { bodyOf, startEdge, type TestEdge, temporaryDir } from '../../helpers/daemon.js'
import { ADA, BOB, engineOptions, ingest } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'

const RUNNING = 2
const WAITING = 20
const NOTES = { 'tides.md': '# Tides\n\nThe moon pulls the sea twice a day.' }

const home = temporaryDir()
let edge: TestEdge
let tcp: TcpServer
let model: FakeOpenAi
const spaces = { ada: '', bob: '' }
const sockets: Socket[] = []

beforeAll(async () => {
  model = await startFakeOpenAi({ answer: () => 'The moon pulls the sea [1].' })
  const provider = { pluginId: 'openai-compatible', provider: 'fake', baseUrl: `${model.url}/v1` }
  const options = engineOptions(home.path)
  const limits = { ...options.limits, concurrentQueries: RUNNING, waitingQueries: WAITING }
  edge = await startEdge({ engine: await openEngine({ ...options, limits, providers: [provider] }) })
  tcp = await listenTcp(edge.app, { listen: '127.0.0.1:0', insecure: false, anyPort: false })
  for (const [name, caller] of [
    ['ada', ADA],
    ['bob', BOB],
  ] as const) {
    const { id } = await edge.engine.spaces.create(caller, { name, slug: name })
    await ingest(edge.engine, caller, id, NOTES)
    spaces[name] = id
  }
  const reasoningModel = { pluginId: 'openai-compatible', provider: 'fake', model: 'm' }
  const path = `/knowledge-spaces/${spaces.ada}/retrieval-profile`
  const { revision: _revision, ...profile } = await bodyOf<Record<string, unknown>>(
    await edge.send('GET', path, { token: edge.tokens.ada }),
  )
  const set = await edge.send('PUT', path, { token: edge.tokens.ada, json: { ...profile, reasoningModel } })
  if (set.status !== 200) throw new Error(await set.text())
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  tcp.server.closeAllConnections()
  tcp.server.close()
  await edge.engine.close()
  await edge.end()
  await model.close()
  home.remove()
})

/** A query whose answer is not read beyond its first line. */
async function openStream(token: string, json: object): Promise<{ status(): number }> {
  const { hostname, port, host } = new URL(tcp.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const body = JSON.stringify(json)
  let head = ''
  socket.once('data', (data) => {
    head = data.toString()
    socket.pause()
  })
  const headers = [`host: ${host}`, `authorization: Bearer ${token}`, 'content-type: application/json']
  socket.write(
    [`POST /queries HTTP/1.1`, ...headers, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'),
  )
  return { status: () => Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? 0) }
}

describe('A79: a tenant that opens too many streams', () => {
  test('gets 429 beyond its share, while other tenants are answered promptly', async () => {
    model.always({ kind: 'slow', ms: 700 })
    const json = { knowledgeSpaceId: spaces.ada, query: 'What does the moon do with the sea?' }
    const flood = await Promise.all(Array.from({ length: 500 }, () => openStream(edge.tokens.ada, json)))
    const count = (wanted: number) => flood.filter(({ status }) => status() === wanted).length
    await until(() => count(429) >= 500 - RUNNING - WAITING - 50)
    const asked = { knowledgeSpaceId: spaces.bob, query: 'What does the moon pull?' }
    for (let round = 0; round < 5; round++) {
      const before = count(200)
      const answer = await edge.send('POST', '/queries', { token: edge.tokens.bob, json: asked })
      expect([answer.status, (await answer.text()).includes('answer.done')]).toEqual([200, true])
      // It waits for one free slot, not for all earlier requests.
      expect(count(200) - before).toBeLessThan(WAITING / 2)
    }
    expect(count(429)).toBeGreaterThan(400)
    expect([...new Set(flood.map(({ status }) => status()))].filter((one) => ![0, 200, 429].includes(one))).toEqual([])
    expect((await edge.send('GET', '/health')).status).toBe(200)
  })
})

describe('A79: query slots', () => {
  const never = new AbortController().signal
  const tick = () => new Promise((resolve) => setImmediate(resolve))

  test('alternate between waiting tenants; a single tenant gets all slots', async () => {
    const gate = new QueryGate(1, 6)
    const order: string[] = []
    const leave = await gate.enter('a', never)
    const ask = (tenant: string, name: string) =>
      gate.enter(tenant, never).then(
        (left) => {
          order.push(name)
          left()
        },
        (error) => order.push(`${name} ${error.code}`),
      )
    const asked = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map((name) => ask('a', name))
    await tick()
    // A tenant that is alone has all slots, and no more.
    expect(order).toEqual(['a7 busy'])
    asked.push(ask('b', 'b1'), ask('b', 'b2'), ask('b', 'b3'), ask('b', 'b4'))
    await tick()
    // Both tenants keep the same number of waiting queries: the newest of the larger one were refused.
    expect([...order].sort()).toEqual(['a4 busy', 'a5 busy', 'a6 busy', 'a7 busy', 'b4 busy'])
    leave()
    await Promise.all(asked)
    expect(order.slice(5)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
    expect(gate.running).toBe(0)
  })

  test('become free when a waiting client leaves', async () => {
    const gate = new QueryGate(1, 1)
    const leave = await gate.enter('a', never)
    const stop = new AbortController()
    const waiting = gate.enter('a', stop.signal)
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
    const next = gate.enter('b', never)
    leave()
    const left = await next
    left()
    left()
    expect(gate.running).toBe(0)
  })
})
