/** A token of a statement. */
export interface SqlToken {
  kind: 'word' | 'string' | 'number' | 'parameter' | 'symbol'
  text: string
  /** whitespace and comments before it */
  before: string
  /** text to write after it */
  after: string
}

/**
 * Whitespace and comments; text in quotes; blobs; names and keywords; numbers; a parameter; operators of several
 * characters; any other.
 */
const TOKEN =
  /((?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*)(?:([xX]?'(?:[^']|'')*')|("(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_]*)|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(\?)|(->>|->|<>|<=|>=|!=|==|\|\||<<|>>|.))/gsuy

const BLOB = /^[xX]'(.*)'$/

/** Splits a statement into tokens. Whitespace at its end is omitted. */
export function tokenizeSql(text: string): SqlToken[] {
  const found: SqlToken[] = []
  TOKEN.lastIndex = 0
  for (const [, before = '', string, word, number, parameter, symbol] of text.trimEnd().matchAll(TOKEN)) {
    const rest = { before, after: '' }
    if (string !== undefined) found.push({ kind: 'string', text: string.replace(BLOB, "'\\x$1'::bytea"), ...rest })
    else if (word !== undefined) found.push({ kind: 'word', text: word, ...rest })
    else if (number !== undefined) found.push({ kind: 'number', text: number, ...rest })
    else if (parameter !== undefined) found.push({ kind: 'parameter', text: parameter, ...rest })
    else found.push({ kind: 'symbol', text: symbol ?? '', ...rest })
  }
  return found
}
