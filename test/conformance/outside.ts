import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatAppRoutes } from '../../src/contract/chat/apps.js'
import { chatRoutes } from '../../src/contract/chat/routes.js'
import { gatewayRoutes } from '../../src/contract/gateway/routes.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { looks, MARKERS, type Planted, plant, QUESTION, requestsOf } from './planted.js'

/** What belongs to the space as a whole, of which its tenant decides. */
const OF_THE_SPACE = ['deleteKnowledgeSpace', 'setEmbeddingProfile', 'startEmbeddingMigration', 'setRetrievalProfile']
const operations: readonly RouteDefinition[] = [...gatewayRoutes, ...chatAppRoutes].filter(
  ({ id, scope }) => scope !== 'public' && !OF_THE_SPACE.includes(id),
)

let edge: TestEdge
let planted: Planted
let before: string
/** an application of the outsider's own over the same space */
let key = ''

/** @param alter what happens to what was planted before anybody from outside looks */
async function start(alter: (edge: TestEdge, planted: Planted) => Promise<void>): Promise<void> {
  edge = await startEdge({ settings: { egressAllow: ['127.0.0.2'] } })
  planted = await plant(edge)
  await alter(edge, planted)
  const token = edge.tokens.carol
  const json = { name: 'Mine', knowledgeSpaceIds: [planted.space] }
  const app = await bodyOf<{ id: string }>(await edge.send('POST', '/chat-apps', { token, json }))
  key = (await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))).key
  before = await picture()
}

/** What Ada sees of her own. */
async function picture(): Promise<string> {
  const { space, source, documents, ids } = planted
  const at = `/knowledge-spaces/${space}`
  const paths = [
    `${at}/sources/${source}`,
    ...documents.map((id) => `${at}/documents/${id}`),
    `/jobs/${ids.job}`,
    `/bulk-jobs/${ids.bulk}`,
    `${at}/golden-questions/${ids.questionId}`,
    `${at}/failed-queries?status=promoted`,
    `/research-tasks/${ids.task}/report`,
    `/queries/${ids.traceId}`,
    `/agent-workspace-snapshots/${ids.snapshotId}`,
    `/chat-apps/${ids.appId}`,
    `/chat-apps/${ids.appId}/keys`,
  ]
  const answers = []
  for (const path of paths) {
    const response = await edge.send('GET', path, { token: edge.tokens.ada })
    answers.push(`${path} ${response.status} ${await response.text()}`)
  }
  return answers.join('\n')
}

const hiddenIds = () =>
  [...new Set([...planted.documents, ...Object.values(planted.ids)])].filter((id) => /^[0-9a-f-]{36}$/.test(id))

/** Nothing that was not in the request itself. */
async function expectSilence(response: Response, request: string): Promise<void> {
  const text = (await response.text()).replaceAll(/[?&](sign|expires)=[\w-]+/g, '')
  const told = text.match(new RegExp(MARKERS.source, 'gi')) ?? []
  expect(
    told.filter((word) => !request.toLowerCase().includes(word.toLowerCase())),
    text.slice(0, 1500),
  ).toEqual([])
  expect(
    hiddenIds().filter((id) => text.includes(id) && !request.includes(id)),
    text.slice(0, 1500),
  ).toEqual([])
}

function asked() {
  const { space, documents, ids, source } = planted
  const [first = ''] = documents
  const query = { knowledgeSpaceId: space, query: QUESTION }
  const item = { filename: 'zanzibarium-ledger.md', sha256: 'a'.repeat(64) }
  const target = (one: object) => ({ candidates: [{ ...GC, target: one }] })
  return {
    bodies: {
      deleteDocuments: [{ documentIds: documents }],
      reindexDocuments: [{ documentIds: documents }, { all: true }],
      checkDocuments: [{ sourceId: source, items: [item] }, { items: [item] }],
      query: [
        query,
        { ...query, mode: 'deep' },
        { ...query, mode: 'research' },
        { ...query, activeDocumentIds: [first] },
      ],
      explainQuery: [
        { query: QUESTION, documentId: first },
        ...['zanzibarium-ledger.md', 'zanzi', 'brumborax-broken.pdf'].map((path) => ({ query: QUESTION, path })),
        { traceId: ids.traceId, documentId: first },
      ],
      createProductionBadCase: [{ traceId: ids.traceId }],
      createResearchTask: [query],
      planResearchTask: [query],
      createWorkspaceSnapshot: [{ knowledgeSpaceId: space, workspace: 'audit' }],
      gcExecute: [
        target({ type: 'artifact-object', documentAssetId: first, parseArtifactId: first }),
        target({ type: 'knowledge-node', id: ids.nodeId }),
        target({ type: 'knowledge-path', id: ids.traceId }),
      ],
      fsWrite: [{ path: '/workspaces/own/note.md', content: 'mine' }],
      fsMv: [{ oldPath: '/workspaces/own', newPath: '/workspaces/moved' }],
      createSource: [{ name: 'Own', type: 'upload', uri: 'upload:own' }],
      createChatApp: [{ name: 'Another' }],
    } as Record<string, unknown[]>,
    queries: {
      ...Object.fromEntries(['fsLs', 'fsTree', 'fsFind', 'fsGrep'].map((id) => [id, looks(id)])),
      fsCat: [
        ...[`/sources/${source}/zanzibarium-ledger.md`, '/knowledge/documents/zanzibarium-ledger.md'].map((path) => ({
          path,
        })),
        { path: `/evidence/${ids.traceId}/${ids.nodeId}` },
      ],
      fsRm: [{ path: '/workspaces/moved', recursive: 'true' }],
      traverseGraph: [{ entityId: ids.entityId ?? '' }],
      listGraphRelations: [{ entityId: ids.entityId ?? '' }, {}],
      fsck: ['raw-objects', 'artifact-segments', 'node-references'].map((check) => ({ check })),
      listLocalFiles: [{}],
      exportBundle: [{ ids: space }],
    } as Record<string, Record<string, string>[]>,
  }
}

const GC = { candidateType: 'parse-artifact', count: 1, estimatedBytes: 1, idempotencyKey: 'k', reason: 'r' }

/**
 * Walks every operation of both contracts as a subject of the tenant outside of the scope of a source.
 *
 * @param alter what happens to what was planted before
 */
export function walkFromOutside(
  alter: (edge: TestEdge, planted: Planted) => Promise<void> = async () => undefined,
): void {
  beforeAll(() => start(alter), 180_000)
  afterAll(() => edge.end())

  test.each(operations.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'learns nothing of it, and changes nothing of it, with %s',
    async (_title, route) => {
      const token = edge.tokens.carol
      for (const { path, sent } of requestsOf(route, planted, asked())) {
        const response = await edge.send(route.method, path, { ...sent, token })
        const namesHidden = hiddenIds().some((id) => path.split('?')[0]?.includes(id))
        if (namesHidden) expect(response.status, path).toBe(404)
        else expect(response.status, `${path} ${JSON.stringify(sent)}`).toBeLessThan(500)
        await expectSilence(response, `${path} ${JSON.stringify(sent)}`)
      }
    },
    30_000,
  )

  test.each(
    (chatRoutes as readonly RouteDefinition[]).map((route) => [`${route.method} ${route.path}`, route] as const),
  )('learns nothing through an application over the space, with %s', async (_title, route) => {
    const json = { query: QUESTION, user: 'eve', inputs: {}, response_mode: 'blocking' }
    const bodies = { sendChatMessage: [json, { ...json, conversation_id: planted.ids.conversation_id }] }
    for (const { path, sent } of requestsOf(route, planted, { bodies, queries: {} })) {
      const response = await edge.send(route.method, path, { ...sent, token: key })
      await expectSilence(response, `${path} ${JSON.stringify(sent)}`)
      if (hiddenIds().some((id) => path.split('?')[0]?.includes(id)) && route.id !== 'stopChatMessage')
        expect([400, 404], `${path} ${response.status}`).toContain(response.status)
    }
  })

  test('leaves all of it as it was', async () => {
    expect(await picture()).toBe(before)
  })
}
