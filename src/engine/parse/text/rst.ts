import type { Block, Parsed, Parser } from '../parsed.js'
import { pictureFrom } from '../pictures.js'

const ADORNMENT = /^([!-/:-@[-`{-~])\1{2,}\s*$/
const DIRECTIVE = /^\.\.\s+([\w:-]+)::\s*([\s\S]*)$/
/** A footnote or a citation. */
const NOTE = /^\.\.\s+\[(#?[\w.-]{0,60}|\*)\](?:\s+([\s\S]*))?$/
const CODE = new Set(['code', 'code-block', 'sourcecode', 'parsed-literal', 'literalinclude', 'highlight'])

/** Reads reStructuredText: titles by their adornment, code and image directives, lists, inline markup as text. */
export const rstParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/x-rst',
  parse: (input) => parseRst(input.text()),
}

function parseRst(text: string): Parsed {
  return { parser: 'unstructured', contentType: 'text', blocks: new RstReader(text).read(), metadata: {} }
}

class RstReader {
  readonly #lines: string[]
  readonly #blocks: Block[] = []
  /** adornments in the order of their first use, which is the order of their levels */
  readonly #levels: string[] = []
  #next = 0

  constructor(text: string) {
    this.#lines = text.split(/\r?\n/)
  }

  read(): Block[] {
    while (this.#next < this.#lines.length) {
      const line = this.#peek(0)
      if (line.trim() === '') this.#next++
      else if (!this.#title()) this.#body(line)
    }
    return this.#blocks
  }

  #peek(ahead: number): string {
    return this.#lines[this.#next + ahead] ?? ''
  }

  #title(): boolean {
    const over = ADORNMENT.exec(this.#peek(0))
    const text = over === null ? this.#peek(0) : this.#peek(1)
    const under = ADORNMENT.exec(this.#peek(over === null ? 1 : 2))
    if (under === null || text.trim() === '' || (over === null && /^\s/.test(text))) return false
    if (over !== null && over[1] !== under[1]) return false
    const style = `${over === null ? '' : 'over'}${under[1]}`
    if (!this.#levels.includes(style)) this.#levels.push(style)
    this.#blocks.push({ type: 'heading', text: inline(text), level: this.#levels.indexOf(style) + 1 })
    this.#next += over === null ? 2 : 3
    return true
  }

  #body(line: string): void {
    const directive = DIRECTIVE.exec(line)
    if (directive !== null) {
      this.#directive(directive[1] ?? '', directive[2]?.trim() ?? '')
      return
    }
    const note = NOTE.exec(line)
    if (note !== null) {
      this.#next++
      const text = [note[2] ?? '', ...this.#indented()].map((part) => part.trim()).join(' ')
      this.#blocks.push({ type: 'paragraph', text: inline(`[${note[1] ?? ''}] ${text}`) })
      return
    }
    if (/^\.\.(?:\s|$)/.test(line)) {
      this.#next++
      // A lone `..` only separates the blocks around it.
      if (line.trim() === '..' && this.#peek(0).trim() === '') return
      this.#indented()
      return
    }
    if (ADORNMENT.test(line)) {
      this.#next++
      return
    }
    this.#paragraph()
  }

  #directive(name: string, argument: string): void {
    this.#next++
    const body = this.#indented()
    if (CODE.has(name)) {
      const metadata = argument === '' ? {} : { metadata: { language: argument } }
      this.#blocks.push({ type: 'code', text: withoutOptions(body).join('\n'), ...metadata })
    } else if (name === 'image' || name === 'figure') {
      const picture = pictureFrom(argument)
      const alt =
        body
          .find((line) => line.trim().startsWith(':alt:'))
          ?.trim()
          .slice(5)
          .trim() ?? ''
      if (picture !== undefined) this.#blocks.push({ type: 'image', text: alt, picture })
      const caption = withoutOptions(body).join(' ').trim()
      if (caption !== '') this.#blocks.push({ type: 'paragraph', text: inline(caption) })
    } else {
      const text = [argument, ...withoutOptions(body)].join('\n').trim()
      if (text !== '') this.#blocks.push({ type: 'paragraph', text: inline(text) })
    }
  }

  #paragraph(): void {
    const held: string[] = []
    while (this.#peek(0).trim() !== '') {
      if (held.length > 0 && ADORNMENT.test(this.#peek(1)) && !/^\s/.test(this.#peek(0))) break
      held.push(this.#peek(0))
      this.#next++
    }
    const literal = held[held.length - 1]?.trimEnd().endsWith('::') === true
    const list = /^\s*(?:[-*+•]|\(?(?:\d+|#)[.)])\s/.test(held[0] ?? '')
    const text = list ? held.join('\n') : held.map((line) => line.trim()).join(' ')
    this.#blocks.push({ type: list ? 'list' : 'paragraph', text: inline(literal ? text.replace(/::\s*$/, ':') : text) })
    if (!literal) return
    const code = this.#indented()
    if (code.length > 0) this.#blocks.push({ type: 'code', text: code.join('\n') })
  }

  /** The indented lines that follow, without their common indent. */
  #indented(): string[] {
    const held: string[] = []
    while (this.#next < this.#lines.length && (this.#peek(0).trim() === '' || /^\s/.test(this.#peek(0)))) {
      held.push(this.#peek(0))
      this.#next++
    }
    const indents = held.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
    const common = indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY)
    return held.map((line) => line.slice(Number.isFinite(common) ? common : 0))
  }
}

function withoutOptions(body: string[]): string[] {
  return body.filter((line) => !/^\s*:[\w-]+:/.test(line))
}

function inline(text: string): string {
  return text
    .replace(/:[\w:+.-]{1,40}:`([^`]*)`/g, '`$1`')
    .replace(/`([^`<]*)<[^>`]*>`_{0,2}/g, (_whole, label: string) => label.trim())
    .replace(/``([^`]*)``/g, '$1')
    .replace(/`([^`]*)`_{0,2}/g, '$1')
    .replace(/\*\*([^*\n]+)\*\*/g, '$1')
    .replace(/\*([^*\s][^*\n]*)\*/g, '$1')
    .replace(/\|([^|\s][^|\n]*)\|/g, '$1')
    .trim()
}
