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

/**
 * Not one write but many steps, each of which finds what was done before: a repeat does again what there is to do. Or
 * nothing is written at all.
 */
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

/** Does `work`, and leaves the data directory as a kill would that comes when all of it was done and nobody was told. */
async function killedBefore<T>(work: () => Promise<T>): Promise<{ value: T; dataDir: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ks-killed-'))
  const { idempotency } = edge.engine
  const { finish } = idempotency
  let copies = 0
  idempotency.finish = async (...args) => {
    copies++
    // the indexes are written by a process of their own and are built anew
    const names = readdirSync(edge.dataDir).filter((name) => name !== 'indexes')
    // by another process: one that closes a file of a database loses its own locks on it
    execaSync('cp', ['-r', ...names, dataDir], { cwd: edge.dataDir })
    if (backend === 'pg') copyDatabase(edge.dataDir, dataDir)
    // who holds the lock of the killed next knows that it is gone
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

/** Rows of what people make and see, by table. */
function counted(dataDir: string): Record<string, unknown> {
  const tables = ['documents', 'sources', 'golden_questions', 'graph_entities', 'graph_relations', 'semantic_views']
  const rows = rowsOf(dataDir)
  return Object.fromEntries(tables.map((name) => [name, rows.value(`SELECT count(*) FROM ${name}`)]))
}

test.each(WRITES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'F10: a daemon that is killed between the effect of %s and its answer gives that answer to the repeat',
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

/** The answer as it is kept with its effect: without what is shown once, and what shows only later. */
function kept({ id, shownOnce = [] }: RouteDefinition, body: string): string {
  if (id === 'deleteDocuments') return body.replaceAll('"objectDeleted":true', '"objectDeleted":false')
  if (shownOnce.length === 0) return body
  return JSON.stringify({ ...JSON.parse(body), ...Object.fromEntries(shownOnce.map((name) => [name, null])) })
}
