import type { GrepListing, ResourceType, VirtualItem } from '../../contract/gateway/fs.js'
import type { Text } from '../../lib/text/long-text.js'
import { brokenCursor } from '../base/cursor.js'

/** Sort key of an entry within a listing; what a cursor carries. Short, whatever the names. */
export type After = (string | number)[]

export interface Entry {
  item: VirtualItem
  after: After
}

/** What a walk came by: an entry, or something that cannot be wanted, passed over without making an entry of it. */
export type Step = Entry | { item?: never; after: After }

/** What is looked for in a walk. Entries that cannot match may be passed over; the others may not match either. */
export interface Wanted {
  resourceType?: ResourceType | undefined
  /** part of the name, in lower case */
  namePart?: string | undefined
}

export interface EntryPage {
  entries: Entry[]
  /** whether entries follow */
  more: boolean
}

export interface Content {
  text: Text
  contentType: string
}

export type GrepMatch = GrepListing['matches'][number]

/** A text that grep searches: a document or one of its passages. */
export interface TextUnit {
  /** names the unit among its neighbours */
  id: string
  text: Text
  /** place after this unit */
  after: After
  /** what a match in `text` from `start` to `end` (UTF-16 units) is, without its snippet */
  describe(start: number, end: number): Promise<Omit<GrepMatch, 'snippet'>>
}

/** What stands at a path, as seen by one request. */
export interface Place {
  item: VirtualItem
  /** Entries of a directory, directories first, then by name. A resource has none. */
  list(after: After | undefined, limit: number): Promise<EntryPage>
  /** Everything below a directory, folder by folder. */
  walk(after: After | undefined, wanted?: Wanted): AsyncIterable<Step>
  /** The texts at and below this place that follow `after`. */
  texts(after: After | undefined): AsyncIterable<TextUnit>
  /** The text of a resource; undefined for a directory. */
  read(): Promise<Content | undefined>
}

export const PLAIN_TEXT = 'text/plain; charset=utf-8'

/** A directory or resource that answers nothing by default, to be filled in. */
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

/** A directory whose entries are few and known: they are compared by kind, then by position in the given order. */
export function pageOf(entries: readonly Entry[], start: number, limit: number): EntryPage {
  return { entries: entries.slice(start, start + limit), more: entries.length > start + limit }
}

/** Parts of a cursor's place. A cursor is no secret, so its parts are checked like any input. */
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
