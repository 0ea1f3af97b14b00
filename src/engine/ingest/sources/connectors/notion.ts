import type { Client } from '@notionhq/client'
import { KsError } from '../../../../contract/errors.js'
import { sleep } from '../../../../lib/abort.js'
import { isRecord } from '../../../../lib/json/values.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { EgressFailure, type SafeFetch } from '../../../models/index.js'
import { openReadingThread } from '../reading.js'
import type { ReadingCalls } from '../reading-calls.js'
import type { ReadingThread } from '../thread.js'
import {
  type ConnectorAccess,
  type ConnectorModule,
  ItemFailure,
  type PageConnection,
  type SourceLocation,
} from './connector.js'
import {
  assertCredentialKeys,
  assertParameters,
  getCredentialText,
  parseHttpUrl,
  toItemFailure,
  toLocationFailure,
} from './location.js'
import { getTitle, type NotionBlock } from './notion-markdown.js'

const SOURCE_NAME = 'a notion source'
const API = 'https://api.notion.com'
const SITES = /^(?:www\.|api\.)?notion\.(?:so|com|site)$/
const PAGE = 'page'
const PAGE_SIZE = 100
const MAX_PAGES = 10_000
const MAX_BLOCKS = 20_000
const MAX_DEPTH = 12
/** limits of one response, and of all responses for a page, which are parsed in one call */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
const MAX_PAGE_BYTES = 32 * 1024 * 1024
/** the API asks clients to wait with 429 and 529, mostly for a few seconds */
const MAX_ATTEMPTS = 5
const MAX_WAIT_MS = 60_000
const DEFAULT_WAIT_MS = 1000

/** The pages of a Notion workspace that are shared with an integration; rows of databases are pages too. */
export const notionConnector: ConnectorModule<PageConnection> = {
  check(location) {
    getApiUrl(location)
    getToken(location)
  },
  connect(location, access) {
    let loading: Promise<Client> | undefined
    const client = () => {
      loading ??= createClient(location, access)
      return loading
    }
    let reading: ReadingThread<ReadingCalls> | undefined
    const thread = () => {
      reading ??= openReadingThread()
      return reading
    }
    let workspace: Promise<{ workspaceId: string; workspaceName?: string }> | undefined
    const getWorkspace = () => {
      workspace ??= client().then(readWorkspace)
      return workspace
    }
    return {
      test: async () => void (await getWorkspace()),
      async list() {
        const about = await getWorkspace()
        const pages = await listPages(await client())
        return [{ ...about, total: pages.length, pages }]
      },
      async read({ pageId, workspaceId, type, name }) {
        if (workspaceId !== (await getWorkspace()).workspaceId || type !== PAGE)
          throw new ItemFailure('belongs to another workspace or type')
        return readPage(await client(), thread(), pageId, name)
      },
      close: async () => reading?.close(),
    }
  },
}

/** The address of the API; addresses of workspaces and pages are replaced by it. */
function getApiUrl(location: SourceLocation): string {
  assertParameters(location, [], SOURCE_NAME)
  const url = parseHttpUrl(location.uri, SOURCE_NAME)
  return SITES.test(url.hostname) || url.hostname.endsWith('.notion.site') ? API : url.href.replace(/\/+$/, '')
}

/** A source may be created before its credentials are known. */
function getToken({ credentials }: SourceLocation): string | undefined {
  assertCredentialKeys(credentials, ['token'], SOURCE_NAME)
  return getCredentialText(credentials, 'token')
}

async function createClient(location: SourceLocation, access: ConnectorAccess): Promise<Client> {
  const auth = getToken(location)
  if (auth === undefined)
    throw new KsError('not-configured', 'a notion source needs metadata.credentials with the token of an integration')
  const { Client: NotionClient } = await import('@notionhq/client')
  return new NotionClient({
    auth,
    baseUrl: getApiUrl(location),
    retry: false,
    timeoutMs: MAX_WAIT_MS * MAX_ATTEMPTS,
    logger: () => undefined,
    fetch: guardedFetch(access.fetch, access.signal),
  })
}

interface SentRequest {
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

/** The `fetch` of the client: the guarded one, which waits when the server asks for it. */
function guardedFetch(fetch: SafeFetch, signal: AbortSignal) {
  return async (url: string, { method = 'GET', headers = {}, body }: SentRequest = {}) => {
    if ((method !== 'GET' && method !== 'POST') || (body !== undefined && typeof body !== 'string'))
      throw new EgressFailure('a request that only reads')
    for (let attempt = 1; ; attempt++) {
      const response = await fetch.get(url, {
        method,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        signal,
        maxRedirects: 0,
        maxBytes: MAX_RESPONSE_BYTES,
        ...omitUndefined({ body }),
      })
      const mustWait = response.status === 429 || response.status === 529 || response.status === 503
      if (!mustWait || attempt === MAX_ATTEMPTS) {
        const text = response.body.toString('utf8')
        return {
          ok: response.status >= 200 && response.status < 300,
          status: response.status,
          headers: new Headers(response.headers),
          text: async () => text,
        }
      }
      await sleep(computeWaitMs(response.headers['retry-after'], attempt), signal)
    }
  }
}

/** Seconds or a date (RFC 9110, 10.2.3); doubles with each attempt where the server gives none. */
function computeWaitMs(retryAfter: string | undefined, attempt: number): number {
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter)
  const requestedMs = Number.isNaN(seconds) ? Date.parse(retryAfter ?? '') - Date.now() : seconds * 1000
  return Math.min(
    Number.isNaN(requestedMs) ? DEFAULT_WAIT_MS * 2 ** (attempt - 1) : Math.max(requestedMs, 0),
    MAX_WAIT_MS,
  )
}

async function readWorkspace(client: Client): Promise<{ workspaceId: string; workspaceName?: string }> {
  const me: unknown = await callApi(toLocationFailure, () => client.users.me({}))
  const bot = isRecord(me) && isRecord(me.bot) ? me.bot : {}
  const id = typeof bot.workspace_id === 'string' ? bot.workspace_id : isRecord(me) ? me.id : undefined
  if (typeof id !== 'string') throw new EgressFailure('a response that is not from Notion')
  return { workspaceId: id, ...(typeof bot.workspace_name === 'string' ? { workspaceName: bot.workspace_name } : {}) }
}

async function listPages(client: Client) {
  const pages = new Map<
    string,
    { pageId: string; pageName: string; type: string; parentId?: string; lastEditedTime?: string }
  >()
  const ask = (cursor: string | undefined) =>
    client.search({
      filter: { property: 'object', value: PAGE },
      page_size: PAGE_SIZE,
      ...omitUndefined({ start_cursor: cursor }),
    })
  for await (const found of listAll(toLocationFailure, ask)) {
    if (!isRecord(found) || found.object !== PAGE || typeof found.id !== 'string') continue
    if (found.archived === true || found.in_trash === true) continue
    const edited = found.last_edited_time
    pages.set(found.id, {
      pageId: found.id,
      pageName: getTitle(found.properties),
      type: PAGE,
      ...toParentId(found.parent),
      ...(typeof edited === 'string' ? { lastEditedTime: edited } : {}),
    })
    if (pages.size >= MAX_PAGES) break
  }
  return [...pages.values()]
}

function toParentId(parent: unknown): { parentId?: string } {
  if (!isRecord(parent)) return {}
  const id = parent.page_id ?? parent.data_source_id ?? parent.database_id ?? parent.block_id
  return typeof id === 'string' ? { parentId: id } : {}
}

async function readPage(client: Client, thread: ReadingThread<ReadingCalls>, pageId: string, name: string | undefined) {
  // ids become part of the URL
  if (!/^[0-9a-fA-F-]{32,36}$/.test(pageId)) throw new ItemFailure('does not exist')
  const page: unknown = await callApi(toItemFailure, () => client.pages.retrieve({ page_id: pageId }))
  if (!isRecord(page) || page.object !== PAGE) throw new EgressFailure('a response that is not from Notion')
  const blocks = await readBlocks(client, pageId, { blocks: MAX_BLOCKS, bytes: MAX_PAGE_BYTES }, 0)
  const { title, text } = await thread.call('notionPage', page.properties, blocks)
  const edited = page.last_edited_time
  return {
    pageName: title,
    path: `${(name ?? title).replace(/[\\/]/g, ' ') || 'Untitled'}.md`,
    isUnique: false,
    mimeType: 'text/markdown',
    content: Buffer.from(text),
    ...(typeof edited === 'string' ? { lastEditedTime: edited } : {}),
  }
}

/** The blocks below a block, with their descendants; a nested page is a separate page. */
async function readBlocks(
  client: Client,
  id: string,
  budget: { blocks: number; bytes: number },
  depth: number,
): Promise<NotionBlock[]> {
  const blocks: NotionBlock[] = []
  const ask = (cursor: string | undefined) =>
    client.blocks.children.list({
      block_id: id,
      page_size: PAGE_SIZE,
      ...omitUndefined({ start_cursor: cursor }),
    })
  for await (const block of listAll(toItemFailure, ask)) {
    if (!isRecord(block) || typeof block.type !== 'string' || typeof block.id !== 'string') continue
    budget.bytes -= JSON.stringify(block).length
    if (budget.blocks-- <= 0 || budget.bytes <= 0) throw new ItemFailure('has too many blocks')
    const isPage = block.type === 'child_page' || block.type === 'child_database'
    const below = block.has_children === true && !isPage && depth < MAX_DEPTH
    const children = below ? await readBlocks(client, block.id, budget, depth + 1) : []
    blocks.push({ type: block.type, value: block[block.type], children })
  }
  return blocks
}

interface NotionList {
  results: unknown[]
  next_cursor: string | null
  has_more: boolean
}

/** Every item of a list, page by page; stops at a server that repeats cursors. */
async function* listAll(
  problem: (status: number) => Error | undefined,
  ask: (cursor: string | undefined) => Promise<NotionList>,
) {
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const { results, has_more: more, next_cursor: next } = await callApi(problem, () => ask(cursor))
    yield* results
    cursor = more && next !== null && !seen.has(next) ? next : undefined
    if (cursor !== undefined) seen.add(cursor)
  } while (cursor !== undefined)
}

/** Converts errors of the client to our texts. */
async function callApi<T>(problem: (status: number) => Error | undefined, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof EgressFailure || error instanceof KsError) throw error
    const status = isRecord(error) && typeof error.status === 'number' ? error.status : undefined
    throw (
      (status === undefined ? undefined : problem(status)) ?? new EgressFailure('a response that is not from Notion')
    )
  }
}
