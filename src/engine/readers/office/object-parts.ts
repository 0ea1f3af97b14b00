import type { ZipArchive } from '../archive/zip.js'
import { type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'
import { readXmlPart } from './office-package.js'

/** Maximal number of objects of one document. */
const MAX_OBJECTS = 500

/** Parses the XML of one object. */
export interface ObjectReader extends MarkupHandler {
  blocks(): Block[]
}

/**
 * Creates a reader of objects in separate parts of an archive: charts, formulas. Each is read when it is requested.
 *
 * @param reader creates a reader for one object
 * @returns a function that returns the blocks of the object in a part; none when the part is missing or the limit is
 * reached
 */
export function createObjectReader(
  zip: ZipArchive,
  filename: string,
  reader: () => ObjectReader,
): (part: string | undefined) => Block[] {
  let count = 0
  return (part) => {
    if (part === undefined || !zip.entries.has(part) || ++count > MAX_OBJECTS) return []
    const objectReader = reader()
    readMarkup(readXmlPart(zip, part, filename), objectReader, 'xml')
    return objectReader.blocks()
  }
}
