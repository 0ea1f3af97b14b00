import type { Block, DeclaredFields, ParsedDocument, Parser } from '../parsed.js'
import { buildTableBlocks } from '../tables.js'
import { createCellReader } from './rst-cells.js'
import { readRstDirective } from './rst-directives.js'
import type { RstDocument } from './rst-document.js'
import { rstToText } from './rst-inline.js'
import { isBlank, LineCursor } from './rst-lines.js'
import { collectReferences } from './rst-references.js'
import { fillTable, isTableTop, readRstTable } from './rst-tables.js'

const ADORNMENT = /^([!-/:-@[-`{-~])\1*\s*$/
/** A shorter line is an adornment only where it is as long as its title. */
const MIN_ADORNMENT = 4
const BULLET = /^[-+*•‣⁃](?: +|$)/
const ENUMERATOR =
  /^(?:\(?(?:\d{1,9}|#|[A-Za-z]|[ivxlcdmIVXLCDM]{1,15})\)|(?:\d{1,9}|#|[A-Za-z]|[ivxlcdmIVXLCDM]{1,15})\.)(?: +|$)/
const FIELD = /^:((?![: ])(?:[^:\\]|\\.|:(?![ `]|$)){1,200}):(?: +|$)/
const OPTION_ARGUMENT = '(?:[A-Za-z][\\w-]{0,60}|<[^<>]{1,200}>)'
const OPTION_TEXT = `(?:[-+][A-Za-z0-9](?: ?${OPTION_ARGUMENT})?|(?:--|/)[A-Za-z][\\w-]{0,60}(?:[ =]${OPTION_ARGUMENT})?)`
const OPTION = new RegExp(`^${OPTION_TEXT}(?:, ${OPTION_TEXT}){0,20}(?:  +| ?$)`)
const LINE_BLOCK = /^\|(?: |$)/
const DIRECTIVE = /^\.\. +((?:[\w.+-]+:)?[\w.+-]+) ?::(?: +|$)/
const FOOTNOTE = /^\.\. +\[([^\]\s]{1,100})\](?: +|$)/
const TARGET = /^(?:\.\. +_(?:`[^`]{1,500}`|[^\s:\\](?:[^:\\]|\\.|:(?! |$)){0,500}|_)?:(?: |$)|__(?: |$))/
const SUBSTITUTION = /^\.\. +\|[^|]{1,300}\| +([\w-]{1,40})::(?: +|$)/
const LITERAL_QUOTE = /^[!-/:-@[-`{-~]/
/** Deeper blocks are text. */
const MAX_DEPTH = 30

/**
 * Reads reStructuredText as docutils does: titles by their adornment, tables, lists, directives, notes, inline markup as
 * text.
 */
export const rstParser: Parser = {
  parse(input): ParsedDocument {
    const lines = input.text().split(/\r?\n/).map(expandTabs)
    const document: RstDocument = {
      references: collectReferences(lines),
      levels: [],
      unread: new Set(),
      declared: {},
      readBlocks: (part, depth) => readRstBlocks(part, document, depth),
    }
    const blocks = document.readBlocks(lines, 0)
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks,
      metadata: document.unread.size === 0 ? {} : { warnings: [`not followed: ${[...document.unread].join(', ')}`] },
      declared: document.declared,
    }
  },
}

/** Reads the blocks of a document, or of one of its parts. */
function readRstBlocks(lines: readonly string[], document: RstDocument, depth: number): Block[] {
  if (depth > MAX_DEPTH) return [{ type: 'paragraph', text: lines.map((line) => line.trim()).join('\n') }]
  return new RstReader(new LineCursor(lines), document, depth).read()
}

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line.trimEnd()
  let text = ''
  for (const part of line.split('\t')) text += part + ' '.repeat(8 - ((text.length + part.length) % 8))
  return text.trimEnd()
}

class RstReader {
  readonly #blocks: Block[] = []
  readonly #lines: LineCursor
  readonly #document: RstDocument
  readonly #depth: number

  constructor(lines: LineCursor, document: RstDocument, depth: number) {
    this.#lines = lines
    this.#document = document
    this.#depth = depth
  }

  read(): Block[] {
    for (let line = this.#lines.line; line !== undefined; line = this.#lines.line) {
      if (isBlank(line)) this.#lines.next++
      else this.#body(line)
    }
    return this.#blocks
  }

  #body(line: string): void {
    if (line.startsWith(' ')) this.#push(...this.#readNested(this.#lines.takeIndented()))
    else if (BULLET.test(line) || this.#isEnumerated(line)) this.#list()
    else if (FIELD.test(line)) this.#fields()
    else if (OPTION.test(line) && this.#hasDescription(line)) this.#options()
    else if (/^>>>(?: |$)/.test(line)) this.#push({ type: 'code', text: this.#lines.takeParagraph().join('\n') })
    else if (LINE_BLOCK.test(line)) this.#lineBlock()
    else if (isTableTop(line) && this.#table()) return
    else if (/^\.\.(?: |$)/.test(line)) this.#explicit(line)
    else if (TARGET.test(line)) this.#lines.takeFirstIndented(line.length)
    else if (!this.#title(line)) this.#text(line)
  }

  #push(...blocks: Block[]): void {
    for (const block of blocks) this.#blocks.push(block)
  }

  #readNested(lines: readonly string[]): Block[] {
    return this.#document.readBlocks(lines, this.#depth + 1)
  }

  #toText(text: string): string {
    return rstToText(text, this.#document.references)
  }

  #title(line: string): boolean {
    if (this.#depth > 0) return false
    const overline = ADORNMENT.exec(line)
    const [text = '', underline = ''] =
      overline === null ? [line, this.#lines.peek(1)] : [this.#lines.peek(1), this.#lines.peek(2)]
    const mark = ADORNMENT.exec(underline)?.[1]
    const isLong = underline.length >= MIN_ADORNMENT || underline.length >= text.trim().length
    const isTitle = mark !== undefined && text.trim() !== '' && isLong && (overline === null || overline[1] === mark)
    if (isTitle) {
      const style = `${overline === null ? '' : 'over'}${mark}`
      const { levels } = this.#document
      if (!levels.includes(style)) levels.push(style)
      this.#push({ type: 'heading', text: this.#toText(text.trim()), level: levels.indexOf(style) + 1 })
      this.#lines.next += overline === null ? 2 : 3
    } else if (overline !== null && line.length >= MIN_ADORNMENT && isBlank(this.#lines.peek(1))) this.#lines.next++
    else return false
    return true
  }

  #table(): boolean {
    const table = readRstTable(this.#lines.all, this.#lines.next)
    if (table === undefined) return false
    const cells = createCellReader(this.#document, this.#depth + 1)
    const { rows, spans } = fillTable(table, cells.toText)
    this.#push(...buildTableBlocks(rows, { headerRows: table.headerRows, headColumns: 0 }, {}, spans), ...cells.tables)
    this.#lines.next += table.length
    return true
  }

  /** A number begins an item where the next line is blank, indented or the next item. */
  #isEnumerated(line: string): boolean {
    const following = this.#lines.peek(1)
    return ENUMERATOR.test(line) && (isBlank(following) || following.startsWith(' ') || ENUMERATOR.test(following))
  }

  #list(): void {
    const items = new ListBuilder(this.#blocks)
    let number = 0
    for (let line = this.#lines.line; line !== undefined; line = this.#lines.line) {
      const isBullet = BULLET.test(line)
      if (!isBullet && !this.#isEnumerated(line)) break
      const mark = (isBullet ? BULLET : ENUMERATOR).exec(line)?.[0] ?? ''
      number++
      items.add(mark.trim().replace('#', String(number)), this.#readNested(this.#lines.takeKnownIndented(mark.length)))
      this.#lines.skipBlank()
    }
    items.finish()
  }

  #fields(): void {
    const items = new ListBuilder(this.#blocks)
    for (let field = FIELD.exec(this.#lines.line ?? ''); field !== null; field = FIELD.exec(this.#lines.line ?? '')) {
      const name = this.#toText(field[1] ?? '')
      const blocks = this.#readNested(this.#lines.takeFirstIndented(field[0].length))
      if (this.#depth === 0) declareField(this.#document.declared, name, blocks)
      items.add(`${name}:`, blocks)
      this.#lines.skipBlank()
    }
    items.finish()
  }

  #hasDescription(line: string): boolean {
    return (OPTION.exec(line)?.[0].length ?? 0) < line.length || this.#lines.peek(1).startsWith(' ')
  }

  #options(): void {
    const items = new ListBuilder(this.#blocks)
    for (let line = this.#lines.line; line !== undefined && OPTION.test(line); line = this.#lines.line) {
      const option = OPTION.exec(line)?.[0] ?? ''
      items.add(`- ${option.trim()}:`, this.#readNested(this.#lines.takeFirstIndented(option.length)))
      this.#lines.skipBlank()
    }
    items.finish()
  }

  #lineBlock(): void {
    const texts: string[] = []
    for (const line of this.#lines.takeParagraph()) {
      if (LINE_BLOCK.test(line) || texts.length === 0) texts.push(line.slice(1).trim())
      else texts.push(`${texts.pop() ?? ''} ${line.trim()}`)
    }
    this.#push({ type: 'paragraph', text: this.#toText(texts.join('\n')) })
  }

  #explicit(line: string): void {
    const footnote = FOOTNOTE.exec(line)
    const substitution = SUBSTITUTION.exec(line)
    const directive = DIRECTIVE.exec(line)
    const isImage = substitution?.[1] === 'image'
    if (footnote !== null) {
      const label = this.#document.references.resolveDefinition(footnote[1] ?? '')
      const [first, ...rest] = this.#readNested(this.#lines.takeFirstIndented(footnote[0].length))
      this.#push({ type: 'paragraph', text: `[${label}] ${first?.text ?? ''}`.trim() }, ...rest)
    } else if (directive !== null || isImage) {
      const name = directive?.[1] ?? 'image'
      const length = (directive ?? substitution)?.[0].length ?? 0
      const lines = this.#lines.takeFirstIndented(length)
      this.#push(...readRstDirective({ name, lines }, this.#document, this.#depth + 1))
    } else if (line === '..' && isBlank(this.#lines.peek(1))) this.#lines.next++
    // comments, targets, substitutions
    else this.#lines.takeFirstIndented(line.length)
  }

  #text(line: string): void {
    if (this.#lines.peek(1).startsWith(' ')) {
      this.#definitions()
      return
    }
    const paragraph = this.#lines.takeUnindented()
    const source = paragraph.join('\n')
    if (!source.endsWith('::')) {
      this.#push({ type: 'paragraph', text: this.#toText(paragraph.join(' ')) })
      return
    }
    const text = this.#toText(paragraph.join(' ').replace(/(?:(?:^| +)::|(:):)$/, '$1'))
    if (text !== '' || line !== '::') this.#push({ type: 'paragraph', text })
    this.#lines.skipBlank()
    const first = this.#lines.line ?? ''
    const code = first.startsWith(' ')
      ? this.#lines.takeIndented()
      : LITERAL_QUOTE.test(first)
        ? this.#lines.takeWhile((next) => next.charAt(0) === first.charAt(0))
        : []
    if (code.length > 0) this.#push({ type: 'code', text: code.join('\n') })
  }

  #definitions(): void {
    const items = new ListBuilder(this.#blocks)
    while (!isBlank(this.#lines.line ?? '') && this.#lines.peek(1).startsWith(' ')) {
      const term = this.#lines.line ?? ''
      if (BULLET.test(term) || FIELD.test(term) || /^\.\.(?: |$)/.test(term) || this.#isEnumerated(term)) break
      this.#lines.next++
      items.add(`${this.#toText(term).replace(/:$/, '')}:`, this.#readNested(this.#lines.takeIndented()))
      this.#lines.skipBlank()
    }
    items.finish()
  }
}

/** Collects items as the lines of a list; code, tables and pictures in an item stay blocks. */
class ListBuilder {
  readonly #blocks: Block[]
  #lines: string[] = []

  constructor(blocks: Block[]) {
    this.#blocks = blocks
  }

  add(mark: string, blocks: readonly Block[]): void {
    const isText = (block: Block | undefined): boolean => block?.type === 'paragraph' || block?.type === 'list'
    const [first] = blocks
    let prefix = `${mark} `
    if (!isText(first)) this.#lines.push(mark)
    for (const block of blocks) {
      if (!isText(block)) {
        this.finish()
        this.#blocks.push(block)
        continue
      }
      for (const line of block.text.split('\n')) {
        const isNested = block.type === 'list' && block === first
        if (isNested && prefix !== '  ') this.#lines.push(mark)
        this.#lines.push(`${isNested ? '  ' : prefix}${line}`)
        prefix = '  '
      }
    }
  }

  finish(): void {
    if (this.#lines.length > 0) this.#blocks.push({ type: 'list', text: this.#lines.join('\n') })
    this.#lines = []
  }
}

/** Keeps the author and the date of a document from its list of fields. */
function declareField(declared: DeclaredFields, name: string, blocks: readonly Block[]): void {
  const text = blocks
    .map((block) => block.text)
    .join('\n')
    .trim()
  if (text === '' || text.length > 1000) return
  if (/^authors?$/i.test(name)) {
    const authors = /^authors$/i.test(name) ? text.split(/[;\n]|,(?![^;]*;)/) : [text]
    declared.authors ??= authors
      .map((author) => author.replace(/^\s*[-*+•] /, '').trim())
      .filter((author) => author !== '')
  } else if (/^date$/i.test(name)) declared.published ??= text.replace(/^\$Date: *| *\$$/g, '')
}
