import type { GrepListing, ResourceType, VirtualItem } from '../../contract/gateway/fs.js'
import type { Text } from '../../lib/text/long-text.js'
import { brokenCursor } from '../base/cursor.js'

/** Position of an entry within a listing, as a cursor contains it. Short for names of any length. */
export type After = (string | number)[]

export interface Entry {
  item: VirtualItem
  after: After
}

/** A step of a walk: an entry, or the position of an entry that cannot match and was skipped. */
export type Step = Entry | { item?: never; after: After }

/** Filter of a walk. Entries that cannot match may be skipped; returned entries need not match. */
export interface Wanted {
  resourceType?: ResourceType | undefined
  /** part of the name, in lower case */
  namePart?: string | undefined
}

export interface EntryPage {
  entries: Entry[]
  /** whether more entries follow */
  more: boolean
}

export interface Content {
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
  after: After
  /** describes a match in `text` from `start` to `end` (UTF-16 units), without its snippet */
  describe(start: number, end: number): Promise<Omit<GrepMatch, 'snippet'>>
}

/** A node of the virtual file system, as seen by one request. */
export interface Place {
  item: VirtualItem
  /** Entries of a directory, directories first, then by name. A resource has none. */
  list(after: After | undefined, limit: number): Promise<EntryPage>
  /** Everything below a directory, folder by folder. */
  walk(after: After | undefined, wanted?: Wanted): AsyncIterable<Step>
  /** The texts at and below this node after `after`. */
  texts(after: After | undefined): AsyncIterable<TextUnit>
  /** The text of a resource; undefined for a directory. */
  read(): Promise<Content | undefined>
}

export const PLAIN_TEXT = 'text/plain; charset=utf-8'

/** Makes a directory or resource, empty except for the given parts. */
export function placeOf(item: VirtualItem, parts: Partial<Omit<Place, 'item'>> = {}): Place {
  return {
    item,
    list: () => Promise.resolve({ entries: [], more: false }),
    walk: nothing,
    texts: nothing,
    read: () => Promise.resolve(undefined),
    ...parts,
  }
}

async function* nothing(): AsyncGenerator<never> {}

/** Makes a page of a directory with few entries, whose positions are their indexes. */
export function pageOf(entries: readonly Entry[], start: number, limit: number): EntryPage {
  return { entries: entries.slice(start, start + limit), more: entries.length > start + limit }
}

/** Reads a part of a cursor's position. Clients can forge cursors, so parts are checked like any input. */
export function textAt(after: After, index: number): string {
  const part = after[index]
  if (typeof part !== 'string') throw brokenCursor()
  return part
}

export function integerAt(after: After, index: number): number {
  const part = after[index]
  if (typeof part !== 'number' || !Number.isSafeInteger(part) || part < 0) throw brokenCursor()
  return part
}
