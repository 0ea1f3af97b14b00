import { LRUCache } from 'lru-cache'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { joinText, type Text } from '../../../lib/text/long-text.js'
import { readStoredElements, readStoredText } from '../../readers/index.js'
import type { CompiledElement } from '../../store/compiled.js'
import type { Driver } from '../../store/driver.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'
import { findArtifactBytes } from '../rows/vfs/passages.js'
import { PLAIN_TEXT, type ResourceContent } from './namespace.js'

/** maximum UTF-16 units of cached text: the pages of a few long documents */
const MAX_CACHED_UNITS = 8 * 1024 * 1024

/** Position and properties of an element, without its text. */
type ElementSpan = Pick<CompiledElement, 'id' | 'type' | 'sectionPath' | 'pageNumber'> & { start: number; end: number }

/** The text of a version and its elements, in order. */
export interface LoadedText {
  text: Text
  elements: readonly ElementSpan[]
}

/** Caches texts of document versions, so that paging through a text does not inflate it for each page. */
export class StoredTexts {
  readonly #db: Driver
  readonly #cache = new LRUCache<number, LoadedText>({
    maxSize: MAX_CACHED_UNITS,
    // elements take about as much as their text
    sizeCalculation: ({ text }) => 2 * text.length + 1,
  })

  constructor(db: Driver) {
    this.#db = db
  }

  /** Loads a text and caches it. @returns undefined when the version was deleted */
  async load(versionKey: number): Promise<LoadedText | undefined> {
    const loaded = await this.loadOnce(versionKey)
    if (loaded !== undefined) this.#cache.set(versionKey, loaded)
    return loaded
  }

  /** Loads a text that will not be requested again, or returns the cached one. */
  async loadOnce(versionKey: number): Promise<LoadedText | undefined> {
    const cached = this.#cache.get(versionKey)
    if (cached !== undefined) return cached
    const packed = await this.#db.read(findArtifactBytes(versionKey))
    if (packed === undefined) return undefined
    return { text: await joinText(readStoredText(packed)), elements: await readElementSpans(packed) }
  }
}

async function readElementSpans(packed: Uint8Array): Promise<ElementSpan[]> {
  const spans: ElementSpan[] = []
  let path: string[] = []
  for await (const { id, type, sectionPath, pageNumber, metadata } of readStoredElements(packed)) {
    const { startOffset: start, endOffset: end } = metadata
    if (typeof start !== 'number' || typeof end !== 'number') continue
    // elements of one section share its path
    if (path.length !== sectionPath.length || path.some((title, index) => title !== sectionPath[index]))
      path = sectionPath
    spans.push({ id, type, sectionPath: path, start, end, ...omitUndefined({ pageNumber }) })
  }
  return spans
}

/** The element that contains an offset of the text. */
export function findElementAt(elements: readonly ElementSpan[], offset: number): ElementSpan | undefined {
  return elements.find(({ start, end }) => start <= offset && offset < end)
}

/** The text of a document as a resource; empty while it has no visible version. */
export async function readDocumentText(texts: StoredTexts, row: DocumentEntry): Promise<ResourceContent> {
  const stored = row.version_key === null ? undefined : await texts.load(row.version_key)
  if (stored === undefined) return { text: '', contentType: PLAIN_TEXT }
  return { text: stored.text, contentType: row.mime_type.startsWith('text/') ? row.mime_type : PLAIN_TEXT }
}
