import type { Block, Parser } from '../parsed.js'
import { readHtml } from './html.js'
import { type Attributes, type MarkupHandler, readMarkup } from './markup-events.js'

/** An element is written out once its children have this many lines. */
const LINES_PER_ELEMENT = 60
/** Deeper elements are text of the one at this depth. */
const MAX_DEPTH = 200

interface Open {
  name: string
  /** has text other than white space */
  mixed: boolean
  parts: { text: string; lines: string[] }[]
  lineCount: number
}

/** Reads XML as `name: text` lines, grouped by the children of the root. No DTD is read, no entity expanded. */
export const xmlParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/xml' || mediaType.endsWith('+xml'),
  parse(input) {
    const reader = new XmlReader()
    readMarkup(input.text(), reader, true)
    return { parser: 'native-structured', contentType: 'structured', blocks: reader.finish(), metadata: {} }
  },
}

class XmlReader implements MarkupHandler {
  readonly #blocks: Block[] = []
  readonly #open: Open[] = [{ name: '', mixed: false, parts: [], lineCount: 0 }]
  #section = ''
  #tooDeep = 0

  open(name: string, attributes: Attributes): void {
    if (this.#open.length >= MAX_DEPTH) {
      this.#tooDeep++
      return
    }
    const open: Open = { name: localName(name), mixed: false, parts: [], lineCount: 0 }
    if (this.#open.length === 3) this.#enter(this.#open[2]?.name ?? '')
    this.#open.push(open)
    for (const [key, value] of attributes.entries()) {
      if (value.trim() === '' || key.startsWith('xmlns') || /^https?:\/\/www\.w3\.org\//.test(value)) continue
      const line = `${open.name} ${localName(key)}: ${value.trim()}`
      open.parts.push({ text: '', lines: [line] })
      open.lineCount++
    }
  }

  close(): void {
    if (this.#tooDeep > 0) {
      this.#tooDeep--
      return
    }
    if (this.#open.length <= 1) return
    const closed = this.#open.pop()
    const parent = this.#open[this.#open.length - 1]
    if (closed === undefined || parent === undefined) return
    if (this.#open.length === 2) this.#enter(closed.name)
    const text = closed.mixed ? plain(closed.parts.map((part) => part.text).join('')) : ''
    const inner = closed.parts.flatMap((part) => (closed.mixed && part.text !== '' ? [] : part.lines))
    const lines = closed.mixed && text !== '' ? [`${closed.name}: ${text}`, ...inner] : inner
    const spoken = closed.mixed ? text : closed.parts.map((part) => part.text).join(' ')
    parent.parts.push({ text: spoken, lines })
    parent.lineCount += lines.length
    if (!parent.mixed && parent.lineCount >= LINES_PER_ELEMENT) this.#write(parent)
  }

  text(text: string): void {
    const top = this.#open[this.#open.length - 1]
    if (top === undefined) return
    const outside = this.#open.length === 1 && text.trim() !== ''
    if (text.trim() !== '' && !outside) top.mixed = true
    top.parts.push({ text, lines: outside ? [text.trim()] : [] })
  }

  finish(): Block[] {
    while (this.#open.length > 1) this.close()
    const root = this.#open[0]
    if (root !== undefined) this.#write(root)
    return this.#blocks
  }

  /** Consecutive children of the root with one name form a section. */
  #enter(name: string): void {
    if (name === this.#section) return
    const root = this.#open[1]
    if (root !== undefined && !root.mixed) this.#write(root)
    this.#section = name
    this.#blocks.push({ type: 'heading', text: name, level: 1, tocSource: 'key', silent: true })
  }

  #write(open: Open): void {
    const lines = open.parts.flatMap((part) => part.lines)
    open.parts = []
    open.lineCount = 0
    if (lines.length > 0) this.#blocks.push({ type: 'list', text: lines.join('\n') })
  }
}

/** Feeds contain HTML as text; its tags are not for readers. */
function plain(text: string): string {
  const flat = text.includes('</')
    ? readHtml(text)
        .blocks.map((block) => block.text)
        .join(' ')
    : text
  return flat.replace(/\s+/g, ' ').trim()
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
