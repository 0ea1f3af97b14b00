import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { buildTableBlocks, looksLikeHeader } from '../tables.js'
import { iterateLines } from './text.js'

/** Requests that only affect the layout: breaks, indents, fonts, definitions. */
const BREAK_REQUESTS = new Set('PP LP P HP sp br RS RE Pp in ti ce IP Bl El Bd Ed It TP TQ'.split(' '))
const FONT_REQUESTS = new Set(
  'B I BR RB BI IB IR RI SM SB R Nm Fl Ar Cm Pa Ev Op Xr Sy Em Ic Li Va Vt Ft Fn Fa Dv Er Ql Dq Sq Pq Nd'.split(' '),
)
const NAMED_CHARACTERS: Record<string, string> = {
  '\\(bu': '•',
  '\\(em': '—',
  '\\(en': '–',
  '\\(lq': '“',
  '\\(rq': '”',
  '\\(oq': '‘',
  '\\(cq': '’',
  '\\(aq': "'",
  '\\(dq': '"',
  '\\(co': '©',
  '\\(rg': '®',
  '\\(ga': '`',
  '\\(ha': '^',
  '\\(ti': '~',
  '\\(mu': '×',
  '\\(->': '→',
  '\\(rs': '\\',
}

/**
 * Reads manual pages (man and mdoc macros of troff): headings, paragraphs, examples, options with their descriptions.
 */
export const manParser: Parser = {
  parse: parseMan,
}

function parseMan(input: ParserInput): ParsedDocument {
  const reader = new ManReader()
  for (const line of iterateLines(input.text())) reader.line(line)
  const blocks = reader.finish()
  if (blocks.length === 0) throw new ReadError('empty', `${input.filename} has no text`)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...omitUndefined({ title: reader.title }),
    blocks,
    metadata: omitUndefined({ created: reader.date }),
  }
}

interface TroffTable {
  lines: string[]
  inFormat: boolean
  /** lines of a multi-line cell, after the cells before it in its row */
  cell: string[] | undefined
  separator: string
}

class ManReader {
  title: string | undefined
  date: string | undefined
  readonly #blocks: Block[] = []
  #pendingLines: string[] = []
  #code: string[] | undefined
  /** the next line is the term of an item */
  #term = false
  #item = ''
  /** skip lines up to this end of a definition */
  #skipUntil = ''
  #table: TroffTable | undefined

  line(line: string): void {
    if (this.#table !== undefined) {
      this.#tableLine(this.#table, line)
      return
    }
    if (this.#skipUntil !== '') {
      if (line.trimEnd() === this.#skipUntil || line.startsWith(`${this.#skipUntil} `)) this.#skipUntil = ''
      return
    }
    const request = /^[.']\s{0,20}(\w{1,8}|\\")\s?([\s\S]*)$/.exec(line)
    if (request !== null) this.#request(request[1] ?? '', request[2] ?? '')
    else if (/^[.']/.test(line)) return
    else if (this.#code !== undefined) this.#code.push(troffToText(line))
    else if (line.trim() === '') this.#flush()
    else this.#words(troffToText(line))
  }

  finish(): Block[] {
    this.#endCode()
    this.#flush()
    return this.#blocks
  }

  #request(name: string, rest: string): void {
    if (name === '\\"') return
    if (name === 'TH' || name === 'Dt') this.#head(parseArguments(rest))
    else if (name === 'Dd') this.date = troffToText(rest)
    else if (/^(?:SH|SS|Sh|Ss)$/.test(name)) {
      this.#endCode()
      this.#flush()
      const text = parseArguments(rest).join(' ')
      if (text !== '') this.#blocks.push({ type: 'heading', text, level: /^S[Hh]$/.test(name) ? 1 : 2 })
    } else if (name === 'nf' || name === 'EX') this.#beginCode()
    else if (name === 'fi' || name === 'EE') this.#endCode()
    else if (/^(?:de|am|ig)[1i]?$/.test(name)) this.#skipUntil = getEndOfDefinition(name, rest)
    else if (name === 'TS') this.#table = { lines: [], inFormat: true, cell: undefined, separator: '\t' }
    else if (FONT_REQUESTS.has(name))
      this.#words(parseArguments(rest).join(/^(?:BR|RB|BI|IB|IR|RI)$/.test(name) ? '' : ' '))
    else if (BREAK_REQUESTS.has(name)) this.#break(name, rest)
    else if (name === 'UR' || name === 'MT' || name === 'Lk') this.#words(parseArguments(rest)[0] ?? '')
  }

  /**
   * Reads a line of a table: options, formats up to a full stop, then rows whose cells are separated by a character;
   * `T{` begins a cell of several lines.
   */
  #tableLine(table: TroffTable, line: string): void {
    if (line.startsWith('.TE')) {
      this.#flush()
      const rows = table.lines.map((row) => row.split(table.separator).map(troffToText))
      if (rows.length > 0) this.#blocks.push(...buildTableBlocks(rows, looksLikeHeader(rows)))
      this.#table = undefined
    } else if (table.inFormat) {
      table.separator = /tab\s?\((.)\)/.exec(line)?.[1] ?? table.separator
      if (line.trimEnd().endsWith('.')) table.inFormat = false
    } else if (table.cell !== undefined) {
      if (line.startsWith('T}')) {
        table.lines.push(`${table.cell.join(' ')}${line.slice(2)}`)
        table.cell = undefined
        if (line.trimEnd().endsWith('T{')) table.cell = [(table.lines.pop() ?? '').replace(/T\{\s*$/, '')]
      } else table.cell.push(line.startsWith('.') ? '' : line)
    } else if (line.trimEnd().endsWith('T{')) table.cell = [line.replace(/T\{\s*$/, '')]
    else if (!/^[_=.]/.test(line) && line.trim() !== '') table.lines.push(line)
  }

  #head([name = '', section = '', date = '']: string[]): void {
    if (name !== '') this.title = section === '' ? name : `${name}(${section})`
    if (/\d{4}/.test(date)) this.date ??= date
  }

  #break(name: string, rest: string): void {
    if (this.#code !== undefined && name !== 'PP' && name !== 'LP' && name !== 'P') return
    this.#endCode()
    this.#flush()
    this.#term = name === 'TP' || name === 'TQ'
    if (name !== 'IP' && name !== 'It') return
    const words = parseArguments(rest)
    this.#item = (
      name === 'IP' ? (words[0] ?? '') : words.filter((word) => word.length > 2 || !/^[A-Z][a-z]$/.test(word)).join(' ')
    ).trim()
  }

  #words(text: string): void {
    if (this.#code !== undefined) this.#code.push(text)
    else if (this.#term) {
      this.#term = false
      this.#item = text
    } else this.#pendingLines.push(text)
  }

  #flush(): void {
    const text = this.#pendingLines.join(' ').replace(/\s+/g, ' ').trim()
    this.#pendingLines = []
    const item = this.#item.trim()
    this.#item = ''
    if (text === '' && item === '') return
    const isBullet = /^[•*+-]$/.test(item)
    const itemText = item === '' || isBullet ? text : text === '' ? item : `${item}: ${text}`
    this.#blocks.push(item === '' ? { type: 'paragraph', text: itemText } : { type: 'list', text: `- ${itemText}` })
  }

  #beginCode(): void {
    this.#flush()
    this.#code ??= []
  }

  #endCode(): void {
    const code = this.#code
    this.#code = undefined
    if (code?.some((line) => line.trim() !== '') === true) this.#blocks.push({ type: 'code', text: code.join('\n') })
  }
}

/** The line that ends a definition: `..`, or the macro that the request names. */
function getEndOfDefinition(name: string, rest: string): string {
  const end = rest.trim().split(/\s+/)[name.startsWith('ig') ? 0 : 1] ?? ''
  return `.${end === '' ? '.' : end}`
}

/** The arguments of a request; quoted ones may contain spaces. */
function parseArguments(rest: string): string[] {
  return [...rest.matchAll(/"((?:[^"]|""){0,2000})"|(\S+)/g)].map((match) =>
    troffToText((match[1] ?? match[2] ?? '').replaceAll('""', '"')),
  )
}

/** Removes changes of font and size, and replaces named characters. */
function troffToText(text: string): string {
  if (!text.includes('\\')) return text
  return text
    .replace(/\\"[\s\S]*$/, '')
    .replace(
      /\\f(?:\[\w{0,20}\]|\(\w{2}|\w)|\\s[+-]?\d{1,2}|\\[&|^/,:c%)]|\\[hvk]'[^'\n]{0,40}'|\\[mM]\[\w{0,20}\]/g,
      '',
    )
    .replace(/\\\((?:..)/g, (sign) => NAMED_CHARACTERS[sign] ?? '')
    .replace(/\\\[([\w-]{1,20})\]/g, (_all, name: string) => NAMED_CHARACTERS[`\\(${name.slice(0, 2)}`] ?? '')
    .replace(/\\\*\(?(?:\[\w{0,20}\]|\w{1,2})/g, '')
    .replace(/\\-/g, '-')
    .replace(/\\[~ 0]/g, ' ')
    .replace(/\\e/g, '\\')
    .replace(/\\(['`.])/g, '$1')
}
