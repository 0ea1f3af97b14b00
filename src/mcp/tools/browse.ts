import { z } from 'zod'
import {
  FsFindQuery,
  FsGrepQuery,
  ResourceType,
  type VirtualItem,
  type VirtualTree,
} from '../../contract/gateway/fs.js'
import { LIMITS } from '../../contract/limits.js'
import { count, positive } from '../../contract/primitives.js'
import { defined } from '../../lib/defined.js'
import { counted } from '../../lib/text/counted.js'
import { fitting } from '../budget.js'
import { oneLine, Writer } from '../content.js'
import { namedAs, ToolError } from '../failure.js'
import { cursor, maxTokens, nextCursor, space } from '../fields.js'
import { absenceIn, indexStateOf } from '../index-state.js'
import { atPath } from '../nearby.js'
import type { SpaceRef } from '../spaces.js'
import { READS, type ToolCall, tool } from '../tool.js'
import { parseUri, uriOf } from '../uri.js'

const NAMESPACES = ['sources', 'knowledge', 'evidence', 'workspaces']

const path = z
  .string()
  .min(1)
  .max(LIMITS.virtualPathBytes * 4)
  .describe(
    'Folder: /sources (documents by origin), /knowledge (sections of documents, topics, entities), /evidence, /workspaces (files of agents); or a ks:// address.',
  )
const limit = z.int().min(1).max(500).default(100).describe('Maximum number of entries.')

const entry = z.strictObject({
  name: z.string(),
  path: z.string(),
  uri: z.string(),
  kind: z.enum(['directory', 'resource']),
  type: ResourceType.optional(),
  id: z.string().optional(),
  version: positive.optional(),
  title: z.string().optional(),
  sizeBytes: count.optional(),
  updatedAt: z.string().optional(),
})
type Entry = z.output<typeof entry>

const listing = z.strictObject({
  space: z.string(),
  path: z.string(),
  entries: z.array(entry),
  degradedReasons: z.array(z.string()),
  nextCursor,
})

/** A page of any listing operation. */
interface Page<T> {
  items: readonly T[]
  nextCursor?: string | undefined
  degradedReasons?: string[] | undefined
}

/** Fetches a page, with an explanation if it is empty. */
async function pageWithMeaning<T>(
  call: ToolCall,
  { ref, path: at }: Place,
  what: string,
  ask: () => Promise<Page<T>>,
): Promise<{ page: Page<T>; nothing: string }> {
  const isEmpty = ({ items, nextCursor }: Page<T>) => items.length === 0 && nextCursor === undefined
  const first = await atPath(call.api, ref, at, ask)
  if (!isEmpty(first)) return { page: first, nothing: `${what} so far; the search is not complete.` }
  if (at.startsWith('/workspaces')) return { page: first, nothing: `${what}.` }
  const index = await indexStateOf(call.api, ref.id)
  // Documents published between the first page and the index state are found now.
  const page = index.isCurrent ? await ask() : first
  if (!isEmpty(page)) return { page, nothing: '' }
  const where = NAMESPACES.includes(at.slice(1)) ? undefined : `the content of ${oneLine(at)}`
  return {
    page,
    nothing: await absenceIn(call.api, ref.id, `${what}.`, { index, degraded: page.degradedReasons, where }),
  }
}

/** Fetches again with a smaller limit if not all items fit, so that the cursor matches the end of the result. */
async function fittingPage<T>(
  ask: (limit: number) => Promise<Page<T>>,
  limits: { limit: number; maxTokens: number },
  textOf: (item: T) => string,
): Promise<Page<T>> {
  const page = await ask(limits.limit)
  const count = fitting(page.items, limits.maxTokens, textOf)
  return count === page.items.length ? page : ask(count)
}

interface Place {
  ref: SpaceRef
  path: string
}

async function placeOf(call: ToolCall, text: string, name: string | undefined): Promise<Place> {
  if (!text.startsWith('ks://')) return { ref: await call.spaces.named(name), path: absolute(text) }
  const address = parseUri(text)
  if (address?.path === undefined)
    throw new ToolError('invalid-request', 'the path must be a folder', 'Give a path or a ks:// address of a folder.')
  return { ref: await call.spaces.named(address.space), path: absolute(address.path) }
}

function absolute(path: string): string {
  return `/${path.replace(/^\/+|\/+$/g, '')}`
}

/** The contract has no listing of the root; these are its entries. */
function rootOf(): Page<VirtualItem> {
  const items = NAMESPACES.map((name) => ({ name, path: `/${name}`, kind: 'directory' as const, metadata: {} }))
  return { items }
}

function entryOf(item: VirtualItem, space: string): Entry {
  const { title, sizeBytes, updatedAt } = item.metadata
  return {
    name: item.name,
    path: item.path,
    uri: uriOf({ space, path: item.path }),
    kind: item.kind,
    ...defined({ type: item.resourceType, id: item.targetId, version: item.version }),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof sizeBytes === 'number' ? { sizeBytes } : {}),
    ...(typeof updatedAt === 'string' ? { updatedAt } : {}),
  }
}

/** @param nothing text of an empty listing */
function listed(ref: SpaceRef, at: string, page: Page<VirtualItem>, nothing = 'Nothing.') {
  const entries = page.items.map((item) => entryOf(item, ref.slug))
  const degradedReasons = page.degradedReasons ?? []
  const writer = new Writer()
  for (const reason of degradedReasons) writer.line(`The list may be incomplete: ${reason}.`)
  writer.line(entries.length === 0 ? nothing : `${counted(entries.length, 'entry', 'entries')}:`)
  const lines = entries.map(({ kind, path: entryPath }) => oneLine(entryPath) + (kind === 'directory' ? '/' : ''))
  if (lines.length > 0) writer.content(lines.join('\n'))
  if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
  const data = { space: ref.slug, path: at, entries, degradedReasons, ...defined({ nextCursor: page.nextCursor }) }
  const files = entries.filter(({ kind, type }) => kind === 'resource' || type === 'document')
  return { text: writer.text(), data, links: files.map(({ uri, name }) => ({ uri, name })) }
}

export const list = tool({
  name: 'list',
  title: 'List a folder',
  description: 'List the entries of one folder of a space. `tree` shows several levels at once.',
  input: z.strictObject({ path: path.default('/sources'), space, limit, maxTokens, cursor }),
  output: () => listing,
  annotations: READS,
  run: async (args, call) => {
    const place = await placeOf(call, args.path, args.space)
    const { ref, path: at } = place
    if (at === '/') return listed(ref, at, rootOf())
    const ask = () =>
      fittingPage(
        async (limit) => {
          const query = { path: at, limit, ...defined({ cursor: args.cursor }) }
          return call.api.request('GET /knowledge-spaces/{id}/fs/ls', { path: { id: ref.id }, query })
        },
        args,
        (item) => item.path,
      )
    const { page, nothing } = await pageWithMeaning(call, place, 'Nothing is here', ask)
    return listed(ref, at, page, nothing)
  },
})

export const find = tool({
  name: 'find',
  title: 'Find files by name',
  description:
    'Find documents, folders and other entries below a folder by a part of their name, by type, or by a metadata field (such as filename, mimeType, title). To search their text, use `search` or `grep`.',
  input: z.strictObject({
    path: path.default('/sources'),
    space,
    nameContains: FsFindQuery.shape.nameContains.describe('Part of the name, ignoring case.'),
    type: ResourceType.optional(),
    metadataKey: FsFindQuery.shape.metadataKey,
    metadataValue: FsFindQuery.shape.metadataValue,
    limit,
    maxTokens,
    cursor,
  }),
  output: () => listing,
  annotations: READS,
  run: async (args, call) => {
    const place = await placeOf(call, args.path, args.space)
    const { ref, path: at } = place
    const { nameContains, metadataKey, metadataValue } = args
    const wanted = defined({ nameContains, metadataKey, metadataValue, resourceType: args.type, cursor: args.cursor })
    const ask = () =>
      fittingPage(
        async (limit) => {
          const query = { path: at, limit, ...wanted }
          return call.api.request('GET /knowledge-spaces/{id}/fs/find', { path: { id: ref.id }, query })
        },
        args,
        (item) => item.path,
      )
    const { page, nothing } = await pageWithMeaning(call, place, 'No name matches', ask)
    return listed(ref, at, page, nothing)
  },
})

const match = z.strictObject({
  path: z.string(),
  uri: z.string(),
  document: z.string().optional(),
  documentId: z.string().optional(),
  snippet: z.string(),
  start: count,
  end: count,
})

export const grep = tool({
  name: 'grep',
  title: 'Search exact text',
  description:
    'Search the text below a folder for an exact string, or for a regular expression with the prefix `re:` (RE2 syntax). Use it for names, numbers, codes and identifiers; `search` finds by meaning.',
  input: z.strictObject({
    pattern: FsGrepQuery.shape.q.describe('String, or `re:` and a regular expression.'),
    path: path.default('/knowledge'),
    space,
    limit,
    maxTokens,
    cursor,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      matches: z.array(match),
      isTruncated: z.boolean().describe('whether the search stopped early'),
      degradedReasons: z.array(z.string()),
      nextCursor,
    }),
  annotations: READS,
  run: async (args, call) => {
    const place = await placeOf(call, args.path, args.space)
    const { ref, path: at } = place
    let isTruncated = false
    const ask = () =>
      fittingPage(
        async (limit) => {
          const query = { path: at, q: args.pattern, limit, ...defined({ cursor: args.cursor }) }
          const found = await call.api
            .request('GET /knowledge-spaces/{id}/fs/grep', { path: { id: ref.id }, query })
            .catch(namedAs({ q: 'pattern' }))
          isTruncated = found.truncated
          return { ...found, items: found.matches }
        },
        args,
        (item) => item.path + item.snippet,
      )
    const { page, nothing } = await pageWithMeaning(call, place, 'No match', ask)
    const matches = page.items.map(({ path: file, snippet, startOffset: start, endOffset: end, metadata }) => ({
      path: file,
      uri: uriOf({ space: ref.slug, path: file }),
      ...(typeof metadata.filename === 'string' ? { document: metadata.filename } : {}),
      ...(typeof metadata.documentId === 'string' ? { documentId: metadata.documentId } : {}),
      snippet,
      start,
      end,
    }))
    const degradedReasons = page.degradedReasons ?? []
    const writer = new Writer()
    for (const reason of degradedReasons) writer.line(`Not everything could be searched: ${reason}.`)
    if (matches.length > 0) writer.line(`${counted(matches.length, 'match', 'matches')}:`)
    else if (isTruncated) writer.line('No match so far; the search is not complete.')
    else writer.line(nothing)
    for (const one of matches) writer.line(one.uri).content(one.snippet)
    if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
    else if (isTruncated) writer.line('The search stopped early: give a narrower path or pattern.')
    const data = { space: ref.slug, matches, isTruncated, degradedReasons, ...defined({ nextCursor: page.nextCursor }) }
    return {
      text: writer.text(),
      data,
      links: matches.map(({ uri, document, path: name }) => ({ uri, name: document ?? name })),
    }
  },
})

export const tree = tool({
  name: 'tree',
  title: 'Show a tree of folders',
  description: 'Show a folder and its descendants, several levels at once, as indented lines.',
  input: z.strictObject({
    path: path.default('/sources'),
    space,
    depth: z.int().min(1).max(LIMITS.treeDepth).default(3),
    limit,
    maxTokens,
    cursor,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      path: z.string(),
      tree: z.string().describe('one line for each entry, two spaces for each level, folders with a trailing slash'),
      entries: count,
      isTruncated: z.boolean(),
      degradedReasons: z.array(z.string()),
      nextCursor,
    }),
  annotations: READS,
  run: async (args, call) => {
    const { ref, path: at } = await placeOf(call, args.path, args.space)
    let isTruncated = false
    const ask = () =>
      fittingPage(
        async (limit) => {
          const query = { path: at, limit, depth: args.depth, ...defined({ cursor: args.cursor }) }
          const found = await call.api.request('GET /knowledge-spaces/{id}/fs/tree', { path: { id: ref.id }, query })
          isTruncated = found.truncated
          return { ...found, items: linesOf(found.root) }
        },
        args,
        (line) => line,
      )
    const page = await atPath(call.api, ref, at, ask)
    const text = page.items.join('\n')
    const degradedReasons = page.degradedReasons ?? []
    const writer = new Writer()
    for (const reason of degradedReasons) writer.line(`The tree may be incomplete: ${reason}.`)
    writer.content(text)
    if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
    else if (isTruncated) writer.line('The tree is truncated: give a subfolder, or a larger limit.')
    const data = { space: ref.slug, path: at, tree: text, entries: page.items.length, isTruncated, degradedReasons }
    return { text: writer.text(), data: { ...data, ...defined({ nextCursor: page.nextCursor }) } }
  },
})

function linesOf(root: VirtualTree): string[] {
  const lines: string[] = []
  const waiting: { node: VirtualTree; depth: number }[] = [{ node: root, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, depth } = next
    lines.push('  '.repeat(depth) + oneLine(node.name) + (node.kind === 'directory' ? '/' : ''))
    for (const child of [...(node.children ?? [])].reverse()) waiting.push({ node: child, depth: depth + 1 })
  }
  return lines
}
