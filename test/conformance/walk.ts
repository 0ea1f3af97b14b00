import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findMissingRight, getRejectionStatus } from '../../src/contract/callers.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { allRoutes } from '../../src/contract/routes.js'
import { visitRoutes } from '../../src/daemon/chat/visit-routes.js'
import { consoleRoutes } from '../../src/daemon/console/routes.js'
import { mcpRoutes } from '../../src/daemon/mcp.js'
import { sqliteSchema } from '../../src/engine/store/schema/sqlite.js'
import { loadAllTools, loadTool } from '../../src/mcp/tools/all.js'
import type { EdgeRequest, TestEdge } from '../helpers/daemon.js'
import { rowsOf } from '../helpers/databases.js'
import { connectClient } from '../helpers/mcp.js'
import { until } from '../helpers/until.js'
import { looks, MARKERS, type Planted, QUESTION, requestsOf, TENANT_MARKER } from './planted.js'
import { END_USER, type Ground, prepareWalk, type Walker } from './walkers.js'

/** Every operation of a daemon, public or internal. */
export const OPERATIONS: readonly RouteDefinition[] = [...allRoutes, ...consoleRoutes, ...visitRoutes, ...mcpRoutes]
/** Operations on a space without its documents: every subject of the tenant may call them. */
const OF_THE_SPACE = ['deleteKnowledgeSpace', 'setEmbeddingProfile', 'startEmbeddingMigration', 'setRetrievalProfile']
/** Tables that change without a request: contradictions are found behind the publication of documents. */
const MOVING = new Set(['gateways', 'held_leases', 'conflict_claims', 'conflicts'])
/** Of tables that background work changes for longer, the columns that requests change. */
const COLUMNS: Readonly<Record<string, string>> = { failed_queries: 'id, status' }
/** Background work has ended after this time without a changed row. */
const QUIET_MS = 6_000

/**
 * Calls every operation and every tool of MCP as each kind of caller.
 *
 * @param alter changes the planted data before the first call
 * @param sees selects callers by what they may see
 */
export function walk(
  alter: (edge: TestEdge, planted: Planted) => Promise<void> = async () => undefined,
  sees: readonly Walker['sees'][] = ['nothing', 'tenant', 'everything'],
): void {
  let ground: Ground
  let before: string

  beforeAll(async () => {
    ground = await prepareWalk(alter, sees)
    before = await seenByOwner(ground)
  }, 180_000)
  afterAll(() => ground.end())

  const titled = OPERATIONS.map((route) => [`${route.method} ${route.path}`, route] as const)

  describe('callers without access', () => {
    let rows: Record<string, string>
    beforeAll(async () => {
      rows = await settled(ground.edge.dataDir)
    }, 60_000)

    test.each(titled)('get the documented refusal from %s, and no data', async (_title, route) => {
      for (const walker of ground.walkers) {
        const refusal = getRejectionStatus(route, walker.kind)
        if (refusal === undefined) continue
        for (const { path, sent } of requests(route, ground, walker)) {
          const answer = await ground.edge.send(route.method, path, { ...sent, token: walker.token })
          const context = `${walker.name}: ${path}`
          expect([answer.status, context]).toEqual([refusal, context])
          if (route.scope !== 'application')
            expect(answer.headers.get('x-error-code')).toBe(refusal === 401 ? 'unauthenticated' : 'scope-missing')
          expectSilence(ground, walker, await answer.text(), `${path} ${JSON.stringify(sent)}`)
        }
      }
    })

    test('change no row of the database by their refused requests', () => {
      expect(rowsOfAll(ground.edge.dataDir)).toEqual(rows)
    })
  })

  test.each(titled)(
    "%s returns no data of the space's owner to callers without access to the data, and 404 for ids of such data",
    async (_title, route) => {
      for (const walker of ground.walkers) {
        if (walker.sees === 'everything' || getRejectionStatus(route, walker.kind) !== undefined) continue
        if (walker.sees === 'tenant' && OF_THE_SPACE.includes(route.id)) continue
        for (const { path, sent } of requests(route, ground, walker)) {
          const answer = await ground.edge.send(route.method, path, { ...sent, token: walker.token })
          const request = `${path} ${JSON.stringify(sent)}`
          expectStatus(ground, route, walker, answer, request)
          expectSilence(ground, walker, await answer.text(), request)
        }
      }
    },
    60_000,
  )

  test.each(Object.keys(TOOL_CALLS))(
    'the MCP tool %s needs a token with its scope, and returns only data that its caller may see',
    async (name) => {
      const tool = await loadTool(name)
      for (const walker of ground.walkers) {
        if (walker.kind.credential !== 'token' || walker.token === undefined) continue
        const args = TOOL_CALLS[name]?.(ground.planted) ?? {}
        const request = `${name} ${JSON.stringify(args)}`
        if (getRejectionStatus(MCP, walker.kind) !== undefined) {
          await expect(connectClient(ground.edge, walker.token), walker.name).rejects.toThrow()
          continue
        }
        const session = await connectClient(ground.edge, walker.token)
        try {
          const mayCall = !tool?.writes || findMissingRight({ scope: 'write' }, walker.kind) === undefined
          const { tools } = await session.client.listTools()
          const isListed = tools.some((one) => one.name === name)
          expect([isListed, walker.name]).toEqual([mayCall && !tool?.isLocal, walker.name])
          const called = session.client.callTool({ name, arguments: args })
          const answer = await called.catch((error: unknown) => ({ isError: true, content: String(error) }))
          if (!isListed || (walker.sees === 'nothing' && name !== 'spaces'))
            expect([answer.isError, walker.name]).toEqual([true, walker.name])
          if (walker.sees !== 'everything') expectSilence(ground, walker, JSON.stringify(answer), request)
        } finally {
          await session.client.close()
        }
      }
    },
  )

  test('every MCP tool is called with the token of each caller', async () => {
    expect(Object.keys(TOOL_CALLS).sort()).toEqual((await loadAllTools()).map(({ name }) => name).sort())
  })

  test("the calls of all operations and tools leave the data of the space's owner unchanged", async () => {
    expect(await seenByOwner(ground)).toBe(before)
  })
}

const [MCP] = mcpRoutes
/** Arguments of each tool with planted ids. */
const TOOL_CALLS: Readonly<Record<string, (planted: Planted) => Record<string, unknown>>> = {
  search: ({ space }) => ({ query: QUESTION, space }),
  ask: ({ space }) => ({ question: QUESTION, space }),
  read: ({ space, ids }) => ({ document: ids.documentId, space }),
  spaces: () => ({}),
  list: ({ space }) => ({ path: '/sources', space }),
  tree: ({ space }) => ({ path: '/knowledge', space }),
  find: ({ space }) => ({ path: '/knowledge', nameContains: 'e', space }),
  grep: ({ space }) => ({ pattern: 'guild', space }),
  outline: ({ space, ids }) => ({ document: ids.documentId, space }),
  graph: ({ space, ids }) => ({ entity: ids.entityId, space }),
  research: ({ space }) => ({ question: QUESTION, space }),
  research_status: ({ ids }) => ({ researchTaskId: ids.task }),
  research_cancel: ({ ids }) => ({ researchTaskId: ids.task }),
  write: ({ space }) => ({ path: '/workspaces/audit/mine.md', content: 'mine', space }),
  move: ({ space }) => ({ from: '/workspaces/audit/nothing.md', to: '/workspaces/audit/there.md', space }),
  remove: ({ space }) => ({ path: '/workspaces/audit/nothing.md', space }),
  ingest: ({ space }) => ({ paths: ['/etc/hostname'], space }),
  refresh: ({ space, ids }) => ({ documents: [ids.documentId], space }),
}

function requests(
  route: RouteDefinition,
  { planted, edge }: Ground,
  { user }: Walker,
): { path: string; sent: EdgeRequest }[] {
  return requestsOf(route, planted, asked(planted, user, edge)).map(({ path: sampled, sent }) => {
    const path = sampled.replace(/([?&]user=)[^&]*/, `$1${user}`)
    if (route.multipart === undefined) {
      const { json } = sent
      return {
        path,
        sent: typeof json === 'object' && json !== null && 'user' in json ? { json: { ...json, user } } : sent,
      }
    }
    const body = new FormData()
    for (const name of Object.keys(route.multipart.fields.shape)) if (name === 'user') body.append(name, user)
    body.append(route.multipart.file.name, new File(['# One\n\nText.'], 'one.md'))
    return { path, sent: { body } }
  })
}

function expectStatus(ground: Ground, route: RouteDefinition, walker: Walker, answer: Response, request: string): void {
  const { status } = answer
  const context = `${walker.name}: ${request}`
  const isNamed = secretsFor(ground, walker).some((id) => request.includes(id))
  const [path = ''] = request.split(/[? ]/)
  const isInPath = secretsFor(ground, walker).some((id) => path.includes(id))
  if (route.scope === 'application') {
    const speaksForOthers = walker.kind.credential === 'visit' && !walker.kind.isOwner && walker.user === END_USER
    if (speaksForOthers && /[?&]user=|"user":/.test(request)) expect([status, context]).toEqual([403, context])
    else if (isInPath && route.id !== 'stopChatMessage') expect([400, 404], context).toContain(status)
    else expect(status, context).toBeLessThan(500)
  } else if (walker.sees === 'nothing' && isNamed && route.scope !== 'public')
    expect([status, context]).toEqual([404, context])
  else if (isInPath) expect([status, context]).toEqual([404, context])
  else if (route.scope === 'public') expect(status, context).toBeLessThan(500)
  // A sample that its schema refuses would test nothing.
  else if (!WITHOUT_SAMPLE.has(route.id))
    expect(
      [...Object.keys(route.ok).map(Number), ...BY_OTHER_RULES, ...route.errors.filter((one) => one === 403)],
      context,
    ).toContain(status)
}

/** operations that need a bundle or an MCP message instead of a sample; MCP tools have a separate test */
const WITHOUT_SAMPLE = new Set(['importBundle', ...mcpRoutes.map(({ id }) => id)])
/** refusals of valid requests: not found, wrong state, too many, or not configured here */
const BY_OTHER_RULES = [404, 409, 429, 501, 503]

/** Ids that a caller must not learn. */
function secretsFor({ planted }: Ground, { sees }: Walker): string[] {
  const hidden = [...planted.documents, ...Object.values(planted.ids)]
  const all = sees === 'nothing' ? [...hidden, ...planted.open] : hidden
  return [...new Set(all)].filter((id) => /^[0-9a-f-]{36}$/.test(id))
}

/** Expects no secret in an answer, except those that the request contains. */
function expectSilence(ground: Ground, walker: Walker, answer: string, request: string): void {
  const text = answer.replaceAll(/[?&](sign|expires)=[\w-]+/g, '')
  const patterns = walker.sees === 'nothing' ? [MARKERS, TENANT_MARKER] : [MARKERS]
  const words = patterns.flatMap((pattern) => text.match(new RegExp(pattern.source, 'gi')) ?? [])
  const found = [...words, ...secretsFor(ground, walker).filter((id) => text.includes(id))]
  expect(
    found.filter((one) => !request.toLowerCase().includes(one.toLowerCase())),
    `${walker.name}: ${request}: ${text.slice(0, 1500)}`,
  ).toEqual([])
}

/** Hashes the rows of each table, except tables that background work changes. */
function rowsOfAll(dataDir: string): Record<string, string> {
  const rows = rowsOf(dataDir)
  const hashed = (table: string) =>
    createHash('sha256')
      .update(JSON.stringify(rows.all(`SELECT ${COLUMNS[table] ?? '*'} FROM ${table}`)))
      .digest('hex')
  return Object.fromEntries(TABLES.map((table) => [table, hashed(table)]))
}

/** The same hashes, once background work on the planted data is over. */
async function settled(dataDir: string): Promise<Record<string, string>> {
  let before = rowsOfAll(dataDir)
  await until(async () => {
    await sleep(QUIET_MS)
    const now = rowsOfAll(dataDir)
    const isQuiet = JSON.stringify(now) === JSON.stringify(before)
    before = now
    return isQuiet
  }, 50_000)
  return before
}

const TABLES = (() => {
  const sqlite = new Sqlite(':memory:')
  sqlite.exec(sqliteSchema())
  const found = sqlite
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
  sqlite.close()
  return found.map(({ name }) => name).filter((name) => !MOVING.has(name))
})()

/** The replies that Ada, the owner, gets for her data. */
async function seenByOwner({ edge, planted }: Ground): Promise<string> {
  const { space, source, documents, ids } = planted
  const at = `/knowledge-spaces/${space}`
  const paths = [
    `${at}/sources/${source}`,
    ...documents.map((id) => `${at}/documents/${id}`),
    `/jobs/${ids.job}`,
    `/bulk-jobs/${ids.bulk}`,
    `${at}/golden-questions/${ids.questionId}`,
    `${at}/golden-runs/${ids.runId}/results`,
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

/** Requests of operations for which a sample of the schema is not enough. */
function asked({ space, documents, ids, source }: Planted, user: string, { tokens }: TestEdge) {
  const [first = ''] = documents
  const query = { knowledgeSpaceId: space, query: QUESTION }
  const item = { filename: 'zanzibarium-ledger.md', sha256: 'a'.repeat(64) }
  const target = (one: object) => ({ candidates: [{ ...GC, target: one }] })
  const ofUser = { user }
  const message = { query: QUESTION, user, inputs: {}, response_mode: 'blocking' }
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
      querySpaces: [
        { knowledgeSpaceIds: [space], query: QUESTION },
        { query: QUESTION },
        { query: QUESTION, filter: { paths: ['zanzi*'] } },
      ],
      searchSpaces: [{ knowledgeSpaceIds: [space], query: QUESTION }, { query: QUESTION }],
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
      createChatApp: [{ name: 'Another' }, { name: 'Over a space', knowledgeSpaceIds: [space] }],
      addWatch: [{ knowledgeSpaceId: space, folder: '/' }],
      sendChatMessage: [message, { ...message, conversation_id: ids.conversation_id }],
      createConsoleToken: [{ subject: 'x', write: false, days: 1 }],
      renewConsoleSession: [{ renewal: tokens.operator }],
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
      fsck: ['raw-objects', 'artifact-segments', 'references'].map((check) => ({ check })),
      listLocalFiles: [{}],
      exportBundle: [{ ids: space }],
      listMessages: [{ ...ofUser, conversation_id: ids.conversation_id ?? '' }],
    } as Record<string, Record<string, string>[]>,
  }
}

const GC = { candidateType: 'parse-artifact', count: 1, estimatedBytes: 1, idempotencyKey: 'k', reason: 'r' }
