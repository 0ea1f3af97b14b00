import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Block, ParsedDocument, Parser } from '../parsed.js'
import { buildTableBlocks } from '../tables.js'
import { iterateLines } from './text.js'

const HEADING = /^(\*{1,20})\s+(?:(?:TODO|DONE)\s+)?(?:\[#[A-Z]\]\s+)?([\s\S]*)$/
const BLOCK_BEGIN = /^\s*#\+begin_(\w+)\s*(\S*)/i
const LIST_ITEM = /^\s*(?:[-+]|\d+[.)])\s/

/** Reads Org files: headings, blocks, tables, lists, inline markup as text. */
export const orgParser: Parser = {
  parse: (input) => new OrgReader().read(input.text()),
}

class OrgReader {
  readonly #blocks: Block[] = []
  #pendingLines: string[] = []
  #table: string[][] = []
  #block: { kind: string; language: string; lines: string[] } | undefined
  #inDrawer = false
  #title: string | undefined
  #author: string | undefined

  read(text: string): ParsedDocument {
    for (const line of iterateLines(text)) this.#line(line)
    this.#closeBlock()
    this.#flush()
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: this.#blocks,
      ...omitUndefined({ title: this.#title }),
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
    if (this.#inDrawer) {
      this.#inDrawer = !/^\s*:END:\s*$/i.test(line)
      return
    }
    const heading = HEADING.exec(line)
    const begin = BLOCK_BEGIN.exec(line)
    if (heading !== null) {
      this.#flush()
      const text = (heading[2] ?? '').trimEnd().replace(/(?<=\s):[\w@:]+:$/, '')
      this.#blocks.push({ type: 'heading', text: orgToText(text), level: heading[1]?.length ?? 1 })
    } else if (begin !== null) {
      this.#flush()
      this.#block = { kind: begin[1]?.toLowerCase() ?? '', language: begin[2] ?? '', lines: [] }
    } else if (/^\s*:PROPERTIES:\s*$/i.test(line)) this.#inDrawer = true
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
    this.#blocks.push({ type: 'paragraph', text: orgToText(caption), metadata: { role: 'caption' } })
  }

  #content(line: string): void {
    if (/^\s*\|/.test(line)) {
      if (this.#pendingLines.length > 0) this.#flush()
      if (/^\s*\|[-+|:]+\s*$/.test(line)) return
      this.#table.push(
        line
          .trim()
          .replace(/^\||\|$/g, '')
          .split('|')
          .map((cell) => orgToText(cell)),
      )
      return
    }
    if (this.#table.length > 0) this.#flush()
    this.#pendingLines.push(line)
  }

  #closeBlock(): void {
    const block = this.#block
    this.#block = undefined
    if (block === undefined || block.lines.length === 0) return
    const isCode = block.kind === 'src' || block.kind === 'example'
    const text = block.lines.join('\n')
    const metadata = isCode && block.language !== '' ? { metadata: { language: block.language } } : {}
    this.#blocks.push({ type: isCode ? 'code' : 'paragraph', text: isCode ? text : orgToText(text), ...metadata })
  }

  #flush(): void {
    if (this.#table.length > 0) this.#blocks.push(...buildTableBlocks(this.#table, true))
    this.#table = []
    const pendingLines = this.#pendingLines
    this.#pendingLines = []
    if (pendingLines.length === 0) return
    const isList = LIST_ITEM.test(pendingLines[0] ?? '')
    const text = isList ? pendingLines.join('\n') : pendingLines.map((line) => line.trim()).join(' ')
    this.#blocks.push({ type: isList ? 'list' : 'paragraph', text: orgToText(text) })
  }
}

function orgToText(text: string): string {
  return text
    .replace(/\[\[[^[\]]*\]\[([^[\]]*)\]\]/g, '$1')
    .replace(/\[\[([^[\]]*)\]\]/g, '$1')
    .replace(/(^|[\s('"{-])([*/_=~+])([^\s*/_=~+][^\n]{0,200}?)\2(?=$|[\s)'".,;:!?}-])/g, '$1$3')
    .trim()
}
