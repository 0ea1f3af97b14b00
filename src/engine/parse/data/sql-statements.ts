/** A statement of a dump: a table, rows, or anything else. */
export type Statement =
  | { kind: 'create'; table: string; columns: string[]; text: string }
  | { kind: 'insert' | 'copy'; table: string; columns: string[]; source: string; start: number; end: number }
  | { kind: 'other'; text: string }

/** Bounds of the length and number of statements that are neither tables nor rows. */
const MAX_OTHER = 4000
const MAX_OTHERS = 5000
const MAX_DEFINITION = 20_000
/** Statements about the dump itself and how it is loaded, not about its data. */
const NOISE =
  /^(?:set|lock|unlock|begin|commit|start transaction|use|pragma|select pg_catalog|alter table \S+ (?:disable|enable) keys|delimiter|analyze|vacuum)\b|^\/\*|^\\/i
const NAME = String.raw`(?:if not exists )?((?:["\`[]?[\w$]+["\`\]]?\.)?["\`[]?[\w$ -]+?["\`\]]?)`
const CREATE = new RegExp(`^create (?:temp(?:orary)? |unlogged |global )*table ${NAME}\\s?\\(`, 'i')
const INSERT = new RegExp(
  `^(?:insert (?:ignore )?into|replace into) ${NAME}\\s?(?:\\(([^()]{1,5000})\\)\\s?)?values?\\s?`,
  'i',
)
const COPY = new RegExp(`^copy ${NAME}(?:\\s?\\(([^()]{1,5000})\\))? from stdin[^;]{0,100};`, 'i')
const WORDS = 6000

/** Splits a dump into statements; quotes and comments end none. */
export function* statementsOf(text: string): Generator<Statement> {
  let at = 0
  let others = 0
  while (at < text.length) {
    at = skipBlank(text, at)
    if (at >= text.length) return
    const end = endOfStatement(text, at)
    const head = text.slice(at, Math.min(end + 1, at + WORDS)).replace(/\s+/g, ' ')
    const copy = COPY.exec(head)
    if (copy !== null) {
      const start = text.indexOf('\n', end) + 1
      const close = start === 0 ? text.length : endOfCopy(text, start)
      yield {
        kind: 'copy',
        table: bare(copy[1]),
        columns: namesOf(copy[2]),
        source: text,
        start: start === 0 ? text.length : start,
        end: close,
      }
      at = close + 3
      continue
    }
    const statement = readStatement(text, at, end, head)
    if (statement.kind !== 'other' || (!NOISE.test(head) && others++ < MAX_OTHERS)) yield statement
    at = end + 1
  }
}

function readStatement(text: string, at: number, end: number, head: string): Statement {
  const insert = INSERT.exec(head)
  if (insert !== null) {
    // Search the text itself, whose spaces differ from those of the head.
    const values = /\bvalues?\b/gi
    values.lastIndex = at
    for (let found = values.exec(text); found !== null && found.index < end; found = values.exec(text)) {
      const start = found.index + found[0].length
      if (/^\s*\(/.test(text.slice(start, start + 100)))
        return { kind: 'insert', table: bare(insert[1]), columns: namesOf(insert[2]), source: text, start, end }
    }
  }
  const create = CREATE.exec(head)
  const own = text.slice(at, Math.min(end + 1, at + MAX_DEFINITION))
  if (create !== null) return { kind: 'create', table: bare(create[1]), columns: columnsOf(own), text: own }
  return { kind: 'other', text: own.slice(0, MAX_OTHER) }
}

function skipBlank(text: string, start: number): number {
  let at = start
  for (;;) {
    while (at < text.length && /\s/.test(text.charAt(at))) at++
    if (text.startsWith('--', at) || text.charAt(at) === '#') {
      const newline = text.indexOf('\n', at)
      at = newline === -1 ? text.length : newline + 1
    } else if (text.startsWith('/*', at)) {
      const close = text.indexOf('*/', at)
      at = close === -1 ? text.length : close + 2
    } else if (text.charAt(at) === ';') at++
    else return at
  }
}

function endOfStatement(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === ';') return at
    if (char === "'" || char === '"' || char === '`') at = endOfQuoted(text, at)
    else if (char === '-' && text.startsWith('--', at)) at = orEnd(text, text.indexOf('\n', at))
    else if (char === '$') at = endOfDollars(text, at)
  }
  return text.length
}

function orEnd(text: string, at: number): number {
  return at === -1 ? text.length : at
}

/** Functions of PostgreSQL are quoted by `$$` or `$name$`. */
function endOfDollars(text: string, at: number): number {
  const mark = /^\$\w{0,40}\$/.exec(text.slice(at, at + 50))?.[0]
  if (mark === undefined) return at
  const close = text.indexOf(mark, at + mark.length)
  return close === -1 ? text.length : close + mark.length - 1
}

/** Offset of the end of a quoted text; a doubled quote, and one after `\`, are part of it. */
function endOfQuoted(text: string, start: number): number {
  const quote = text.charAt(start)
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '\\' && quote === "'") at++
    else if (char === quote) {
      if (text.charAt(at + 1) !== quote) return at
      at++
    }
  }
  return text.length
}

function endOfCopy(text: string, start: number): number {
  if (text.startsWith('\\.', start)) return start
  const found = text.indexOf('\n\\.', start)
  return found === -1 ? text.length : found + 1
}

function bare(name: string | undefined): string {
  return (name ?? '').replace(/["`[\]]/g, '').trim()
}

function namesOf(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(',').map((name) => bare(name))
}

/** The column names of a table from its definition. */
function columnsOf(definition: string): string[] {
  const columns: string[] = []
  let depth = 0
  let start = -1
  const add = (end: number): void => {
    const name = /^\s*(["`[][^"`\]]{1,100}["`\]]|[\w$]+)/.exec(definition.slice(start, Math.min(end, start + 200)))?.[1]
    if (
      start === -1 ||
      name === undefined ||
      /^(?:primary|key|unique|constraint|foreign|check|index|fulltext|exclude|like)$/i.test(name)
    )
      return
    columns.push(bare(name))
  }
  for (let at = 0; at < definition.length; at++) {
    const char = definition.charAt(at)
    if (char === "'") at = endOfQuoted(definition, at)
    else if (char === '(') {
      if (depth === 0) start = at + 1
      depth++
    } else if (char === ')') {
      depth--
      if (depth === 0) {
        add(at)
        return columns
      }
    } else if (char === ',' && depth === 1) {
      add(at)
      start = at + 1
    }
  }
  return columns
}

/** Reads the rows of a statement, cell by cell. */
export class SqlRows {
  readonly #statement: Extract<Statement, { kind: 'insert' | 'copy' }>

  constructor(statement: Extract<Statement, { kind: 'insert' | 'copy' }>) {
    this.#statement = statement
  }

  read(): Generator<string[]> {
    return this.#statement.kind === 'copy' ? this.#lines() : this.#tuples()
  }

  *#lines(): Generator<string[]> {
    const { source, end } = this.#statement
    let at = this.#statement.start
    while (at < end) {
      const newline = source.indexOf('\n', at)
      const stop = newline === -1 ? end : Math.min(newline, end)
      const line = source.slice(at, stop)
      at = stop + 1
      if (line !== '') yield line.replace(/\r$/, '').split('\t').map(unescaped)
    }
  }

  *#tuples(): Generator<string[]> {
    const { source, end } = this.#statement
    let row: string[] = []
    let depth = 0
    let from = this.#statement.start
    for (let at = from; at < end; at++) {
      const char = source.charAt(at)
      if (char === "'") at = endOfQuoted(source, at)
      else if (char === '(') {
        if (depth === 0) from = at + 1
        depth++
      } else if (char === ')') {
        depth--
        if (depth !== 0) continue
        row.push(cellOf(source.slice(from, at)))
        yield row
        row = []
      } else if (char === ',' && depth === 1) {
        row.push(cellOf(source.slice(from, at)))
        from = at + 1
      }
    }
  }
}

/** `'it''s'` → `it's`; empty for NULL; numbers and calls unchanged. */
function cellOf(raw: string): string {
  const text = raw.trim()
  if (/^null$/i.test(text)) return ''
  const quoted = /^(?:N|E|_utf8mb?4? ?|b|x)?'([\s\S]*)'$/.exec(text)?.[1]
  if (quoted === undefined) return text
  return quoted.replace(/''|\\(['"\\nrt0%_])/g, (whole, char?: string) => {
    if (char === undefined) return whole === "''" ? "'" : whole
    return /[nrt0]/.test(char) ? ' ' : char
  })
}

function unescaped(cell: string): string {
  if (cell === '\\N') return ''
  return cell.includes('\\')
    ? cell.replace(/\\([bfnrtv\\])/g, (_all, char: string) => (char === '\\' ? '\\' : ' '))
    : cell
}
