import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chatAppRoutes } from '../../../src/contract/chat/apps.js'
import { chatRoutes } from '../../../src/contract/chat/routes.js'
import { gatewayRoutes } from '../../../src/contract/gateway/routes.js'
import { type JsonSchema, resolveRef } from '../../../src/contract/json-schema.js'
import type { RouteDefinition } from '../../../src/contract/route.js'
import { type Planted, plant, requestsOf } from '../../conformance/planted.js'
import { sample, schemaOf } from '../../conformance/samples.js'
import { bodyOf, type EdgeRequest, startEdge, type TestEdge } from '../../helpers/daemon.js'
import { ADA, ingest } from '../../helpers/engine.js'

/** Part of each hostile text, and of no SQL statement of ours. */
const MARK = 'zq7'
const HOSTILE = [
  `${MARK}' OR '1'='1' --`,
  `${MARK}"); DROP TABLE documents; SELECT ("`,
  `%${MARK}_%' UNION SELECT credentials FROM sources --`,
  `$.${MARK}[*]."a"'||(SELECT 1)||'`,
]
const TEMPLATES = [`\${${MARK}} {{${MARK}}} {{7919*7907}} %s%n$&$1$\`$' #{7919*7907} <%= 7919*7907 %>`]
/** These would remove what the other routes are asked about. */
const ENDS = ['deleteKnowledgeSpace', 'deleteSource', 'deleteChatApp', 'stopDaemon']

const routes: readonly RouteDefinition[] = [...gatewayRoutes, ...chatAppRoutes, ...chatRoutes].filter(
  ({ scope, id }) => scope !== 'public' && !ENDS.includes(id),
)

let edge: TestEdge
let planted: Planted
const statements = new Set<string>()

beforeAll(async () => {
  for (const name of ['prepare', 'exec'] as const) {
    const plain: (this: unknown, sql: string) => unknown = Sqlite.prototype[name]
    vi.spyOn(Sqlite.prototype, name).mockImplementation(function (this: unknown, sql: string) {
      statements.add(sql)
      return plain.call(this, sql) as never
    })
  }
  edge = await startEdge({ settings: { egressAllow: ['127.0.0.2'] } })
  planted = await plant(edge)
}, 120_000)
afterAll(async () => {
  vi.restoreAllMocks()
  await edge.end()
})

/**
 * Values that fit a schema except for one hostile text, in the position of each text of the schema in turn, keys
 * included.
 */
function withText(root: JsonSchema, schema: JsonSchema, text: string, base?: unknown): unknown[] {
  const at = resolveRef(root, schema)
  if (at.anyOf !== undefined) return at.anyOf.flatMap((one) => withText(root, one, text))
  if (at.enum !== undefined) return [text]
  if (at.type === 'string') return [text]
  if (at.type === 'array') return withText(root, at.items ?? {}, text).map((item) => [item])
  if (at.type !== 'object') return []
  const whole: object = { ...(sample(root, at) as object), ...(base as object | undefined) }
  const inner = Object.entries(at.properties ?? {}).flatMap(([name, property]) =>
    withText(root, property, text).map((value) => ({ ...whole, [name]: value })),
  )
  return at.additionalProperties === false ? inner : [...inner, { ...whole, [text]: text }]
}

interface Asked {
  path: string
  sent: EdgeRequest
}

/** One request for each position of a route that accepts text. */
function hostileRequests(route: RouteDefinition, text: string): Asked[] {
  const [plain] = requestsOf(route, planted, { bodies: {}, queries: {} })
  if (plain === undefined) return []
  const [path = '', query = ''] = plain.path.split('?')
  const parts = [...route.path.matchAll(/\{(\w+)\}/g)].map(([part]) => part)
  const values = path.split('/')
  const asked: Asked[] = parts.map((part) => {
    const place = route.path.split('/').indexOf(part)
    return {
      path: values.map((value, n) => (n === place ? encodeURIComponent(text) : value)).join('/'),
      sent: plain.sent,
    }
  })
  // A DELETE must not remove what other tests use.
  if (route.method === 'DELETE') return asked
  const given = Object.fromEntries(new URLSearchParams(query))
  if (route.query !== undefined) {
    const schema = schemaOf(route.query, 'query')
    for (const one of withText(schema, schema, text, given)) {
      const search = new URLSearchParams(
        Object.entries(one as object).map(([key, value]) => [key, String(value)] as [string, string]),
      )
      asked.push({ path: `${path}?${search}`, sent: plain.sent })
    }
  }
  if (route.body !== undefined) {
    const schema = schemaOf(route.body, 'body')
    for (const json of withText(schema, schema, text, plain.sent.json)) asked.push({ path: plain.path, sent: { json } })
  }
  if (route.multipart !== undefined) {
    const form = new FormData()
    form.append(route.multipart.file.name, new File([text], text))
    asked.push({ path: plain.path, sent: { body: form } })
  }
  return asked
}

async function sendAll(route: RouteDefinition, text: string): Promise<Response[]> {
  const token = route.scope === 'application' ? planted.key : edge.tokens.ada
  const answers: Response[] = []
  for (const { path, sent } of hostileRequests(route, text)) {
    const response = await edge.send(route.method, path, { ...sent, token })
    const body = await response.text()
    // A provider that is not configured is reported with 503.
    const isNamed = response.headers.get('x-error-code') === 'provider-not-configured'
    const asked = `${route.method} ${path} ${JSON.stringify(sent)}: ${body.slice(0, 300)}`
    expect(isNamed ? 400 : response.status, asked).toBeLessThan(500)
    expect(body).not.toMatch(/SQLITE|sqlite error|syntax error|no such (?:table|column)/i)
    // The value of a template that was evaluated.
    if (TEMPLATES.includes(text)) expect(body).not.toContain('62615533')
    answers.push(response)
  }
  return answers
}

describe('A68, A74: texts with a meaning in SQL, JSON paths or templates', () => {
  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'cause no error of 500 or SQL error as input of %s',
    async (_title, route) => {
      for (const text of [...HOSTILE, ...TEMPLATES]) await sendAll(route, text)
    },
    60_000,
  )

  test('appear in no SQL statement and leave the database unchanged', async () => {
    expect(statements.size).toBeGreaterThan(100)
    expect([...statements].filter((sql) => sql.includes(MARK))).toEqual([])
    for (const id of planted.documents) {
      const path = `/knowledge-spaces/${planted.space}/documents/${id}`
      expect((await edge.send('GET', path, { token: edge.tokens.ada })).status).toBe(200)
    }
    expect(Object.prototype).not.toHaveProperty(MARK)
  })
})

describe('A68: wildcards of SQL and patterns', () => {
  const NAMES = ['100% sure.md', '100x sure.md', 'a_b.md', 'acb.md', `o'brien.md`, 'star*.md']
  let space = ''
  beforeAll(async () => {
    space = (await edge.engine.spaces.create(ADA, { name: 'Signs', slug: 'signs' })).id
    await ingest(
      edge.engine,
      ADA,
      space,
      Object.fromEntries(NAMES.map((name) => [name, `# ${name}\n\nSaid of ${name}`])),
    )
  })
  const found = async (query: Record<string, string>) => {
    const search = new URLSearchParams({ path: '/knowledge/documents', limit: '50', ...query })
    const response = await edge.send('GET', `/knowledge-spaces/${space}/fs/find?${search}`, { token: edge.tokens.ada })
    return [...new Set((await bodyOf<{ items: { name: string }[] }>(response)).items.map(({ name }) => name))]
  }

  test.each([
    ['%', ['100% sure.md']],
    ['_', ['a_b.md']],
    [`'`, [`o'brien.md`]],
    ['*', ['star*.md']],
    ['a_b', ['a_b.md']],
    [`' OR 1=1 --`, []],
  ])('match literally in the search for names: %s', async (nameContains, names) => {
    expect(await found({ nameContains })).toEqual(names)
  })

  test.each([
    ['%', ['100% sure.md']],
    ['a_b', ['a_b.md']],
    [`o'brien`, [`o'brien.md`]],
  ])('match literally in the search for texts: %s', async (q, names) => {
    const search = new URLSearchParams({ path: '/knowledge/documents', limit: '50', q })
    const response = await edge.send('GET', `/knowledge-spaces/${space}/fs/grep?${search}`, { token: edge.tokens.ada })
    const { matches } = await bodyOf<{ matches: { snippet: string }[] }>(response)
    expect(matches.length).toBeGreaterThan(0)
    expect(
      matches.map(({ snippet }) => snippet).filter((snippet) => !names.some((name) => snippet.includes(name))),
    ).toEqual([])
  })

  test.each(['$.a', '$', '$[0]', '$.*', `a'."b`, 'sourceId'])(
    'match only metadata keys of this exact name: %s',
    async (metadataKey) => {
      expect(await found({ metadataKey, metadataValue: 'x' })).toEqual([])
    },
  )
})

describe('A74: templates and replacement patterns', () => {
  test('come back unchanged in names and texts', async () => {
    const text = `\${7*7} {{name}} %s $& $1 $\` $' \\1`
    const token = edge.tokens.ada
    const space = await bodyOf<{ id: string; name: string }>(
      await edge.send('POST', '/knowledge-spaces', { token, json: { name: text, slug: 'literal', description: text } }),
    )
    expect(space).toMatchObject({ name: text, description: text })
    await ingest(edge.engine, ADA, space.id, {
      'a.md': `# Notes\n\nThe sign of the guild is ${text} and nothing else.`,
    })
    const answer = await edge.send('POST', '/queries', {
      token,
      json: { knowledgeSpaceId: space.id, query: 'What is the sign of the guild?' },
    })
    const told = [...(await answer.text()).matchAll(/event: answer\.delta\ndata: (.*)/g)]
      .map(([, data]) => JSON.parse(data ?? '{}').delta)
      .join('')
    expect(told.replaceAll('\\', '')).toContain(text.replaceAll('\\', ''))
  })
})
