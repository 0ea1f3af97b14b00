import type { CatResult, FsCatQuery, FsTreeQuery, TreeListing } from '../../contract/gateway/fs.js'
import type { Caller } from './caller.js'
import { joinVirtualPath } from './virtual-paths.js'

/** The root of the documents in the virtual file system. */
export const DOCUMENTS_ROOT = joinVirtualPath('sources', [])

/** The part of the virtual file system that lists and reads published documents. */
export interface PublishedDocuments {
  tree(caller: Caller, spaceId: string, query: FsTreeQuery): Promise<TreeListing>
  cat(caller: Caller, spaceId: string, query: FsCatQuery): Promise<CatResult>
}
