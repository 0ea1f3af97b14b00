import type { ZipArchive } from '../archive/zip.js'
import type { Block } from '../parsed.js'
import type { EmbeddedObjects } from './embedded-files.js'
import { createObjectReader } from './object-parts.js'
import { OdfObjectReader } from './odf-object-reader.js'

/**
 * Creates a reader of the objects of a package: charts as tables, formulas as they were typed, names of embedded files.
 *
 * @returns a function that returns the blocks of an object by its reference in a frame: `./Object 1`
 */
export function createOdfObjectReader(
  zip: ZipArchive,
  filename: string,
  embedded: EmbeddedObjects,
): (href: string) => Block[] {
  const read = createObjectReader(zip, filename, () => new OdfObjectReader())
  return (href) => {
    const name = href.replace(/^\.\//, '').replace(/\/$/, '')
    const file = embedded.take(name)
    return file.length > 0 ? file : read(`${name}/content.xml`)
  }
}
