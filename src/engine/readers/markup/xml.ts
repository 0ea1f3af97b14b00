import type { Block, Parser } from '../parsed.js'
import { readHtml } from './html.js'
import { type Attributes, getLocalName, type MarkupHandler, readMarkup } from './markup-events.js'

/** An element is written out once its children have this many lines. */
const LINES_PER_ELEMENT = 60
/** Deeper elements are text of the one at this depth. */
const MAX_DEPTH = 200

interface OpenXmlElement {
  name: string
  /** has text other than white space */
  hasText: boolean
  parts: { text: string; lines: string[] }[]
  lineCount: number
}

/** Reads XML as `name: text` lines, grouped by the children of the root. No DTD is read, no entity expanded. */
export const xmlParser: Parser = {
  parse(input) {
    const reader = new XmlReader()
    readMarkup(input.text(), reader, 'xml')
    return { parser: 'native-structured', contentType: 'structured', blocks: reader.finish(), metadata: {} }
  },
}

class XmlReader implements MarkupHandler {
  readonly #blocks: Block[] = []
  readonly #open: OpenXmlElement[] = [{ name: '', hasText: false, parts: [], lineCount: 0 }]
  #section = ''
  #skippedDepth = 0

  open(name: string, attributes: Attributes): void {
    if (this.#open.length >= MAX_DEPTH) {
      this.#skippedDepth++
      return
    }
    const open: OpenXmlElement = { name: getLocalName(name), hasText: false, parts: [], lineCount: 0 }
    if (this.#open.length === 3) this.#beginSection(this.#open[2]?.name ?? '')
    this.#open.push(open)
    for (const [key, value] of attributes.entries()) {
      if (value.trim() === '' || key.startsWith('xmlns') || /^https?:\/\/www\.w3\.org\//.test(value)) continue
      const line = `${open.name} ${getLocalName(key)}: ${value.trim()}`
      open.parts.push({ text: '', lines: [line] })
      open.lineCount++
    }
  }

  close(): void {
    if (this.#skippedDepth > 0) {
      this.#skippedDepth--
      return
    }
    if (this.#open.length <= 1) return
    const closed = this.#open.pop()
    const parent = this.#open[this.#open.length - 1]
    if (closed === undefined || parent === undefined) return
    if (this.#open.length === 2) this.#beginSection(closed.name)
    const text = closed.hasText ? toPlainText(closed.parts.map((part) => part.text).join('')) : ''
    const inner = closed.parts.flatMap((part) => (closed.hasText && part.text !== '' ? [] : part.lines))
    const lines = closed.hasText && text !== '' ? [`${closed.name}: ${text}`, ...inner] : inner
    const fullText = closed.hasText ? text : closed.parts.map((part) => part.text).join(' ')
    parent.parts.push({ text: fullText, lines })
    parent.lineCount += lines.length
    if (!parent.hasText && parent.lineCount >= LINES_PER_ELEMENT) this.#write(parent)
  }

  text(text: string): void {
    const top = this.#open[this.#open.length - 1]
    if (top === undefined) return
    const isOutsideRoot = this.#open.length === 1 && text.trim() !== ''
    if (text.trim() !== '' && !isOutsideRoot) top.hasText = true
    top.parts.push({ text, lines: isOutsideRoot ? [text.trim()] : [] })
  }

  finish(): Block[] {
    while (this.#open.length > 1) this.close()
    const root = this.#open[0]
    if (root !== undefined) this.#write(root)
    return this.#blocks
  }

  /** Consecutive children of the root with one name form a section. */
  #beginSection(name: string): void {
    if (name === this.#section) return
    const root = this.#open[1]
    if (root !== undefined && !root.hasText) this.#write(root)
    this.#section = name
    this.#blocks.push({ type: 'heading', text: name, level: 1, tocSource: 'key', silent: true })
  }

  #write(open: OpenXmlElement): void {
    const lines = open.parts.flatMap((part) => part.lines)
    open.parts = []
    open.lineCount = 0
    if (lines.length > 0) this.#blocks.push({ type: 'list', text: lines.join('\n') })
  }
}

/** Feeds contain HTML as text; its tags are not for readers. */
function toPlainText(text: string): string {
  const visibleText = text.includes('</')
    ? readHtml(text)
        .blocks.map((block) => block.text)
        .join(' ')
    : text
  return visibleText.replace(/\s+/g, ' ').trim()
}
