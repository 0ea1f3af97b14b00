/**
 * A JSON value as it is written: scalars as text, so that `1.10` and large numbers keep their digits, and members in
 * their order, those with equal keys included.
 */
export type JsonSource = string | JsonSourceArray | JsonSourceObject

export interface JsonSourceArray {
  items: JsonSource[]
}

export interface JsonSourceObject {
  members: [key: string, value: JsonSource][]
}

/** Names, and numbers of any notation; JSON itself has fewer. */
const SCALAR = /[^\s{}[\],:"]+/y
const VALID_SCALAR =
  /^(?:true|false|null|[+-]?(?:NaN|Infinity|0[xXoObB][0-9A-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))$/
const BLANK = /[\s\ufeff]*/y

/**
 * Parses JSON in one pass without recursion.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseJsonSource(text: string): JsonSource {
  const open: (JsonSourceArray | JsonSourceObject)[] = []
  let root: JsonSource | undefined
  let key: string | undefined
  let offset = skipBlank(text, 0)
  /** Adds a value to the container around it; without one it is the result. */
  const add = (value: JsonSource): void => {
    const parent = open.at(-1)
    if (parent === undefined) root = value
    else if ('items' in parent) parent.items.push(value)
    else if (key !== undefined) parent.members.push([key, value])
    key = undefined
  }
  while (root === undefined || open.length > 0) {
    const parent = open.at(-1)
    const isEmpty = parent === undefined || ('items' in parent ? parent.items : parent.members).length === 0
    const end = parent === undefined ? '' : 'items' in parent ? ']' : '}'
    if (parent !== undefined && key === undefined) {
      if (text.charAt(offset) === end) {
        open.pop()
        offset = skipBlank(text, offset + 1)
        continue
      }
      if (!isEmpty) offset = expect(text, offset, ',')
      if ('members' in parent) {
        const token = readString(text, offset)
        key = token.value
        offset = expect(text, token.end, ':')
      }
    }
    const char = text.charAt(offset)
    if (char === '{' || char === '[') {
      const container = char === '{' ? { members: [] } : { items: [] }
      add(container)
      open.push(container)
      offset = skipBlank(text, offset + 1)
    } else {
      const token = char === '"' ? readString(text, offset) : readScalar(text, offset)
      add(token.value)
      offset = token.end
    }
  }
  if (offset < text.length) throw new SyntaxError(`text after the value at ${offset}`)
  return root
}

function skipBlank(text: string, offset: number): number {
  BLANK.lastIndex = offset
  return offset + (BLANK.exec(text)?.[0].length ?? 0)
}

function expect(text: string, offset: number, char: string): number {
  if (text.charAt(offset) !== char) throw new SyntaxError(`no ${char} at ${offset}`)
  return skipBlank(text, offset + 1)
}

function readString(text: string, offset: number): { value: string; end: number } {
  if (text.charAt(offset) !== '"') throw new SyntaxError(`no string at ${offset}`)
  let end = text.indexOf('"', offset + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end === -1) throw new SyntaxError(`no end of the string at ${offset}`)
  const value: unknown = JSON.parse(text.slice(offset, end + 1))
  return { value: String(value), end: skipBlank(text, end + 1) }
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, offset: number): boolean {
  let start = offset
  while (text.charAt(start - 1) === '\\') start--
  return (offset - start) % 2 === 1
}

function readScalar(text: string, offset: number): { value: string; end: number } {
  SCALAR.lastIndex = offset
  const value = SCALAR.exec(text)?.[0] ?? ''
  if (!VALID_SCALAR.test(value)) throw new SyntaxError(`no value at ${offset}`)
  return { value, end: skipBlank(text, offset + value.length) }
}
