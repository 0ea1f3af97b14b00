import type { ZipArchive } from '../archive/zip.js'
import type { Block } from '../parsed.js'
import { createChartReader } from './charts.js'
import type { EmbeddedObjects } from './embedded-files.js'
import { EmbeddedPictures, toPictureBlocks } from './embedded-pictures.js'
import { type PackageRelation, readXmlPart } from './office-package.js'
import { readShapeLines } from './slide-shapes.js'
import { readWordChunk } from './word-chunks.js'

/** What a Word text shows from another part of its package. */
export type WordObjectKind = 'picture' | 'chart' | 'diagram' | 'file' | 'chunk'

/** Reads the parts that a Word document shows in its text. */
export class WordObjects {
  readonly #zip: ZipArchive
  readonly #filename: string
  readonly #embedded: EmbeddedObjects | undefined
  readonly #pictures: EmbeddedPictures
  readonly #charts: (part: string | undefined) => Block[]
  readonly #readDocx: (bytes: Buffer) => Block[]
  readonly #chunks = new Set<string>()

  /** @param readDocx reads a Word document that is a part of the text */
  constructor(
    { zip, filename }: { zip: ZipArchive; filename: string },
    embedded: EmbeddedObjects | undefined,
    readDocx: (bytes: Buffer) => Block[],
  ) {
    this.#zip = zip
    this.#filename = filename
    this.#embedded = embedded
    this.#pictures = new EmbeddedPictures(zip, ['emf', 'wmf', 'svg'])
    this.#charts = createChartReader(zip, filename)
    this.#readDocx = readDocx
  }

  /** The blocks of an object; a picture that cannot be shown has its description. @param alt description of a picture */
  read(kind: WordObjectKind, relation: PackageRelation | undefined, alt: string): Block[] {
    const part = relation?.part
    if (kind === 'picture') return toPictureBlocks(part === undefined ? undefined : this.#pictures.get(part), alt)
    if (part === undefined || !this.#zip.entries.has(part)) return []
    if (kind === 'file') return this.#embedded?.take(part) ?? []
    if (kind === 'chart') return this.#charts(part)
    if (kind === 'chunk') return this.#chunk(part)
    const lines = readShapeLines(readXmlPart(this.#zip, part, this.#filename))
    return lines.length === 0 ? [] : [{ type: 'list', text: lines.map((line) => `- ${line}`).join('\n') }]
  }

  /** A part is read once: one small part may be embedded any number of times. */
  #chunk(part: string): Block[] {
    if (this.#chunks.has(part)) return []
    this.#chunks.add(part)
    return readWordChunk(this.#zip.read(part), this.#readDocx)
  }
}
