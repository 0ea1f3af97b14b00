import type { Block, Parser } from '../parsed.js'
import { parsePictureSource } from '../pictures.js'

const ADORNMENT = /^([!-/:-@[-`{-~])\1{2,}\s*$/
const DIRECTIVE = /^\.\.\s+([\w:-]+)::\s*([\s\S]*)$/
/** A footnote or a citation. */
const NOTE = /^\.\.\s+\[(#?[\w.-]{0,60}|\*)\](?:\s+([\s\S]*))?$/
const CODE_DIRECTIVES = new Set(['code', 'code-block', 'sourcecode', 'parsed-literal', 'literalinclude', 'highlight'])

/** Reads reStructuredText: titles by their adornment, code and image directives, lists, inline markup as text. */
export const rstParser: Parser = {
  parse: (input) => ({
    parser: 'unstructured',
    contentType: 'text',
    blocks: new RstReader(input.text()).read(),
    metadata: {},
  }),
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
    const overline = ADORNMENT.exec(this.#peek(0))
    const text = overline === null ? this.#peek(0) : this.#peek(1)
    const underline = ADORNMENT.exec(this.#peek(overline === null ? 1 : 2))
    if (underline === null || text.trim() === '' || (overline === null && /^\s/.test(text))) return false
    if (overline !== null && overline[1] !== underline[1]) return false
    const style = `${overline === null ? '' : 'over'}${underline[1]}`
    if (!this.#levels.includes(style)) this.#levels.push(style)
    this.#blocks.push({ type: 'heading', text: rstToText(text), level: this.#levels.indexOf(style) + 1 })
    this.#next += overline === null ? 2 : 3
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
      this.#blocks.push({ type: 'paragraph', text: rstToText(`[${note[1] ?? ''}] ${text}`) })
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
    if (CODE_DIRECTIVES.has(name)) {
      const metadata = argument === '' ? {} : { metadata: { language: argument } }
      this.#blocks.push({ type: 'code', text: removeOptions(body).join('\n'), ...metadata })
    } else if (name === 'image' || name === 'figure') {
      const picture = parsePictureSource(argument)
      const alt =
        body
          .find((line) => line.trim().startsWith(':alt:'))
          ?.trim()
          .slice(5)
          .trim() ?? ''
      if (picture !== undefined) this.#blocks.push({ type: 'image', text: alt, picture })
      const caption = removeOptions(body).join(' ').trim()
      if (caption !== '') this.#blocks.push({ type: 'paragraph', text: rstToText(caption) })
    } else {
      const text = [argument, ...removeOptions(body)].join('\n').trim()
      if (text !== '') this.#blocks.push({ type: 'paragraph', text: rstToText(text) })
    }
  }

  #paragraph(): void {
    const pendingLines: string[] = []
    while (this.#peek(0).trim() !== '') {
      if (pendingLines.length > 0 && ADORNMENT.test(this.#peek(1)) && !/^\s/.test(this.#peek(0))) break
      pendingLines.push(this.#peek(0))
      this.#next++
    }
    const isLiteral = pendingLines[pendingLines.length - 1]?.trimEnd().endsWith('::') === true
    const isList = /^\s*(?:[-*+•]|\(?(?:\d+|#)[.)])\s/.test(pendingLines[0] ?? '')
    const text = isList ? pendingLines.join('\n') : pendingLines.map((line) => line.trim()).join(' ')
    this.#blocks.push({
      type: isList ? 'list' : 'paragraph',
      text: rstToText(isLiteral ? text.replace(/::\s*$/, ':') : text),
    })
    if (!isLiteral) return
    const code = this.#indented()
    if (code.length > 0) this.#blocks.push({ type: 'code', text: code.join('\n') })
  }

  /** The indented lines that follow, without their common indent. */
  #indented(): string[] {
    const pendingLines: string[] = []
    while (this.#next < this.#lines.length && (this.#peek(0).trim() === '' || /^\s/.test(this.#peek(0)))) {
      pendingLines.push(this.#peek(0))
      this.#next++
    }
    const indents = pendingLines
      .filter((line) => line.trim() !== '')
      .map((line) => line.length - line.trimStart().length)
    const common = indents.reduce((min, indent) => Math.min(min, indent), Number.POSITIVE_INFINITY)
    return pendingLines.map((line) => line.slice(Number.isFinite(common) ? common : 0))
  }
}

function removeOptions(body: string[]): string[] {
  return body.filter((line) => !/^\s*:[\w-]+:/.test(line))
}

function rstToText(text: string): string {
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
