import { createHash } from 'node:crypto'
import type { BoundingBox } from '../compiled.js'

/** What a picture is known by: the hash of its bytes, or where it stands in which file. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The same of what is drawn. @param file hash of the file's bytes */
export function drawnKey(file: string, page: number, { x, y, width, height }: BoundingBox): string {
  return createHash('sha256').update(`${file}\n${page}\n${x},${y},${width},${height}`).digest('hex')
}
