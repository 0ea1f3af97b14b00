import { LRUCache } from 'lru-cache'
import { defined } from '../../lib/defined.js'
import { gatherText, type Text } from '../../lib/text/long-text.js'
import type { CompiledElement } from '../parse/compiled.js'
import { storedElements, storedText } from '../parse/read-stored.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'
import { storedArtifact } from '../rows/vfs/passages.js'
import type { Driver } from '../storage/driver.js'
import { type Content, PLAIN_TEXT } from './namespace.js'

/** maximum UTF-16 units of cached text: the pages of a few long documents */
const KEPT_UNITS = 8 * 1024 * 1024

/** Position and properties of an element, without its text. */
type ElementPlace = Pick<CompiledElement, 'id' | 'type' | 'sectionPath' | 'pageNumber'> & { start: number; end: number }

/** The text of a version and its elements, in order. */
export interface LoadedText {
  text: Text
  elements: readonly ElementPlace[]
}

/** Caches texts of document versions, so that paging through a text does not inflate it for each page. */
export class StoredTexts {
  readonly #db: Driver
  readonly #kept = new LRUCache<number, LoadedText>({
    maxSize: KEPT_UNITS,
    // elements take about as much as their text
    sizeCalculation: ({ text }) => 2 * text.length + 1,
  })

  constructor(db: Driver) {
    this.#db = db
  }

  /**
   * @param keep whether the text will be requested again
   * @returns undefined when the version was deleted
   */
  async load(versionKey: number, keep: boolean): Promise<LoadedText | undefined> {
    const known = this.#kept.get(versionKey)
    if (known !== undefined) return known
    const packed = await this.#db.read(storedArtifact(versionKey))
    if (packed === undefined) return undefined
    const loaded = { text: await gatherText(storedText(packed)), elements: await placesOf(packed) }
    if (keep) this.#kept.set(versionKey, loaded)
    return loaded
  }
}

async function placesOf(packed: Uint8Array): Promise<ElementPlace[]> {
  const places: ElementPlace[] = []
  let path: string[] = []
  for await (const { id, type, sectionPath, pageNumber, metadata } of storedElements(packed)) {
    const { startOffset: start, endOffset: end } = metadata
    if (typeof start !== 'number' || typeof end !== 'number') continue
    // elements of one section share its path
    if (path.length !== sectionPath.length || path.some((title, at) => title !== sectionPath[at])) path = sectionPath
    places.push({ id, type, sectionPath: path, start, end, ...defined({ pageNumber }) })
  }
  return places
}

/** The element that contains an offset of the text. */
export function elementAt(elements: readonly ElementPlace[], offset: number): ElementPlace | undefined {
  return elements.find(({ start, end }) => start <= offset && offset < end)
}

/** The text of a document as a resource; empty while it has no visible version. */
export async function textOfDocument(texts: StoredTexts, row: DocumentEntry): Promise<Content> {
  const stored = row.version_key === null ? undefined : await texts.load(row.version_key, true)
  if (stored === undefined) return { text: '', contentType: PLAIN_TEXT }
  return { text: stored.text, contentType: row.mime_type.startsWith('text/') ? row.mime_type : PLAIN_TEXT }
}
