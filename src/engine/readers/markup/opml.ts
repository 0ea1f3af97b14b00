import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { type Attributes, readMarkup } from './markup-events.js'

/** Outlines with children are sections up to this depth, and list items below it. */
const SECTION_DEPTH = 3
const MAX_DEPTH = 200
const MAX_INDENT = 8

interface OpmlLine {
  text: string
  detail: string
  depth: number
  parent: boolean
}

/** Reads outlines and lists of feeds (OPML): outlines with children are sections, the others are lists. */
export const opmlParser: Parser = {
  parse: parseOpml,
}

function parseOpml(input: ParserInput): ParsedDocument {
  const { lines, head } = readLines(input.text())
  if (lines.length === 0) throw new ReadError('empty', `${input.filename} has no outline`)
  return {
    parser: 'native-structured',
    contentType: 'text',
    ...omitUndefined({ title: head.get('title') }),
    blocks: toOutlineBlocks(lines),
    metadata: omitUndefined({
      author: head.get('ownerName'),
      created: head.get('dateCreated'),
      modified: head.get('dateModified'),
    }),
  }
}

function readLines(source: string): { lines: OpmlLine[]; head: Map<string, string> } {
  const lines: OpmlLine[] = []
  const head = new Map<string, string>()
  let depth = 0
  let currentTag = ''
  readMarkup(
    source,
    {
      open(name, attributes) {
        currentTag = name
        if (name !== 'outline') return
        const last = lines.at(-1)
        if (last !== undefined && last.depth < Math.min(depth, MAX_DEPTH)) last.parent = true
        const text = (attributes.get('text') ?? attributes.get('title') ?? '').replace(/\s+/g, ' ').trim()
        lines.push({ text, detail: joinDetails(attributes), depth: Math.min(depth, MAX_DEPTH), parent: false })
        depth++
      },
      close(name) {
        currentTag = ''
        if (name === 'outline') depth = Math.max(0, depth - 1)
      },
      text(text) {
        if (currentTag !== '' && text.trim() !== '' && lines.length === 0)
          head.set(currentTag, `${head.get(currentTag) ?? ''}${text}`.trim().slice(0, 500))
      },
    },
    'xml',
  )
  return { lines: lines.filter((line) => line.text !== '' || line.detail !== ''), head }
}

function joinDetails(attributes: Attributes): string {
  const parts = [
    attributes.get('_note'),
    attributes.get('description'),
    attributes.get('xmlUrl'),
    attributes.get('htmlUrl'),
    attributes.get('url'),
  ]
  return [...new Set(parts.flatMap((part) => (part === undefined || part.trim() === '' ? [] : [part.trim()])))].join(
    ' · ',
  )
}

function toOutlineBlocks(lines: readonly OpmlLine[]): Block[] {
  const blocks: Block[] = []
  let items: string[] = []
  const flush = (): void => {
    if (items.length > 0) blocks.push({ type: 'list', text: items.join('\n') })
    items = []
  }
  let base = 0
  for (const { text, detail, depth, parent } of lines) {
    if (parent && depth < SECTION_DEPTH && text !== '') {
      flush()
      blocks.push({ type: 'heading', text, level: depth + 1 })
      base = depth + 1
      if (detail !== '') blocks.push({ type: 'paragraph', text: detail })
      continue
    }
    const itemText = [text, detail].filter((part) => part !== '').join(': ')
    items.push(`${'  '.repeat(Math.max(0, Math.min(depth - base, MAX_INDENT)))}- ${itemText}`)
  }
  flush()
  return blocks
}
