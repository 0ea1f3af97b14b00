import type { ZipArchive } from '../archive/zip.js'
import { joinReading } from '../markup/ruby.js'
import type { Block } from '../parsed.js'
import { createChartReader } from './charts.js'
import { type DocumentComment, parseComments, toCommentBlock } from './comments.js'
import type { EmbeddedObjects } from './embedded-files.js'
import { formatMarker, MARKER_SIGN, replaceMarkers } from './insert-markers.js'
import { readRelations, readXmlPart } from './office-package.js'
import { readShapes } from './slide-shapes.js'

const MAIN = 'word/document.xml'

type DocxInsert =
  | { kind: 'chart'; part: string }
  | { kind: 'diagram'; part: string }
  | { kind: 'file'; part: string }
  | { kind: 'comment'; id: string }

/** Handles what mammoth skips: charts, diagrams, embedded files, comments, and ruby text. */
export class DocxInserts {
  readonly #zip: ZipArchive
  readonly #filename: string
  readonly #embedded: EmbeddedObjects
  readonly #inserts: DocxInsert[] = []
  #comments: Map<string, DocumentComment> | undefined

  constructor(zip: ZipArchive, filename: string, embedded: EmbeddedObjects) {
    this.#zip = zip
    this.#filename = filename
    this.#embedded = embedded
  }

  /** The XML of a part with markers in place of skipped content. */
  withMarkers(name: string, xml: string): string {
    const withRuby = xml.includes('<w:ruby') ? inlineRuby(xml) : xml
    if (name !== MAIN || !/<(?:c:chart|dgm:relIds|w:commentReference|o:OLEObject)[\s/]/.test(withRuby)) return withRuby
    return this.#markComments(this.#markDrawings(withRuby.replaceAll(MARKER_SIGN, '')))
  }

  /** The blocks of a document with the content of their markers. */
  fillMarkers(blocks: Block[]): Block[] {
    if (this.#inserts.length === 0) return blocks
    const charts = createChartReader(this.#zip, this.#filename)
    return replaceMarkers(blocks, (number) => {
      const insert = this.#inserts[number]
      if (insert === undefined) return []
      if (insert.kind === 'chart') return charts(insert.part)
      if (insert.kind === 'file') return this.#embedded.take(insert.part)
      if (insert.kind === 'diagram') return toDiagramBlocks(this.#zip, insert.part, this.#filename)
      const comment = this.#findComment(insert.id)
      return comment === undefined ? [] : [toCommentBlock(comment)]
    })
  }

  #findComment(id: string): DocumentComment | undefined {
    const part = 'word/comments.xml'
    this.#comments ??= new Map(
      (this.#zip.entries.has(part) ? parseComments(readXmlPart(this.#zip, part, this.#filename)) : []).map((item) => [
        item.id,
        item,
      ]),
    )
    return this.#comments.get(id)
  }

  #addMarker(insert: DocxInsert): string {
    this.#inserts.push(insert)
    return `<w:t xml:space="preserve">${formatMarker(this.#inserts.length - 1)}</w:t>`
  }

  #markComments(xml: string): string {
    return xml.replace(/<w:commentReference\s[^<>]{0,200}?w:id="(\d{1,9})"[^<>]{0,200}>/g, (_all, id: string) =>
      this.#addMarker({ kind: 'comment', id }),
    )
  }

  #markDrawings(xml: string): string {
    const relations = readRelations(this.#zip, MAIN, this.#filename)
    const withFiles = replaceElements(xml, 'w:object', (object) => {
      const id = /<o:OLEObject\s[^<>]{0,1000}r:id="([^"<>]{1,100})"/.exec(object)?.[1]
      const part = relations.get(id ?? '')?.part
      return part === undefined ? undefined : this.#addMarker({ kind: 'file', part }) + object
    })
    return replaceElements(withFiles, 'w:drawing', (drawing) => {
      const chart = /<c:chart\s[^<>]{0,500}r:id="([^"<>]{1,100})"/.exec(drawing)?.[1]
      const diagram = /<dgm:relIds\s[^<>]{0,500}r:dm="([^"<>]{1,100})"/.exec(drawing)?.[1]
      const part = relations.get(chart ?? diagram ?? '')?.part
      if (part === undefined) return undefined
      return this.#addMarker(chart === undefined ? { kind: 'diagram', part } : { kind: 'chart', part })
    })
  }
}

/** The texts of a diagram (SmartArt) as a list, in the order of its data. */
function toDiagramBlocks(zip: ZipArchive, part: string, filename: string): Block[] {
  if (!zip.entries.has(part)) return []
  const lines = readShapes(readXmlPart(zip, part, filename)).flatMap((shape) =>
    shape.kind === 'text' ? shape.paragraphs.map(({ text }) => `- ${text.replaceAll('\n', ' ')}`) : [],
  )
  return lines.length === 0 ? [] : [{ type: 'list', text: lines.join('\n') }]
}

function inlineRuby(xml: string): string {
  return replaceElements(xml, 'w:ruby', (ruby) => {
    const split = ruby.indexOf('<w:rubyBase')
    if (split === -1) return undefined
    return `<w:t xml:space="preserve">${joinReading(extractText(ruby.slice(split)), extractText(ruby.slice(0, split)))}</w:t>`
  })
}

function extractText(xml: string): string {
  return [...xml.matchAll(/<w:t(?:\s[^<>]{0,100})?>([^<]{0,1000})<\/w:t>/g)].map((match) => match[1] ?? '').join('')
}

/** Replaces elements by name. The elements must not be nested; an element is kept when `replace` returns undefined. */
function replaceElements(xml: string, name: string, replace: (element: string) => string | undefined): string {
  const parts: string[] = []
  const end = `</${name}>`
  let position = 0
  for (;;) {
    const start = xml.indexOf(`<${name}`, position)
    const close = start === -1 ? -1 : xml.indexOf(end, start)
    if (close === -1) break
    const next = close + end.length
    const element = xml.slice(start, next)
    parts.push(xml.slice(position, start), replace(element) ?? element)
    position = next
  }
  return parts.join('') + xml.slice(position)
}
