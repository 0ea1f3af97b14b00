import { defined } from '../../../lib/defined.js'
import type { Block, Parsed, Parser } from '../parsed.js'
import { tableBlocks } from '../tables.js'
import { lines } from './text.js'

const HEADING = /^(\*{1,20})\s+(?:(?:TODO|DONE)\s+)?(?:\[#[A-Z]\]\s+)?([\s\S]*)$/
const BEGIN = /^\s*#\+begin_(\w+)\s*(\S*)/i
const ITEM = /^\s*(?:[-+]|\d+[.)])\s/

/** Reads Org files: headings, blocks, tables, lists, inline markup as text. */
export const orgParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/x-org',
  parse: (input) => new OrgReader().read(input.text()),
}

class OrgReader {
  readonly #blocks: Block[] = []
  #held: string[] = []
  #table: string[][] = []
  #block: { kind: string; language: string; lines: string[] } | undefined
  #drawer = false
  #title: string | undefined
  #author: string | undefined

  read(text: string): Parsed {
    for (const line of lines(text)) this.#line(line)
    this.#closeBlock()
    this.#flush()
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: this.#blocks,
      ...defined({ title: this.#title }),
      metadata: {},
      ...(this.#author === undefined ? {} : { declared: { authors: [this.#author] } }),
    }
  }

  #line(line: string): void {
    if (this.#block !== undefined) {
      if (/^\s*#\+end_/i.test(line)) this.#closeBlock()
      else this.#block.lines.push(line)
      return
    }
    if (this.#drawer) {
      this.#drawer = !/^\s*:END:\s*$/i.test(line)
      return
    }
    const heading = HEADING.exec(line)
    const begin = BEGIN.exec(line)
    if (heading !== null) {
      this.#flush()
      const text = (heading[2] ?? '').trimEnd().replace(/(?<=\s):[\w@:]+:$/, '')
      this.#blocks.push({ type: 'heading', text: inline(text), level: heading[1]?.length ?? 1 })
    } else if (begin !== null) {
      this.#flush()
      this.#block = { kind: begin[1]?.toLowerCase() ?? '', language: begin[2] ?? '', lines: [] }
    } else if (/^\s*:PROPERTIES:\s*$/i.test(line)) this.#drawer = true
    else if (/^\s*#\+/.test(line)) this.#keyword(line)
    else if (/^\s*#(?:\s|$)/.test(line)) return
    else if (line.trim() === '') this.#flush()
    else this.#content(line)
  }

  #keyword(line: string): void {
    const title = /^\s*#\+title:\s*(\S[\s\S]*)$/i.exec(line)?.[1]
    if (title !== undefined) this.#title ??= title.trim()
    const author = /^\s*#\+author:\s*(\S[\s\S]*)$/i.exec(line)?.[1]
    if (author !== undefined) this.#author ??= author.trim()
    const caption = /^\s*#\+caption(?:\[[^\]]{0,200}\])?:\s*(\S[\s\S]*)$/i.exec(line)?.[1]
    if (caption === undefined) return
    this.#flush()
    this.#blocks.push({ type: 'paragraph', text: inline(caption), metadata: { role: 'caption' } })
  }

  #content(line: string): void {
    if (/^\s*\|/.test(line)) {
      if (this.#held.length > 0) this.#flush()
      if (/^\s*\|[-+|:]+\s*$/.test(line)) return
      this.#table.push(
        line
          .trim()
          .replace(/^\||\|$/g, '')
          .split('|')
          .map((cell) => inline(cell)),
      )
      return
    }
    if (this.#table.length > 0) this.#flush()
    this.#held.push(line)
  }

  #closeBlock(): void {
    const block = this.#block
    this.#block = undefined
    if (block === undefined || block.lines.length === 0) return
    const code = block.kind === 'src' || block.kind === 'example'
    const text = block.lines.join('\n')
    const metadata = code && block.language !== '' ? { metadata: { language: block.language } } : {}
    this.#blocks.push({ type: code ? 'code' : 'paragraph', text: code ? text : inline(text), ...metadata })
  }

  #flush(): void {
    if (this.#table.length > 0) this.#blocks.push(...tableBlocks(this.#table, true))
    this.#table = []
    const held = this.#held
    this.#held = []
    if (held.length === 0) return
    const list = ITEM.test(held[0] ?? '')
    const text = list ? held.join('\n') : held.map((line) => line.trim()).join(' ')
    this.#blocks.push({ type: list ? 'list' : 'paragraph', text: inline(text) })
  }
}

function inline(text: string): string {
  return text
    .replace(/\[\[[^[\]]*\]\[([^[\]]*)\]\]/g, '$1')
    .replace(/\[\[([^[\]]*)\]\]/g, '$1')
    .replace(/(^|[\s('"{-])([*/_=~+])([^\s*/_=~+][^\n]{0,200}?)\2(?=$|[\s)'".,;:!?}-])/g, '$1$3')
    .trim()
}
