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
import type { ToolSpace } from '../spaces.js'
import { defineTool, READ_ONLY } from '../tool.js'
import { formatUri } from '../uri.js'
import { fetchFittingPage, fetchPageOrExplain, NAMESPACES, resolveFolder, type ToolPage } from './folder-pages.js'

const path = z
  .string()
  .min(1)
  .max(LIMITS.virtualPathBytes * 4)
  .describe(
    'Folder: /sources (documents by origin), /knowledge (sections of documents, topics, entities), /evidence, /workspaces (files of agents); or a ks:// address.',
  )
const limit = z.int().min(1).max(500).default(100).describe('Maximum number of entries.')

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

/** The contract has no listing of the root; these are its entries. */
function listRoot(): ToolPage<VirtualItem> {
  const items = NAMESPACES.map((name) => ({ name, path: `/${name}`, kind: 'directory' as const, metadata: {} }))
  return { items }
}

function toEntry(item: VirtualItem, space: string): ListedEntry {
  const { title, sizeBytes, updatedAt } = item.metadata
  return {
    name: item.name,
    path: item.path,
    uri: formatUri({ space, path: item.path }),
    kind: item.kind,
    ...omitUndefined({ type: item.resourceType, id: item.targetId, version: item.version }),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof sizeBytes === 'number' ? { sizeBytes } : {}),
    ...(typeof updatedAt === 'string' ? { updatedAt } : {}),
  }
}

/** @param emptyText text of an empty listing */
function formatListing(ref: ToolSpace, at: string, page: ToolPage<VirtualItem>, emptyText = 'Nothing.') {
  const entries = page.items.map((item) => toEntry(item, ref.slug))
  const degradedReasons = page.degradedReasons ?? []
  const writer = new ToolTextWriter()
  for (const reason of degradedReasons) writer.line(`The list may be incomplete: ${reason}.`)
  writer.line(entries.length === 0 ? emptyText : `${pluralize(entries.length, 'entry', 'entries')}:`)
  const lines = entries.map(({ kind, path: entryPath }) => toOneLine(entryPath) + (kind === 'directory' ? '/' : ''))
  if (lines.length > 0) writer.content(lines.join('\n'))
  if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
  const data = {
    space: ref.slug,
    path: at,
    entries,
    degradedReasons,
    ...omitUndefined({ nextCursor: page.nextCursor }),
  }
  const files = entries.filter(({ kind, type }) => kind === 'resource' || type === 'document')
  return { text: writer.text(), data, links: files.map(({ uri, name }) => ({ uri, name })) }
}

export const list = defineTool({
  name: 'list',
  title: 'List a folder',
  description: 'List the entries of one folder of a space. `tree` shows several levels at once.',
  input: z.strictObject({
    path: path.default('/sources'),
    space: spaceField,
    limit,
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () => listingSchema,
  annotations: READ_ONLY,
  run: async (args, call) => {
    const folder = await resolveFolder(call, args.path, args.space)
    const { ref, path: at } = folder
    if (at === '/') return formatListing(ref, at, listRoot())
    const fetchPage = () =>
      fetchFittingPage(
        async (limit) => {
          const query = { path: at, limit, ...omitUndefined({ cursor: args.cursor }) }
          return call.api.request('GET /knowledge-spaces/{id}/fs/ls', { path: { id: ref.id }, query })
        },
        args,
        (item) => item.path,
      )
    const { page, emptyText } = await fetchPageOrExplain(call, folder, 'Nothing is here', fetchPage)
    return formatListing(ref, at, page, emptyText)
  },
})

export const find = defineTool({
  name: 'find',
  title: 'Find files by name',
  description:
    'Find documents, folders and other entries below a folder by a part of their name, by type, or by a metadata field (such as filename, mimeType, title). To search their text, use `search` or `grep`.',
  input: z.strictObject({
    path: path.default('/sources'),
    space: spaceField,
    nameContains: FsFindQuery.shape.nameContains.describe('Part of the name, ignoring case.'),
    type: ResourceType.optional(),
    metadataKey: FsFindQuery.shape.metadataKey,
    metadataValue: FsFindQuery.shape.metadataValue,
    limit,
    maxTokens: maxTokensField,
    cursor: cursorField,
  }),
  output: () => listingSchema,
  annotations: READ_ONLY,
  run: async (args, call) => {
    const folder = await resolveFolder(call, args.path, args.space)
    const { ref, path: at } = folder
    const { nameContains, metadataKey, metadataValue } = args
    const criteria = omitUndefined({
      nameContains,
      metadataKey,
      metadataValue,
      resourceType: args.type,
      cursor: args.cursor,
    })
    const fetchPage = () =>
      fetchFittingPage(
        async (limit) => {
          const query = { path: at, limit, ...criteria }
          return call.api.request('GET /knowledge-spaces/{id}/fs/find', { path: { id: ref.id }, query })
        },
        args,
        (item) => item.path,
      )
    const { page, emptyText } = await fetchPageOrExplain(call, folder, 'No name matches', fetchPage)
    return formatListing(ref, at, page, emptyText)
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
    path: path.default('/knowledge'),
    space: spaceField,
    limit,
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
    const { ref, path: at } = folder
    let isTruncated = false
    const fetchPage = () =>
      fetchFittingPage(
        async (limit) => {
          const query = { path: at, q: args.pattern, limit, ...omitUndefined({ cursor: args.cursor }) }
          const found = await call.api
            .request('GET /knowledge-spaces/{id}/fs/grep', { path: { id: ref.id }, query })
            .catch(rethrowWithArgumentNames({ q: 'pattern' }))
          isTruncated = found.truncated
          return { ...found, items: found.matches }
        },
        args,
        (item) => item.path + item.snippet,
      )
    const { page, emptyText } = await fetchPageOrExplain(call, folder, 'No match', fetchPage)
    const matches = page.items.map(({ path: file, snippet, startOffset: start, endOffset: end, metadata }) => ({
      path: file,
      uri: formatUri({ space: ref.slug, path: file }),
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
    for (const one of matches) writer.line(one.uri).content(one.snippet)
    if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
    else if (isTruncated) writer.line('The search stopped early: give a narrower path or pattern.')
    const data = {
      space: ref.slug,
      matches,
      isTruncated,
      degradedReasons,
      ...omitUndefined({ nextCursor: page.nextCursor }),
    }
    return {
      text: writer.text(),
      data,
      links: matches.map(({ uri, document, path: name }) => ({ uri, name: document ?? name })),
    }
  },
})

export const tree = defineTool({
  name: 'tree',
  title: 'Show a tree of folders',
  description: 'Show a folder and its descendants, several levels at once, as indented lines.',
  input: z.strictObject({
    path: path.default('/sources'),
    space: spaceField,
    depth: z.int().min(1).max(LIMITS.treeDepth).default(3),
    limit,
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
    const { ref, path: at } = await resolveFolder(call, args.path, args.space)
    let isTruncated = false
    const fetchPage = () =>
      fetchFittingPage(
        async (limit) => {
          const query = { path: at, limit, depth: args.depth, ...omitUndefined({ cursor: args.cursor }) }
          const found = await call.api.request('GET /knowledge-spaces/{id}/fs/tree', { path: { id: ref.id }, query })
          isTruncated = found.truncated
          return { ...found, items: formatTree(found.root) }
        },
        args,
        (line) => line,
      )
    const page = await withPathSuggestions(call.api, ref, at, fetchPage)
    const text = page.items.join('\n')
    const degradedReasons = page.degradedReasons ?? []
    const writer = new ToolTextWriter()
    for (const reason of degradedReasons) writer.line(`The tree may be incomplete: ${reason}.`)
    writer.content(text)
    if (page.nextCursor !== undefined) writer.line(`There is more: call again with cursor ${page.nextCursor}.`)
    else if (isTruncated) writer.line('The tree is truncated: give a subfolder, or a larger limit.')
    const data = { space: ref.slug, path: at, tree: text, entries: page.items.length, isTruncated, degradedReasons }
    return { text: writer.text(), data: { ...data, ...omitUndefined({ nextCursor: page.nextCursor }) } }
  },
})

function formatTree(root: VirtualTree): string[] {
  const lines: string[] = []
  const pending: { node: VirtualTree; depth: number }[] = [{ node: root, depth: 0 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next
    lines.push('  '.repeat(depth) + toOneLine(node.name) + (node.kind === 'directory' ? '/' : ''))
    for (const child of [...(node.children ?? [])].reverse()) pending.push({ node: child, depth: depth + 1 })
  }
  return lines
}
