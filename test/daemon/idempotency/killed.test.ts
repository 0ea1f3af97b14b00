import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acceptsIdempotencyKey } from '../../../src/contract/openapi.js'
import type { RouteDefinition } from '../../../src/contract/route.js'
import { allRoutes } from '../../../src/contract/routes.js'
import { type Planted, plant, requestsOf } from '../../conformance/planted.js'
import { backend } from '../../helpers/backend.js'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'
import { copyDatabase, rowsOf } from '../../helpers/databases.js'
import { page, type Site, startSite } from '../../helpers/site.js'
import { type Ground, REQUESTS, type Wanted } from './requests.js'

const WRITES = (allRoutes as readonly RouteDefinition[]).filter(acceptsIdempotencyKey)
const SETTINGS = { egressAllow: ['127.0.0.2'] }

/** Operations of several steps that continue from the results so far when repeated, or that write nothing. */
const DONE_AGAIN = new Set([
  'checkDocuments',
  'testSource',
  'revokeToken',
  'triageFailedQueries',
  'crawlSource',
  'importSourcePages',
  'importSourceFiles',
  'materializeTopic',
  'extractEntities',
  'materializeCommunities',
  'fsckRepair',
  'gcExecute',
])

let edge: TestEdge
let planted: Planted
let site: Site
let ground: Ground

beforeAll(async () => {
  edge = await startEdge({ settings: SETTINGS })
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

/** Runs `work`, and copies the data directory as if the daemon was killed after it, before the response. */
async function killedBefore<T>(work: () => Promise<T>): Promise<{ value: T; dataDir: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ks-killed-'))
  const { idempotency } = edge.engine
  const { finish } = idempotency
  let copies = 0
  idempotency.finish = async (...args) => {
    copies++
    // A separate process writes the indexes; they are rebuilt.
    const names = readdirSync(edge.dataDir).filter((name) => name !== 'indexes')
    // A separate process copies: a process that closes a database file loses its own locks on it.
    execaSync('cp', ['-r', ...names, dataDir], { cwd: edge.dataDir })
    if (backend === 'pg') copyDatabase(edge.dataDir, dataDir)
    // The owner of the lock knows that the killed process has ended.
    await rowsOf(dataDir).run('DELETE FROM gateways')
    return finish(...args)
  }
  try {
    const value = await work()
    expect(copies, 'moments between the effect and its record').toBe(1)
    return { value, dataDir }
  } finally {
    idempotency.finish = finish
  }
}

async function send(to: TestEdge, route: RouteDefinition, { values, query, ...sent }: Wanted) {
  const { id = planted.space, ...ids } = values ?? {}
  const path = requestsOf(
    route,
    { space: id, ids: { ...planted.ids, job: id, task: id, ...ids } },
    { bodies: { [route.id]: [undefined] }, queries: { [route.id]: [query ?? {}] } },
  )[0]?.path
  const headers = { 'idempotency-key': `key of ${route.id}` }
  const response = await to.send(route.method, path ?? '', { token: edge.tokens.ada, ...sent, headers })
  return {
    status: response.status,
    isRepeated: response.headers.get('idempotency-replayed') === 'true',
    body: await response.text(),
  }
}

/** Numbers of rows by table. */
function counted(dataDir: string): Record<string, unknown> {
  const tables = ['documents', 'sources', 'golden_questions', 'graph_entities', 'graph_relations', 'semantic_views']
  const rows = rowsOf(dataDir)
  return Object.fromEntries(tables.map((name) => [name, rows.value(`SELECT count(*) FROM ${name}`)]))
}

test.each(WRITES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'F10: a daemon that is killed between the effect of %s and its response returns that response to a repeated request',
  async (_title, route) => {
    const prepare = REQUESTS[route.id]
    if (prepare === undefined) throw new Error(`no request is known that ${route.id} answers with a success`)
    const wanted = await prepare(ground)
    const { value: first, dataDir } = await killedBefore(() => send(edge, route, wanted))
    expect(Object.keys(route.ok), `${first.body} ${JSON.stringify(edge.log.slice(-2))}`).toContain(String(first.status))
    const before = counted(dataDir)
    const restarted = await startEdge({ settings: SETTINGS, dataDir })
    try {
      const again = await send(restarted, route, wanted)
      if (DONE_AGAIN.has(route.id)) expect(again.status, again.body).toBe(first.status)
      else expect(again).toEqual({ status: first.status, isRepeated: true, body: kept(route, first.body) })
      expect(counted(dataDir)).toEqual(before)
    } finally {
      await restarted.end()
    }
  },
  60_000,
)

/** The response as stored with its effect: without secrets that are shown once and values that are known later. */
function kept({ id, shownOnce = [] }: RouteDefinition, body: string): string {
  if (id === 'deleteDocuments') return body.replaceAll('"objectDeleted":true', '"objectDeleted":false')
  if (shownOnce.length === 0) return body
  return JSON.stringify({ ...JSON.parse(body), ...Object.fromEntries(shownOnce.map((name) => [name, null])) })
}
