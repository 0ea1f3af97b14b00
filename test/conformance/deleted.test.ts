import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatAppRoutes } from '../../src/contract/chat/apps.js'
import { chatRoutes } from '../../src/contract/chat/routes.js'
import { gatewayRoutes } from '../../src/contract/gateway/routes.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { looks, MARKERS, type Planted, plant, QUESTION, requestsOf } from './planted.js'

const reads = (routes: readonly RouteDefinition[]) =>
  routes
    .filter(({ method, scope }) => method === 'GET' && scope !== 'public')
    .map((route) => [`${route.method} ${route.path}`, route] as const)
const gatewayReads = reads([...gatewayRoutes, ...chatAppRoutes])
const chatReads = reads(chatRoutes)

let edge: TestEdge
let planted: Planted
/** number of reads that showed a marker while the documents existed */
let shown = 0

beforeAll(async () => {
  edge = await startEdge({ settings: { egressAllow: ['127.0.0.2'] } })
  planted = await plant(edge, 'vault')
  for (const [, route] of gatewayReads) for (const text of await answers(route)) if (MARKERS.test(text)) shown++
  for (const [, route] of chatReads) for (const text of await answers(route)) if (MARKERS.test(text)) shown++
  const json = { documentIds: planted.documents }
  const path = `/knowledge-spaces/${planted.space}/documents/bulk`
  const gone = await edge.send('DELETE', path, { token: edge.tokens.ada, json })
  expect((await bodyOf<{ items: { status: string }[] }>(gone)).items.map(({ status }) => status)).toEqual(
    planted.documents.map(() => 'deleted'),
  )
}, 180_000)
afterAll(() => edge.end())

/** Responses of a read, without the parts that repeat the request. */
async function answers(route: RouteDefinition): Promise<string[]> {
  const token = route.scope === 'application' ? planted.key : edge.tokens.ada
  const found: string[] = []
  for (const ids of [planted.ids, { ...planted.ids, job: planted.ids.brokenJob! }])
    for (const { path } of requestsOf(route, { ...planted, ids }, { bodies: {}, queries: queries() })) {
      const response = await edge.send('GET', path, { token })
      found.push((await response.text()).replaceAll(path, ''))
    }
  return found
}

function queries(): Record<string, Record<string, string>[]> {
  const { ids, source } = planted
  const user = { user: 'eve' }
  return {
    ...Object.fromEntries(['fsLs', 'fsTree', 'fsFind', 'fsGrep'].map((id) => [id, looks(id)])),
    fsCat: [{ path: `/evidence/${ids.traceId}/${ids.nodeId}` }, { path: `/sources/${source}` }],
    traverseGraph: [{ entityId: ids.entityId ?? '' }],
    listGraphRelations: [{}],
    fsck: ['raw-objects', 'artifact-segments', 'node-references'].map((check) => ({ check })),
    listMessages: [{ ...user, conversation_id: ids.conversation_id ?? '' }],
    ...Object.fromEntries(['listConversations', 'suggestQuestions', 'replayChatMessage'].map((id) => [id, [user]])),
    listConversationVariables: [user],
  }
}

describe('after documents are deleted, their content', () => {
  test('appeared in more than 40 reads before the deletion', () => {
    expect(shown).toBeGreaterThan(40)
  })

  test.each([...gatewayReads, ...chatReads])('appears no longer in %s', async (_title, route) => {
    for (const text of await answers(route)) expect(text.match(MARKERS)?.[0], text.slice(0, 2000)).toBeUndefined()
  })

  test('appears no longer in the answers to a new chat message and a new query', async () => {
    const { space, key, ids } = planted
    const json = { query: 'And where does it meet?', user: 'eve', inputs: {}, response_mode: 'blocking' }
    const sent = { token: key, json: { ...json, conversation_id: ids.conversation_id } }
    expect(await (await edge.send('POST', '/v1/chat-messages', sent)).text()).not.toMatch(MARKERS)
    const asked = { token: edge.tokens.ada, json: { knowledgeSpaceId: space, query: QUESTION } }
    expect(await (await edge.send('POST', '/queries', asked)).text()).not.toMatch(MARKERS)
  })

  test('no longer keeps topics from being listed: they are derived again', async () => {
    const at = `/knowledge-spaces/${planted.space}/fs/ls?limit=10&path=/knowledge/topics`
    const { items } = await bodyOf<{ items: object[] }>(await edge.send('GET', at, { token: edge.tokens.ada }))
    expect(items.length).toBeGreaterThan(0)
  })
})
