import { languageOfFile } from '../languages.js'
import type { Block, Parser } from '../parsed.js'
import { declaredIn, hasSymbols, type SymbolKind } from './code-rules.js'
import { lines } from './text.js'

/** Declarations are collected up to this many lines, so that a node is more than a one-line import. */
const ENOUGH_LINES = 25
const MAX_LINES = 120
const MAX_CHARACTERS = 6000
/** Symbols shorter than this share a section with their neighbours. */
const SMALL_SYMBOL = 8
/** Maximum number of names in the title of a shared section. */
const MAX_NAMES = 6
/** Nested classes are sections up to this depth. */
const MAX_DEPTH = 4

/** Reads source code: a section for each class and function, short ones together; without symbols, runs of lines. */
export const codeParser: Parser = {
  accepts: (mediaType) =>
    mediaType.startsWith('text/x-') || mediaType === 'text/css' || mediaType === 'text/javascript',
  parse(input) {
    const language = languageOfFile(input.filename) ?? input.mediaType.replace(/^text\/(?:x-)?/, '')
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: sourceBlocks(input.text(), language),
      metadata: { programmingLanguage: language },
    }
  },
}

/** Splits source code into sections by its symbols. */
export function sourceBlocks(text: string, language: string): Block[] {
  const all = [...lines(text)].map((line) => line.trimEnd())
  const symbols = hasSymbols(language) ? symbolsOf(all, language) : []
  const blocks = codeBlocks(all, 0, symbols[0]?.start ?? all.length, language)
  for (const section of sectionsOf(symbols, all.length)) {
    blocks.push({ type: 'heading', text: section.title, level: section.level, tocSource: 'symbol', silent: true })
    blocks.push(...codeBlocks(all, section.start, section.end, language))
  }
  return blocks
}

interface CodeSymbol {
  name: string
  kind: SymbolKind
  level: number
  indent: number
  /** its first line, comments above it included */
  start: number
}

/** Indentation determines nesting, as people see it; declarations within a function are part of it. */
function symbolsOf(all: readonly string[], language: string): CodeSymbol[] {
  const symbols: CodeSymbol[] = []
  const open: CodeSymbol[] = []
  const skipped = new SkippedText(language)
  for (const [number, line] of all.entries()) {
    const body = line.trimStart()
    if (skipped.has(body) || body === '') continue
    const indent = line.length - body.length
    while (open.length > 0 && indent <= (open.at(-1)?.indent ?? 0) && !/^[{})\]]|^end\b/.test(body)) open.pop()
    const around = open.at(-1)
    if (around?.kind === 'function' || open.length >= MAX_DEPTH) continue
    const found = declaredIn(body, language, indent === 0, around?.kind === 'container')
    if (found === undefined) continue
    const symbol = {
      ...found,
      level: open.length + 1,
      indent,
      start: withComments(all, number, symbols.at(-1)?.start ?? -1),
    }
    symbols.push(symbol)
    if (found.kind !== 'value') open.push(symbol)
  }
  return symbols
}

/** First line of the comments, decorators and attributes right above a declaration. */
function withComments(all: readonly string[], number: number, after: number): number {
  let start = number
  while (
    start - 1 > after &&
    /^\s*(?:\/\/|\/?\*|#(?!include|define|if|end)|@|--|\[[\w(]|%|;)|\*\/\s*$/.test(all[start - 1] ?? '')
  )
    start--
  return start
}

/** Tracks comments and texts of several lines, whose lines may look like declarations. */
class SkippedText {
  readonly #python: boolean
  #end = ''

  constructor(language: string) {
    this.#python = language === 'python' || language === 'julia' || language === 'elixir'
  }

  /** Whether a line is within one of them, except for its first line. */
  has(body: string): boolean {
    if (this.#end !== '') {
      if (body.includes(this.#end)) this.#end = ''
      return true
    }
    if (this.#python) {
      const mark = /"""|'''/.exec(body)?.[0]
      if (mark !== undefined && body.split(mark).length % 2 === 0) this.#end = mark
    } else if (body.startsWith('/*') && !body.includes('*/')) this.#end = '*/'
    return false
  }
}

interface CodeSection {
  title: string
  level: number
  start: number
  end: number
}

function sectionsOf(symbols: readonly CodeSymbol[], total: number): CodeSection[] {
  const sections: CodeSection[] = []
  let names: string[] = []
  let shared: CodeSection | undefined
  for (const [index, { name, kind, level, start }] of symbols.entries()) {
    const end = symbols[index + 1]?.start ?? total
    const small = kind !== 'container' && end - start < SMALL_SYMBOL
    if (small && shared !== undefined && shared.level === level && shared.end - shared.start < ENOUGH_LINES) {
      if (names.length < MAX_NAMES && !names.includes(name)) names.push(name)
      shared.title = names.join(', ')
      shared.end = end
      continue
    }
    const section = { title: name, level, start, end }
    sections.push(section)
    names = [name]
    shared = small ? section : undefined
  }
  return sections
}

/** Runs of lines, split at lines at the left margin after a blank line. */
function codeBlocks(all: readonly string[], from: number, to: number, language: string): Block[] {
  const blocks: Block[] = []
  let held: string[] = []
  let size = 0
  let blank = false
  const flush = (): void => {
    if (size > 0) blocks.push({ type: 'code', text: held.join('\n'), metadata: { language } })
    held = []
    size = 0
  }
  for (let number = from; number < to; number++) {
    const line = all[number] ?? ''
    const empty = line.trim() === ''
    const topLevel = blank && !empty && !/^[\s})\]]/.test(line)
    if ((topLevel && held.length >= ENOUGH_LINES) || held.length >= MAX_LINES || size > MAX_CHARACTERS) flush()
    held.push(line)
    if (!empty) size += line.length
    blank = empty
  }
  flush()
  return blocks
}
