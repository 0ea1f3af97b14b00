import type { Span } from '../lib/text/sentences.js'
import { usageError } from './cli-error.js'
import { type Column, cell, leafPaths, shortId, show, valueAt } from './columns.js'
import type { Wrapping } from './prose.js'
import {
  type Colour,
  escapeUnseen,
  hasUnicode,
  paint,
  type Symbols,
  symbols,
  terminalWidth,
  tty,
  ttyLine,
  wantsColour,
} from './terminal.js'

export const FORMATS = ['table', 'json', 'jsonl', 'tsv'] as const
export type Format = (typeof FORMATS)[number]

export interface OutputOptions {
  format?: Format | undefined
  fields?: string[] | undefined
  header: boolean
  truncate: boolean
  colour?: boolean | undefined
  quiet: boolean
}

/** A stream of the terminal, or its replacement in tests. */
export interface OutStream {
  write(text: string): boolean
  isTTY?: boolean | undefined
  columns?: number | undefined
}

/** Functions that wrap lines; `src/cli/prose.ts` is loaded only for terminals. */
export type Layout = typeof import('./prose.js')

interface Streams {
  out: OutStream
  err: OutStream
  env: NodeJS.ProcessEnv
  /** Absent: lines are not wrapped. */
  layout?: Layout | undefined
}

export interface ListOptions {
  columns: Column[]
  /** Fields allowed in `--fields` beside the columns and the items' own. */
  fields?: readonly string[] | undefined
  /** Note on stderr for an empty list, such as `No spaces yet.` */
  empty: string
  hint?: string | undefined
}

/**
 * Output of a command: results to stdout in the requested format, everything else to stderr. A terminal gets tables, a
 * pipe gets tab-separated lines without a header.
 */
export class Output {
  readonly format: Format
  readonly colour: boolean
  readonly errColour: boolean
  readonly unicode: boolean
  readonly symbols: Symbols
  readonly width: number
  /** Ids shown by their end only, for `#tail` arguments of later commands. */
  readonly shortened = new Set<string>()
  private readonly options: OutputOptions
  private readonly out: OutStream
  private readonly err: OutStream

  private readonly layout: Layout | undefined
  private readonly errWidth: number
  private answer: Wrapping | undefined

  constructor(options: OutputOptions, streams: Streams) {
    this.options = options
    this.out = streams.out
    this.err = streams.err
    this.layout = streams.layout
    this.errWidth = terminalWidth(this.err, streams.env)
    const { env } = streams
    this.format = options.format ?? (this.isTerminal ? 'table' : 'tsv')
    this.colour = wantsColour({ wish: options.colour, isTTY: this.isTerminal, env })
    this.errColour = wantsColour({ wish: options.colour, isTTY: this.err.isTTY === true, env })
    this.unicode = hasUnicode(env)
    this.symbols = symbols(this.unicode)
    this.width = terminalWidth(this.out, env)
  }

  /** Whether stdout is a terminal. */
  get isTerminal(): boolean {
    return this.out.isTTY === true
  }

  get isErrTerminal(): boolean {
    return this.err.isTTY === true
  }

  get isQuiet(): boolean {
    return this.options.quiet
  }

  /** Whether the format is json or jsonl. */
  get isJson(): boolean {
    return this.format === 'json' || this.format === 'jsonl'
  }

  paint(colour: Colour, text: string): string {
    return paint(this.colour, colour, text)
  }

  /** Formats an id as `#tail` and records it for later commands. */
  short(id: string): string {
    this.shortened.add(id)
    return ttyLine(shortId(id))
  }

  /** Writes text to stdout unchanged; does not wait. */
  raw(text: string): void {
    this.out.write(text)
  }

  /** Writes text of a document: unchanged to a pipe, escaped for a terminal. */
  text(text: string): void {
    this.raw(this.isTerminal ? tty(text) : text)
  }

  /** Whether marked ranges of prose are printed bold. */
  get emphasizes(): boolean {
    return this.isTerminal && this.colour
  }

  /**
   * Writes a part of an answer or report: unchanged to a pipe, wrapped for a terminal. `endProse` ends it.
   *
   * @param marks ranges that a terminal with colours shows bold, in order
   */
  prose(text: string, marks: readonly Span[] = []): void {
    if (this.isTerminal) this.answer ??= this.layout?.proseWrapping(this.width)
    const shown = this.emphasizes ? emphasized(text, marks) : this.isTerminal ? tty(text) : text
    this.raw(this.answer === undefined ? shown : this.answer.push(shown))
  }

  endProse(): void {
    if (this.answer !== undefined) this.raw(this.answer.end())
    this.answer = undefined
  }

  /** Writes a line of prose to stdout, escaped for a terminal. */
  line(text = ''): void {
    this.styled(tty(text))
  }

  /** Writes a line of trusted text with colours to stdout. */
  styled(text = ''): void {
    this.raw(`${this.isTerminal ? this.wrapped(text, this.width) : text}\n`)
  }

  /** Writes a note to stderr, unless `--quiet`. */
  note(text: string): void {
    if (!this.options.quiet) this.warn(text)
  }

  /** Writes a line to stderr, even with `--quiet`. */
  warn(text: string): void {
    const safe = tty(text)
    this.err.write(`${this.isErrTerminal ? this.wrapped(safe, this.errWidth) : safe}\n`)
  }

  private wrapped(text: string, width: number): string {
    return this.layout?.wrapLines(text, width) ?? text
  }

  /** Writes one JSON value with the selected fields. */
  json(value: unknown): void {
    this.raw(`${toJson(this.pick(value), this.format === 'json' && this.isTerminal)}\n`)
  }

  /** Writes one event of a stream as a line of JSON. */
  event(event: string, data: unknown): void {
    this.raw(`${toJson({ event, data }, false)}\n`)
  }

  /** Prints the items of a list as they arrive; json and tables after the last item. */
  async list<T>(items: AsyncIterable<T> | Iterable<T>, options: ListOptions): Promise<number> {
    let shown = 0
    const kept: T[] = []
    for await (const item of items) {
      if (shown === 0) this.checkFields(item, options)
      if (this.format === 'jsonl') this.raw(`${toJson(this.pick(item), false)}\n`)
      else if (this.format === 'tsv') this.tsvLine(item, options, shown === 0)
      else kept.push(item)
      shown += 1
    }
    if (this.format === 'json') {
      const values = kept.map((item) => this.pick(item))
      this.raw(`${toJson(values, this.isTerminal)}\n`)
    } else if (this.format === 'table' && kept.length > 0) {
      await this.table(kept, options)
    }
    if (shown === 0 && !this.isJson) {
      this.note(options.empty)
      if (options.hint !== undefined) this.note(`hint: ${options.hint}`)
    }
    return shown
  }

  /** Prints one object: as JSON, or a line for each field. */
  record(value: unknown, options: { columns?: Column[]; fields?: readonly string[] } = {}): void {
    const columns = options.columns ?? []
    this.checkFields(value, { columns, fields: options.fields, empty: '' })
    if (this.isJson) {
      this.json(value)
      return
    }
    const shown = this.chosen(columns.length > 0 ? columns : leafPaths(value).map((field) => ({ field })))
    if (this.format === 'tsv') {
      for (const { field, kind } of shown) this.raw(`${cell(field)}\t${cell(valueAt(value, field), kind)}\n`)
      return
    }
    const titles = shown.map((column) => ttyLine(column.title?.toLowerCase() ?? column.field))
    const width = Math.max(...titles.map((title) => title.length))
    for (const [index, column] of shown.entries()) {
      const found = valueAt(value, column.field)
      if (found === undefined || found === null) continue
      const kind = column.kind === 'id' ? undefined : column.kind
      const label = this.paint('dim', (titles[index] ?? '').padEnd(width))
      this.styled(`${label}  ${this.state(column, show(found, kind))}`)
    }
  }

  private async table(items: unknown[], options: ListOptions): Promise<void> {
    const { renderTable } = await import('./table.js')
    const columns = this.chosen(options.columns)
    const now = Date.now()
    for (const column of columns.filter((one) => one.kind === 'id')) {
      for (const item of items) this.short(String(valueAt(item, column.field) ?? ''))
    }
    const rows = items.map((item) => columns.map((column) => show(valueAt(item, column.field), column.kind, now)))
    const text = renderTable({
      columns,
      rows,
      header: this.options.header,
      width: this.options.truncate && this.isTerminal ? this.width : undefined,
      ellipsis: this.symbols.ellipsis,
      paintHeader: (title) => this.paint('dim', title),
      paintCell: (column, shown) => this.state(column, shown),
    })
    this.raw(text)
  }

  private tsvLine(item: unknown, options: ListOptions, isFirst: boolean): void {
    const columns = this.chosen(options.columns)
    // A pipe gets no header; a terminal gets one if the format tsv was requested.
    if (isFirst && this.options.header && this.isTerminal) {
      this.raw(`${columns.map((column) => cell(column.field)).join('\t')}\n`)
    }
    this.raw(`${columns.map((column) => cell(valueAt(item, column.field), column.kind)).join('\t')}\n`)
  }

  /** The columns of `--fields` in their order, or all. */
  private chosen(columns: Column[]): Column[] {
    const { fields } = this.options
    if (fields === undefined) return columns
    return fields.map((field) => columns.find((column) => column.field === field) ?? { field })
  }

  private pick(value: unknown): unknown {
    const { fields } = this.options
    if (fields === undefined) return value
    return Object.fromEntries(fields.map((field) => [field, valueAt(value, field)]))
  }

  private checkFields(item: unknown, options: ListOptions): void {
    const { fields } = this.options
    if (fields === undefined) return
    const known = new Set([
      ...options.columns.map((column) => column.field),
      ...(options.fields ?? []),
      ...leafPaths(item),
    ])
    const unknown = fields.find((field) => !known.has(field) && valueAt(item, field) === undefined)
    if (unknown === undefined) return
    throw usageError(`unknown field ${JSON.stringify(unknown)}`, `fields are ${[...known].join(', ')}`)
  }

  private state(column: Column, shown: string): string {
    if (column.kind !== 'state') return shown
    return this.paint(stateColour(shown), shown)
  }
}

/** The marker at the start of a list item or table row: it is never bold, since line wrapping parses it. */
const LINE_START = /^[\s|>*+-]*(?:\d{1,3}[.)] +)?/u

function emphasized(text: string, marks: readonly Span[]): string {
  let shown = ''
  let from = 0
  for (const { start, end } of marks) {
    const lines = text.slice(start, end).split('\n')
    const bold = lines.map((line) => {
      const [sign = ''] = LINE_START.exec(line) ?? []
      return `${tty(sign)}${paint(sign.length < line.length, 'bold', tty(line.slice(sign.length)))}`
    })
    shown += `${tty(text.slice(from, start))}${bold.join('\n')}`
    from = end
  }
  return shown + tty(text.slice(from))
}

function stateColour(state: string): Colour {
  if (/^(ok|ready|parsed|published|completed|running|active|unchanged|answerable)$/.test(state)) return 'green'
  if (/^(failed|error|canceled|failed-.*)$/.test(state)) return 'red'
  return 'yellow'
}

/** JSON without invisible or control characters. */
export function toJson(value: unknown, pretty: boolean): string {
  return escapeUnseen(JSON.stringify(value ?? null, null, pretty ? 2 : undefined))
}
