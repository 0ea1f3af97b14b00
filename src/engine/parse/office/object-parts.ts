import type { ZipArchive } from '../archive/zip.js'
import { type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'
import { xmlPart } from './office-package.js'

/** Objects of one document that are read. */
const MAX_OBJECTS = 500

/** Reads the XML of one object. */
export interface ObjectReader extends MarkupHandler {
  blocks(): Block[]
}

/**
 * Objects that stand in parts of their own in an archive: charts, formulas. They are read one by one.
 *
 * @param reader for one object
 * @returns the blocks of the object in a part; none where there is none, or too many came before it
 */
export function objectParts(
  zip: ZipArchive,
  filename: string,
  reader: () => ObjectReader,
): (part: string | undefined) => Block[] {
  let count = 0
  return (part) => {
    if (part === undefined || !zip.entries.has(part) || ++count > MAX_OBJECTS) return []
    const own = reader()
    readMarkup(xmlPart(zip, part, filename), own, true)
    return own.blocks()
  }
}
