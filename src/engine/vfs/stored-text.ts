import { LRUCache } from 'lru-cache'
import type { CompiledElement } from '../parse/compiled.js'
import type { StoredArtifact } from '../parse/stored.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'
import { storedArtifact } from '../rows/vfs/passages.js'
import type { Driver } from '../storage/driver.js'
import { unpack } from '../storage/packed.js'
import { type Content, PLAIN_TEXT } from './namespace.js'

/** UTF-16 units of text kept: enough for the pages of a few long documents */
const KEPT_UNITS = 8 * 1024 * 1024

/** Texts of document versions, the last ones read kept: paging through a text does not inflate it page by page. */
export class StoredTexts {
  readonly #db: Driver
  readonly #kept = new LRUCache<number, StoredArtifact>({
    maxSize: KEPT_UNITS,
    // the elements repeat the text
    sizeCalculation: ({ text }) => 2 * text.length + 1,
  })

  constructor(db: Driver) {
    this.#db = db
  }

  /**
   * @param keep whether the text will be asked for again
   * @returns undefined when the version is gone
   */
  async load(versionKey: number, keep: boolean): Promise<StoredArtifact | undefined> {
    const known = this.#kept.get(versionKey)
    if (known !== undefined) return known
    const packed = await this.#db.read(storedArtifact(versionKey))
    if (packed === undefined) return undefined
    const artifact = await unpack<StoredArtifact>(packed)
    if (keep) this.#kept.set(versionKey, artifact)
    return artifact
  }
}

/** The element that holds a place of the text. */
export function elementAt(elements: readonly CompiledElement[], offset: number): CompiledElement | undefined {
  return elements.find(({ metadata: { startOffset, endOffset } }) => {
    return (
      typeof startOffset === 'number' && typeof endOffset === 'number' && startOffset <= offset && offset < endOffset
    )
  })
}

/** The text of a document as a resource; empty while no version of it is visible. */
export async function textOfDocument(texts: StoredTexts, row: DocumentEntry): Promise<Content> {
  const stored = row.version_key === null ? undefined : await texts.load(row.version_key, true)
  if (stored === undefined) return { text: '', contentType: PLAIN_TEXT }
  return { text: stored.text, contentType: row.mime_type.startsWith('text/') ? row.mime_type : PLAIN_TEXT }
}
