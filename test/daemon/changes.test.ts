import { afterEach, beforeEach, expect, test } from 'vitest'
import { createInProcessApi } from '../../src/mcp/in-process.js'
import { startEdge, type TestEdge } from '../helpers/daemon.js'
import { ADA, ingest } from '../helpers/engine.js'
import { until } from '../helpers/until.js'

let edge: TestEdge
let ids: Record<'ours' | 'theirs', string>

beforeEach(async () => {
  edge = await startEdge()
  const make = async (token: string, slug: string) => {
    const made = await edge.send('POST', '/knowledge-spaces', { token, json: { name: slug, slug } })
    return ((await made.json()) as { id: string }).id
  }
  ids = { ours: await make(edge.tokens.ada, 'ours'), theirs: await make(edge.tokens.bob, 'theirs') }
})
afterEach(() => edge.end())

/** Follows the feed and collects its events in order. */
async function following(token: string) {
  const leaving = new AbortController()
  const api = createInProcessApi(async (request) => edge.app.fetch(request, {}), token)
  const told: string[] = []
  const { events } = await api.stream('GET /changes', { query: { seconds: 3600 }, signal: leaving.signal })
  const over = (async () => {
    for await (const { event, data } of events)
      told.push(event === 'changes.open' ? 'open' : (JSON.parse(data) as { knowledgeSpaceId: string }).knowledgeSpaceId)
  })().catch(() => undefined)
  await until(() => told.includes('open'))
  return { told, leave: () => leaving.abort(), over }
}

const write = (token: string, space: string, content: string) =>
  edge.send('PUT', `/knowledge-spaces/${space}/fs/write`, { token, json: { path: '/workspaces/w/n.md', content } })

test("the change feed reports publications, deletions and workspace changes of the caller's tenant only", async () => {
  const ada = await following(edge.tokens.ada)
  const bob = await following(edge.tokens.bob)
  const next = async (act: () => Promise<unknown>) => {
    ada.told.length = 0
    await act()
    await until(() => ada.told.includes(ids.ours))
  }
  await next(() => ingest(edge.engine, ADA, ids.ours, { 'a.md': '# A\n\nOne boat.\n' }))
  await next(() => write(edge.tokens.ada, ids.ours, 'one'))
  const token = edge.tokens.ada
  await next(() =>
    edge.send('POST', `/knowledge-spaces/${ids.ours}/fs/mv`, {
      token,
      json: { oldPath: '/workspaces/w', newPath: '/workspaces/v' },
    }),
  )
  await next(() =>
    edge.send('DELETE', `/knowledge-spaces/${ids.ours}/fs/rm?path=/workspaces/v&recursive=true`, { token }),
  )
  const list = await edge.send('GET', `/knowledge-spaces/${ids.ours}/documents`, { token })
  const { items } = (await list.json()) as { items: { id: string }[] }
  const documentIds = items.map(({ id }) => id)
  await next(() =>
    edge.send('DELETE', `/knowledge-spaces/${ids.ours}/documents/bulk`, { token, json: { documentIds } }),
  )
  await next(() => edge.send('DELETE', `/knowledge-spaces/${ids.ours}`, { token }))
  expect(new Set(ada.told)).toEqual(new Set([ids.ours]))
  await write(edge.tokens.bob, ids.theirs, 'x')
  await until(() => bob.told.includes(ids.theirs))
  expect(bob.told).not.toContain(ids.ours)
  expect(ada.told).not.toContain(ids.theirs)
  for (const one of [ada, bob]) one.leave()
})

test('a stream of the change feed ends when its client disconnects, and all streams end when the daemon stops', async () => {
  const before = edge.work.count()
  const ada = await following(edge.tokens.ada)
  const bob = await following(edge.tokens.bob)
  expect(edge.work.count()).toBe(before + 2)
  ada.leave()
  await until(() => edge.work.count() === before + 1)
  // The daemon does not wait for streams that clients can resume.
  edge.work.stop()
  await bob.over
  expect(edge.work.count()).toBe(before)
})

test('a stream of the change feed ends after the requested seconds, which can be 1 to 3600', async () => {
  const ask = (query: string) => edge.send('GET', `/changes${query}`, { token: edge.tokens.ada })
  expect((await ask('?seconds=0')).status).toBe(400)
  expect((await ask('?seconds=3601')).status).toBe(400)
  expect((await ask('')).status).toBe(400)
  const response = await ask('?seconds=1')
  expect([response.status, await response.text()]).toEqual([200, 'event: changes.open\ndata: {}\n\n'])
})
