import { notFoundError } from '../../../contract/errors.js'
import type {
  CatResult,
  FsCatQuery,
  FsFindQuery,
  FsGrepQuery,
  FsLsQuery,
  FsTreeQuery,
  GrepListing,
  Listing,
  TreeListing,
} from '../../../contract/gateway/fs.js'
import { LIMITS } from '../../../contract/limits.js'
import type { Caller } from '../../base/caller.js'
import { parseVirtualPath, type VirtualPath } from '../../base/virtual-paths.js'
import { bind } from '../../store/bind-operation.js'
import type { Driver } from '../../store/driver.js'
import { cat } from './cat.js'
import { DocumentTrees } from './document-tree.js'
import { Evidence } from './evidence.js'
import { FIND_MILLISECONDS, find } from './find.js'
import { grep, toLineSelection } from './grep.js'
import { Knowledge } from './knowledge.js'
import type { VfsNode } from './namespace.js'
import { compileSearchPattern } from './pattern.js'
import { Semantic, type SemanticReadiness } from './semantic.js'
import { SourcesNamespace } from './sources.js'
import { StoredTexts } from './stored-text.js'
import { DEFAULT_TREE_DEPTH, listTree } from './tree.js'
import { type PagedView, toChildView, type VfsView, Views } from './view.js'
import { type ObjectBytes, WorkspacesNamespace } from './workspaces.js'

export type FileSystemReader = ReturnType<typeof createFileSystem>

type PagedQuery = Pick<FsLsQuery, 'path' | 'limit' | 'cursor' | 'consistencyClass'>

interface VfsReaders {
  views: Views
  texts: StoredTexts
  trees: DocumentTrees
  objects: ObjectBytes
  semantic: SemanticReadiness
}

/**
 * Creates the reader of the virtual file system: the content of a space as folders and files. Every reply is of one
 * revision of the space and of its workspaces, and never contains a deleted document.
 */
export function createFileSystem({ db, ...parts }: { db: Driver; objects: ObjectBytes; semantic: SemanticReadiness }) {
  const readers = { views: new Views(db), texts: new StoredTexts(db), trees: new DocumentTrees(db), ...parts }
  return {
    ls: bind(listDirectory, readers),
    tree: bind(readTree, readers),
    grep: bind(runGrep, readers),
    find: bind(runFind, readers),
    cat: bind(runCat, readers),
  }
}

/** A page of a directory; a resource lists itself, as `ls` does. */
async function listDirectory(readers: VfsReaders, caller: Caller, spaceId: string, query: FsLsQuery): Promise<Listing> {
  const { view, path, node } = await openPaged(readers, caller, spaceId, { operation: 'ls', filters: [], query })
  if (node.item.kind === 'resource')
    return { path, items: [node.item], truncated: false, ...view.consistency, ...getDegradedReasons(view) }
  const page = await node.list(view.after, getPageSize(query))
  const last = page.entries[page.entries.length - 1]
  return {
    path,
    items: page.entries.map(({ item }) => item),
    truncated: page.more,
    ...(page.more && last !== undefined ? { nextCursor: view.cursorAt(last.after) } : {}),
    ...view.consistency,
    ...getDegradedReasons(view),
  }
}

async function readTree(
  readers: VfsReaders,
  caller: Caller,
  spaceId: string,
  query: FsTreeQuery,
): Promise<TreeListing> {
  const depth = query.depth ?? DEFAULT_TREE_DEPTH
  const opened = await openPaged(readers, caller, spaceId, { operation: 'tree', filters: [depth], query })
  const { view, path, node } = opened
  const childView = toChildView(view)
  const open = (child: string): Promise<VfsNode | undefined> =>
    resolveNode(readers, childView, { ...opened.parsed, segments: child.split('/').slice(2), path: child })
  const result = await listTree(view, node, { limit: getPageSize(query), depth }, open)
  return { path, ...result, ...view.consistency, ...getDegradedReasons(view) }
}

async function runGrep(readers: VfsReaders, caller: Caller, spaceId: string, query: FsGrepQuery): Promise<GrepListing> {
  const pattern = compileSearchPattern(query.q, { wholeWords: query.wholeWords === 'true' })
  const { view, path, node } = await openPaged(readers, caller, spaceId, {
    operation: 'grep',
    filters: [query.q, query.by, query.inverted, query.wholeWords, query.linesPerText],
    query,
    milliseconds: query.timeoutMs,
  })
  const found = await grep(view, node, { pattern, limit: getPageSize(query), selection: toLineSelection(query) })
  return { path, ...found, ...getDegradedReasons(view) }
}

async function runFind(readers: VfsReaders, caller: Caller, spaceId: string, query: FsFindQuery): Promise<Listing> {
  const { view, path, node } = await openPaged(readers, caller, spaceId, {
    operation: 'find',
    filters: [query.nameContains, query.metadataKey, query.metadataValue, query.resourceType],
    query,
    milliseconds: FIND_MILLISECONDS,
  })
  const found = await find(view, node, { ...query, limit: getPageSize(query) })
  return { path, ...found, ...view.consistency, ...getDegradedReasons(view) }
}

async function runCat(readers: VfsReaders, caller: Caller, spaceId: string, query: FsCatQuery): Promise<CatResult> {
  const parsed = parseVirtualPath(query.path)
  const node = await resolveOrThrow(readers, await readers.views.head(caller, spaceId), parsed)
  return { path: parsed.path, ...(await cat(node, query)) }
}

interface OpenRequest {
  operation: string
  filters: (string | number | undefined)[]
  query: PagedQuery
  milliseconds?: number
}

async function openPaged(
  readers: VfsReaders,
  caller: Caller,
  spaceId: string,
  { query, ...request }: OpenRequest,
): Promise<{ view: PagedView; parsed: VirtualPath; path: string; node: VfsNode }> {
  const parsed = parseVirtualPath(query.path)
  const { cursor, consistencyClass } = query
  const view = await readers.views.paged(caller, spaceId, { ...request, path: parsed.path, cursor, consistencyClass })
  return { view, parsed, path: parsed.path, node: await resolveOrThrow(readers, view, parsed) }
}

async function resolveOrThrow(readers: VfsReaders, view: VfsView, path: VirtualPath): Promise<VfsNode> {
  const node = await resolveNode(readers, view, path)
  if (node === undefined) throw notFoundError('path', path.path)
  return node
}

function resolveNode(
  { texts, trees, objects, semantic }: VfsReaders,
  view: VfsView,
  path: VirtualPath,
): Promise<VfsNode | undefined> {
  const { namespace, segments } = path
  switch (namespace) {
    case 'sources':
      return new SourcesNamespace(view, texts).resolve(segments)
    case 'knowledge':
      return new Knowledge(view, trees, texts, new Semantic(view, texts, semantic)).resolve(segments)
    case 'evidence':
      return new Evidence(view).resolve(segments)
    case 'workspaces':
      return new WorkspacesNamespace(view, objects).resolve(segments)
    default:
      return namespace satisfies never
  }
}

/** Must be called last: reading may add reasons. */
function getDegradedReasons({ degradedReasons }: VfsView): { degradedReasons?: string[] } {
  return degradedReasons.size === 0 ? {} : { degradedReasons: [...degradedReasons] }
}

function getPageSize({ limit }: PagedQuery): number {
  return Math.min(limit, LIMITS.page.cap)
}
