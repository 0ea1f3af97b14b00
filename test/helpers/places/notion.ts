import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RemoteServer } from './place.js'

const WORKSPACE = { workspace_id: '11111111-2222-4333-8444-555555555555', workspace_name: 'Harbour' }

interface Block {
  id: string
  type: string
  has_children: boolean
  [key: string]: unknown
}

interface NotionPage {
  id: string
  title: string
  edited: string
  blocks: Block[]
  properties: Record<string, unknown>
}

export interface NotionServer extends RemoteServer {
  pages: Map<string, NotionPage>
  /** children of blocks, by the block's id */
  children: Map<string, Block[]>
  /** responses to send before the right ones */
  refusals: { status: number; headers?: Record<string, string> }[]
  /** maximal number of items in a response */
  pageSize: number
}

/**
 * Starts a server with the part of Notion's HTTP API for reading pages: `/v1/users/me`, `/v1/search`, `/v1/pages/{id}` and
 * `/v1/blocks/{id}/children`, with its errors, cursors and `Notion-Version`.
 */
export async function startNotion(): Promise<NotionServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    handle(place, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve))
  const { port } = server.address() as AddressInfo
  let clock = Date.UTC(2026, 0, 1)
  const place: NotionServer = {
    type: 'connector',
    uri: `http://127.0.0.2:${port}/`,
    requests,
    refusals: [],
    pageSize: 100,
    pages: new Map(),
    children: new Map(),
    metadata: { provider: 'notion', credentials: { token: 'secret' } },
    refusedMetadata: { provider: 'notion', credentials: { token: 'wrong' } },
    async put(name, text) {
      clock += 60_000
      place.pages.set(name, {
        id: idOf(name),
        title: name.replace(/\.md$/, ''),
        edited: new Date(clock).toISOString(),
        properties: {},
        blocks: text.split('\n\n').map((part) => makeBlock('paragraph', { rich_text: makeRichText(part) })),
      })
    },
    remove: async (name) => void place.pages.delete(name),
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return place
}

let blockCount = 0
export function makeBlock(type: string, value: Record<string, unknown>, hasChildren = false): Block {
  return { object: 'block', id: idOf(`block ${blockCount++}`), type, has_children: hasChildren, [type]: value }
}

export function makeRichText(text: string, annotations: Record<string, boolean> = {}, href: string | null = null) {
  const marks = { bold: false, italic: false, strikethrough: false, underline: false, code: false, color: 'default' }
  return [
    {
      type: 'text',
      text: { content: text, link: null },
      annotations: { ...marks, ...annotations },
      plain_text: text,
      href,
    },
  ]
}

function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return hex.slice(0, 32).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}

function handle(place: NotionServer, request: IncomingMessage, response: ServerResponse): unknown {
  const send = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  const fail = (status: number, code: string, headers?: Record<string, string>) =>
    send(status, { object: 'error', status, code, message: `secret of the server: ${code}` }, headers)
  const url = new URL(request.url ?? '/', 'http://localhost')
  const refusal = place.refusals.shift()
  if (refusal !== undefined)
    return fail(refusal.status, refusal.status === 429 ? 'rate_limited' : 'internal_server_error', refusal.headers)
  if (request.headers.authorization !== 'Bearer secret') return fail(401, 'unauthorized')
  if (!/^\d{4}-\d\d-\d\d$/.test(String(request.headers['notion-version']))) return fail(400, 'missing_version')
  const list = (items: unknown[], cursor: string | null, pageSize: number) => {
    const from = cursor === null ? 0 : Number(cursor)
    const end = from + Math.min(pageSize, place.pageSize)
    const more = end < items.length
    send(200, {
      object: 'list',
      results: items.slice(from, end),
      next_cursor: more ? String(end) : null,
      has_more: more,
    })
  }
  if (url.pathname === '/v1/users/me')
    return send(200, { object: 'user', id: idOf('bot'), type: 'bot', name: 'reader', bot: { owner: {}, ...WORKSPACE } })
  if (url.pathname === '/v1/search' && request.method === 'POST') {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      const { start_cursor: cursor = null, page_size: size = 100, filter } = JSON.parse(text)
      if (filter?.property !== 'object' || filter.value !== 'page') return fail(400, 'validation_error')
      list([...place.pages.values()].map(toPage), cursor, size)
    })
    return undefined
  }
  const [, kind, id = ''] = /^\/v1\/(pages|blocks)\/([^/]+)(?:\/children)?$/.exec(url.pathname) ?? []
  const page = [...place.pages.values()].find((one) => one.id === id)
  if (kind === 'pages' && page !== undefined) return send(200, toPage(page))
  const children = kind === 'blocks' ? (page?.blocks ?? place.children.get(id)) : undefined
  if (children === undefined) return fail(404, 'object_not_found')
  return list(children, url.searchParams.get('start_cursor'), Number(url.searchParams.get('page_size') ?? 100))
}

function toPage({ id, title, edited, properties }: NotionPage) {
  return {
    object: 'page',
    id,
    created_time: edited,
    last_edited_time: edited,
    archived: false,
    in_trash: false,
    parent: { type: 'workspace', workspace: true },
    url: `https://www.notion.so/${id}`,
    properties: { ...properties, Name: { id: 'title', type: 'title', title: makeRichText(title) } },
  }
}
