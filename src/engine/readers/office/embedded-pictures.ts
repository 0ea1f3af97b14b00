import type { ZipArchive } from '../archive/zip.js'
import { MAX_PICTURE_BYTES } from '../limits.js'
import type { Block, Picture } from '../parsed.js'

const ENDINGS = ['png', 'jpg', 'jpeg', 'gif', 'webp', 'bmp', 'tif', 'tiff']

/** The pictures in the archive of a document, unpacked one by one up to the limit of a document. */
export class EmbeddedPictures {
  readonly #zip: ZipArchive
  readonly #endings: ReadonlySet<string>
  #bytes = 0

  /** @param otherEndings endings of further types, of pictures that are kept but not drawn */
  constructor(zip: ZipArchive, otherEndings: readonly string[] = []) {
    this.#zip = zip
    this.#endings = new Set([...ENDINGS, ...otherEndings])
  }

  /**
   * The picture in a part of the archive; undefined when there is none, its type is unknown, or the limit is reached.
   */
  get(part: string): Picture | undefined {
    const isPicture = this.#endings.has(part.slice(part.lastIndexOf('.') + 1).toLowerCase())
    const entry = this.#zip.entries.get(part)
    if (!isPicture || entry === undefined || this.#bytes + entry.size > MAX_PICTURE_BYTES) return undefined
    const bytes = this.#zip.read(part)
    this.#bytes += bytes.length
    return { bytes: new Uint8Array(bytes) }
  }
}

/** The block of a picture; its description as a paragraph when the picture cannot be read. */
export function toPictureBlocks(picture: Picture | undefined, alt: string): Block[] {
  if (picture !== undefined) return [{ type: 'image', text: alt, picture }]
  return alt === '' ? [] : [{ type: 'paragraph', text: alt }]
}
