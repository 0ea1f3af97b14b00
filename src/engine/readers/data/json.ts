import { isRecord } from '../../../lib/json/values.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'

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
    else new JsonWriter(parsed.blocks).section(JSON.parse(text), 1)
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
      writer.item(JSON.parse(line))
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

  section(value: unknown, level: number): void {
    if (Array.isArray(value)) this.#array(value)
    else if (isRecord(value)) this.#object(value, level)
    else this.#push([formatScalar(value)])
  }

  item(value: unknown): void {
    if (isContainer(value) && this.#lines(value) > ITEM_LINES) this.section(value, MAX_SECTION_LEVEL)
    else this.#push(renderLines(value, ''))
  }

  #object(value: Record<string, unknown>, level: number): void {
    let pendingLines: string[] = []
    for (const [key, child] of Object.entries(value)) {
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

  #array(items: unknown[]): void {
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
  #lines(value: object): number {
    const known = this.#sizes.get(value)
    if (known !== undefined) return known
    let lines = 0
    for (const child of Object.values(value)) lines += isContainer(child) ? 1 + this.#lines(child) : 1
    this.#sizes.set(value, lines)
    return lines
  }
}

function renderLines(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      if (!isContainer(item)) return [`${indent}- ${formatScalar(item)}`]
      const [first = '', ...rest] = renderLines(item, `${indent}  `)
      return [`${indent}- ${first.trimStart()}`, ...rest]
    })
  }
  if (!isRecord(value)) return [`${indent}${formatScalar(value)}`]
  return Object.entries(value).flatMap(([key, child]) => renderPair(key, child, indent))
}

function renderPair(key: string, value: unknown, indent: string): string[] {
  if (!isContainer(value)) return [`${indent}${key}: ${formatScalar(value)}`]
  return [`${indent}${key}:`, ...renderLines(value, `${indent}  `)]
}

function formatScalar(value: unknown): string {
  return typeof value === 'string' ? value : String(value)
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}
