import type { SentenceSpan } from '../lib/text/sentences.js'
import {
  formatCell,
  formatMachineCell,
  formatShortId,
  getValueAt,
  listLeafPaths,
  type OutputColumn,
} from './columns.js'
import { FieldCheck, type LoadOutputFields } from './known-fields.js'
import type { OutputFormat } from './output-format.js'
import type { ProseWrapper } from './prose.js'
import {
  type Colour,
  escapeInvisible,
  getSymbols,
  getTerminalWidth,
  hasUnicode,
  isColourEnabled,
  paint,
  type Symbols,
  tty,
  ttyLine,
} from './terminal.js'

export interface OutputOptions {
  format?: OutputFormat | undefined
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
export type ProseLayout = typeof import('./prose.js')

interface OutputStreams {
  out: OutStream
  err: OutStream
  env: NodeJS.ProcessEnv
  /** Absent: lines are not wrapped. */
  layout?: ProseLayout | undefined
  /** Absent: `--fields` knows the fields of the printed items only. */
  loadFields?: LoadOutputFields | undefined
}

export interface PrintListOptions {
  columns: OutputColumn[]
  /** Note on stderr for an empty list, such as `No spaces yet.` */
  empty: string
  hint?: string | undefined
}

/**
 * Output of a command: results to stdout in the requested format, everything else to stderr. A terminal gets tables, a
 * pipe gets tab-separated lines without a header.
 */
export class Output {
  readonly format: OutputFormat
  readonly colour: boolean
  readonly unicode: boolean
  readonly symbols: Symbols
  readonly width: number
  /** Ids shown by their end only, for `#tail` arguments of later commands. */
  readonly shortenedIds = new Set<string>()
  private readonly options: OutputOptions
  private readonly out: OutStream
  private readonly err: OutStream
  private readonly layout: ProseLayout | undefined
  private readonly errWidth: number
  private readonly loadFields: LoadOutputFields | undefined
  private proseWrapping: ProseWrapper | undefined
  /** A record whose `--fields` are not checked yet, and what was printed after it. */
  private unchecked: { check: FieldCheck; text: string } | undefined

  constructor(options: OutputOptions, streams: OutputStreams) {
    this.options = options
    this.out = streams.out
    this.err = streams.err
    this.layout = streams.layout
    this.loadFields = streams.loadFields
    this.errWidth = getTerminalWidth(this.err, streams.env)
    const { env } = streams
    this.format = options.format ?? (this.isTerminal ? 'table' : 'tsv')
    this.colour = isColourEnabled({ override: options.colour, isTTY: this.isTerminal, env })
    this.unicode = hasUnicode(env)
    this.symbols = getSymbols(this)
    this.width = getTerminalWidth(this.out, env)
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

  get isJson(): boolean {
    return this.format === 'json' || this.format === 'jsonl'
  }

  paint(colour: Colour, text: string): string {
    return this.colour ? paint(colour, text) : text
  }

  /** Formats an id as `#tail` and records it for later commands. */
  shortenId(id: string): string {
    this.shortenedIds.add(id)
    return ttyLine(formatShortId(id))
  }

  /** Writes text to stdout unchanged; does not wait. */
  raw(text: string): void {
    if (this.unchecked === undefined) this.out.write(text)
    else this.unchecked.text += text
  }

  /** Prints a record that was buffered for the check of its fields. @throws CliError exit 2 for an unknown field */
  async end(): Promise<void> {
    this.endProse()
    const { unchecked } = this
    this.unchecked = undefined
    if (unchecked === undefined) return
    await unchecked.check.settle()
    this.out.write(unchecked.text)
  }

  /** Writes text of a document: unchanged to a pipe, escaped for a terminal. */
  text(text: string): void {
    this.raw(this.isTerminal ? tty(text) : text)
  }

  /** Whether marked ranges of prose are printed bold. */
  get canEmphasize(): boolean {
    return this.isTerminal && this.colour
  }

  /**
   * Writes a part of an answer or report: unchanged to a pipe, wrapped for a terminal. `endProse` ends it.
   *
   * @param marks ranges that a terminal with colours shows bold, in order
   */
  prose(text: string, marks: readonly SentenceSpan[] = []): void {
    if (this.isTerminal) this.proseWrapping ??= this.layout?.createProseWrapper(this.width)
    const shown = this.canEmphasize ? emphasizeMarks(text, marks) : this.isTerminal ? tty(text) : text
    this.raw(this.proseWrapping === undefined ? shown : this.proseWrapping.push(shown))
  }

  endProse(): void {
    if (this.proseWrapping !== undefined) this.raw(this.proseWrapping.end())
    this.proseWrapping = undefined
  }

  /** Writes a line of prose to stdout, escaped for a terminal. */
  line(text = ''): void {
    this.styled(tty(text))
  }

  /** Writes a line of trusted text with colours to stdout. */
  styled(text = ''): void {
    this.raw(`${this.isTerminal ? this.wrap(text, this.width) : text}\n`)
  }

  /** Writes a note to stderr, unless `--quiet`. */
  note(text: string): void {
    if (!this.options.quiet) this.warn(text)
  }

  /** Writes a line to stderr, even with `--quiet`. */
  warn(text: string): void {
    const safe = tty(text)
    this.err.write(`${this.isErrTerminal ? this.wrap(safe, this.errWidth) : safe}\n`)
  }

  private wrap(text: string, width: number): string {
    return this.layout?.wrapLines(text, width) ?? text
  }

  /** Writes one JSON value, or a list of them, with the selected fields. */
  json(value: unknown, columns: readonly OutputColumn[] = []): void {
    this.checkFields(value, columns)
    this.raw(`${toJson(this.pick(value), { isPretty: this.format === 'json' && this.isTerminal })}\n`)
  }

  /** Writes one event of a stream as a line of JSON. */
  event(event: string, data: unknown): void {
    this.raw(`${toJson({ event, data })}\n`)
  }

  /** Prints the items of a list as they arrive; json and tables after the last item. */
  async list<T>(items: AsyncIterable<T> | Iterable<T>, options: PrintListOptions): Promise<number> {
    const columns = this.selectColumns(options.columns)
    let shownCount = 0
    const collected: T[] = []
    const check = new FieldCheck(this.options.fields, options.columns, this.loadFields)
    for await (const item of check.filter(items)) {
      if (this.format === 'jsonl') this.raw(`${toJson(this.pick(item))}\n`)
      else if (this.format === 'tsv') {
        // A pipe gets no header; a terminal gets one if the format tsv was requested.
        if (shownCount === 0 && this.options.header && this.isTerminal)
          this.raw(`${columns.map(({ field }) => formatMachineCell(field)).join('\t')}\n`)
        this.raw(`${columns.map(({ field, kind }) => formatMachineCell(getValueAt(item, field), kind)).join('\t')}\n`)
      } else collected.push(item)
      shownCount += 1
    }
    if (this.format === 'json') {
      const values = collected.map((item) => this.pick(item))
      this.raw(`${toJson(values, { isPretty: this.isTerminal })}\n`)
    } else if (this.format === 'table' && collected.length > 0) {
      await this.table(collected, columns)
    }
    if (shownCount === 0 && !this.isJson) {
      this.note(options.empty)
      if (options.hint !== undefined) this.note(`hint: ${options.hint}`)
    }
    return shownCount
  }

  /** Prints one object: as JSON, or a line for each field. */
  record(value: unknown, { columns = [] }: { columns?: OutputColumn[] } = {}): void {
    if (this.isJson) {
      this.json(value, columns)
      return
    }
    this.checkFields(value, columns)
    const shown = this.selectColumns(columns.length > 0 ? columns : listLeafPaths(value).map((field) => ({ field })))
    if (this.format === 'tsv') {
      for (const { field, kind } of shown)
        this.raw(`${formatMachineCell(field)}\t${formatMachineCell(getValueAt(value, field), kind)}\n`)
      return
    }
    const titles = shown.map((column) => ttyLine(column.title?.toLowerCase() ?? column.field))
    const width = Math.max(...titles.map((title) => title.length))
    for (const [index, column] of shown.entries()) {
      const fieldValue = getValueAt(value, column.field)
      if (fieldValue === undefined || fieldValue === null) continue
      const kind = column.kind === 'id' ? undefined : column.kind
      const label = this.paint('dim', (titles[index] ?? '').padEnd(width))
      this.styled(`${label}  ${this.paintState(column, formatCell(fieldValue, kind))}`)
    }
  }

  private async table(items: unknown[], columns: OutputColumn[]): Promise<void> {
    const { renderTable } = await import('./table.js')
    const now = Date.now()
    const isTruncated = this.options.truncate
    for (const { field } of columns.filter(({ kind }) => kind === 'id' && isTruncated)) {
      for (const item of items) this.shortenId(String(getValueAt(item, field) ?? ''))
    }
    const getShownKind = ({ kind }: OutputColumn) => (kind === 'id' && !isTruncated ? undefined : kind)
    const rows = items.map((item) =>
      columns.map((column) => formatCell(getValueAt(item, column.field), getShownKind(column), now)),
    )
    const text = renderTable({
      columns,
      rows,
      header: this.options.header,
      width: isTruncated && this.isTerminal ? this.width : undefined,
      canOmitColumns: this.options.fields === undefined,
      ellipsis: this.symbols.ellipsis,
      paintHeader: (title) => this.paint('dim', title),
      paintCell: (column, shown) => this.paintState(column, shown),
    })
    this.raw(text)
  }

  /** The columns of `--fields` in their order, or all. */
  private selectColumns(columns: OutputColumn[]): OutputColumn[] {
    const { fields } = this.options
    if (fields === undefined) return columns
    return fields.map((field) => columns.find((column) => column.field === field) ?? { field })
  }

  private pick(value: unknown): unknown {
    const { fields } = this.options
    if (fields === undefined) return value
    if (Array.isArray(value)) return value.map((item: unknown) => this.pick(item))
    return Object.fromEntries(fields.map((field) => [field, getValueAt(value, field) ?? null]))
  }

  /** @throws CliError exit 2 for an unknown field, unless the schema of the output has to be read for it */
  private checkFields(value: unknown, columns: readonly OutputColumn[]): void {
    const check = new FieldCheck(this.options.fields, columns, this.loadFields)
    for (const item of Array.isArray(value) ? value : [value]) check.addItem(item)
    if (check.mustLoad()) this.unchecked ??= { check, text: '' }
  }

  private paintState(column: OutputColumn, shown: string): string {
    if (column.kind !== 'state') return shown
    return this.paint(getStateColour(shown), shown)
  }
}

/** The marker at the start of a list item or table row: it is never bold, since line wrapping parses it. */
const LINE_START = /^[\s|>*+-]*(?:\d{1,3}[.)] +)?/u

function emphasizeMarks(text: string, marks: readonly SentenceSpan[]): string {
  let shown = ''
  let offset = 0
  for (const { start, end } of marks) {
    const lines = text.slice(start, end).split('\n')
    const bold = lines.map((line) => {
      const [marker = ''] = LINE_START.exec(line) ?? []
      return `${tty(marker)}${marker.length < line.length ? paint('bold', tty(line.slice(marker.length))) : ''}`
    })
    shown += `${tty(text.slice(offset, start))}${bold.join('\n')}`
    offset = end
  }
  return shown + tty(text.slice(offset))
}

function getStateColour(state: string): Colour {
  if (/^(ok|ready|parsed|published|completed|running|active|unchanged|answerable)$/.test(state)) return 'green'
  if (/^(failed|error|canceled|failed-.*)$/.test(state)) return 'red'
  return 'yellow'
}

/** JSON without invisible or control characters: on one line, or indented if `isPretty`. */
export function toJson(value: unknown, { isPretty } = { isPretty: false }): string {
  return escapeInvisible(JSON.stringify(value ?? null, null, isPretty ? 2 : undefined))
}
