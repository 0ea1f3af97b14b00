import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acceptsIdempotencyKey } from '../../src/contract/openapi.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { allRoutes } from '../../src/contract/routes.js'
import { type Planted, plant, requestsOf } from '../conformance/planted.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { rowsOf } from '../helpers/databases.js'
import { page, type Site, startSite } from '../helpers/site.js'
import { type Ground, REQUESTS, type Wanted } from './idempotency/requests.js'

const WRITES = (allRoutes as readonly RouteDefinition[]).filter(acceptsIdempotencyKey)
const AT_ONCE = 5
/** Operations of which one request succeeds with this status; the others get 409. */
const ONE_ONLY: Readonly<Record<string, number>> = {
  createKnowledgeSpace: 201,
  startEmbeddingMigration: 202,
  reviewMissingEvidence: 200,
}

let edge: TestEdge
let planted: Planted
let site: Site
let ground: Ground

beforeAll(async () => {
  edge = await startEdge({ settings: { egressAllow: ['127.0.0.2'] } })
  planted = await plant(edge)
  site = await startSite({ '/': page('Pier', 'The pier is nine hundred metres long.') })
  ground = {
    edge,
    planted,
    site,
    sql: (text) => rowsOf(edge.dataDir).run(text),
    async call(method, path, sent = {}) {
      const response = await edge.send(method, path, { token: edge.tokens.ada, ...sent })
      const text = await response.text()
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return JSON.parse(text || 'null')
    },
  }
}, 180_000)
afterAll(async () => {
  await site.end()
  await edge.end()
})

const five = <T>(send: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(index)))

async function send(route: RouteDefinition, { values, query, ...sent }: Wanted): Promise<Response> {
  const { id = planted.space, ...ids } = values ?? {}
  const on = { space: id, ids: { ...planted.ids, job: id, task: id, ...ids } }
  const given = { bodies: { [route.id]: [undefined] }, queries: { [route.id]: [query ?? {}] } }
  const path = requestsOf(route, on, given)[0]?.path ?? ''
  return await edge.send(route.method, path, { token: edge.tokens.ada, ...sent })
}

describe('five concurrent requests', () => {
  test.each(WRITES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s: each succeeds or is refused with a status of the contract, none fails with 500',
    async (_title, route) => {
      const prepare = REQUESTS[route.id]
      if (prepare === undefined) throw new Error(`no request is known that ${route.id} answers with a success`)
      const wanted = await prepare(ground)
      const answers = await five(() => send(route, wanted))
      const statuses = answers.map(({ status }) => status).sort()
      const bodies = await Promise.all(answers.map((answer) => answer.text()))
      const context = `${statuses} ${bodies} ${JSON.stringify(edge.log.slice(-2))}`
      const success = Object.keys(route.ok).map(Number)
      expect(success, context).toContain(statuses[0])
      for (const status of statuses) expect([...success, ...route.errors], context).toContain(status)
      const one = ONE_ONLY[route.id]
      if (one !== undefined) expect(statuses, context).toEqual([one, ...Array(AT_ONCE - 1).fill(409)])
    },
    60_000,
  )

  test('that rename five spaces to the same slug: one succeeds, four get 409', async () => {
    const token = edge.tokens.ada
    const make = (json: object) => edge.send('POST', '/knowledge-spaces', { token, json })
    const made = await five(
      async (index) => await bodyOf<{ id: string }>(await make({ name: 'N', slug: `n-${index}` })),
    )
    const renamed = await five((index) =>
      edge.send('PATCH', `/knowledge-spaces/${made[index]?.id}`, { token, json: { slug: 'one-for-five' } }),
    )
    expect(renamed.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  })

  test('about the same end user, conversation, message or annotation of an application: none gets a 500', async () => {
    const token = planted.key
    const chat = (method: string, path: string, json: object) => edge.send(method, `/v1${path}`, { token, json })
    const { conversation_id, message_id } = planted.ids
    const question = { query: 'When does the harbour open?', inputs: {}, response_mode: 'blocking' }
    const rounds = [
      await five(() => chat('POST', '/chat-messages', { ...question, user: 'of-five' })),
      await five(() => chat('POST', '/chat-messages', { ...question, user: 'eve', conversation_id })),
      await five(() => chat('POST', `/messages/${message_id}/feedbacks`, { rating: 'dislike', user: 'eve' })),
      await five(() => chat('POST', '/apps/annotations', { question: 'At once?', answer: 'Yes.' })),
    ]
    for (const round of rounds)
      for (const answer of round) expect(answer.status, await answer.clone().text()).toBeLessThan(500)
    expect(rounds[0]?.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200))
  })
})
