import type { ZipArchive } from '../archive/zip.js'
import { MAX_PICTURE_BYTES } from '../limits.js'
import type { Picture } from '../parsed.js'

const TYPES = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    bmp: 'image/bmp',
    tif: 'image/tiff',
    tiff: 'image/tiff',
  }),
)

/** The pictures that a document carries in its archive, unpacked one by one up to what a document may keep. */
export class EmbeddedPictures {
  readonly #zip: ZipArchive
  #bytes = 0

  constructor(zip: ZipArchive) {
    this.#zip = zip
  }

  /** The picture in a part of the archive; nothing where there is none, it is of no known type, or there are too many. */
  get(part: string): Picture | undefined {
    const contentType = TYPES.get(part.slice(part.lastIndexOf('.') + 1).toLowerCase())
    const entry = this.#zip.entries.get(part)
    if (contentType === undefined || entry === undefined || this.#bytes + entry.size > MAX_PICTURE_BYTES)
      return undefined
    const bytes = this.#zip.read(part)
    this.#bytes += bytes.length
    return { bytes: new Uint8Array(bytes) }
  }
}
