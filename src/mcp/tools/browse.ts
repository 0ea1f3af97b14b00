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
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { ToolTextWriter, toOneLine } from '../content.js'
import { rethrowWithArgumentNames } from '../failure.js'
import { cursorField, maxTokensField, nextCursorField, spaceField } from '../fields.js'
import { withPathSuggestions } from '../nearby.js'
import { defineTool, READ_ONLY, type ToolInvocation } from '../tool.js'
import { formatUri } from '../uri.js'
import {
  type FolderLocation,
  fetchFittingPage,
  fetchPageOrExplain,
  NAMESPACES,
  resolveFolder,
  type ToolPage,
} from './folder-pages.js'

const pathField = z
  .string()
  .min(1)
  .max(LIMITS.virtualPathBytes * 4)
  .describe(
    'Folder: /sources (documents by origin), /knowledge (sections of documents, topics, entities), /evidence, /workspaces (files of agents); or a ks:// address.',
  )
const limitField = z.int().min(1).max(500).default(100).describe('Maximum number of entries.')

const entrySchema = z.strictObject({
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
type ListedEntry = z.output<typeof entrySchema>

const listingSchema = z.strictObject({
  space: z.string(),
  path: z.string(),
  entries: z.array(entrySchema),
  degradedReasons: z.array(z.string()),
  nextCursor: nextCursorField,
})

/** Entries of the root, which the contract does not list. */
const ROOT_ENTRIES: VirtualItem[] = NAMESPACES.map((name) => {
  return { name, path: `/${name}`, kind: 'directory', metadata: {} }
})

function toEntry(item: VirtualItem, slug: string): ListedEntry {
  const { title, sizeBytes, updatedAt } = item.metadata
  return {
    name: item.name,
    path: item.path,
    uri: formatUri({ space: slug, path: item.path }),
    kind: item.kind,
    ...omitUndefined({ type: item.resourceType, id: item.targetId, version: item.version }),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof sizeBytes === 'number' ? { sizeBytes } : {}),
    ...(typeof updatedAt === 'string' ? { updatedAt } : {}),
  }
}

/** @param emptyText text of an empty listing */
function formatListing({ space, path }: FolderLocation, page: ToolPage<VirtualItem>, emptyText: string) {
  const entries = page.items.map((item) => toEntry(item, space.slug))
  const degradedReasons = page.degradedReasons ?? []
  const writer = new ToolTextWriter()
  for (const reason of degradedReasons) writer.line(`The list may be incomplete: ${reason}.`)
  writer.line(entries.length === 0 ? emptyText : `${pluralize(entries.length, 'entry', 'entries')}:`)
  const lines = entries.map((entry) => toOneLine(entry.path) + (entry.kind === 'directory' ? '/' : ''))
  if (lines.length > 0) writer.content(lines.join('\n'))
  if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
  const data = {
    space: space.slug,
    path,
    entries,
    degradedReasons,
    ...omitUndefined({ nextCursor: page.nextCursor }),
  }
  const files = entries.filter(({ kind, type }) => kind === 'resource' || type === 'document')
  return { text: writer.text(), data, links: files.map(({ uri, name }) => ({ uri, name })) }
}

/** Lists the entries that fit. @param absence first words of the text of an empty listing */
async function listFitting(
  call: ToolInvocation,
  folder: FolderLocation,
  { absence, ...limits }: { absence: string; limit: number; maxTokens: number },
  fetchPage: (limit: number) => Promise<ToolPage<VirtualItem>>,
) {
  const fetchFitting = () => fetchFittingPage(fetchPage, limits, (item) => item.path)
  const { page, emptyText } = await fetchPageOrExplain(call, folder, absence, fetchFitting)
  return formatListing(folder, page, emptyText)
}

export const list = defineTool({
  name: 'list',
  title: 'List a folder',
  description: 'List the entries of one folder of a space. `tree` shows several levels at once.',
  input: z.strictObject({
    path: pathField.default('/sources'),
    space: spaceField,
    limit: limitField,
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () => listingSchema,
  annotations: READ_ONLY,
  run: async (args, call) => {
    const folder = await resolveFolder(call, args.path, args.space)
    const { space, path } = folder
    if (path === '/') return formatListing(folder, { items: ROOT_ENTRIES }, '')
    return listFitting(call, folder, { ...args, absence: 'Nothing is here' }, (limit) => {
      const query = { path, limit, ...omitUndefined({ cursor: args.cursor }) }
      return call.api.request('GET /knowledge-spaces/{id}/fs/ls', { path: { id: space.id }, query })
    })
  },
})

export const find = defineTool({
  name: 'find',
  title: 'Find files by name',
  description:
    'Find documents, folders and other entries below a folder by a part of their name, by type, or by a metadata field (such as filename, mimeType, title). To search their text, use `search` or `grep`.',
  input: z.strictObject({
    path: pathField.default('/sources'),
    space: spaceField,
    nameContains: FsFindQuery.shape.nameContains.describe('Part of the name, ignoring case.'),
    type: ResourceType.optional(),
    metadataKey: FsFindQuery.shape.metadataKey,
    metadataValue: FsFindQuery.shape.metadataValue,
    limit: limitField,
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () => listingSchema,
  annotations: READ_ONLY,
  run: async (args, call) => {
    const folder = await resolveFolder(call, args.path, args.space)
    const { space, path } = folder
    const { nameContains, metadataKey, metadataValue, type: resourceType, cursor } = args
    const criteria = omitUndefined({ nameContains, metadataKey, metadataValue, resourceType, cursor })
    return listFitting(call, folder, { ...args, absence: 'No name matches' }, (limit) => {
      const query = { path, limit, ...criteria }
      return call.api.request('GET /knowledge-spaces/{id}/fs/find', { path: { id: space.id }, query })
    })
  },
})

const matchSchema = z.strictObject({
  path: z.string(),
  uri: z.string(),
  document: z.string().optional(),
  documentId: z.string().optional(),
  snippet: z.string(),
  start: count,
  end: count,
})

export const grep = defineTool({
  name: 'grep',
  title: 'Search exact text',
  description:
    'Search the text below a folder for an exact string, or for a regular expression with the prefix `re:` (RE2 syntax). Use it for names, numbers, codes and identifiers; `search` finds by meaning.',
  input: z.strictObject({
    pattern: FsGrepQuery.shape.q.describe('String, or `re:` and a regular expression.'),
    path: pathField.default('/knowledge'),
    space: spaceField,
    limit: limitField,
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      matches: z.array(matchSchema),
      isTruncated: z.boolean().describe('whether the search stopped early'),
      degradedReasons: z.array(z.string()),
      nextCursor: nextCursorField,
    }),
  annotations: READ_ONLY,
  run: async (args, call) => {
    const folder = await resolveFolder(call, args.path, args.space)
    const { space, path } = folder
    let isTruncated = false
    const fetchPage = () =>
      fetchFittingPage(
        async (limit) => {
          const query = { path, q: args.pattern, limit, ...omitUndefined({ cursor: args.cursor }) }
          const reply = await call.api
            .request('GET /knowledge-spaces/{id}/fs/grep', { path: { id: space.id }, query })
            .catch(rethrowWithArgumentNames({ q: 'pattern' }))
          isTruncated = reply.truncated
          return { ...reply, items: reply.matches }
        },
        args,
        (item) => item.path + item.snippet,
      )
    const { page, emptyText } = await fetchPageOrExplain(call, folder, 'No match', fetchPage)
    const matches = page.items.map(({ path: file, snippet, startOffset: start, endOffset: end, metadata }) => ({
      path: file,
      uri: formatUri({ space: space.slug, path: file }),
      ...(typeof metadata.filename === 'string' ? { document: metadata.filename } : {}),
      ...(typeof metadata.documentId === 'string' ? { documentId: metadata.documentId } : {}),
      snippet,
      start,
      end,
    }))
    const degradedReasons = page.degradedReasons ?? []
    const writer = new ToolTextWriter()
    for (const reason of degradedReasons) writer.line(`Not everything could be searched: ${reason}.`)
    if (matches.length > 0) writer.line(`${pluralize(matches.length, 'match', 'matches')}:`)
    else if (isTruncated) writer.line('No match so far; the search is not complete.')
    else writer.line(emptyText)
    for (const { uri, snippet } of matches) writer.line(uri).content(snippet)
    if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
    else if (isTruncated) writer.line('The search stopped early: give a narrower path or pattern.')
    const data = {
      space: space.slug,
      matches,
      isTruncated,
      degradedReasons,
      ...omitUndefined({ nextCursor: page.nextCursor }),
    }
    const links = matches.map(({ uri, document, path: file }) => ({ uri, name: document ?? file }))
    return { text: writer.text(), data, links }
  },
})

export const tree = defineTool({
  name: 'tree',
  title: 'Show a tree of folders',
  description: 'Show a folder and its descendants, several levels at once, as indented lines.',
  input: z.strictObject({
    path: pathField.default('/sources'),
    space: spaceField,
    depth: z.int().min(1).max(LIMITS.treeDepth).default(3),
    limit: limitField,
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () =>
    z.strictObject({
      space: z.string(),
      path: z.string(),
      tree: z.string().describe('one line for each entry, two spaces for each level, folders with a trailing slash'),
      entries: count,
      isTruncated: z.boolean(),
      degradedReasons: z.array(z.string()),
      nextCursor: nextCursorField,
    }),
  annotations: READ_ONLY,
  run: async (args, call) => {
    const { space, path } = await resolveFolder(call, args.path, args.space)
    let isTruncated = false
    const fetchPage = () =>
      fetchFittingPage(
        async (limit) => {
          const query = { path, limit, depth: args.depth, ...omitUndefined({ cursor: args.cursor }) }
          const reply = await call.api.request('GET /knowledge-spaces/{id}/fs/tree', { path: { id: space.id }, query })
          isTruncated = reply.truncated
          return { ...reply, items: formatTree(reply.root) }
        },
        args,
        (line) => line,
      )
    const page = await withPathSuggestions(call.api, space, path, fetchPage)
    const text = page.items.join('\n')
    const degradedReasons = page.degradedReasons ?? []
    const writer = new ToolTextWriter()
    for (const reason of degradedReasons) writer.line(`The tree may be incomplete: ${reason}.`)
    writer.content(text)
    if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
    else if (isTruncated) writer.line('The tree is truncated: give a subfolder, or a larger limit.')
    const data = { space: space.slug, path, tree: text, entries: page.items.length, isTruncated, degradedReasons }
    return { text: writer.text(), data: { ...data, ...omitUndefined({ nextCursor: page.nextCursor }) } }
  },
})

function formatTree(root: VirtualTree): string[] {
  const lines: string[] = []
  const pending: { node: VirtualTree; depth: number }[] = [{ node: root, depth: 0 }]
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const { node, depth } = entry
    lines.push('  '.repeat(depth) + toOneLine(node.name) + (node.kind === 'directory' ? '/' : ''))
    for (const child of [...(node.children ?? [])].reverse()) pending.push({ node: child, depth: depth + 1 })
  }
  return lines
}
