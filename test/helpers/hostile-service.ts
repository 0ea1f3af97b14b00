import { chatRoutes } from '../../src/contract/chat/routes.js'
import { gatewayRoutes } from '../../src/contract/gateway/routes.js'
import { type JsonSchema, resolveRef, toJsonSchema } from '../../src/contract/json-schema.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { startTestServer, type TestServer } from './cli.js'

/**
 * Sequences that a terminal would obey: titles, links, the clipboard, the cursor, colours, in both widths, and text
 * direction.
 */
export const HOSTILE =
  'bad\u001b]0;owned\u0007\u001b]8;;https://evil.example\u0007x\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u0085\u202egnp\u2066\u061c\u200f\rfake\u0000\u007f\u2028end'
/** Matches any control character of `HOSTILE` in output. */
export const CONTROL_CHARACTERS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

export const SOME_ID = '018f0000-0000-7000-8000-000000000001'

/**
 * How hostile a service is: `text`: texts that users could have planted, with documented ids and choices; `all`: every
 * string and every key; `error`: every response is an error with hostile texts.
 */
export type Malice = 'text' | 'all' | 'error'

/** Choices that end a wait, if the enum has one. */
const FINAL_STATES = ['published', 'completed', 'succeeded']
const MAX_DEPTH = 6

export interface HostileService extends TestServer {
  malice: Malice
}

/** Starts a service that answers every operation of both contracts with a valid response full of hostile text. */
export async function startHostileService(): Promise<HostileService> {
  const routes = [...gatewayRoutes, ...chatRoutes].map((route: RouteDefinition) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/\{\w+\*\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  const server = await startTestServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    const matching = routes.filter(({ route, pattern }) => route.method === request.method && pattern.test(path))
    const found = matching.find(({ route }) => route.path === path) ?? matching[0]
    request.resume()
    if (service.malice === 'error' || found === undefined) {
      const body = { error: HOSTILE, code: HOSTILE, message: HOSTILE, status: 404, hint: HOSTILE, issues: [HOSTILE] }
      // Node refuses C0 in headers; C1 passes as one byte.
      response.writeHead(found === undefined ? 404 : 409, { 'x-trace-id': 'a\u009b31mb', 'x-ks-version': '9\u009b.9' })
      response.end(JSON.stringify(body))
      return
    }
    sendHostileBody(found.route, service.malice, response)
  })
  const service = Object.assign(server, { malice: 'text' as Malice })
  return service
}

function sendHostileBody(route: RouteDefinition, malice: Malice, response: import('node:http').ServerResponse): void {
  const [[status, body] = ['204', 'empty' as const]] = Object.entries(route.ok)
  const head = {
    'x-trace-id': SOME_ID,
    'x-session-id': SOME_ID,
    'x-query-run-id': SOME_ID,
    'x-ks-version': '9\u009b.9',
  }
  if (body === 'empty') response.writeHead(Number(status), head).end()
  else if (body === 'binary' || body === 'text')
    response.writeHead(200, { ...head, 'content-type': 'text/plain' }).end(HOSTILE)
  else if (body === 'event-stream') {
    response.writeHead(200, { ...head, 'content-type': 'text/event-stream' })
    for (const [event, schema] of Object.entries(route.events ?? {})) {
      if (event === 'ping' || /error/.test(event)) continue
      const data = makeHostileValue(toJsonSchema(schema, 'output'), malice)
      response.write(`event: ${event}\ndata: ${JSON.stringify({ event, ...(data as object) })}\n\n`)
    }
    response.end()
  } else {
    const type = { 'content-type': 'application/json' }
    response
      .writeHead(Number(status), { ...head, ...type })
      .end(JSON.stringify(makeHostileValue(toJsonSchema(body, 'output'), malice)))
  }
}

/** Makes a value of a schema that is hostile in every free string. */
export function makeHostileValue(root: JsonSchema, malice: Malice, schema = root, key = '', depth = 0): unknown {
  const node = resolveRef(root, schema)
  const inner = (inside: JsonSchema, name = key) => makeHostileValue(root, malice, inside, name, depth + 1)
  if (node.const !== undefined) return malice === 'all' && typeof node.const === 'string' ? HOSTILE : node.const
  if (node.enum !== undefined) {
    const ended = FINAL_STATES.find((value) => node.enum?.includes(value))
    return malice === 'all' && ended === undefined ? HOSTILE : (ended ?? node.enum[0])
  }
  const [first] = node.anyOf ?? node.oneOf ?? []
  if (first !== undefined) return inner(first)
  if (node.type === 'string') return makeHostileText(node, malice, key)
  if (node.type === 'integer' || node.type === 'number') return node.minimum ?? 1
  if (node.type === 'boolean') return true
  if (node.type === 'null') return null
  if (node.type === 'array') return depth > MAX_DEPTH ? [] : [inner(node.items ?? {}), inner(node.items ?? {})]
  const properties = Object.entries(node.properties ?? {}).filter(([name]) => !/^next|^cursor$|^has_more$/.test(name))
  const { additionalProperties: additional } = node
  const isOpen =
    additional === true || typeof additional === 'object' || (node.properties === undefined && additional !== false)
  const extra =
    isOpen && depth <= MAX_DEPTH ? [[HOSTILE, typeof additional === 'object' ? inner(additional) : HOSTILE]] : []
  return Object.fromEntries([...properties.map(([name, property]) => [name, inner(property, name)]), ...extra])
}

function makeHostileText(node: JsonSchema, malice: Malice, key: string): string {
  if (malice === 'all') return HOSTILE
  if (key === 'stage') return 'published'
  if (node.format === 'uuid' || /(^id|Id|_id)$/.test(key)) return SOME_ID
  if (node.format === 'date-time' || /At$/.test(key)) return '2026-01-01T00:00:00.000Z'
  return HOSTILE
}
