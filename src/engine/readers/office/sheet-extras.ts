import type { ZipArchive } from '../archive/zip.js'
import type { Block } from '../parsed.js'
import { createChartReader } from './charts.js'
import { parseComments, toCommentBlock } from './comments.js'
import type { EmbeddedObjects } from './embedded-files.js'
import { EmbeddedPictures, toPictureBlocks } from './embedded-pictures.js'
import { type PackageRelation, readRelations, readXmlPart } from './office-package.js'
import { readShapes, type SlideShape } from './slide-shapes.js'

/**
 * Format codes of headers and footers: `&D`, `&P`, `&"Arial,Bold"`, `&12`, `&KFF0000`, `&[Page]`; `&&` is an ampersand.
 */
const FORMAT_CODES = /&(?:&|"[^"&]{0,100}"|K[0-9A-Fa-f]{6}|\d{1,3}|\[[^\]&]{0,40}\]|[A-Za-z])/g

/**
 * Creates a reader of the sheet content other than cells: charts, text boxes, pictures, embedded files, comments,
 * headers and footers.
 *
 * @param ends last characters of the sheets by part, which contain headers and footers
 * @returns a function that takes the part of a sheet and returns its blocks
 */
export function createSheetExtras(
  zip: ZipArchive,
  filename: string,
  ends: ReadonlyMap<string, string>,
  embedded: EmbeddedObjects,
): (part: string) => Block[] {
  const reader = new SideContentReader(zip, filename, embedded)
  return (part) => (part === '' ? [] : [...reader.sheet(part), ...reader.headersAndFooters(ends.get(part) ?? '')])
}

class SideContentReader {
  readonly #zip: ZipArchive
  readonly #filename: string
  readonly #charts: (part: string | undefined) => Block[]
  readonly #pictures: EmbeddedPictures
  readonly #embedded: EmbeddedObjects
  readonly #seen = new Set<string>()
  /** Texts of headers and footers, which are mostly equal on all sheets. */
  readonly #seenMargins = new Set<string>()

  constructor(zip: ZipArchive, filename: string, embedded: EmbeddedObjects) {
    this.#zip = zip
    this.#embedded = embedded
    this.#filename = filename
    this.#charts = createChartReader(zip, filename)
    this.#pictures = new EmbeddedPictures(zip)
  }

  sheet(part: string): Block[] {
    const blocks: Block[] = []
    for (const relation of readRelations(this.#zip, part, this.#filename).values()) {
      if (!this.#zip.entries.has(relation.part) || this.#seen.has(relation.part)) continue
      this.#seen.add(relation.part)
      if (this.#embedded.isKind(relation.kind)) blocks.push(...this.#embedded.take(relation.part))
      else if (relation.kind === 'drawing') blocks.push(...this.#drawing(relation.part))
      else if (relation.kind === 'comments' && relation.part.endsWith('.xml'))
        blocks.push(...parseComments(readXmlPart(this.#zip, relation.part, this.#filename)).map(toCommentBlock))
    }
    return blocks
  }

  #drawing(part: string): Block[] {
    const xml = readXmlPart(this.#zip, part, this.#filename)
    const relations = readRelations(this.#zip, part, this.#filename)
    // the shapes are those of slides with another prefix
    const shapes = readShapes(xml.replace(/(<\/?)xdr:/g, '$1p:'))
    const blocks = shapes.flatMap((shape) => this.#shape(shape, relations))
    // charts in frames of an unknown kind
    const unframedCharts = [...relations].filter(([, { kind }]) => kind === 'chart')
    return [...blocks, ...unframedCharts.flatMap(([relation]) => this.#shape({ kind: 'chart', relation }, relations))]
  }

  #shape(shape: SlideShape, relations: ReadonlyMap<string, PackageRelation>): Block[] {
    if (shape.kind === 'table') return []
    if (shape.kind === 'text') return shape.paragraphs.map(({ text }) => ({ type: 'paragraph', text }))
    const part = relations.get(shape.relation)?.part
    if (shape.kind === 'chart') {
      if (part === undefined || this.#seen.has(part)) return []
      this.#seen.add(part)
      return this.#charts(part)
    }
    if (shape.kind === 'picture')
      return toPictureBlocks(part === undefined ? undefined : this.#pictures.get(part), shape.alt)
    if (part === undefined || !this.#zip.entries.has(part)) return []
    return readShapes(readXmlPart(this.#zip, part, this.#filename)).flatMap((text) => this.#shape(text, new Map()))
  }

  headersAndFooters(end: string): Block[] {
    const blocks: Block[] = []
    for (const [, role, raw = ''] of end.matchAll(
      /<(?:odd|even|first)(Header|Footer)(?:\s[^<>]{0,200})?>([^<]{1,2000})</g,
    )) {
      const text = raw
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&')
        .replace(FORMAT_CODES, (code) => (code === '&&' ? '&' : /^&[LCR]$/.test(code) ? ' ' : ''))
        .replace(/\s+/g, ' ')
        .trim()
      if (!/\p{L}{3}/u.test(text) || /^(?:page|seite|blatt|página|pagina)\s*(?:of|von|de|di|\/)?$/i.test(text)) continue
      if (this.#seenMargins.has(text)) continue
      this.#seenMargins.add(text)
      blocks.push({ type: 'paragraph', text, metadata: { role: role === 'Footer' ? 'footer' : 'header' } })
    }
    return blocks
  }
}
