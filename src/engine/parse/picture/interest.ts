import type { Picture } from '../parsed.js'
import type { PixelSize } from './size.js'

/** Bullets, spacers, rules and icons: narrower or lower than this, in pixels. */
const LEAST_SIDE = 24
/** … or smaller altogether. */
const LEAST_AREA = 40 * 40
/** A picture that stands in a document so often is a logo or an ornament. */
const ORNAMENT_TIMES = 4

/** Whether a picture is a bullet, a spacer, a rule or an icon. */
export function isTiny({ width, height }: PixelSize): boolean {
  return Math.min(width, height) < LEAST_SIDE || width * height < LEAST_AREA
}

/**
 * Tells of each picture of a document, in its order, whether it repeats one that stands everywhere, such as a logo.
 *
 * @param pictures all of them
 */
export function repeatedAmong(pictures: Iterable<Picture>): (picture: Picture) => boolean {
  const times = new Map<string, number>()
  for (const picture of pictures) {
    const key = keyOf(picture)
    times.set(key, (times.get(key) ?? 0) + 1)
  }
  const met = new Set<string>()
  return (picture) => {
    const key = keyOf(picture)
    if ((times.get(key) ?? 0) < ORNAMENT_TIMES) return false
    const isRepeated = met.has(key)
    met.add(key)
    return isRepeated
  }
}

/** Alike for the same picture. The ends of its bytes are enough: checksums and sizes stand there. */
function keyOf(picture: Picture): string {
  if ('uri' in picture) return picture.uri
  if ('drawn' in picture) return `${picture.page}:${JSON.stringify(picture.drawn)}`
  const bytes = Buffer.from(picture.bytes.buffer, picture.bytes.byteOffset, picture.bytes.byteLength)
  const middle = bytes.length >> 1
  return `${bytes.length}:${bytes.toString('latin1', 0, 256)}:${bytes.toString('latin1', middle, middle + 256)}:${bytes.toString('latin1', Math.max(0, bytes.length - 256))}`
}
