import { notFound } from '../../contract/errors.js'
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
} from '../../contract/gateway/fs.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller } from '../base/caller.js'
import { parsePath, type VirtualPath } from '../base/virtual-paths.js'
import type { Driver } from '../storage/driver.js'
import { cat } from './cat.js'
import { DocumentTrees } from './document-tree.js'
import { Evidence } from './evidence.js'
import { FIND_MILLISECONDS, find } from './find.js'
import { grep } from './grep.js'
import { Knowledge } from './knowledge.js'
import type { Place } from './namespace.js'
import { compilePattern } from './pattern.js'
import { Semantic, type SemanticReadiness } from './semantic.js'
import { Sources } from './sources.js'
import { StoredTexts } from './stored-text.js'
import { DEFAULT_DEPTH, tree } from './tree.js'
import { type PagedView, passing, type View, Views } from './view.js'
import { type ObjectBytes, Workspaces } from './workspaces.js'

/** Read operations of the virtual file system. */
export interface FileSystemReader {
  ls(caller: Caller, spaceId: string, query: FsLsQuery): Promise<Listing>
  tree(caller: Caller, spaceId: string, query: FsTreeQuery): Promise<TreeListing>
  grep(caller: Caller, spaceId: string, query: FsGrepQuery): Promise<GrepListing>
  find(caller: Caller, spaceId: string, query: FsFindQuery): Promise<Listing>
  cat(caller: Caller, spaceId: string, query: FsCatQuery): Promise<CatResult>
}

type Paged = Pick<FsLsQuery, 'path' | 'limit' | 'cursor' | 'consistencyClass'>

interface Readers {
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
export function createFileSystem({
  db,
  ...parts
}: {
  db: Driver
  objects: ObjectBytes
  semantic: SemanticReadiness
}): FileSystemReader {
  const readers = { views: new Views(db), texts: new StoredTexts(db), trees: new DocumentTrees(db), ...parts }
  return {
    ls: (caller, spaceId, query) => ls(readers, caller, spaceId, query),
    tree: (caller, spaceId, query) => treeOf(readers, caller, spaceId, query),
    grep: (caller, spaceId, query) => grepIn(readers, caller, spaceId, query),
    find: (caller, spaceId, query) => findIn(readers, caller, spaceId, query),
    cat: (caller, spaceId, query) => catOf(readers, caller, spaceId, query),
  }
}

/** A page of a directory; a resource lists itself, as `ls` does. */
async function ls(readers: Readers, caller: Caller, spaceId: string, query: FsLsQuery): Promise<Listing> {
  const { view, path, place } = await openPaged(readers, caller, spaceId, { operation: 'ls', filters: [], query })
  if (place.item.kind === 'resource')
    return { path, items: [place.item], truncated: false, ...view.consistency, ...lacksOf(view) }
  const page = await place.list(view.after, pageSize(query))
  const last = page.entries[page.entries.length - 1]
  return {
    path,
    items: page.entries.map(({ item }) => item),
    truncated: page.more,
    ...(page.more && last !== undefined ? { nextCursor: view.cursorAt(last.after) } : {}),
    ...view.consistency,
    ...lacksOf(view),
  }
}

async function treeOf(readers: Readers, caller: Caller, spaceId: string, query: FsTreeQuery): Promise<TreeListing> {
  const depth = query.depth ?? DEFAULT_DEPTH
  const opened = await openPaged(readers, caller, spaceId, { operation: 'tree', filters: [depth], query })
  const { view, path, place } = opened
  const below = passing(view)
  const open = (child: string): Promise<Place | undefined> =>
    resolve(readers, below, { ...opened.parsed, segments: child.split('/').slice(2), path: child })
  const result = await tree(view, place, { limit: pageSize(query), depth }, open)
  return { path, ...result, ...view.consistency, ...lacksOf(view) }
}

async function grepIn(readers: Readers, caller: Caller, spaceId: string, query: FsGrepQuery): Promise<GrepListing> {
  const pattern = compilePattern(query.q)
  const { view, path, place } = await openPaged(readers, caller, spaceId, {
    operation: 'grep',
    filters: [query.q],
    query,
    milliseconds: query.timeoutMs,
  })
  return { path, ...(await grep(view, place, { pattern, limit: pageSize(query) })), ...lacksOf(view) }
}

async function findIn(readers: Readers, caller: Caller, spaceId: string, query: FsFindQuery): Promise<Listing> {
  const { view, path, place } = await openPaged(readers, caller, spaceId, {
    operation: 'find',
    filters: [query.nameContains, query.metadataKey, query.metadataValue, query.resourceType],
    query,
    milliseconds: FIND_MILLISECONDS,
  })
  const found = await find(view, place, { ...query, limit: pageSize(query) })
  return { path, ...found, ...view.consistency, ...lacksOf(view) }
}

async function catOf(readers: Readers, caller: Caller, spaceId: string, query: FsCatQuery): Promise<CatResult> {
  const parsed = parsePath(query.path)
  const place = await existing(readers, await readers.views.head(caller, spaceId), parsed)
  return { path: parsed.path, ...(await cat(place, query)) }
}

interface OpenRequest {
  operation: string
  filters: (string | number | undefined)[]
  query: Paged
  milliseconds?: number
}

async function openPaged(
  readers: Readers,
  caller: Caller,
  spaceId: string,
  { query, ...request }: OpenRequest,
): Promise<{ view: PagedView; parsed: VirtualPath; path: string; place: Place }> {
  const parsed = parsePath(query.path)
  const { cursor, consistencyClass } = query
  const view = await readers.views.paged(caller, spaceId, { ...request, path: parsed.path, cursor, consistencyClass })
  return { view, parsed, path: parsed.path, place: await existing(readers, view, parsed) }
}

async function existing(readers: Readers, view: View, path: VirtualPath): Promise<Place> {
  const place = await resolve(readers, view, path)
  if (place === undefined) throw notFound('path', path.path)
  return place
}

function resolve(
  { texts, trees, objects, semantic }: Readers,
  view: View,
  path: VirtualPath,
): Promise<Place | undefined> {
  const { namespace, segments } = path
  switch (namespace) {
    case 'sources':
      return new Sources(view, texts).resolve(segments)
    case 'knowledge':
      return new Knowledge(view, trees, texts, new Semantic(view, texts, semantic)).resolve(segments)
    case 'evidence':
      return new Evidence(view).resolve(segments)
    case 'workspaces':
      return new Workspaces(view, objects).resolve(segments)
    default:
      return namespace satisfies never
  }
}

/** Must be called last: reading may add reasons. */
function lacksOf({ lacks }: View): { degradedReasons?: string[] } {
  return lacks.size === 0 ? {} : { degradedReasons: [...lacks] }
}

function pageSize({ limit }: Paged): number {
  return Math.min(limit, LIMITS.page.cap)
}
