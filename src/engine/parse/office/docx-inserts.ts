import type { ZipArchive } from '../archive/zip.js'
import { withReading } from '../markup/ruby.js'
import type { Block } from '../parsed.js'
import { chartParts } from './charts.js'
import type { Embedded } from './embedded-files.js'
import { MARK, markOf, withMarked } from './marked.js'
import { relationsOf, xmlPart } from './office-package.js'
import { type Remark, remarkBlock, remarksIn } from './remarks.js'
import { readShapes } from './slide-shapes.js'

const MAIN = 'word/document.xml'

type Insert =
  | { kind: 'chart'; part: string }
  | { kind: 'diagram'; part: string }
  | { kind: 'file'; part: string }
  | { kind: 'comment'; id: string }

/** Handles what mammoth skips: charts, diagrams, embedded files, comments, and ruby text. */
export class DocxInserts {
  readonly #zip: ZipArchive
  readonly #filename: string
  readonly #embedded: Embedded
  readonly #inserts: Insert[] = []
  #remarks: Map<string, Remark> | undefined

  constructor(zip: ZipArchive, filename: string, embedded: Embedded) {
    this.#zip = zip
    this.#filename = filename
    this.#embedded = embedded
  }

  /** The XML of a part with markers in place of skipped content. */
  prepared(name: string, xml: string): string {
    const words = xml.includes('<w:ruby') ? withReadings(xml) : xml
    if (name !== MAIN || !/<(?:c:chart|dgm:relIds|w:commentReference|o:OLEObject)[\s/]/.test(words)) return words
    return this.#withComments(this.#withDrawings(words.replaceAll(MARK, '')))
  }

  /** The blocks of a document with the content of their markers. */
  placed(blocks: Block[]): Block[] {
    if (this.#inserts.length === 0) return blocks
    const charts = chartParts(this.#zip, this.#filename)
    return withMarked(blocks, (number) => {
      const insert = this.#inserts[number]
      if (insert === undefined) return []
      if (insert.kind === 'chart') return charts(insert.part)
      if (insert.kind === 'file') return this.#embedded.take(insert.part)
      if (insert.kind === 'diagram') return diagramBlocks(this.#zip, insert.part, this.#filename)
      const remark = this.#remarkOf(insert.id)
      return remark === undefined ? [] : [remarkBlock(remark)]
    })
  }

  #remarkOf(id: string): Remark | undefined {
    const part = 'word/comments.xml'
    this.#remarks ??= new Map(
      (this.#zip.entries.has(part) ? remarksIn(xmlPart(this.#zip, part, this.#filename)) : []).map((one) => [
        one.id,
        one,
      ]),
    )
    return this.#remarks.get(id)
  }

  #mark(insert: Insert): string {
    this.#inserts.push(insert)
    return `<w:t xml:space="preserve">${markOf(this.#inserts.length - 1)}</w:t>`
  }

  #withComments(xml: string): string {
    return xml.replace(/<w:commentReference\s[^<>]{0,200}?w:id="(\d{1,9})"[^<>]{0,200}>/g, (_all, id: string) =>
      this.#mark({ kind: 'comment', id }),
    )
  }

  #withDrawings(xml: string): string {
    const relations = relationsOf(this.#zip, MAIN, this.#filename)
    const withFiles = betweenTags(xml, 'w:object', (object) => {
      const id = /<o:OLEObject\s[^<>]{0,1000}r:id="([^"<>]{1,100})"/.exec(object)?.[1]
      const part = relations.get(id ?? '')?.part
      return part === undefined ? undefined : this.#mark({ kind: 'file', part }) + object
    })
    return betweenTags(withFiles, 'w:drawing', (drawing) => {
      const chart = /<c:chart\s[^<>]{0,500}r:id="([^"<>]{1,100})"/.exec(drawing)?.[1]
      const diagram = /<dgm:relIds\s[^<>]{0,500}r:dm="([^"<>]{1,100})"/.exec(drawing)?.[1]
      const part = relations.get(chart ?? diagram ?? '')?.part
      if (part === undefined) return undefined
      return this.#mark(chart === undefined ? { kind: 'diagram', part } : { kind: 'chart', part })
    })
  }
}

/** The texts of a diagram (SmartArt) as a list, in the order of its data. */
function diagramBlocks(zip: ZipArchive, part: string, filename: string): Block[] {
  if (!zip.entries.has(part)) return []
  const lines = readShapes(xmlPart(zip, part, filename)).flatMap((shape) =>
    shape.kind === 'text' ? shape.paragraphs.map(({ text }) => `- ${text.replaceAll('\n', ' ')}`) : [],
  )
  return lines.length === 0 ? [] : [{ type: 'list', text: lines.join('\n') }]
}

function withReadings(xml: string): string {
  return betweenTags(xml, 'w:ruby', (ruby) => {
    const split = ruby.indexOf('<w:rubyBase')
    if (split === -1) return undefined
    return `<w:t xml:space="preserve">${withReading(textsIn(ruby.slice(split)), textsIn(ruby.slice(0, split)))}</w:t>`
  })
}

function textsIn(xml: string): string {
  return [...xml.matchAll(/<w:t(?:\s[^<>]{0,100})?>([^<]{0,1000})<\/w:t>/g)].map((found) => found[1] ?? '').join('')
}

/** Replaces elements by name. The elements must not be nested; an element is kept when `replace` returns undefined. */
function betweenTags(xml: string, name: string, replace: (element: string) => string | undefined): string {
  const parts: string[] = []
  const end = `</${name}>`
  let from = 0
  for (;;) {
    const start = xml.indexOf(`<${name}`, from)
    const close = start === -1 ? -1 : xml.indexOf(end, start)
    if (close === -1) break
    const next = close + end.length
    const element = xml.slice(start, next)
    parts.push(xml.slice(from, start), replace(element) ?? element)
    from = next
  }
  return parts.join('') + xml.slice(from)
}
