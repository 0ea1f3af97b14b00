import { createHash } from 'node:crypto'
import type { BoundingBox } from '../../store/compiled.js'

/** The key of a picture that is stored in the file: the hash of its bytes. */
export function hashPicture(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The key of a drawn picture: its location and file. @param file hash of the file's bytes */
export function hashDrawnPicture(file: string, page: number, { x, y, width, height }: BoundingBox): string {
  return createHash('sha256').update(`${file}\n${page}\n${x},${y},${width},${height}`).digest('hex')
}
