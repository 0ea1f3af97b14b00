/** A statement of a dump: a table, rows, or anything else. */
export type SqlStatement =
  | { kind: 'create'; table: string; columns: string[]; text: string }
  | { kind: 'insert' | 'copy'; table: string; columns: string[]; source: string; start: number; end: number }
  | { kind: 'other'; text: string }

/** Bounds of the length and number of statements that are neither tables nor rows. */
const MAX_OTHER_LENGTH = 4000
const MAX_OTHER_COUNT = 5000
const MAX_DEFINITION_LENGTH = 20_000
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
const MAX_HEAD_LENGTH = 6000

/** Splits a dump into statements; quotes and comments end none. */
export function* splitStatements(text: string): Generator<SqlStatement> {
  let offset = 0
  let otherCount = 0
  while (offset < text.length) {
    offset = skipBlank(text, offset)
    if (offset >= text.length) return
    const end = findStatementEnd(text, offset)
    const head = text.slice(offset, Math.min(end + 1, offset + MAX_HEAD_LENGTH)).replace(/\s+/g, ' ')
    const copy = COPY.exec(head)
    if (copy !== null) {
      const start = text.indexOf('\n', end) + 1
      const close = start === 0 ? text.length : findCopyEnd(text, start)
      yield {
        kind: 'copy',
        table: unquoteName(copy[1]),
        columns: parseNames(copy[2]),
        source: text,
        start: start === 0 ? text.length : start,
        end: close,
      }
      offset = close + 3
      continue
    }
    const statement = parseStatement(text, offset, end, head)
    if (statement.kind !== 'other' || (!NOISE.test(head) && otherCount++ < MAX_OTHER_COUNT)) yield statement
    offset = end + 1
  }
}

function parseStatement(text: string, offset: number, end: number, head: string): SqlStatement {
  const insert = INSERT.exec(head)
  if (insert !== null) {
    // Search the text itself, whose spaces differ from those of the head.
    const values = /\bvalues?\b/gi
    values.lastIndex = offset
    for (let found = values.exec(text); found !== null && found.index < end; found = values.exec(text)) {
      const start = found.index + found[0].length
      if (/^\s*\(/.test(text.slice(start, start + 100)))
        return {
          kind: 'insert',
          table: unquoteName(insert[1]),
          columns: parseNames(insert[2]),
          source: text,
          start,
          end,
        }
    }
  }
  const create = CREATE.exec(head)
  const statementText = text.slice(offset, Math.min(end + 1, offset + MAX_DEFINITION_LENGTH))
  if (create !== null)
    return { kind: 'create', table: unquoteName(create[1]), columns: parseColumns(statementText), text: statementText }
  return { kind: 'other', text: statementText.slice(0, MAX_OTHER_LENGTH) }
}

function skipBlank(text: string, start: number): number {
  let offset = start
  for (;;) {
    while (offset < text.length && /\s/.test(text.charAt(offset))) offset++
    if (text.startsWith('--', offset) || text.charAt(offset) === '#') {
      const newline = text.indexOf('\n', offset)
      offset = newline === -1 ? text.length : newline + 1
    } else if (text.startsWith('/*', offset)) {
      const close = text.indexOf('*/', offset)
      offset = close === -1 ? text.length : close + 2
    } else if (text.charAt(offset) === ';') offset++
    else return offset
  }
}

function findStatementEnd(text: string, start: number): number {
  for (let offset = start; offset < text.length; offset++) {
    const char = text.charAt(offset)
    if (char === ';') return offset
    if (char === "'" || char === '"' || char === '`') offset = findQuoteEnd(text, offset)
    else if (char === '-' && text.startsWith('--', offset)) {
      const newline = text.indexOf('\n', offset)
      offset = newline === -1 ? text.length : newline
    } else if (char === '$') offset = findDollarQuoteEnd(text, offset)
  }
  return text.length
}

/** Functions of PostgreSQL are quoted by `$$` or `$name$`. */
function findDollarQuoteEnd(text: string, offset: number): number {
  const mark = /^\$\w{0,40}\$/.exec(text.slice(offset, offset + 50))?.[0]
  if (mark === undefined) return offset
  const close = text.indexOf(mark, offset + mark.length)
  return close === -1 ? text.length : close + mark.length - 1
}

/** Offset of the end of a quoted text; a doubled quote, and one after `\`, are part of it. */
function findQuoteEnd(text: string, start: number): number {
  const quote = text.charAt(start)
  for (let offset = start + 1; offset < text.length; offset++) {
    const char = text.charAt(offset)
    if (char === '\\' && quote === "'") offset++
    else if (char === quote) {
      if (text.charAt(offset + 1) !== quote) return offset
      offset++
    }
  }
  return text.length
}

function findCopyEnd(text: string, start: number): number {
  if (text.startsWith('\\.', start)) return start
  const found = text.indexOf('\n\\.', start)
  return found === -1 ? text.length : found + 1
}

function unquoteName(name: string | undefined): string {
  return (name ?? '').replace(/["`[\]]/g, '').trim()
}

function parseNames(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(',').map((name) => unquoteName(name))
}

/** The column names of a table from its definition. */
function parseColumns(definition: string): string[] {
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
    columns.push(unquoteName(name))
  }
  for (let offset = 0; offset < definition.length; offset++) {
    const char = definition.charAt(offset)
    if (char === "'") offset = findQuoteEnd(definition, offset)
    else if (char === '(') {
      if (depth === 0) start = offset + 1
      depth++
    } else if (char === ')') {
      depth--
      if (depth === 0) {
        add(offset)
        return columns
      }
    } else if (char === ',' && depth === 1) {
      add(offset)
      start = offset + 1
    }
  }
  return columns
}

type RowStatement = Extract<SqlStatement, { kind: 'insert' | 'copy' }>

/** Reads the rows of a statement, cell by cell. */
export function readSqlRows(statement: RowStatement): Generator<string[]> {
  return statement.kind === 'copy' ? readCopyLines(statement) : readTuples(statement)
}

function* readCopyLines({ source, start, end }: RowStatement): Generator<string[]> {
  let offset = start
  while (offset < end) {
    const newline = source.indexOf('\n', offset)
    const lineEnd = newline === -1 ? end : Math.min(newline, end)
    const line = source.slice(offset, lineEnd)
    offset = lineEnd + 1
    if (line !== '') yield line.replace(/\r$/, '').split('\t').map(unescapeCell)
  }
}

function* readTuples({ source, start, end }: RowStatement): Generator<string[]> {
  let row: string[] = []
  let depth = 0
  let cellStart = start
  for (let offset = cellStart; offset < end; offset++) {
    const char = source.charAt(offset)
    if (char === "'") offset = findQuoteEnd(source, offset)
    else if (char === '(') {
      if (depth === 0) cellStart = offset + 1
      depth++
    } else if (char === ')') {
      depth--
      if (depth !== 0) continue
      row.push(parseCell(source.slice(cellStart, offset)))
      yield row
      row = []
    } else if (char === ',' && depth === 1) {
      row.push(parseCell(source.slice(cellStart, offset)))
      cellStart = offset + 1
    }
  }
}

/** `'it''s'` → `it's`; empty for NULL; numbers and calls unchanged. */
function parseCell(raw: string): string {
  const text = raw.trim()
  if (/^null$/i.test(text)) return ''
  const quoted = /^(?:N|E|_utf8mb?4? ?|b|x)?'([\s\S]*)'$/.exec(text)?.[1]
  if (quoted === undefined) return text
  return quoted.replace(/''|\\(['"\\nrt0%_])/g, (whole, char?: string) => {
    if (char === undefined) return whole === "''" ? "'" : whole
    return /[nrt0]/.test(char) ? ' ' : char
  })
}

function unescapeCell(cell: string): string {
  if (cell === '\\N') return ''
  return cell.includes('\\')
    ? cell.replace(/\\([bfnrtv\\])/g, (_all, char: string) => (char === '\\' ? '\\' : ' '))
    : cell
}
