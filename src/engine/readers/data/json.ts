import { pluralize } from '../../../lib/text/pluralize.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { type JsonSource, type JsonSourceArray, type JsonSourceObject, parseJsonSource } from './json-source.js'

/** A container with more lines than this is a separate section; the outermost keys always are. */
const SECTION_LINES = 12
/** An array item with more lines than this is expanded like an object. */
const ITEM_LINES = 120
/** Maximum number of scalars of one array in one element. */
const SCALARS_PER_ELEMENT = 200
const MAX_SECTION_LEVEL = 6

/** Reads JSON and JSON lines: keys are sections, values are `key: value` lines, array items are elements. */
export const jsonParser: Parser = {
  parse: parseJson,
}

function parseJson(input: ParserInput): ParsedDocument {
  const text = input.text()
  const parsed: ParsedDocument = { parser: 'native-structured', contentType: 'structured', blocks: [], metadata: {} }
  try {
    if (input.mediaType === 'application/x-ndjson') readLines(text, parsed)
    else new JsonWriter(parsed.blocks).section(parseJsonSource(text), 1)
  } catch (error) {
    // Not JSON, or nested too deeply: its text is still worth finding.
    const reason = error instanceof SyntaxError ? 'not valid JSON' : 'nested too deeply'
    parsed.blocks = [{ type: 'code', text, metadata: { language: 'json' } }]
    parsed.metadata.warnings = [`${reason}; read as text`]
  }
  return parsed
}

function readLines(text: string, parsed: ParsedDocument): void {
  const writer = new JsonWriter(parsed.blocks)
  let invalidCount = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    try {
      writer.item(parseJsonSource(line))
    } catch {
      invalidCount++
      parsed.blocks.push({ type: 'list', text: line })
    }
  }
  if (invalidCount > 0)
    parsed.metadata.warnings = [
      `${pluralize(invalidCount, 'line')} ${invalidCount === 1 ? 'is' : 'are'} not valid JSON; read as text`,
    ]
}

class JsonWriter {
  readonly #blocks: Block[]
  readonly #sizes = new WeakMap<object, number>()

  constructor(blocks: Block[]) {
    this.#blocks = blocks
  }

  section(value: JsonSource, level: number): void {
    if (typeof value === 'string') this.#push([value])
    else if ('items' in value) this.#array(value)
    else this.#object(value, level)
  }

  item(value: JsonSource): void {
    if (isContainer(value) && this.#lines(value) > ITEM_LINES) this.section(value, MAX_SECTION_LEVEL)
    else this.#push(renderLines(value, ''))
  }

  #object({ members }: JsonSourceObject, level: number): void {
    let pendingLines: string[] = []
    for (const [key, child] of members) {
      const opensSection = isContainer(child) && this.#lines(child) > (level === 1 ? 0 : SECTION_LINES)
      if (opensSection && level <= MAX_SECTION_LEVEL) {
        this.#push(pendingLines)
        pendingLines = []
        this.#blocks.push({ type: 'heading', text: key, level, tocSource: 'key' })
        this.section(child, level + 1)
      } else {
        // Scalars after a section become part of it; they are rare, and their line still names their key.
        pendingLines.push(...renderPair(key, child, ''))
      }
    }
    this.#push(pendingLines)
  }

  #array({ items }: JsonSourceArray): void {
    let pendingLines: string[] = []
    for (const item of items) {
      if (isContainer(item)) {
        this.#push(pendingLines)
        pendingLines = []
        this.item(item)
      } else {
        pendingLines.push(`- ${formatScalar(item)}`)
        if (pendingLines.length >= SCALARS_PER_ELEMENT) {
          this.#push(pendingLines)
          pendingLines = []
        }
      }
    }
    this.#push(pendingLines)
  }

  #push(lines: string[]): void {
    if (lines.length > 0) this.#blocks.push({ type: 'list', text: lines.join('\n') })
  }

  /** Number of lines of a value when written out. */
  #lines(value: JsonSourceArray | JsonSourceObject): number {
    const known = this.#sizes.get(value)
    if (known !== undefined) return known
    let lines = 0
    for (const child of listChildren(value)) lines += isContainer(child) ? 1 + this.#lines(child) : 1
    this.#sizes.set(value, lines)
    return lines
  }
}

function renderLines(value: JsonSource, indent: string): string[] {
  if (typeof value === 'string') return [`${indent}${value}`]
  if ('items' in value) {
    return value.items.flatMap((item) => {
      if (!isContainer(item)) return [`${indent}- ${formatScalar(item)}`]
      const [first = '', ...rest] = renderLines(item, `${indent}  `)
      return [`${indent}- ${first.trimStart()}`, ...rest]
    })
  }
  return value.members.flatMap(([key, child]) => renderPair(key, child, indent))
}

function renderPair(key: string, value: JsonSource, indent: string): string[] {
  if (!isContainer(value)) return [`${indent}${key}: ${formatScalar(value)}`]
  return [`${indent}${key}:`, ...renderLines(value, `${indent}  `)]
}

/** A scalar, or a container without content. */
function formatScalar(value: JsonSource): string {
  if (typeof value === 'string') return value
  return 'items' in value ? '[]' : '{}'
}

function isContainer(value: JsonSource): value is JsonSourceArray | JsonSourceObject {
  return typeof value !== 'string' && ('items' in value ? value.items : value.members).length > 0
}

function listChildren(value: JsonSourceArray | JsonSourceObject): JsonSource[] {
  return 'items' in value ? value.items : value.members.map(([, child]) => child)
}
