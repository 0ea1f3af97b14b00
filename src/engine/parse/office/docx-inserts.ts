import type { ZipArchive } from '../archive/zip.js'
import { withReading } from '../markup/ruby.js'
import type { Block } from '../parsed.js'
import { Charts } from './charts.js'
import { relationsOf } from './office-package.js'

const MAIN = 'word/document.xml'
/** Stands in the text for a chart, between signs that no text has. */
const MARK = '\ue0c7'

/** What the library that reads a document passes over: charts, and words with their readings. */
export class DocxInserts {
  readonly #zip: ZipArchive
  readonly #filename: string
  readonly #parts: string[] = []

  constructor(zip: ZipArchive, filename: string) {
    this.#zip = zip
    this.#filename = filename
  }

  /** A part of the document with words in the place of both. */
  prepared(name: string, xml: string): string {
    const words = xml.includes('<w:ruby') ? withReadings(xml) : xml
    return name === MAIN && words.includes('<c:chart ') ? this.#withMarks(words) : words
  }

  /** The blocks of a document with its charts in the place of their marks. */
  placed(blocks: Block[]): Block[] {
    if (this.#parts.length === 0) return blocks
    const charts = new Charts(this.#zip, this.#filename)
    return blocks.flatMap((block) => {
      if (!block.text.includes(MARK)) return [block]
      const found: Block[] = []
      const text = block.text.replace(new RegExp(`${MARK}(\\d+)${MARK}`, 'g'), (_all, number: string) => {
        found.push(...charts.blocks(this.#parts[Number(number)]))
        this.#parts[Number(number)] = ''
        return ''
      })
      return text.trim() === '' ? found : [{ ...block, text }, ...found]
    })
  }

  #withMarks(xml: string): string {
    const relations = relationsOf(this.#zip, MAIN, this.#filename)
    return betweenTags(xml.replaceAll(MARK, ''), 'w:drawing', (drawing) => {
      const id = /<c:chart\s[^<>]{0,500}r:id="([^"<>]{1,100})"/.exec(drawing)?.[1]
      const part = id === undefined ? undefined : relations.get(id)?.part
      if (part === undefined) return undefined
      this.#parts.push(part)
      return `<w:t xml:space="preserve">${MARK}${this.#parts.length - 1}${MARK}</w:t>`
    })
  }
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

/** Replaces each element of a name, which holds none of its own name, where there is something to replace it with. */
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
