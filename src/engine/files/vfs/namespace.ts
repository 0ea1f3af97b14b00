import type { GrepListing, ResourceType, VirtualItem } from '../../../contract/gateway/fs.js'
import type { Text } from '../../../lib/text/long-text.js'
import { createInvalidCursorError } from '../../base/cursor.js'

/** Position of an entry within a listing, as a cursor contains it. Short for names of any length. */
export type CursorPosition = (string | number)[]

export interface VfsEntry {
  item: VirtualItem
  after: CursorPosition
}

/** A step of a walk: an entry, or the position of an entry that cannot match and was skipped. */
export type WalkStep = VfsEntry | { item?: never; after: CursorPosition }

/** Filter of a walk. Entries that cannot match may be skipped; returned entries need not match. */
export interface WalkFilter {
  resourceType?: ResourceType | undefined
  /** part of the name, in lower case */
  namePart?: string | undefined
}

export interface VfsEntryPage {
  entries: VfsEntry[]
  /** whether more entries follow */
  more: boolean
}

export interface ResourceContent {
  text: Text
  contentType: string
}

export type GrepMatch = GrepListing['matches'][number]

/** A text that grep searches: a document or one of its passages. */
export interface TextUnit {
  /** unique among its neighbours */
  id: string
  text: Text
  /** position after this unit */
  after: CursorPosition
  /** describes a match in `text` from `start` to `end` (UTF-16 units), without its snippet */
  describe(start: number, end: number): Promise<Omit<GrepMatch, 'snippet'>>
}

/** A node of the virtual file system, as seen by one request. */
export interface VfsNode {
  item: VirtualItem
  /** Entries of a directory, directories first, then by name. A resource has none. */
  list(after: CursorPosition | undefined, limit: number): Promise<VfsEntryPage>
  /** Everything below a directory, folder by folder. */
  walk(after: CursorPosition | undefined, filter?: WalkFilter): AsyncIterable<WalkStep>
  /** The texts at and below this node after `after`. */
  texts(after: CursorPosition | undefined): AsyncIterable<TextUnit>
  /** The text of a resource; undefined for a directory. */
  read(): Promise<ResourceContent | undefined>
}

export const PLAIN_TEXT = 'text/plain; charset=utf-8'

/** Makes a directory or resource, empty except for the given parts. */
export function makeNode(item: VirtualItem, parts: Partial<Omit<VfsNode, 'item'>> = {}): VfsNode {
  return {
    item,
    list: () => Promise.resolve({ entries: [], more: false }),
    walk: yieldNothing,
    texts: yieldNothing,
    read: () => Promise.resolve(undefined),
    ...parts,
  }
}

async function* yieldNothing(): AsyncGenerator<never> {}

/** Makes a page of a directory with few entries, whose positions are their indexes. */
export function makeEntryPage(entries: readonly VfsEntry[], start: number, limit: number): VfsEntryPage {
  return { entries: entries.slice(start, start + limit), more: entries.length > start + limit }
}

/** Reads a part of a cursor's position. Clients can forge cursors, so parts are checked like any input. */
export function getCursorText(after: CursorPosition, index: number): string {
  const part = after[index]
  if (typeof part !== 'string') throw createInvalidCursorError()
  return part
}

export function getCursorInteger(after: CursorPosition, index: number): number {
  const part = after[index]
  if (typeof part !== 'number' || !Number.isSafeInteger(part) || part < 0) throw createInvalidCursorError()
  return part
}
