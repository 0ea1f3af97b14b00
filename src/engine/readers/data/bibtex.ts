import { ReadError } from '../limits.js'
import type { Block, Parser } from '../parsed.js'
import { latexToText } from '../text/latex-text.js'

const ENTRY = /@(\w{1,30})\s?[{(]\s?([^\s,{}()=]{0,200})\s?,/g
const FIELD = /([\w-]{1,40})\s{0,20}=\s{0,20}/y
const MAX_ENTRIES = 100_000
const MAX_VALUE_LENGTH = 20_000

/** Reads BibTeX bibliographies: each entry is a section with its fields. */
export const bibtexParser: Parser = {
  parse(input) {
    const text = input.text()
    const blocks: Block[] = []
    let entries = 0
    ENTRY.lastIndex = 0
    for (let match = ENTRY.exec(text); match !== null && entries < MAX_ENTRIES; match = ENTRY.exec(text)) {
      const [, kind = '', key = ''] = match
      if (/^(?:comment|string|preamble)$/i.test(kind)) continue
      const { fields, end } = parseFields(text, ENTRY.lastIndex)
      ENTRY.lastIndex = end
      entries++
      const title = fields.get('title') ?? key
      blocks.push({ type: 'heading', text: title === '' ? kind : title, level: 1, tocSource: 'entry' })
      const rows = [...fields].filter(([name]) => name !== 'title').map(([name, value]) => `${name}: ${value}`)
      blocks.push({ type: 'list', text: [`${kind.toLowerCase()}: ${key}`, ...rows].join('\n') })
    }
    if (entries === 0) throw new ReadError('empty', `${input.filename} has no entries`)
    return { parser: 'native-structured', contentType: 'structured', blocks, metadata: { entryCount: entries } }
  },
}

function parseFields(text: string, start: number): { fields: Map<string, string>; end: number } {
  const fields = new Map<string, string>()
  let offset = start
  for (;;) {
    while (/[\s,]/.test(text.charAt(offset))) offset++
    FIELD.lastIndex = offset
    const name = FIELD.exec(text)?.[1]
    if (name === undefined) return { fields, end: Math.max(start, offset) }
    const end = findValueEnd(text, FIELD.lastIndex)
    const value = latexToText(text.slice(FIELD.lastIndex, end).replace(/^["{]|["}]$/g, '')).replace(/\s+and\s+/g, ', ')
    if (value !== '') fields.set(name.toLowerCase(), value)
    offset = end
  }
}

/** Offset after a value in braces or quotes, or a bare one. */
function findValueEnd(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let offset = start; offset < Math.min(text.length, start + MAX_VALUE_LENGTH); offset++) {
    const char = text.charAt(offset)
    if (char === '\\') offset++
    else if (char === '{') depth++
    else if (char === '}') {
      if (depth === 0) return offset
      depth--
    } else if (char === '"' && depth === 0) quoted = !quoted
    else if (char === ',' && depth === 0 && !quoted) return offset
  }
  return Math.min(text.length, start + MAX_VALUE_LENGTH)
}
