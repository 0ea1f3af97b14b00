import { ReadError } from '../limits.js'
import type { Block, Parser } from '../parsed.js'
import { latexText } from '../text/latex-text.js'

const ENTRY = /@(\w{1,30})\s?[{(]\s?([^\s,{}()=]{0,200})\s?,/g
const FIELD = /([\w-]{1,40})\s{0,20}=\s{0,20}/y
const MAX_ENTRIES = 100_000
const MAX_VALUE = 20_000

/** Reads BibTeX bibliographies: each entry is a section with its fields. */
export const bibtexParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/x-bibtex',
  parse(input) {
    const text = input.text()
    const blocks: Block[] = []
    let entries = 0
    ENTRY.lastIndex = 0
    for (let found = ENTRY.exec(text); found !== null && entries < MAX_ENTRIES; found = ENTRY.exec(text)) {
      const [, kind = '', key = ''] = found
      if (/^(?:comment|string|preamble)$/i.test(kind)) continue
      const { fields, end } = fieldsOf(text, ENTRY.lastIndex)
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

function fieldsOf(text: string, start: number): { fields: Map<string, string>; end: number } {
  const fields = new Map<string, string>()
  let at = start
  for (;;) {
    while (/[\s,]/.test(text.charAt(at))) at++
    FIELD.lastIndex = at
    const name = FIELD.exec(text)?.[1]
    if (name === undefined) return { fields, end: Math.max(start, at) }
    const end = endOfValue(text, FIELD.lastIndex)
    const value = latexText(text.slice(FIELD.lastIndex, end).replace(/^["{]|["}]$/g, '')).replace(/\s+and\s+/g, ', ')
    if (value !== '') fields.set(name.toLowerCase(), value)
    at = end
  }
}

/** Offset after a value in braces or quotes, or a bare one. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  let quoted = false
  for (let at = start; at < Math.min(text.length, start + MAX_VALUE); at++) {
    const char = text.charAt(at)
    if (char === '\\') at++
    else if (char === '{') depth++
    else if (char === '}') {
      if (depth === 0) return at
      depth--
    } else if (char === '"' && depth === 0) quoted = !quoted
    else if (char === ',' && depth === 0 && !quoted) return at
  }
  return Math.min(text.length, start + MAX_VALUE)
}
