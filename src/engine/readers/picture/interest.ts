import type { Picture } from '../parsed.js'
import type { PixelSize } from './size.js'

/** Pictures narrower or lower than this, in pixels, are bullets, spacers, rules or icons. */
const MIN_SIDE_PX = 24
/** Pictures with a smaller area, in pixels, are, too. */
const MIN_AREA_PX = 40 * 40
/** A picture that occurs this often in a document is a logo or an ornament. */
const MIN_ORNAMENT_COUNT = 4

/** Whether a picture is a bullet, a spacer, a rule or an icon. */
export function isTiny({ width, height }: PixelSize): boolean {
  return Math.min(width, height) < MIN_SIDE_PX || width * height < MIN_AREA_PX
}

/**
 * Creates a predicate that is called with each picture of a document in order. It returns true for repetitions of a
 * picture that occurs often, such as a logo.
 *
 * @param pictures all pictures of the document
 */
export function createRepetitionFilter(pictures: Iterable<Picture>): (picture: Picture) => boolean {
  const counts = new Map<string, number>()
  for (const picture of pictures) {
    const key = keyOf(picture)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const seen = new Set<string>()
  return (picture) => {
    const key = keyOf(picture)
    if ((counts.get(key) ?? 0) < MIN_ORNAMENT_COUNT) return false
    const isRepeated = seen.has(key)
    seen.add(key)
    return isRepeated
  }
}

/** Equal for equal pictures. Samples of the bytes are enough: checksums and sizes are at the ends. */
function keyOf(picture: Picture): string {
  if ('uri' in picture) return picture.uri
  if ('drawn' in picture) return `${picture.page}:${JSON.stringify(picture.drawn)}`
  const bytes = Buffer.from(picture.bytes.buffer, picture.bytes.byteOffset, picture.bytes.byteLength)
  const middle = bytes.length >> 1
  return `${bytes.length}:${bytes.toString('latin1', 0, 256)}:${bytes.toString('latin1', middle, middle + 256)}:${bytes.toString('latin1', Math.max(0, bytes.length - 256))}`
}
