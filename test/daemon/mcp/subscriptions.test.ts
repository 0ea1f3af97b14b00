import { afterEach, beforeEach, expect, test } from 'vitest'
import { ApiError } from '../../../src/client/errors.js'
import type { GatewayApi } from '../../../src/mcp/api.js'
import { createInProcessApi } from '../../../src/mcp/in-process.js'
import { SpaceDirectory } from '../../../src/mcp/spaces.js'
import { ResourceSubscriptions } from '../../../src/mcp/subscriptions.js'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'
import { ADA, ingest } from '../../helpers/engine.js'
import { until } from '../../helpers/until.js'

const LOOKS = { minPauseMs: 20, maxPauseMs: 40, growthFactor: 1.5, changeDelayMs: 5, openFeedPauseMs: 600_000 }
/** an interval that does not elapse during a test */
const FEED_ALONE = {
  minPauseMs: 20,
  maxPauseMs: 600_000,
  growthFactor: 1e6,
  changeDelayMs: 5,
  openFeedPauseMs: 600_000,
}

let edge: TestEdge
let space: string
let asked: string[]
let changed: string[]
let subscriptions: ResourceSubscriptions
let withFeed: GatewayApi
/** a service without a change feed */
let withoutFeed: GatewayApi

const accessTo = (api: GatewayApi) => ({ api, spaces: new SpaceDirectory(api) })

function subscribing(looks: typeof LOOKS, api: GatewayApi): ResourceSubscriptions {
  return new ResourceSubscriptions({
    getApi: () => api,
    onChange: async (uri) => {
      changed.push(uri)
    },
    timing: looks,
  })
}

beforeEach(async () => {
  edge = await startEdge()
  const json = { name: 'Harbour', slug: 'harbour' }
  const made = await edge.send('POST', '/knowledge-spaces', { token: edge.tokens.ada, json })
  space = ((await made.json()) as { id: string }).id
  await ingest(edge.engine, ADA, space, { 'a.md': '# A\n\nOne boat.\n', 'b.md': '# B\n\nTwo boats.\n' })
  asked = []
  changed = []
  const real = createInProcessApi(async (request) => edge.app.fetch(request, {}), edge.tokens.ada)
  withoutFeed = {
    stream: async () => {
      throw new ApiError({ status: 404, code: 'not-found', message: 'no route here' })
    },
    request: async (key, input) => {
      asked.push(key)
      return await real.request(key, input)
    },
  }
  withFeed = { ...withoutFeed, stream: real.stream }
  subscriptions = subscribing(LOOKS, withoutFeed)
})
afterEach(async () => {
  subscriptions.close()
  await edge.end()
})

const STATS = 'GET /knowledge-spaces/{id}/stats'
const looks = (key = STATS) => asked.filter((one) => one === key).length

test('MCP subscriptions poll a space without new publications by one request for all of its documents', async () => {
  const uris = ['ks://harbour/sources/uploads/a.md', 'ks://harbour/sources/uploads/b.md']
  for (const uri of uris) await subscriptions.add(uri, accessTo(withoutFeed))
  await until(() => looks() >= 2)
  asked.length = 0
  await until(() => looks() >= 5)
  expect(new Set(asked)).toEqual(new Set([STATS]))
  expect(changed).toEqual([])

  await ingest(edge.engine, ADA, space, { 'b.md': '# B\n\nThree boats.\n' })
  await until(() => changed.length > 0)
  expect(new Set(changed)).toEqual(new Set([uris[1]]))
})

test('MCP subscriptions report changes made during an outage once the service is reachable again', async () => {
  const uris = ['ks://harbour/sources/uploads/a.md', 'ks://harbour/sources/uploads/b.md']
  for (const uri of uris) await subscriptions.add(uri, accessTo(withoutFeed))
  const { request } = withoutFeed
  let refused = 0
  withoutFeed.request = async (key, input) => {
    if (!key.endsWith('/fs/cat')) return await request(key, input)
    refused++
    throw new Error('the service is away')
  }
  await ingest(edge.engine, ADA, space, { 'b.md': '# B\n\nThree boats.\n' })
  refused = 0
  await until(() => refused > 0)
  withoutFeed.request = request
  await until(() => changed.length > 0)
  expect(new Set(changed)).toEqual(new Set([uris[1]]))
})

test('an MCP subscription reports a deleted document only once', async () => {
  for (const name of ['a.md', 'b.md'])
    await subscriptions.add(`ks://harbour/sources/uploads/${name}`, accessTo(withoutFeed))
  const token = edge.tokens.ada
  const list = await edge.send('GET', `/knowledge-spaces/${space}/documents`, { token })
  const { items } = (await list.json()) as { items: { id: string; filename: string }[] }
  const id = items.find(({ filename }) => filename === 'a.md')?.id
  const json = { documentIds: [id] }
  const gone = await edge.send('DELETE', `/knowledge-spaces/${space}/documents/bulk`, { token, json })
  expect(gone.status).toBeLessThan(300)
  await until(() => changed.length > 0)
  const before = looks()
  await until(() => looks('GET /knowledge-spaces/{id}/fs/cat') > 0 && looks() > before + 3)
  expect(changed).toEqual(['ks://harbour/sources/uploads/a.md'])
})

test('MCP subscriptions poll each workspace file separately', async () => {
  const write = async (content: string) => {
    const json = { path: '/workspaces/w/n.md', content }
    await edge.send('PUT', `/knowledge-spaces/${space}/fs/write`, { token: edge.tokens.ada, json })
  }
  await write('one')
  const uri = 'ks://harbour/workspaces/w/n.md'
  await subscriptions.add(uri, accessTo(withoutFeed))
  await write('two')
  await until(() => changed.includes(uri))
})

test('without MCP subscriptions no polling requests are sent', async () => {
  const uri = 'ks://harbour/sources/uploads/a.md'
  await subscriptions.add(uri, accessTo(withoutFeed))
  await until(() => looks('GET /knowledge-spaces/{id}/fs/cat') >= 3)
  subscriptions.remove(uri)
  // A poll in progress may still end.
  await until(async () => {
    const before = asked.length
    await new Promise((resolve) => setTimeout(resolve, 5 * LOOKS.maxPauseMs))
    return asked.length === before
  })
})

test('an MCP session can subscribe to 100 resources, also with concurrent requests', async () => {
  // One resource has as many URIs as ways to encode its characters.
  const spelt = (n: number) =>
    [...'uploads'].map((char, at) => ((n >> at) % 2 === 0 ? char : `%${char.charCodeAt(0).toString(16)}`)).join('')
  const uris = Array.from({ length: 105 }, (_, n) => `ks://harbour/sources/${spelt(n)}/a.md`)
  const results = await Promise.allSettled(uris.map((uri) => subscriptions.add(uri, accessTo(withoutFeed))))
  expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(100)
  expect(results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual(
    Array.from({ length: 5 }, () => expect.stringContaining('may subscribe to 100 resources')),
  )
})

/** Waits until no request was sent for a while. */
async function quiet(): Promise<void> {
  await until(async () => {
    const before = asked.length
    await new Promise((resolve) => setTimeout(resolve, 200))
    return asked.length === before
  })
}

test('MCP subscriptions report changes from the change feed without polling', async () => {
  subscriptions = subscribing(FEED_ALONE, withFeed)
  const uris = ['a.md', 'b.md'].map((name) => `ks://harbour/sources/uploads/${name}`)
  for (const uri of uris) await subscriptions.add(uri, accessTo(withFeed))
  const own = 'ks://harbour/workspaces/w/n.md'
  const write = async (content: string) => {
    const json = { path: '/workspaces/w/n.md', content }
    await edge.send('PUT', `/knowledge-spaces/${space}/fs/write`, { token: edge.tokens.ada, json })
  }
  await write('one')
  await subscriptions.add(own, accessTo(withFeed))
  await quiet()
  changed.length = 0
  await ingest(edge.engine, ADA, space, { 'b.md': '# B\n\nThree boats.\n' })
  await until(() => changed.includes(uris[1] ?? ''))
  await quiet()
  await write('two')
  await until(() => changed.includes(own))
  await quiet()
  expect(changed).toEqual([uris[1], own])
})

test('MCP subscriptions reconnect to a broken change feed and report what changed meanwhile', async () => {
  subscriptions = subscribing(FEED_ALONE, withFeed)
  const uri = 'ks://harbour/sources/uploads/a.md'
  await subscriptions.add(uri, accessTo(withFeed))
  await until(() => edge.work.count() === 1)
  await quiet()
  edge.work.cutStreams('cut')
  await ingest(edge.engine, ADA, space, { 'a.md': '# A\n\nTwo boats.\n' })
  await until(() => changed.includes(uri))
  await until(() => edge.work.count() === 1)
  await quiet()
  await ingest(edge.engine, ADA, space, { 'a.md': '# A\n\nThree boats.\n' })
  await until(() => changed.length === 2)
})

test('the end of the last MCP subscription closes the change feed', async () => {
  subscriptions = subscribing(FEED_ALONE, withFeed)
  const uris = ['a.md', 'b.md'].map((name) => `ks://harbour/sources/uploads/${name}`)
  for (const uri of uris) await subscriptions.add(uri, accessTo(withFeed))
  await until(() => edge.work.count() === 1)
  subscriptions.remove(uris[0] ?? '')
  await quiet()
  expect(edge.work.count()).toBe(1)
  subscriptions.remove(uris[1] ?? '')
  await until(() => edge.work.count() === 0)
  await subscriptions.add(uris[0] ?? '', accessTo(withFeed))
  await until(() => edge.work.count() === 1)
  subscriptions.close()
  await until(() => edge.work.count() === 0)
})
