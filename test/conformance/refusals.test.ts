import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gatewayRoutes } from '../../src/contract/gateway/routes.js'
import { needsBody, type RouteDefinition } from '../../src/contract/route.js'
import { type EdgeRequest, startEdge, type TestEdge } from '../helpers/daemon.js'
import { type Edge, edges, place, SOME_UUID, sample, schemaOf, withEdge } from './samples.js'

const routes: readonly RouteDefinition[] = gatewayRoutes
const guarded = routes.filter(({ scope }) => scope !== 'public')
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** Rules over two keys or over data of the space: no single value satisfies them. */
const BEYOND_SHAPE = [
  /exactly one of (query or traceId|documentId or path)/,
  /must be one of modes/,
  /must not repeat/,
  /two questions have the id|no questions to run/,
  /must name a resource/,
  /must be in \/workspaces/,
]
/** Bodies with rules that a schema cannot express. */
const BODIES: Record<string, unknown> = {
  reindexDocuments: { documentIds: [SOME_UUID] },
  createSource: { name: 'x', type: 'upload', uri: 'https://example.com/' },
  fsWrite: { path: '/workspaces/a/b', content: 'x' },
  searchSpace: { query: 'x' },
  explainQuery: { query: 'x', documentId: SOME_UUID },
}
/** Values of path parts that are not ids. */
const PATH_VALUES: Record<string, string> = { version: '1', itemKey: `sha256:${'a'.repeat(64)}` }
const PREFIXES = [...new Set(guarded.map(({ path }) => path.split('/')[1]))]

let edge: TestEdge
let spaceId = ''

beforeAll(async () => {
  edge = await startEdge()
  const made = await edge.send('POST', '/knowledge-spaces', { token: edge.tokens.ada, json: { name: 'A', slug: 'a' } })
  spaceId = (await json(made)).id
})
afterAll(() => edge.end())

const title = (route: RouteDefinition) => `${route.method} ${route.path}`

function pathOf(route: RouteDefinition, changes: Record<string, string> = {}): string {
  return route.path.replace(/\{(\w+)\*?\}/g, (_whole, name: string) => {
    const value =
      changes[name] ?? (route.path.startsWith('/knowledge-spaces/{id}') && name === 'id' ? spaceId : undefined)
    return encodeURIComponent(value ?? PATH_VALUES[name] ?? SOME_UUID)
  })
}

/** The token of a caller who may call the operation. */
const tokenFor = ({ only }: RouteDefinition) => (only === 'operator' ? edge.tokens.operator : edge.tokens.ada)

async function json(response: Response) {
  return JSON.parse(await response.text())
}

/** Every refusal has exactly one sentence, a code in a header, and a status that the route declares. */
async function refusal(
  response: Response,
  route?: RouteDefinition,
): Promise<{ status: number; error: string; code: string }> {
  const body = await json(response)
  expect(Object.keys(body)).toEqual(['error'])
  expect(body.error).toMatch(/^\S.*[^.]$/)
  expect(response.headers.get('x-error-code')).toMatch(/^[a-z]+(-[a-z]+)*$/)
  expectHeaders(response)
  if (route !== undefined) expect([...route.errors, 401, 403]).toContain(response.status)
  return { status: response.status, error: body.error, code: response.headers.get('x-error-code') ?? '' }
}

function expectHeaders(response: Response): void {
  expect(response.headers.get('x-trace-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
  expect(response.headers.get('x-ks-version')).toBe('0.0.0')
  expect(response.headers.get('x-ks-instance')).toBe('test-instance')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
}

/** The required query of a route. */
function queryOf(route: RouteDefinition, path: (string | number)[] = [], value?: unknown): string {
  if (route.query === undefined) return ''
  const base = sample(schemaOf(route.query, 'query'))
  const values = path.length === 0 ? base : place(base, path, value)
  const text = new URLSearchParams(
    Object.entries(values as Record<string, unknown>).map(([name, each]): [string, string] => [name, String(each)]),
  )
  return `?${text}`
}

function requestOf(route: RouteDefinition): EdgeRequest {
  if (route.body !== undefined) return { json: bodyOf(route) }
  if (route.multipart === undefined) return {}
  const form = new FormData()
  form.append(route.multipart.file.name, new File(['# One\n\nText.'], 'one.md'))
  return { body: form }
}

function bodyOf(route: RouteDefinition): unknown {
  return BODIES[route.id] ?? sample(schemaOf(route.body!, 'body'))
}

describe('A01: without a token', () => {
  test.each(PREFIXES)('existing and unknown paths under /%s get 401', async (prefix) => {
    for (const path of [`/${prefix}/no/such/thing`, `/${prefix}`, `/${prefix}/`]) {
      const { status } = await refusal(await edge.send('GET', path))
      expect(status).toBe(401)
    }
    const { status } = await refusal(await edge.send('GET', `/${prefix}/no/such/thing`, { token: edge.tokens.ada }))
    expect(status).toBe(404)
  })
})

describe('a wrong method', () => {
  const paths = [...new Set(routes.map(({ path }) => path))]
  test.each(paths)('on %s gets 405 with the allowed methods', async (path) => {
    const known = routes.filter((route) => route.path === path)
    const served: string[] = known.map(({ method }) => method)
    const allowed = [...served, ...(served.includes('GET') ? ['HEAD'] : [])].sort()
    for (const method of [...METHODS, 'HEAD', 'OPTIONS'].filter((each) => !allowed.includes(each))) {
      const response = await edge.send(method, pathOf(known[0]!), { token: edge.tokens.ada })
      expect(response.status, method).toBe(405)
      expect(response.headers.get('allow')).toBe(allowed.join(', '))
    }
  })
})

describe('an invalid id in a path', () => {
  const withParams = guarded.filter(({ params }) => params !== undefined)
  test.each(withParams.map((route) => [title(route), route] as const))('gets 404 at %s', async (_title, route) => {
    for (const [name, property] of Object.entries(schemaOf(route.params!, 'body').properties ?? {})) {
      if (property.format !== 'uuid' && name !== 'version') continue
      for (const value of ['not-a-uuid', '..%2f..', '0', `${SOME_UUID}x`]) {
        const path = pathOf(route, { [name]: value }) + queryOf(route)
        const { status } = await refusal(
          await edge.send(route.method, path, { ...requestOf(route), token: tokenFor(route) }),
          route,
        )
        expect(status, `${name} ${value}`).toBe(404)
      }
    }
  })
})

describe('A65: query parameters of operations', () => {
  const withQuery = routes.filter(({ query }) => query !== undefined)
  test.each(withQuery.map((route) => [title(route), route] as const))(
    'follow their schema at %s: the last valid values pass, the first invalid values get 400',
    async (_title, route) => {
      for (const each of edges(schemaOf(route.query!, 'query'))) {
        const path = pathOf(route) + queryOf(route, each.path, each.value)
        await expectVerdict(
          await edge.send(route.method, path, { ...requestOf(route), token: tokenFor(route) }),
          each,
          route,
        )
      }
      const twice = `${pathOf(route)}${queryOf(route, ['same'], 1)}&same=1`
      const answer = await refusal(await edge.send(route.method, twice, { token: tokenFor(route) }), route)
      expect(answer).toMatchObject({ status: 400, error: '"same" is given more than once' })
    },
  )

  const paged = routes.filter(({ query }) => query?.shape.cursor !== undefined)
  test.each(paged.map((route) => [title(route), route] as const))(
    'refuse a cursor that the service did not create at %s',
    async (_title, route) => {
      for (const cursor of ['x', 'AAAA', Buffer.from('["[[1],\\"x\\",null]","y"]').toString('base64url')]) {
        const path = pathOf(route) + queryOf(route, ['cursor'], cursor)
        const response = await edge.send(route.method, path, { token: tokenFor(route) })
        const { status } = await refusal(response, route)
        expect(
          status === 400 || (status === 404 && /^\/(queries|research-tasks)\/\{|golden-runs\/\{/.test(route.path)),
        ).toBe(true)
      }
    },
  )
})

describe('A23: request bodies of operations', () => {
  const withBody = routes.filter(({ body }) => body !== undefined)
  test.each(withBody.map((route) => [title(route), route] as const))(
    'follow their schema at %s: the last valid values pass, the first invalid values get 400',
    async (_title, route) => {
      const root = schemaOf(route.body!, 'body')
      for (const each of edges(root)) {
        const sent = { json: withEdge(root, bodyOf(route), each), token: tokenFor(route) }
        await expectVerdict(await edge.send(route.method, pathOf(route), sent), each, route)
      }
    },
  )

  test.each(withBody.map((route) => [title(route), route] as const))(
    'must be JSON objects at %s',
    async (_title, route) => {
      const token = tokenFor(route)
      const type = { 'content-type': 'application/json' }
      const bad: [EdgeRequest, string][] = [
        [{ body: '{"a":', headers: type }, 'malformed-json'],
        [{ body: '', headers: type }, 'malformed-json'],
        [{ body: Buffer.from([0x7b, 0xff, 0x7d]), headers: type }, 'malformed-json'],
        [{ body: '[]', headers: type }, 'invalid-request'],
        [{ body: 'null', headers: type }, 'invalid-request'],
        [{ body: '[1e400]', headers: type }, 'invalid-request'],
        [{ body: '{"__proto__":{}}', headers: type }, 'invalid-request'],
        [{ body: '['.repeat(100_000), headers: type }, 'invalid-request'],
        [{ body: '{}', headers: { 'content-type': 'text/plain' } }, 'invalid-request'],
        [{ body: '{}', headers: { 'content-type': 'application/json\ta' } }, 'invalid-request'],
        [{ body: '{}', headers: { 'content-type': 'application/json; charset=latin1' } }, 'invalid-request'],
        [{ body: '{}', headers: { ...type, 'content-encoding': 'gzip' } }, 'invalid-request'],
      ]
      for (const [sent, code] of bad) {
        // This body allows unknown keys.
        if (sent.body === '{"__proto__":{}}' && route.id === 'createResearchTask') continue
        const answer = await refusal(await edge.send(route.method, pathOf(route), { ...sent, token }), route)
        expect(answer, JSON.stringify(sent)).toMatchObject({ status: 400, code })
      }
    },
  )

  test.each(withBody.map((route) => [title(route), route] as const))(
    'may be omitted at %s, where all keys are optional',
    async (_title, route) => {
      const answer = await edge.send(route.method, pathOf(route), { token: tokenFor(route) })
      const empty = await edge.send(route.method, pathOf(route), { token: tokenFor(route), json: {} })
      expect(answer.status).toBe(empty.status)
      if (needsBody(route)) expect(await refusal(answer, route)).toMatchObject({ status: 400, code: 'invalid-request' })
    },
  )

  test('A63: accept any spelling of the JSON content type', async () => {
    for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"']) {
      const sent = { body: '{"name":"x","slug":"a"}', headers: { 'content-type': type }, token: edge.tokens.ada }
      expect((await edge.send('POST', '/knowledge-spaces', sent)).status).toBe(409)
    }
  })

  test('may have at most 4 MiB', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(4 * 1024 * 1024), slug: 'a' })
    const sent = { body, headers: { 'content-type': 'application/json' }, token: edge.tokens.ada }
    const answer = await refusal(await edge.send('POST', '/knowledge-spaces', sent))
    expect(answer).toMatchObject({ status: 413, code: 'body-too-large' })
  })
})

async function expectVerdict(response: Response, each: Edge, route: RouteDefinition): Promise<void> {
  const about = `${each.path.join('.')}: ${each.rule}, ${JSON.stringify(each.value)?.slice(0, 60)}`
  const shape = response.headers.get('x-error-code') === 'invalid-request'
  if (each.fits) {
    // This stream lasts for the requested time.
    const goesOn = response.ok && route.id === 'streamChanges'
    if (goesOn) await response.body?.cancel()
    const text = goesOn ? '' : await response.text()
    if (shape && BEYOND_SHAPE.some((rule) => rule.test(text))) return
    expect([...Object.keys(route.ok).map(Number), ...route.errors], about).toContain(response.status)
    expect(shape, `${about}: ${text}`).toBe(false)
    return
  }
  const { status, error } = await refusal(response, route)
  expect({ status, shape }, about).toEqual({ status: 400, shape: true })
  const key =
    each.rule === 'unknown key'
      ? `unknown key "stranger"`
      : String(each.path.findLast((part) => typeof part === 'string'))
  expect(error, about).toContain(key)
}
